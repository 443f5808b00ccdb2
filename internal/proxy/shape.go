package proxy

import (
	"errors"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

var errShape = errors.New("values don't fit the function")

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
	site    trace.Site
	outputs bool
	result  node
	in, out []node // by parameter
	aux     int    // where the words about a new communicator or datatype start

	vals [][]int64      // by member
	lane map[int]string // by position: the variable of a value that is another in each call
	own  int            // number of its lane, -1 if it has none
	c    *trace.Call
}

// A walker takes the values of a signature apart, as package trace does, and
// notes what has to be alike on all ranks that share a line of the program.
type walker struct {
	vals  []int64
	pos   int
	bad   bool
	shape []int64
}

func decode(f *trace.Function, vals []int64) (*call, []int64, error) {
	if len(vals) == 0 {
		return nil, nil, errShape
	}
	outputs := vals[0] == 0 || vals[0] == mpi.ErrInStatus
	for range 2 {
		w := walker{vals: vals, pos: 1, shape: []int64{vals[0], int64(len(vals))}}
		c := w.call(f, outputs)
		rest := len(vals) - w.pos
		if !w.bad && (rest == 0 || rest == 7 && f.Has(trace.CreatesComm) || rest == 5 && f.Has(trace.CreatesType)) {
			c.aux = w.pos
			return c, w.shape, nil
		}
		outputs = !outputs
	}
	return nil, nil, errShape
}

func (w *walker) call(f *trace.Function, outputs bool) *call {
	c := &call{f: f, outputs: outputs, in: make([]node, len(f.Params)), out: make([]node, len(f.Params))}
	if outputs && f.Result != trace.None {
		c.result = w.scalar(f.Result, true)
	}
	for i := range f.Params {
		p := &f.Params[i]
		if p.In {
			c.in[i] = w.part(p, p.Dims, false)
		}
		if p.Out && outputs {
			c.out[i] = w.part(p, p.Dims, true)
		}
	}
	return c
}

func (w *walker) next() int64 {
	if w.pos >= len(w.vals) {
		w.bad = true
		return 0
	}
	w.pos++
	return w.vals[w.pos-1]
}

func (w *walker) note(v int64) { w.shape = append(w.shape, v) }

func (w *walker) part(p *trace.ParamDef, dims int, out bool) node {
	if dims == 0 {
		return w.scalar(p.Type, out)
	}
	n := node{typ: trace.Array, at: w.pos, n: w.next()}
	w.note(n.n)
	if n.n < trace.ArrayStatusesIgnore || n.n > int64(len(w.vals)-w.pos) {
		w.bad = true
	}
	if w.bad || n.n <= 0 {
		return n
	}
	n.elems = make([]node, n.n)
	for i := range n.elems {
		if w.bad {
			break
		}
		n.elems[i] = w.part(p, dims-1, out)
	}
	return n
}

func (w *walker) scalar(t trace.Type, out bool) node {
	n := node{typ: t, at: w.pos}
	if t == trace.None {
		return n
	}
	v := w.next()
	switch t {
	case trace.Handle, trace.Object:
		if v < trace.FirstLocal {
			w.note(v)
		} else {
			w.note(trace.FirstLocal)
		}
	case trace.Request:
		switch {
		case v <= 0:
			w.note(v)
		default:
			w.note(1 + v&1)
		}
	case trace.Address:
		off := w.next()
		w.note(v & 0xff)
		if v&7 == 0 {
			w.note(off)
		}
	case trace.FunctionRef:
		if !out {
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
		switch trace.StatusForm(v) {
		case trace.StatusAbsent, trace.StatusEmpty:
		case trace.StatusFilled, trace.StatusIgnored:
			for range 4 {
				w.next()
			}
			if out && w.vals[0] == mpi.ErrInStatus {
				w.next()
			}
		case trace.StatusSend:
			w.next()
		default:
			w.bad = true
		}
	}
	return n
}
