package proxy

import (
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A node is a value of a signature, by position: what it is on a rank stands
// in that rank's values.
type node struct {
	typ   trace.Type
	at    int   // position of its first number
	n     int64 // of an array: length or special; of a status: form
	elems []node
}

// A call is a distinct call of a variant: its function and where its values
// are.
type call struct {
	f       *trace.Function
	def     *mpi.Call // nil if this release doesn't know the function
	site    trace.Site
	outputs bool
	result  node
	in, out []node // by parameter

	vals  [][]int64      // by member
	shape []int64        // what has to be alike on all ranks that share a line
	lane  map[int]string // by position: the variable of a value that is another in each call
	own   int            // number of its lane, -1 if it has none
	lists map[int]List   // by position of their length: arrays that are expressions
	from  map[int]string // by parameter: requests that are expressions
	c     *trace.Call
}

// generalises reports whether the call makes a generalised request.
func (c *call) generalises() bool { return c.def.Has(mpi.Nonblocking) && c.def.Index("query_fn") >= 0 }

// A walker turns the spans of a signature into nodes, and notes what has to be alike on all
// ranks that share a line of the program.
type walker struct {
	vals  []int64
	shape []int64
}

func decode(f *trace.Function, vals []int64) (*call, []int64, error) {
	spans, err := sections.SpansOf(f, nil, vals)
	if err != nil {
		return nil, nil, err
	}
	def, _ := mpi.ByID(f.ID)
	c := &call{f: f, def: def, in: make([]node, len(f.Params)), out: make([]node, len(f.Params))}
	w := walker{vals: vals, shape: []int64{vals[0], int64(len(vals))}}
	for i := range spans {
		s := &spans[i]
		c.outputs = c.outputs || s.Out
		switch {
		case s.Param == signature.Made:
		case s.Param == signature.Result:
			c.result = w.node(f.Result, s)
		case s.Out:
			c.out[s.Param] = w.node(f.Params[s.Param].Type, s)
		default:
			c.in[s.Param] = w.node(f.Params[s.Param].Type, s)
		}
	}
	return c, w.shape, nil
}

func (w *walker) note(v int64) { w.shape = append(w.shape, v) }

func (w *walker) node(t trace.Type, s *signature.Span) node {
	if s.Dims == 0 {
		return w.scalar(t, s)
	}
	n := node{typ: trace.Array, at: s.At, n: w.vals[s.At]}
	w.note(n.n)
	if n.n > 0 {
		n.elems = make([]node, 0, n.n)
		for e := range s.Elements(w.vals) {
			n.elems = append(n.elems, w.node(t, &e))
		}
	}
	return n
}

func (w *walker) scalar(t trace.Type, s *signature.Span) node {
	n := node{typ: t, at: s.At}
	v := w.vals[s.At]
	switch t {
	case trace.Handle, trace.Object:
		w.note(min(v, trace.FirstLocal))
	case trace.Request:
		switch {
		case v <= 0:
			w.note(v)
		default:
			w.note(1 + v&1)
		}
	case trace.Address:
		const within = 1 << 8 // class and device
		w.note(v & (within - 1))
		if signature.SegClass(v) == signature.SegSpecial {
			w.note(w.vals[s.At+1])
		}
	case trace.FunctionRef:
		if !s.Out {
			w.note(v)
		}
	case trace.String:
		if v == 0 {
			w.note(0)
		} else {
			w.note(1)
		}
	case trace.Status:
		n.n = v
		w.note(v)
	}
	return n
}
