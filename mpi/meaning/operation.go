package meaning

import (
	"strings"
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
)

// An CollectiveOperation is a collective operation on a communicator. All forms of a function have the same: MPI_Bcast,
// MPI_Ibcast_c and MPI_Bcast_init are CollectiveBcast.
type CollectiveOperation uint8

// The operations; neighbourhood collectives are not included.
const (
	CollectiveNone CollectiveOperation = iota
	CollectiveBarrier
	CollectiveBcast
	CollectiveGather
	CollectiveGatherv
	CollectiveScatter
	CollectiveScatterv
	CollectiveAllgather
	CollectiveAllgatherv
	CollectiveAlltoall
	CollectiveAlltoallv
	CollectiveAlltoallw
	CollectiveReduce
	CollectiveAllreduce
	CollectiveReduceScatter
	CollectiveReduceScatterBlock
	CollectiveScan
	CollectiveExscan
)

var operationNames = [...]string{
	"none", "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw",
	"Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan",
}

// String returns the name of the operation's function without MPI_, such as "Bcast".
func (o CollectiveOperation) String() string { return operationNames[o] }

// CollectiveOperationOf returns the operation of a function. It returns CollectiveNone for a function that is unknown
// or no such collective.
func CollectiveOperationOf(c *mpi.Call) CollectiveOperation {
	if c == nil || !c.Has(mpi.AttrCollective) {
		return CollectiveNone
	}
	if o, ok := operations.Load(c.ID); ok {
		return o.(CollectiveOperation)
	}
	o := operationOf(c)
	operations.Store(c.ID, o)
	return o
}

var operations sync.Map // cache: CollectiveOperation by id of the function

func operationOf(c *mpi.Call) CollectiveOperation {
	if c.Has(mpi.AttrBarrier) {
		return CollectiveBarrier
	}
	m := DataMovementOf(c.Name)
	if m == nil {
		return CollectiveNone
	}
	reduces := m.Index("op") >= 0
	either := func(is bool, yes, no CollectiveOperation) CollectiveOperation {
		if is {
			return yes
		}
		return no
	}
	switch m.Pattern {
	case PatternFromRoot:
		return CollectiveBcast
	case PatternPartFromRoot:
		return either(m.IsArrayParam(m.Out.Count), CollectiveScatterv, CollectiveScatter)
	case PatternToRoot:
		return either(reduces, CollectiveReduce, either(m.IsArrayParam(m.In.Count), CollectiveGatherv, CollectiveGather))
	case PatternToAll:
		switch {
		case reduces:
			return CollectiveAllreduce
		case m.Out.Comm != "":
			return CollectiveAlltoall
		}
		return either(m.IsArrayParam(m.In.Count), CollectiveAllgatherv, CollectiveAllgather)
	case PatternPartToAll:
		return either(m.IsArrayParam(m.Out.Type), CollectiveAlltoallw, CollectiveAlltoallv)
	case PatternPartReduced:
		return either(m.IsArrayParam(m.In.Count), CollectiveReduceScatter, CollectiveReduceScatterBlock)
	case PatternToNext:
		// Only the name distinguishes the two: calls.txt has the same parameters for both.
		return either(strings.Contains(strings.ToLower(c.Name), "exscan"), CollectiveExscan, CollectiveScan)
	}
	return CollectiveNone
}
