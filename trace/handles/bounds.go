package handles

import (
	"cmp"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// HandleBounds are upper bounds of the sizes of the datatypes and communicators that a rank's handles mean. A handle
// that means several objects, one after the other, has the maximum over all of them.
type HandleBounds struct {
	ranks int
	types map[int64]trace.NewType
	comms map[int64]CommBound
}

// A CommBound is upper bounds over the communicators that have one handle: numbers of local processes, of remote
// processes, and of source and destination neighbours.
type CommBound struct{ LocalSize, RemoteSize, InNeighbours, OutNeighbours int64 }

// NewHandleBounds returns empty bounds for a rank's handles, in a run with this number of ranks.
func NewHandleBounds(ranks int) *HandleBounds {
	return &HandleBounds{ranks, make(map[int64]trace.NewType), make(map[int64]CommBound)}
}

// AddCreation raises the bounds of a handle by the datatype or communicator that a call creates.
func (b *HandleBounds) AddCreation(c *trace.Call) {
	for i := range c.Params {
		p := &c.Params[i]
		if p.Out.Type != trace.TypeHandle || p.Out.Num < trace.FirstCreatedHandle {
			continue
		}
		switch {
		case c.NewType != nil && p.Kind() == mpi.KindDatatype:
			b.datatype(p.Out.Num, c.NewType)
		case c.NewComm != nil && p.Kind() == mpi.KindComm:
			x := b.comms[p.Out.Num]
			in, out := degrees(c, c.NewComm.Size)
			b.comms[p.Out.Num] = CommBound{max(x.LocalSize, c.NewComm.Size), max(x.RemoteSize, c.NewComm.RemoteSize), max(x.InNeighbours, in), max(x.OutNeighbours, out)}
		}
	}
}

func (b *HandleBounds) datatype(handle int64, n *trace.NewType) {
	old, ok := b.types[handle]
	if !ok {
		b.types[handle] = *n
		return
	}
	high := max(old.TrueLowerBound+old.TrueExtent, n.TrueLowerBound+n.TrueExtent)
	if max(n.Extent, -n.Extent) > max(old.Extent, -old.Extent) {
		old.Extent = n.Extent
	}
	old.TrueLowerBound = min(old.TrueLowerBound, n.TrueLowerBound)
	old.TrueExtent = high - old.TrueLowerBound
	b.types[handle] = old
}

// unknownExtent is used as the extent, in bytes, of unknown predefined datatypes: it exceeds that of most.
const unknownExtent = 16

// Type returns upper bounds of the sizes of the datatypes that a handle means, in bytes.
func (b *HandleBounds) Type(handle int64) trace.NewType {
	if n, ok := b.types[handle]; ok {
		return n
	}
	n, ok := mpi.PredefinedTypeExtent(handle)
	if !ok {
		n = unknownExtent
	}
	return trace.NewType{Size: n, Extent: n, TrueExtent: n}
}

// BufferSpan returns the bytes that count elements of a type take, relative to the
// address that a call is given.
func (b *HandleBounds) BufferSpan(handle, count int64) (low, high int64) {
	if count <= 0 {
		return 0, 0
	}
	n := b.Type(handle)
	first, last := n.TrueLowerBound, n.TrueLowerBound+n.TrueExtent
	step := (count - 1) * n.Extent
	return min(first, first+step), max(last, last+step)
}

// Comm returns upper bounds of the sizes of the communicators that a handle means.
func (b *HandleBounds) Comm(handle int64) CommBound {
	switch handle {
	case mpi.HandleCommWorld:
		return CommBound{LocalSize: int64(b.ranks)}
	case mpi.HandleCommSelf:
		return CommBound{LocalSize: 1}
	}
	x := b.comms[handle]
	x.LocalSize = cmp.Or(x.LocalSize, int64(b.ranks))
	return x
}

// degrees returns upper bounds of how many neighbours a process has in the topology of a communicator that the call
// creates: in sources, out destinations. size is the communicator's size.
func degrees(c *trace.Call, size int64) (in, out int64) {
	num := func(name string) int64 {
		if q := c.Param(name); q != nil && q.In.Type == trace.TypeInt {
			return q.In.Num
		}
		return 0
	}
	length := func(name string) int64 {
		if q := c.Param(name); q != nil {
			return int64(len(q.In.Elems))
		}
		return 0
	}
	both := 2*num("ndims") + 2*length("remain_dims") + length("edges") // a function has at most one of these parameters
	if c.Param("degrees") != nil {
		// Other processes may specify edges of this one: at most one each is assumed, as parallel edges are rare.
		both = size + length("destinations")
	}
	return both + num("indegree"), both + num("outdegree")
}
