package meaning

import (
	"strings"
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
)

// An Operation is a collective operation on a communicator. All forms of a function have the same: MPI_Bcast,
// MPI_Ibcast_c and MPI_Bcast_init are OperationBcast.
type Operation uint8

// The operations; neighbourhood collectives are not included.
const (
	OperationNone Operation = iota
	OperationBarrier
	OperationBcast
	OperationGather
	OperationGatherv
	OperationScatter
	OperationScatterv
	OperationAllgather
	OperationAllgatherv
	OperationAlltoall
	OperationAlltoallv
	OperationAlltoallw
	OperationReduce
	OperationAllreduce
	OperationReduceScatter
	OperationReduceScatterBlock
	OperationScan
	OperationExscan
)

var operationNames = [...]string{
	"none", "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw",
	"Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan",
}

// String returns the name of the operation's function without MPI_, such as "Bcast".
func (o Operation) String() string { return operationNames[o] }

// OperationOf returns the operation of a function. It returns OperationNone for a function that is unknown or no such
// collective.
func OperationOf(c *mpi.Call) Operation {
	if c == nil || !c.Has(mpi.AttrCollective) {
		return OperationNone
	}
	if o, ok := operations.Load(c.ID); ok {
		return o.(Operation)
	}
	o := operationOf(c)
	operations.Store(c.ID, o)
	return o
}

var operations sync.Map // cache: Operation by id of the function

func operationOf(c *mpi.Call) Operation {
	if c.Has(mpi.AttrBarrier) {
		return OperationBarrier
	}
	m := DataMovementOf(c.Name)
	if m == nil {
		return OperationNone
	}
	reduces := m.Index("op") >= 0
	either := func(is bool, yes, no Operation) Operation {
		if is {
			return yes
		}
		return no
	}
	switch m.Pattern {
	case PatternFromRoot:
		return OperationBcast
	case PatternPartFromRoot:
		return either(m.IsArrayParam(m.Out.Count), OperationScatterv, OperationScatter)
	case PatternToRoot:
		return either(reduces, OperationReduce, either(m.IsArrayParam(m.In.Count), OperationGatherv, OperationGather))
	case PatternToAll:
		switch {
		case reduces:
			return OperationAllreduce
		case m.Out.Comm != "":
			return OperationAlltoall
		}
		return either(m.IsArrayParam(m.In.Count), OperationAllgatherv, OperationAllgather)
	case PatternPartToAll:
		return either(m.IsArrayParam(m.Out.Type), OperationAlltoallw, OperationAlltoallv)
	case PatternPartReduced:
		return either(m.IsArrayParam(m.In.Count), OperationReduceScatter, OperationReduceScatterBlock)
	case PatternToNext:
		// Only the name distinguishes the two: calls.txt has the same parameters for both.
		return either(strings.Contains(strings.ToLower(c.Name), "exscan"), OperationExscan, OperationScan)
	}
	return OperationNone
}
