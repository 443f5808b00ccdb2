package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// An EventKind distinguishes sends and collective calls among the events of an order.
type EventKind uint8

// The kinds.
const (
	NoEvent EventKind = iota // none of those calls that were looked at concerns the rank
	SendEvent
	MeetingEvent // a rank's part of a collective call
	EndEvent
)

// An Event is a send or a rank's part of a collective call.
type Event struct {
	Kind  EventKind
	Rank  int    // who makes the call
	Index uint64 // which it is
	Message
}

// An EventOrder goes through the calls of all ranks.
type EventOrder struct {
	Calls uint64 // so far

	of     int // the rank whose events are wanted, -1: all
	ranks  []*rankPosition
	ready  []int // whose turn it is, first of all
	groups map[int]*collectiveGroup
	events []Event // that come next
}

// A rankPosition is a rank's position in its calls.
type rankPosition struct {
	view *RankView
	walk *trace.Walk
	at   *collectiveGroup // where it waits for others, nil: nowhere
	call uint64           // in this one
}

// A collectiveGroup is a communicator with the members that have arrived at its current collective call.
type collectiveGroup struct {
	comm     *handles.Comm
	members  int
	function string
	there    []int // in the one at hand
}

// NewEventOrder begins the order of a trace, for a rank: it gets what the rank does and what is sent to it; -1: everything.
// There MUST be no DeriveObstacles.
func NewEventOrder(r *trace.Reader, rank int) (*EventOrder, error) {
	o := &EventOrder{of: rank, groups: make(map[int]*collectiveGroup)}
	source, err := ops.NewSource(r, ops.Options{IgnoreTimes: true, PerMember: true})
	if err != nil {
		return nil, err
	}
	for n := range r.Ranks() {
		k, err := r.Rank(n)
		if err != nil {
			return nil, err
		}
		p := &rankPosition{}
		if p.view, err = newView(source, k); err != nil {
			return nil, err
		}
		if p.walk, err = k.Walk(0, 0); err != nil {
			return nil, err
		}
		o.ranks = append(o.ranks, p)
		o.ready = append(o.ready, n)
	}
	return o, nil
}

// View returns what the calls of a rank are to others.
func (o *EventOrder) View(rank int) *RankView { return o.ranks[rank].view }

// Next returns the event that comes next. It looks at most calls, and returns NoEvent if none of these is an event.
func (o *EventOrder) Next(most int) (e Event, err error) {
	for len(o.events) == 0 {
		if len(o.ready) == 0 {
			return Event{Kind: EndEvent}, o.stuck()
		}
		if most == 0 {
			return e, nil
		}
		most--
		if err := o.step(); err != nil {
			return e, err
		}
	}
	e = o.events[0]
	if o.events = o.events[1:]; len(o.events) == 0 {
		o.events = nil
	}
	return e, nil
}

// step looks at one call of the rank whose turn it is.
func (o *EventOrder) step() error {
	n := o.ready[0]
	p := o.ranks[n]
	if !p.walk.Next() {
		o.ready = o.ready[1:]
		return p.walk.Err()
	}
	o.Calls++
	c := p.walk.Call()
	a, err := p.view.RoleOf(c)
	switch {
	case err != nil:
		return err
	case a.Role == RoleMeets:
		o.ready = o.ready[1:]
		return o.meet(n, c.Index, a)
	case len(a.Messages) == 0:
		return nil
	}
	for _, m := range a.Messages {
		o.add(Event{SendEvent, n, c.Index, m})
	}
	o.ready = append(o.ready[1:], n)
	return nil
}

func (o *EventOrder) add(e Event) {
	if o.of < 0 || e.Rank == o.of || e.Kind == SendEvent && e.To == o.of {
		o.events = append(o.events, e)
	}
}

// meet has a rank wait for the others in a collective call. The last one lets all go on.
func (o *EventOrder) meet(rank int, index uint64, a *RoleAndMessages) error {
	number := a.with.ChannelKey()
	g := once.GetOrMake(o.groups, number, func() *collectiveGroup {
		return &collectiveGroup{comm: a.with, members: a.with.Size + a.with.RemoteSize}
	})
	if len(g.there) == 0 {
		g.function = a.function
	} else if g.function != a.function {
		return fmt.Errorf("on %v rank %d calls %s where rank %d calls %s", g.comm, rank, a.function, g.there[0], g.function)
	}
	p := o.ranks[rank]
	p.at, p.call = g, index
	if g.there = append(g.there, rank); len(g.there) < g.members {
		return nil
	}
	slices.Sort(g.there)
	for _, n := range g.there {
		p := o.ranks[n]
		p.at = nil
		o.add(Event{Kind: MeetingEvent, Rank: n, Index: p.call})
		o.ready = append(o.ready, n)
	}
	g.there = g.there[:0]
	return nil
}

// stuck returns an error that lists the collective calls which not all members reach; nil without any.
func (o *EventOrder) stuck() error {
	var list []string
	seen := make(map[*collectiveGroup]bool)
	for _, p := range o.ranks {
		if g := p.at; g != nil && !seen[g] {
			seen[g] = true
			list = append(list, fmt.Sprintf("%s on %v has %d of %d ranks, the first of them %d", g.function, g.comm, len(g.there), g.members, g.there[0]))
		}
	}
	if list == nil {
		return nil
	}
	if n := len(list); n > 3 {
		list = append(list[:3], fmt.Sprintf("and %d more", n-3))
	}
	return fmt.Errorf("collective calls that not all members come to: %s", strings.Join(list, "; "))
}

// A OrderSummary is what there is in an order.
type OrderSummary struct {
	Calls, Messages uint64
	Largest         int64 // message, in bytes
}

// SummariseOrder goes through an order to its end: it returns an error if there is no order.
func SummariseOrder(r *trace.Reader) (s OrderSummary, err error) {
	o, err := NewEventOrder(r, -1)
	for err == nil {
		var e Event
		if e, err = o.Next(1 << 20); err != nil || e.Kind == EndEvent {
			break
		}
		if e.Kind == SendEvent {
			s.Messages++
			s.Largest = max(s.Largest, e.Bytes)
		}
	}
	if err != nil {
		return s, fmt.Errorf("replay: %w", err)
	}
	s.Calls = o.Calls
	return s, nil
}
