package proxy

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// array returns the array of requests of a call that may leave some of it unfinished (MPI_Waitany), else nil. If
// members differ in their values, the array is empty.
func (c *call) array() *signature.RequestArray {
	if c.def == nil {
		return nil
	}
	l := c.layout()
	if !l.LeavesRequestArray() {
		return nil
	}
	spans, err := l.Spans(nil, c.vals[0])
	if err != nil || !c.alike() {
		return &signature.RequestArray{}
	}
	a := l.RequestArrayOf(spans, c.vals[0])
	return &a
}

// finishes lists the requests that the stream's next call, of terminal t, finishes. One-shot requests are numbered from
// 1 by creation. Any other request has a number that was not given yet, or 0. finishes also updates x.left as the call
// does.
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
		case a.IsOmitted && x.left.IsKnown && k < len(x.left.RequestNumbers):
			r = x.left.RequestNumbers[k]
		case k < len(a.Names):
			r, _ = signature.RequestOfName(a.Names[k], x.made)
		}
		list = append(list, r)
	}
	for _, k := range a.Ended.Indices {
		one(k)
	}
	x.left.SetArrayAfterCall(a, x.made)
	return list
}

// A trait is a property of a call that determines its role in an exchange.
type trait uint16

const (
	completes trait = 1 << iota
	blocks
	polls
	ofOne     // waits for, or tests, one request
	ofAll     // waits for, or tests, all requests of an array
	ofSeveral // waits for, or tests, any or some requests of an array
	looks     // probes for a message without receiving it
	moves     // moves data other than by a point-to-point message
	begins    // begins a message, with or without a request
	receives  // receives a message at once, from a given source, and returns its status
	reads     // only reads a status
)

// traits returns the traits of a call.
func (c *call) traits() (list trait) {
	is, message := meaning.WaitBehaviourOf(c.def), meaning.DataMovementOf(c.f.Name)
	has := func(param string) bool { return c.def.Index(param) >= 0 }
	plain := message != nil && (message.Pattern == meaning.PatternReceive || message.Pattern == meaning.PatternToPeer)
	for _, x := range []struct {
		trait trait
		is    bool
	}{
		{completes, is.Completes}, {blocks, is.Blocks}, {polls, c.def.Has(mpi.AttrPolls)},
		{ofOne, is.Choice == meaning.ChooseOneRequest}, {ofAll, is.Choice == meaning.ChooseAllRequests},
		{ofSeveral, is.Choice == meaning.ChooseAnyRequest || is.Choice == meaning.ChooseSomeRequests},
		{looks, is.Probes && !has("message")},
		{moves, message != nil && !plain}, {begins, plain && c.def.Has(mpi.AttrNonblocking)},
		{receives, is.Receives && is.Blocks && !has("dest") && has("source") && has("status")},
		{reads, c.def.Has(mpi.AttrLocal) && c.asksStatus()},
	} {
		if x.is {
			list |= x.trait
		}
	}
	return list
}

// roleTable gives calls their roles: each from the first row of which the call has all traits.
var roleTable = []struct {
	traits trait
	role   func(x *exchanger, c *call, t int) role
}{
	// Whether there is a message differs from run to run.
	{looks, (*exchanger).roleOfProbe},
	// Which requests completed is in the outputs, and differs from run to run.
	{completes | ofSeveral, (*exchanger).roleOfSeveral},
	// All requests have completed, so no test is needed. A test of all requests stays as it is.
	{completes | ofAll | blocks, (*exchanger).roleOfAll},
	// A test may have to be repeated. A wait for one request is a step of the exchange, like a wait for all.
	{completes | ofOne | blocks, (*exchanger).roleOfOne},
	{completes | ofOne | polls, (*exchanger).roleOfOne},
	// All ranks of a communicator, or the target, take part: the call can't be moved.
	{moves, func(*exchanger, *call, int) role { return noRole }},
	// A later test or wait finishes the request that the call makes.
	{begins, func(x *exchanger, _ *call, t int) role { x.kind(t, makes); return makes }},
	// The call receives the message that the probe before it found.
	{receives, func(x *exchanger, _ *call, t int) role { x.kind(t, takes); return takes }},
	// The call needs the status of the message that the call before it found.
	{reads, func(*exchanger, *call, int) role { return asks }},
}

// role returns the role of a terminal's calls in an exchange.
func (x *exchanger) role(t int) role {
	c := x.v.calls[t]
	if c.def == nil || c.own >= 0 && c.lane != nil || c.generalises() || x.g.why(x.v, t) != "" || x.v.ranks[0].Lane(t) != nil || c.vals[0][0] != 0 {
		return noRole
	}
	has := c.traits()
	for _, row := range roleTable {
		if has&row.traits == row.traits {
			return row.role(x, c, t)
		}
	}
	return noRole
}

func (x *exchanger) roleOfProbe(c *call, _ int) role {
	if c.output("flag") == 0 {
		return inVain
	}
	return probes
}

func (x *exchanger) roleOfSeveral(c *call, t int) role {
	switch a := x.array[t]; {
	case a == nil || !a.Ended.AreKnown:
	case len(a.Ended.Indices) > 0:
		return tests
	case c.def.Has(mpi.AttrPolls):
		return inVain
	}
	return noRole
}

func (x *exchanger) roleOfAll(c *call, t int) role {
	if x.done[t] = c.all(); len(x.done[t]) > 0 {
		return waits
	}
	return noRole
}

func (x *exchanger) roleOfOne(c *call, t int) role {
	for m, vals := range c.vals {
		list := c.finished(vals)
		if m > 0 && !slices.Equal(list, x.done[t]) || slices.Contains(list, 0) {
			return noRole
		}
		x.done[t] = list
	}
	switch found := len(x.done[t]) > 0; {
	case found && meaning.WaitBehaviourOf(c.def).Blocks:
		return waits
	case found:
		return tests
	case c.def.Has(mpi.AttrPolls):
		return inVain
	}
	return noRole
}

// output returns an integer output of the call on the first member; -1 if there is no output of this name.
func (c *call) output(name string) int64 {
	if i := c.def.Index(name); i >= 0 && c.out[i].typ == trace.TypeInt {
		return c.vals[0][c.out[i].at]
	}
	return -1
}

// asksStatus reports whether a call's inputs are a status and values that are equal on all ranks.
func (c *call) asksStatus() bool {
	status := false
	for i := range c.f.Params {
		switch p := &c.f.Params[i]; {
		case p.Kind == mpi.KindStatus && p.Dir == trace.DirIn:
			status = true
		case p.Dir != trace.DirIn && c.in[i].typ != trace.TypeNone, p.Dir == trace.DirOut && p.Type != trace.TypeInt:
			return false
		}
	}
	return status
}

// all lists, for the requests that a call waits for, how many creations ago each was made: 1 is the newest one-shot
// request, 0 any other request. It returns nil if members differ.
func (c *call) all() (list []int64) {
	l := c.layout()
	spans, err := l.Spans(nil, c.vals[0])
	if err != nil || !c.alike() {
		return nil
	}
	if s, ok := l.RequestsSpan(spans); ok {
		for _, v := range c.vals[0][s.First+1 : s.End] {
			switch {
			case v == 0: // null request
			case v < 0 || v&1 != 0:
				list = append(list, 0)
			default:
				list = append(list, v>>1)
			}
		}
	}
	return list
}

// finished lists how many creations ago the request was made that a test or wait for one request finishes: 1 is the
// newest one-shot request, 0 any other request. It returns nil if none was finished.
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
