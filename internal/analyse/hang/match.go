package hang

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A matching records which operations on messages have found their partner.
type matching struct {
	s        *Snapshot
	taken    map[Channel]uint64 // messages that certainly go to receives that have not completed
	perhaps  map[Channel]uint64 // how many incomplete wildcard receives may have taken a message
	likely   map[Channel]uint64 // how many of them are assumed to have taken one
	incoming map[inbox][]Channel
	matched  []bool // by operation
}

// An inbox identifies a queue of a rank: its communicator and receiver.
type inbox struct{ comm, to int }

// match pairs messages with receives as MPI does. A message goes to the first posted receive that fits it, and the
// messages of a channel are taken in order. If several messages fit an incomplete wildcard receive, each counts both
// as taken and as available to others.
func (s *Snapshot) match() *matching {
	m := &matching{s: s, taken: make(map[Channel]uint64), perhaps: make(map[Channel]uint64), likely: make(map[Channel]uint64),
		incoming: make(map[inbox][]Channel), matched: make([]bool, len(s.Operations))}
	for c, n := range s.Messages {
		if n.Sent > n.Received {
			at := inbox{c.Comm, c.To}
			m.incoming[at] = append(m.incoming[at], c)
		}
	}
	for _, list := range m.incoming {
		slices.SortFunc(list, func(a, b Channel) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Tag, b.Tag)) })
	}
	demand := make(map[Channel]int) // receives without wildcards that were not matched yet
	for i := range s.Operations {
		if o := &s.Operations[i]; o.Kind == OperationReceive && o.Peer != AnySource && o.Tag != AnyTag {
			demand[o.from()]++
		}
	}
	for i := range s.Operations {
		o := &s.Operations[i]
		if o.Kind != OperationReceive {
			continue
		}
		if o.Peer != AnySource && o.Tag != AnyTag {
			demand[o.from()]--
		}
		list, best := m.find(o, demand)
		m.matched[i] = len(list) > 0
		if len(list) == 1 {
			m.taken[best]++
			continue
		}
		for _, c := range list {
			m.perhaps[c]++
		}
		if len(list) > 1 {
			m.likely[best]++
		}
	}
	for i := range s.Operations {
		switch o := &s.Operations[i]; o.Kind {
		case OperationSend:
			m.matched[i] = o.MessageNumber <= s.Messages[o.channel()].Received+m.taken[o.channel()]+m.perhaps[o.channel()]
		case OperationProbe:
			list, _ := m.find(o, demand)
			m.matched[i] = len(list) > 0
		}
	}
	return m
}

// from is the channel of a receive without wildcards.
func (o *Operation) from() Channel { return Channel{o.Comm, o.Peer, o.Rank, o.Tag} }

func (m *matching) surplus(c Channel) int {
	n := m.s.Messages[c]
	return int(n.Sent) - int(n.Received) - int(m.taken[c])
}

// find returns the channels that have a message for a receive or probe, and the channel with the largest surplus.
func (m *matching) find(o *Operation, demand map[Channel]int) (list []Channel, best Channel) {
	if o.Peer != AnySource && o.Tag != AnyTag {
		if c := o.from(); m.surplus(c) > 0 {
			return []Channel{c}, c
		}
		return nil, best
	}
	spare := 0
	for _, c := range m.incoming[inbox{o.Comm, o.Rank}] {
		if o.Peer != AnySource && o.Peer != c.From || o.Tag != AnyTag && o.Tag != c.Tag || m.surplus(c) <= 0 {
			continue
		}
		if n := m.surplus(c) - int(m.likely[c]) - demand[c]; len(list) == 0 || n > spare {
			best, spare = c, n
		}
		list = append(list, c)
	}
	return list, best
}

// unreceived is the messages of one channel for which no receive is posted.
type unreceived struct {
	Channel
	Count uint64
}

// unreceived lists sent messages that no receive takes, in order of channels.
func (m *matching) unreceived() []unreceived {
	var list []unreceived
	for _, channels := range m.incoming {
		for _, c := range channels {
			if n := m.surplus(c) - int(m.likely[c]); n > 0 {
				list = append(list, unreceived{c, uint64(n)})
			}
		}
	}
	slices.SortFunc(list, func(a, b unreceived) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From), cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.Tag, b.Tag))
	})
	return list
}

type fileName string

func (f fileName) String() string { return fmt.Sprintf("file %q", string(f)) }

// group returns the number of a communicator; for an intercommunicator, of the local side.
func (f *follower) group(c *handles.Comm) int { return f.circle(&ops.Meeting{Comm: c}) }

// circle returns the number of the group of ranks that make collective calls in one order.
func (f *follower) circle(m *ops.Meeting) int {
	by := m.CallOrder()
	if by == f.recent && len(f.names) > 0 {
		return f.recentGroup
	}
	n, ok := f.groups[by]
	if f.recent = by; ok {
		f.recentGroup = n
		return n
	}
	n = len(f.names)
	f.groups[by], f.recentGroup = n, n
	var name fmt.Stringer = m.Comm
	switch {
	case m.Window != nil:
		name = m.Window
	case m.File != nil:
		name = fileName(m.File.Name)
	}
	f.names = append(f.names, name)
	members := m.Comm.Members()
	if m.Comm.Remote != nil {
		members = append(members, m.Comm.Remote.Members()...)
	}
	f.snap.Groups = append(f.snap.Groups, ProcessGroup{Members: members})
	return n
}

// channelGroup returns a number that is the same for both sides of an intercommunicator.
func (f *follower) channelGroup(c *handles.Comm) int {
	if c.Remote != nil && c.Remote.Number < c.Number {
		c = c.Remote
	}
	return f.group(c)
}

// keep is the least number of a rank's latest collective calls that are kept for each communicator. Members are
// rarely farther apart.
const keep = 8

// collective counts a call that all members of a communicator, window or file must make. It returns nil if the
// members are not known, or not all take part.
func (f *follower) collective(c *ops.Call) *begun {
	m := &c.Meeting
	if m.Comm == nil || m.Comm.RemoteSize > 0 || m.OwnRank < 0 {
		return nil
	}
	n := f.circle(m)
	g := &f.snap.Groups[n]
	if g.CollectiveProgress == nil {
		g.CollectiveProgress = make([]CollectiveProgress, len(g.Members))
	}
	x := f.now.kind(c)
	root := -1
	if x.root >= 0 {
		root = int(c.Params[x.root].In.Num)
	}
	p := &g.CollectiveProgress[m.OwnRank]
	b := &begun{place: f.place(c), known: true}
	b.Operation = Operation{Kind: OperationCollective, Rank: c.Rank, Comm: n, CollectiveIndex: m.Ordinal, AwaitedMembers: meaning.NeedOf(c.Func.Name, root == m.OwnRank), Root: -1}
	if root >= 0 && root < len(g.Members) {
		b.Root = g.Members[root]
	}
	if len(p.Last) == 2*keep {
		p.Last = p.Last[:copy(p.Last, p.Last[keep:])]
	}
	p.Last = append(p.Last, CollectiveCall{Function: x.plain, Root: root, UserData: b.place})
	p.Count = m.Ordinal + 1
	return b
}
