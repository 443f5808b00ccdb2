package reissue

import "spoor/trace"

// Handles are the places for handles that some call of a rank fills.
type Handles map[handle]bool

type handle struct {
	kind string
	num  int64
}

// Made collects the handles that the distinct calls of a rank make. What was
// made while tracing was off, and by libraries that call PMPI, isn't among them.
func Made(calls []*trace.Call) Handles {
	made := make(Handles)
	for _, c := range calls {
		for i := range c.Params {
			made.note(c.Params[i].Kind(), &c.Params[i].Out)
		}
		made.note(c.Func.Returns, &c.Result)
	}
	return made
}

func (h Handles) note(kind string, v *trace.Value) {
	switch v.Type {
	case trace.Handle, trace.Object:
		h[handle{kind, v.Num}] = true
	case trace.Array:
		for i := range v.Elems {
			h.note(kind, &v.Elems[i])
		}
	}
}

// Why says why a call can't be made again if it uses a handle that none makes.
func (h Handles) Why(c *trace.Call) string {
	for i := range c.Params {
		p := &c.Params[i]
		list := []trace.Value{p.In}
		if p.In.Type == trace.Array {
			list = p.In.Elems
		}
		for k := range list {
			v := &list[k]
			if (v.Type == trace.Handle || v.Type == trace.Object) && v.Num >= trace.FirstLocal && !h[handle{p.Kind(), v.Num}] {
				return "a handle that was made while tracing was off (" + p.Name() + ")"
			}
		}
	}
	return ""
}
