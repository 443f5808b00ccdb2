package proxy

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// array is what there is of the array of requests of a call that leaves one. Where members differ nothing is known of it.
func (c *call) array() *signature.RequestArray {
	if c.def == nil {
		return nil
	}
	l := c.layout()
	if !l.Leaves() {
		return nil
	}
	spans, err := l.Spans(nil, c.vals[0])
	if err != nil || !c.alike() {
		return &signature.RequestArray{}
	}
	a := l.ArrayOf(spans, c.vals[0])
	return &a
}

// finishes lists the requests that the next call finishes, by how many were made with them, and goes on from it.
func (x *exchanger) finishes(t int) (list []int64) {
	a := x.array[t]
	if a == nil {
		for _, ago := range x.done[t] {
			list = append(list, x.made-ago+1)
		}
		return list
	}
	one := func(k int) {
		r := int64(0)
		switch {
		case a.AsLeft && x.left.Known && k < len(x.left.Requests):
			r = x.left.Requests[k]
		case k < len(a.Names):
			r, _ = signature.RequestOf(a.Names[k], x.made)
		}
		list = append(list, r)
	}
	for _, k := range a.Ending.Numbers {
		one(k)
	}
	x.left.Take(a, x.made)
	return list
}

// role returns the role of a call of the variant in an exchange.
func (x *exchanger) role(t int) role {
	c := x.v.calls[t]
	if c.def == nil || c.own >= 0 && c.lane != nil || c.generalises() || x.g.why(x.v, t) != "" || x.v.ranks[0].Lane(t) != nil || c.vals[0][0] != 0 {
		return noRole
	}
	is := meaning.WaitingOf(c.def)
	message := meaning.Of(c.f.Name)
	flag := c.output("flag")
	switch {
	case is.Probes && c.def.Index("message") < 0:
		if flag == 0 {
			return inVain
		}
		return probes
	case is.Completes && (is.Choice == meaning.AnyRequest || is.Choice == meaning.SomeRequests):
		switch a := x.array[t]; {
		case a == nil || !a.Ending.Known:
		case len(a.Ending.Numbers) > 0:
			return tests
		case c.def.Has(mpi.Polls):
			return inVain
		}
	case is.Completes && is.Blocks && is.Choice == meaning.AllRequests:
		if x.done[t] = c.all(); len(x.done[t]) > 0 {
			return waits
		}
	case is.Completes && is.Choice == meaning.OneRequest && (is.Blocks || c.def.Has(mpi.Polls)):
		for m, vals := range c.vals {
			list := c.finished(vals)
			if m > 0 && !slices.Equal(list, x.done[t]) || slices.Contains(list, 0) {
				return noRole
			}
			x.done[t] = list
		}
		if len(x.done[t]) > 0 && is.Blocks {
			return waits
		}
		if len(x.done[t]) > 0 {
			return tests
		}
		if c.def.Has(mpi.Polls) {
			return inVain
		}
	case message != nil && message.Pattern != meaning.Receive && message.Pattern != meaning.ToPeer:
	case message != nil && c.def.Has(mpi.Nonblocking) && !message.Pattern.Collective():
		x.kind(t, makes)
		return makes
	case is.Receives && is.Blocks && c.def.Index("dest") < 0 && c.def.Index("source") >= 0 && c.def.Index("status") >= 0:
		x.kind(t, takes)
		return takes
	case c.def.Has(mpi.Local) && c.asksStatus():
		return asks
	}
	return noRole
}

// output is an integer that the call returns; -1 if the call has no output of this name.
func (c *call) output(name string) int64 {
	if i := c.def.Index(name); i >= 0 && c.out[i].typ == trace.Int {
		return c.vals[0][c.out[i].at]
	}
	return -1
}

// asksStatus reports whether all that goes into a call is a status and what is alike on all ranks.
func (c *call) asksStatus() bool {
	status := false
	for i := range c.f.Params {
		switch p := &c.f.Params[i]; {
		case p.Kind == mpi.KindStatus && p.Dir == trace.DirIn:
			status = true
		case p.Dir != trace.DirIn && c.in[i].typ != trace.None, p.Dir == trace.DirOut && p.Type != trace.Int:
			return false
		}
	}
	return status
}

// all lists how many creations ago the requests were made that a call waits for; 0 is a request of another kind. Where members differ
// nothing is known of them.
func (c *call) all() (list []int64) {
	l := c.layout()
	spans, err := l.Spans(nil, c.vals[0])
	if err != nil || !c.alike() {
		return nil
	}
	if s, ok := l.Requests(spans); ok {
		for _, v := range c.vals[0][s.First+1 : s.End] {
			switch {
			case v == 0: // null
			case v < 0 || v&1 != 0:
				list = append(list, 0)
			default:
				list = append(list, v>>1)
			}
		}
	}
	return list
}

// finished lists how many creations ago the request was made that a test finishes; 0 is a request of another kind.
func (c *call) finished(vals []int64) []int64 {
	i := c.def.Index("request")
	if c.output("flag") == 0 || i < 0 {
		return nil
	}
	v := vals[c.in[i].at]
	if v <= 0 || v&1 != 0 {
		v = 0
	}
	return []int64{v >> 1}
}
