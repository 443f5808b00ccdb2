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
		case a.IsLeftOut && x.left.Known && k < len(x.left.Requests):
			r = x.left.Requests[k]
		case k < len(a.Names):
			r, _ = signature.RequestOfName(a.Names[k], x.made)
		}
		list = append(list, r)
	}
	for _, k := range a.Ended.Indices {
		one(k)
	}
	x.left.TakeArray(a, x.made)
	return list
}

// A trait is what matters of a call for its role in an exchange.
type trait uint16

const (
	completes trait = 1 << iota
	blocks
	polls
	ofOne     // request
	ofAll     // requests that it is given
	ofSeveral // of them: any or some
	looks     // for a message, and leaves it where it is
	moves     // data, other than from one rank to another by a message
	begins    // a message, with a request of its own or none
	receives  // a message at once, from where it says, and gives its status
	reads     // a status, and nothing else
)

// traits returns those of a call.
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

// roleTable gives calls their roles. The first row counts whose traits a call has all of.
var roleTable = []struct {
	traits trait
	role   func(x *exchanger, c *call, t int) role
}{
	// Whether there is a message differs from run to run.
	{looks, (*exchanger).roleOfProbe},
	// Which requests completed is in the outputs, and differs from run to run.
	{completes | ofSeveral, (*exchanger).roleOfSeveral},
	// All that it is given has completed: no test is needed for it. A test of all is left as it is.
	{completes | ofAll | blocks, (*exchanger).roleOfAll},
	// A test may have to be made more often; a wait for one is a step of the exchange, as one for all is.
	{completes | ofOne | blocks, (*exchanger).roleOfOne},
	{completes | ofOne | polls, (*exchanger).roleOfOne},
	// All ranks of a communicator or the target have a part in it: it can't be moved.
	{moves, func(*exchanger, *call, int) role { return noRole }},
	// What a test or wait finds later.
	{begins, func(x *exchanger, _ *call, t int) role { x.kind(t, makes); return makes }},
	// What a probe found.
	{receives, func(x *exchanger, _ *call, t int) role { x.kind(t, takes); return takes }},
	// It needs what the call before it found.
	{reads, func(*exchanger, *call, int) role { return asks }},
}

// role returns the role of a call of the variant in an exchange.
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
	case a == nil || !a.Ended.Known:
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

// output is an integer that the call returns; -1 if the call has no output of this name.
func (c *call) output(name string) int64 {
	if i := c.def.Index(name); i >= 0 && c.out[i].typ == trace.TypeInt {
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
		case p.Dir != trace.DirIn && c.in[i].typ != trace.TypeNone, p.Dir == trace.DirOut && p.Type != trace.TypeInt:
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
	if s, ok := l.RequestsSpan(spans); ok {
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
