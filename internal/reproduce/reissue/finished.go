package reissue

import "github.com/spoor-hpc/spoor/trace"

// An At is a place in a call: a parameter, and which element of an array, or -1.
type At struct{ Param, Elem int }

// Value returns what goes in at a place, or comes out; nil if nothing does.
func (a At) Value(c *trace.Call, out bool) *trace.Value {
	if a.Param < 0 {
		return nil
	}
	v := &c.Params[a.Param].In
	if out {
		v = &c.Params[a.Param].Out
	}
	switch {
	case a.Elem < 0:
		return v
	case a.Elem < len(v.Elems):
		return &v.Elems[a.Elem]
	}
	return nil
}

// Finished calls f with each request that a call asks about or has finished, and where the status is that it gave; that is
// in no parameter if there is none. A test that said no is among them, and so is what a call that failed left under way.
func Finished(c *trace.Call, f func(request, status At)) {
	index := func(name string) int {
		for i := range c.Params {
			if c.Params[i].Name() == name {
				return i
			}
		}
		return -1
	}
	one := At{index("status"), -1}
	if r := index("request"); r >= 0 && c.Params[r].In.Type == trace.Request {
		f(At{r, -1}, one)
	}
	r := index("array_of_requests")
	if r < 0 {
		return
	}
	all, which, n := index("array_of_statuses"), c.Param("array_of_indices"), int64(len(c.Params[r].In.Elems))
	switch at := c.Param("index"); {
	case at != nil:
		if k := at.Out.Num; at.Out.Type == trace.Int && k >= 0 && k < n {
			f(At{r, int(k)}, one)
		}
	case all < 0:
	case which != nil:
		for i := range which.Out.Elems {
			if k := which.Out.Elems[i].Num; k >= 0 && k < n {
				f(At{r, int(k)}, At{all, i})
			}
		}
	default:
		for k := range int(n) {
			f(At{r, k}, At{all, k})
		}
	}
}
