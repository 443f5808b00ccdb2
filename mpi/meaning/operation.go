package meaning

import (
	"strings"
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
)

// An Operation is a collective operation on a communicator, however it is called: MPI_Bcast, MPI_Ibcast_c and
// MPI_Bcast_init are one.
type Operation uint8

// The operations; those along a topology are none.
const (
	NoOperation Operation = iota
	Barrier
	Bcast
	Gather
	Gatherv
	Scatter
	Scatterv
	Allgather
	Allgatherv
	Alltoall
	Alltoallv
	Alltoallw
	Reduce
	Allreduce
	ReduceScatter
	ReduceScatterBlock
	Scan
	Exscan
)

var operationNames = [...]string{
	"none", "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw",
	"Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan",
}

// String returns the name of the operation's function, without MPI_.
func (o Operation) String() string { return operationNames[o] }

// OperationOf returns that of a function; NoOperation of one that nobody knows, too.
func OperationOf(c *mpi.Call) Operation {
	if c == nil || !c.Has(mpi.Collective) {
		return NoOperation
	}
	if o, ok := operations.Load(c.ID); ok {
		return o.(Operation)
	}
	o := operationOf(c)
	operations.Store(c.ID, o)
	return o
}

var operations sync.Map // what was asked for, by id

func operationOf(c *mpi.Call) Operation {
	if c.Has(mpi.Barrier) {
		return Barrier
	}
	m := Of(c.Name)
	if m == nil {
		return NoOperation
	}
	reduces := m.Index("op") >= 0
	either := func(is bool, yes, no Operation) Operation {
		if is {
			return yes
		}
		return no
	}
	switch m.Pattern {
	case FromRoot:
		return Bcast
	case PartFromRoot:
		return either(m.Array(m.Out.Count), Scatterv, Scatter)
	case ToRoot:
		return either(reduces, Reduce, either(m.Array(m.In.Count), Gatherv, Gather))
	case ToAll:
		switch {
		case reduces:
			return Allreduce
		case m.Out.Of != "":
			return Alltoall
		}
		return either(m.Array(m.In.Count), Allgatherv, Allgather)
	case PartToAll:
		return either(m.Array(m.Out.Type), Alltoallw, Alltoallv)
	case PartReduced:
		return either(m.Array(m.In.Count), ReduceScatter, ReduceScatterBlock)
	case ToNext:
		return either(strings.Contains(strings.ToLower(c.Name), "exscan"), Exscan, Scan) // the table has them alike
	}
	return NoOperation
}
