package reissue

import (
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// touch records that a call uses the bytes from low up to high, relative to address v. given: the MPI allocated them.
func (p *planner) touch(v *trace.Value, low, high int64, given bool) {
	if v.Type != trace.TypeAddress || v.Addr.Class == trace.AddressSpecial {
		return
	}
	place := SegmentOf(&v.Addr)
	s := p.segments[place]
	low, high = v.Addr.Offset+low, v.Addr.Offset+max(high, low+1)
	if s == nil {
		s = &TouchedSegment{MemorySegment: place, Low: low, High: high}
		p.segments[place] = s
	}
	s.Low, s.High = min(s.Low, low), max(s.High, high)
	s.FromMPI = s.FromMPI || given
}

// enough is the number of bytes reserved if a call doesn't show how many it uses: a variable of the tools interface,
// the state of a callback.
const enough = 64

// memory records all memory that a call touches.
func (p *planner) memory(c *trace.Call) {
	def, ok := mpi.CallNamed(c.Name())
	if !ok {
		return
	}
	gives := def.Has(mpi.AttrAllocatesMemory)
	buffers := false
	for i := range c.Params {
		q := &c.Params[i]
		if q.Kind() != mpi.KindBuffer {
			continue
		}
		buffers = true
		if q.In.Type != trace.TypeAddress {
			continue
		}
		low, high := int64(0), int64(1) // without a count, only the first byte is certain
		if at := def.Index(q.Name()); at >= 0 {
			switch x := &def.Params[at].BufferContent; {
			case x.Count != "" || x.Type != "":
				low, high = p.reach(c, x)
			case def.Has(mpi.AttrTool): // a variable of the tools interface, of unknown size
				high = 4096
			}
		}
		p.touch(&q.In, low, high, false)
	}
	for i := range c.Params {
		q := &c.Params[i]
		if q.Def.Type != trace.TypeAddress || q.Def.Dims > 0 {
			continue
		}
		if !buffers {
			p.touch(&q.In, 0, enough, gives && q.Kind() == mpi.KindPointerOut)
		}
		p.touch(&q.Out, 0, 1, gives && q.Kind() == mpi.KindPointerOut)
	}
}

// AllocatesMemory reports whether a function returns newly allocated memory.
func AllocatesMemory(name string) bool {
	def, ok := mpi.CallNamed(name)
	return ok && def.Has(mpi.AttrAllocatesMemory)
}

// reach returns the range of bytes, relative to its address, that a call may use of a buffer.
func (p *planner) reach(c *trace.Call, x *mpi.BufferContent) (low, high int64) {
	value := func(param string) *trace.Value {
		if q := c.Param(param); q != nil && param != "" {
			return &q.In
		}
		return &trace.Value{}
	}
	counts, kinds := value(x.Count), value(x.Type)
	n := int64(1)
	if x.Count != "" {
		n = counts.Num
	}
	switch {
	case x.Type == "":
		return 0, n
	case counts.Type == trace.TypeArray:
		return p.vector(counts, value(x.Displs), kinds)
	case x.Partitions != "":
		n *= max(1, value(x.Partitions).Num)
	}
	if x.Comm != "" {
		switch comm := p.bounds.Comm(value(x.Comm).Num); x.Multiplicity {
		case mpi.PropertyInDegree:
			n *= max(1, comm.InNeighbours)
		case mpi.PropertyOutDegree:
			n *= max(1, comm.OutNeighbours)
		default:
			n *= max(comm.LocalSize, comm.RemoteSize)
		}
	}
	return p.bounds.BufferSpan(kinds.Num, n)
}

// vector does what reach does, for a buffer with an array of counts, as in MPI_Gatherv.
func (p *planner) vector(counts, displs, kinds *trace.Value) (low, high int64) {
	// Blocks follow each other without displacements. With MPI_IN_PLACE, the other ranks' blocks are in the buffer,
	// too.
	if displs.Type != trace.TypeArray {
		sum := int64(0)
		for i := range counts.Elems {
			sum += counts.Elems[i].Num
		}
		return p.bounds.BufferSpan(kinds.Num, sum)
	}
	for i := range counts.Elems {
		if i >= len(displs.Elems) {
			break
		}
		kind, at := kinds.Num, displs.Elems[i].Num
		if kinds.Type == trace.TypeArray {
			if i >= len(kinds.Elems) {
				break
			}
			kind = kinds.Elems[i].Num // with a datatype for each block, displacements are in bytes
		} else {
			at *= p.bounds.Type(kind).Extent
		}
		l, h := p.bounds.BufferSpan(kind, counts.Elems[i].Num)
		if counts.Elems[i].Num > 0 {
			low, high = min(low, at+l), max(high, at+h)
		}
	}
	return low, high
}

// A StandIn is a function that replaces a callback of the program.
type StandIn int

// Functions that replace callbacks. The numbers are part of the interface to replayer/under/under.c.
const (
	StandInNoOp   StandIn = iota // does nothing and succeeds
	StandInCopy                  // copies an attribute
	StandInNoCopy                // doesn't copy an attribute
	StandInQuery                 // sets the status of a generalized request
	StandInExtent                // returns the extent of a datatype in a file
)

// StandInFor returns the stand-in for a callback parameter. null: the program passed the null pointer, by which some
// MPIs represent predefined functions such as MPI_NULL_COPY_FN. ok is false if the null pointer represents no
// function for this parameter.
func StandInFor(param string, null bool) (s StandIn, ok bool) {
	copies := strings.HasPrefix(param, "copy_") || strings.Contains(param, "_copy_")
	switch {
	case copies && null:
		return StandInNoCopy, true
	case copies:
		return StandInCopy, true
	case strings.Contains(param, "delete_"):
		return StandInNoOp, true
	case param == "query_fn":
		return StandInQuery, !null
	case param == "dtype_file_extent_fn":
		return StandInExtent, !null
	}
	return StandInNoOp, !null
}
