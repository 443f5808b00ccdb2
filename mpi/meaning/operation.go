package meaning

import (
	"strings"
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
)

// An Operation is a collective operation on a communicator, in any form: MPI_Bcast, MPI_Ibcast_c and MPI_Bcast_init
// are one.
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

// String returns the name of the operation's function, without MPI_.
func (o Operation) String() string { return operationNames[o] }

// OperationOf returns the operation of a function; OperationNone if it has none or is unknown.
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

var operations sync.Map // cache of operations by the function's id

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
		return either(strings.Contains(strings.ToLower(c.Name), "exscan"), OperationExscan, OperationScan) // the table describes both equally
	}
	return OperationNone
}
