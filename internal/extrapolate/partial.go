package extrapolate

import (
	"slices"

	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A lacking is what a rank lacks in a trace without the calls that can't be determined.
type lacking struct {
	left        uint64 // calls that were left out, at least
	requestless bool   // one of these made a request, which may be pending
	objectless  bool   // one of these made or freed an object, so that later handles may be of other objects
}

// leave records that a call is left out, or the calls of a loop.
func (x *maker) leave(n *node) {
	if n.place >= 0 {
		x.left++
		x.lack(n.place, false)
		return
	}
	for _, c := range n.children {
		if c.place >= 0 {
			x.lack(c.place, true)
		}
		x.leave(c)
	}
}

// lack records the effects of leaving out a place's call; in a loop it is not known how often the call is made.
func (x *maker) lack(place int32, loop bool) {
	p := &x.m.places[place]
	x.objectless = x.objectless || handles.ChangesHandles(p.function)
	if !slices.ContainsFunc(p.fields, p.makes) {
		return
	}
	x.requestless = true
	x.of[place]++
	if loop {
		x.pending = slices.DeleteFunc(x.pending, func(d due) bool { return d.place == place })
	}
}

// namesOwn reports whether a call passes a handle of an object that the program made.
func (p *place) namesOwn(values []int64) bool {
	at := 0
	for _, f := range p.fields {
		n := f.values(values[at:])
		if f.param >= 0 && f.param < len(p.function.Params) && p.function.Params[f.param].Type == trace.TypeHandle &&
			slices.ContainsFunc(values[at:at+n], func(v int64) bool { return v >= trace.FirstLocal }) {
			return true
		}
		at += n
	}
	return false
}
