package reissue

import (
	"strings"

	"spoor/trace"
)

// touch notes that a call uses bytes at an address.
func (p *planner) touch(v *trace.Value, low, high int64, given bool) {
	if v.Type != trace.Address || v.Addr.Class == trace.Special {
		return
	}
	place := Place{v.Addr.Class, v.Addr.Device, v.Addr.ID}
	s := p.segments[place]
	low, high = v.Addr.Offset+low, v.Addr.Offset+max(high, low+1)
	if s == nil {
		s = &Segment{Place: place, Low: low, High: high}
		p.segments[place] = s
	}
	s.Low, s.High = min(s.Low, low), max(s.High, high)
	s.Given = s.Given || given
}

// enough is how much memory is set aside where a call doesn't say how much it
// uses: a variable of the tools interface, the state of a callback.
const enough = 64

// memory notes all memory that a call touches.
func (p *planner) memory(c *trace.Call) {
	gives := Gives(c.Name())
	for i := range c.Params {
		q := &c.Params[i]
		if q.Def.Type != trace.Address || q.Def.Dims > 0 {
			continue
		}
		given := gives && q.Kind() == "pointerout"
		if !hasBuffers(c) {
			p.touch(&q.In, 0, enough, given)
		}
		p.touch(&q.Out, 0, 1, given)
	}
	if strings.HasPrefix(c.Name(), "MPI_T_") {
		for i := range c.Params {
			if q := &c.Params[i]; q.Kind() == "buffer" {
				p.touch(&q.In, 0, 4096, false)
			}
		}
		return
	}
	p.buffers(c)
}

// hasBuffers reports whether the function has choice buffers, which buffers
// looks at.
func hasBuffers(c *trace.Call) bool {
	for i := range c.Params {
		if c.Params[i].Kind() == "buffer" {
			return true
		}
	}
	return false
}

// Gives reports whether a function hands out memory.
func Gives(name string) bool {
	switch strings.TrimSuffix(name, "_c") {
	case "MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query":
		return true
	}
	return false
}

// buffers goes through the choice buffers of a call. Nearly everywhere the
// parameters behind a buffer say what is there: a count and a type, or arrays
// of counts and displacements and one or several types. What else there is to
// know, how often a count is meant, depends on the function.
func (p *planner) buffers(c *trace.Call) {
	for i := range c.Params {
		if c.Params[i].Kind() != "buffer" || c.Params[i].In.Type != trace.Address {
			continue
		}
		low, high := p.reach(c, i)
		p.touch(&c.Params[i].In, low, high, false)
	}
}

// reach returns the bytes that a call uses from its i-th parameter on.
func (p *planner) reach(c *trace.Call, i int) (low, high int64) {
	name := strings.TrimSuffix(strings.TrimSuffix(c.Name(), "_c"), "_init")
	num := func(param string) int64 {
		if q := c.Param(param); q != nil && q.In.Type == trace.Int {
			return q.In.Num
		}
		return 0
	}
	param := c.Params[i].Name()
	switch name {
	case "MPI_Pack", "MPI_Pack_external":
		if param == "outbuf" {
			return 0, num("outsize")
		}
	case "MPI_Unpack", "MPI_Unpack_external":
		if param == "inbuf" {
			return 0, num("insize")
		}
	case "MPI_Buffer_attach", "MPI_Comm_attach_buffer", "MPI_Session_attach_buffer", "MPI_Win_create", "MPI_Win_attach":
		return 0, num("size")
	case "MPI_Free_mem", "MPI_Win_detach", "MPI_Get_address", "MPI_Address":
		return 0, 1
	}
	// Counts, displacements and types that follow, up to the next buffer that
	// has its own.
	var counts, displs, kinds *trace.Value
	partitions := int64(1)
	for j := i + 1; j < len(c.Params); j++ {
		q := &c.Params[j]
		v := &q.In
		switch q.Kind() {
		case "count", "count64":
			if counts == nil {
				counts = v
			}
		case "disp", "aint":
			if v.Type == trace.Array && displs == nil && kinds == nil {
				displs = v
			}
		case "datatype":
			if kinds == nil {
				kinds = v
			}
		case "int":
			if q.Name() == "partitions" {
				partitions = max(1, v.Num)
			}
		}
		if kinds != nil {
			break
		}
	}
	if kinds == nil {
		return 0, 1 // split collectives said it when they began
	}
	if counts == nil { // Fetch_and_op, Compare_and_swap
		return p.types.span(kinds.Num, 1)
	}
	if counts.Type == trace.Array {
		return p.vector(name, param, counts, displs, kinds)
	}
	return p.types.span(kinds.Num, counts.Num*partitions*p.times(c, name, param))
}

// vector is the reach of a buffer with an array of counts.
func (p *planner) vector(name, param string, counts, displs, kinds *trace.Value) (low, high int64) {
	if displs == nil || displs.Type != trace.Array { // Reduce_scatter
		sum := int64(0)
		for i := range counts.Elems {
			sum += counts.Elems[i].Num
		}
		return p.types.span(kinds.Num, sum)
	}
	for i := range counts.Elems {
		if i >= len(displs.Elems) {
			break
		}
		kind, at := kinds.Num, displs.Elems[i].Num
		if kinds.Type == trace.Array {
			if i >= len(kinds.Elems) {
				break
			}
			kind = kinds.Elems[i].Num // displacements are bytes
		} else {
			at *= p.types.of(kind).Extent
		}
		l, h := p.types.span(kind, counts.Elems[i].Num)
		if counts.Elems[i].Num > 0 {
			low, high = min(low, at+l), max(high, at+h)
		}
	}
	return low, high
}

// times is how often the count of a parameter is in its buffer.
func (p *planner) times(c *trace.Call, name, param string) int64 {
	q := c.Param("comm")
	if q == nil {
		return 1
	}
	comm := p.comm(&q.In)
	all := max(comm.local, comm.remote)
	base := strings.TrimPrefix(name, "MPI_")
	base = strings.TrimPrefix(strings.ToLower(base), "i")
	send := strings.HasPrefix(param, "send")
	switch base {
	case "gather", "allgather":
		if !send {
			return all
		}
	case "scatter":
		if send {
			return all
		}
	case "alltoall":
		return all
	case "reduce_scatter_block":
		if send {
			return all
		}
	case "neighbor_allgather":
		if !send {
			return max(1, comm.in)
		}
	case "neighbor_alltoall":
		if send {
			return max(1, comm.out)
		}
		return max(1, comm.in)
	}
	return 1
}
