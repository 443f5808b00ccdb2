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

// The kinds of events.
const (
	NoEvent EventKind = iota // none of the calls read concerns the rank
	SendEvent
	MeetingEvent // a rank's part of a collective call
	EndEvent
)

// An Event is a send, or a rank's part of a collective call.
type Event struct {
	Kind  EventKind
	Rank  int    // the rank that makes the call
	Index uint64 // index of the call
	Message
}

// An EventOrder steps through the calls of all ranks, and yields their sends and collective calls as events.
type EventOrder struct {
	CallsRead uint64 // number of calls read so far, of all ranks

	of     int // rank whose events are wanted; -1: all
	ranks  []*rankPosition
	ready  []int // queue of the ranks that can advance
	groups map[int]*collectiveGroup
	events []Event // found and not yet returned by Next
}

// A rankPosition is a rank's position in its calls.
type rankPosition struct {
	view *RankCallRoles
	walk *trace.Walk
	at   *collectiveGroup // collective call at which it waits for others; nil: none
	call uint64           // index of the call at which it waits
}

// A collectiveGroup is a communicator with the members that have arrived at its current collective call.
type collectiveGroup struct {
	comm     *handles.Comm
	members  int
	function string
	there    []int // world ranks that have arrived, in order of arrival
}

// NewEventOrder begins the order of a trace. It yields the events of a rank and the sends to it; rank -1: all events.
// DerivedReceiveObstacles MUST be empty for the trace.
func NewEventOrder(r *trace.Reader, rank int) (*EventOrder, error) {
	o := &EventOrder{of: rank, groups: make(map[int]*collectiveGroup)}
	source, err := ops.NewSource(r, ops.Options{IgnoreTimes: true, FindBytesPerMember: true})
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

// CallRolesOf returns the roles of a rank's calls.
func (o *EventOrder) CallRolesOf(rank int) *RankCallRoles { return o.ranks[rank].view }

// Next returns the next event. It reads at most most calls, and returns an event of kind NoEvent if none of them is
// one.
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

// step reads one call of the next rank in the queue.
func (o *EventOrder) step() error {
	n := o.ready[0]
	p := o.ranks[n]
	if !p.walk.Next() {
		o.ready = o.ready[1:]
		return p.walk.Err()
	}
	o.CallsRead++
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
	if o.of < 0 || e.Rank == o.of || e.Kind == SendEvent && e.ToWorldRank == o.of {
		o.events = append(o.events, e)
	}
}

// meet has a rank wait for the others at a collective call. When the last one arrives, all go on.
func (o *EventOrder) meet(rank int, index uint64, a *RoleAndMessages) error {
	number := a.with.ChannelID()
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

// stuck returns an error that lists the collective calls which not all members reach; nil if all do.
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

// An OrderSummary counts the events of an order.
type OrderSummary struct {
	Calls, Messages uint64
	MaxMessageBytes int64 // size of the largest message in bytes
}

// SummariseOrder runs an order to its end. It returns an error if some collective call is never complete.
func SummariseOrder(r *trace.Reader) (s OrderSummary, err error) {
	o, err := NewEventOrder(r, -1)
	for err == nil {
		var e Event
		if e, err = o.Next(1 << 20); err != nil || e.Kind == EndEvent {
			break
		}
		if e.Kind == SendEvent {
			s.Messages++
			s.MaxMessageBytes = max(s.MaxMessageBytes, e.Bytes)
		}
	}
	if err != nil {
		return s, fmt.Errorf("replay: %w", err)
	}
	s.Calls = o.CallsRead
	return s, nil
}
