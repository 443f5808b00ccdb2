package extrapolate

import (
	"slices"

	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A lacking is what a rank of a partial trace lacks.
type lacking struct {
	left        uint64 // least number of left-out calls, as trip counts may be unknown
	requestless bool   // a left-out call made a request, which may be pending
	objectless  bool   // a left-out call made or freed an object, so later handles may mean other objects
}

// leave records that the call of a place is left out, or all calls of a loop.
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

// lack records the effects of leaving out a place's call. In a loop the number of these calls is unknown.
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

// namesOwn reports whether a call passes a handle of an object made by the program.
func (p *place) namesOwn(values []int64) bool {
	at := 0
	for _, f := range p.fields {
		n := f.values(values[at:])
		if f.param >= 0 && f.param < len(p.function.Params) && p.function.Params[f.param].Type == trace.TypeHandle &&
			slices.ContainsFunc(values[at:at+n], func(v int64) bool { return v >= trace.FirstCreatedHandle }) {
			return true
		}
		at += n
	}
	return false
}
