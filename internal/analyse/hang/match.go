package hang

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A matching says which incomplete sends, receives and probes have a partner.
type matching struct {
	s        *Snapshot
	taken    map[Channel]uint64  // number of messages that certainly go to incomplete receives
	perhaps  map[Channel]uint64  // number of incomplete wildcard receives that may get a message of the channel
	likely   map[Channel]uint64  // number of these that are assumed to get one of the channel, not of another
	incoming map[inbox][]Channel // channels with messages that no completed receive took
	matched  []bool              // by index in Snapshot.Operations: whether there is a partner
}

// An inbox identifies the messages that wait for a receiver (to, a world rank) on a communicator.
type inbox struct{ comm, to int }

// match pairs messages with incomplete receives as MPI does. A message goes to the first posted receive that fits it,
// and the messages of a channel are taken in order. If messages of several channels fit a wildcard receive, each of
// them counts both as taken and as available to other receives.
func (s *Snapshot) match() *matching {
	m := &matching{s: s, taken: make(map[Channel]uint64), perhaps: make(map[Channel]uint64), likely: make(map[Channel]uint64),
		incoming: make(map[inbox][]Channel), matched: make([]bool, len(s.Operations))}
	for c, n := range s.Messages {
		if n.Sent > n.Received {
			at := inbox{c.GroupIndex, c.To}
			m.incoming[at] = append(m.incoming[at], c)
		}
	}
	for _, list := range m.incoming {
		slices.SortFunc(list, func(a, b Channel) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Tag, b.Tag)) })
	}
	demand := make(map[Channel]int) // number of receives without wildcards that have no message assigned yet
	for i := range s.Operations {
		if o := &s.Operations[i]; o.Kind == OperationReceive && o.PeerWorldRank != AnySource && o.Tag != AnyTag {
			demand[o.from()]++
		}
	}
	for i := range s.Operations {
		o := &s.Operations[i]
		if o.Kind != OperationReceive {
			continue
		}
		if o.PeerWorldRank != AnySource && o.Tag != AnyTag {
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

// from returns the channel from which a receive without wildcards takes a message.
func (o *Operation) from() Channel { return Channel{o.GroupIndex, o.PeerWorldRank, o.Rank, o.Tag} }

func (m *matching) surplus(c Channel) int {
	n := m.s.Messages[c]
	return int(n.Sent) - int(n.Received) - int(m.taken[c])
}

// find returns the channels that have a message for a receive or probe. best is the channel with most messages that no
// other receive needs.
func (m *matching) find(o *Operation, demand map[Channel]int) (list []Channel, best Channel) {
	if o.PeerWorldRank != AnySource && o.Tag != AnyTag {
		if c := o.from(); m.surplus(c) > 0 {
			return []Channel{c}, c
		}
		return nil, best
	}
	spare := 0
	for _, c := range m.incoming[inbox{o.GroupIndex, o.Rank}] {
		if o.PeerWorldRank != AnySource && o.PeerWorldRank != c.From || o.Tag != AnyTag && o.Tag != c.Tag || m.surplus(c) <= 0 {
			continue
		}
		if n := m.surplus(c) - int(m.likely[c]) - demand[c]; len(list) == 0 || n > spare {
			best, spare = c, n
		}
		list = append(list, c)
	}
	return list, best
}

// unreceived is the number of messages of a channel for which no receive has been called.
type unreceived struct {
	Channel
	Count uint64
}

// unreceived lists the channels with sent messages that no receive takes, sorted by receiver and sender.
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
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From), cmp.Compare(a.GroupIndex, b.GroupIndex), cmp.Compare(a.Tag, b.Tag))
	})
	return list
}

type fileName string

func (f fileName) String() string { return fmt.Sprintf("file %q", string(f)) }

// group returns the index in Snapshot.Groups of a communicator, for an intercommunicator of its local side.
func (f *follower) group(c *handles.Comm) int { return f.circle(&ops.Meeting{Comm: c}) }

// circle returns the index in Snapshot.Groups of the ranks that make a collective call together. It adds a group for a
// new communicator, window or file.
func (f *follower) circle(m *ops.Meeting) int {
	by := m.CollectiveSequence()
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
	f.snap.Groups = append(f.snap.Groups, CollectiveGroup{Members: members})
	return n
}

// channelGroup returns the index in Snapshot.Groups that channels on a communicator have. It is the same for both sides
// of an intercommunicator.
func (f *follower) channelGroup(c *handles.Comm) int {
	if c.Remote != nil && c.Remote.Number < c.Number {
		c = c.Remote
	}
	return f.group(c)
}

// keep is how many of a member's latest collective calls on a communicator are kept at least. Members are rarely more
// calls ahead of others.
const keep = 8

// collective counts a call that all members of a communicator, window or file must make, and returns the operation. It
// returns nil if the members aren't known, or for an intercommunicator.
func (f *follower) collective(c *ops.Call) *begun {
	m := &c.Meeting
	if m.Comm == nil || m.Comm.RemoteSize > 0 || m.OwnCommRank < 0 {
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
	p := &g.CollectiveProgress[m.OwnCommRank]
	b := &begun{place: f.place(c), known: true}
	b.Operation = Operation{Kind: OperationCollective, Rank: c.Rank, GroupIndex: n, CollectiveIndex: m.Ordinal, AwaitedMembers: meaning.AwaitedMembersOf(c.Func.Name, root == m.OwnCommRank), RootWorldRank: -1}
	if root >= 0 && root < len(g.Members) {
		b.RootWorldRank = g.Members[root]
	}
	if len(p.LatestCalls) == 2*keep {
		p.LatestCalls = p.LatestCalls[:copy(p.LatestCalls, p.LatestCalls[keep:])]
	}
	p.LatestCalls = append(p.LatestCalls, CollectiveCall{Function: x.plain, RootInComm: root, UserData: b.place})
	p.Count = m.Ordinal + 1
	return b
}
