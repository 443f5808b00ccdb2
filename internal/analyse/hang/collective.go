package hang

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace/handles"
)

type fileName string

func (f fileName) String() string { return fmt.Sprintf("file %q", string(f)) }

// group numbers a communicator; that of an intercommunicator is one side of it.
func (f *follower) group(c *handles.Comm) int { return f.circle(&ops.Meeting{Comm: c}) }

// circle numbers those who make collective calls in one order.
func (f *follower) circle(m *ops.Meeting) int {
	n, ok := f.groups[m.Circle()]
	if ok {
		return n
	}
	n = len(f.names)
	f.groups[m.Circle()] = n
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
	f.snap.Groups = append(f.snap.Groups, Group{Members: members})
	return n
}

// channelGroup is the same for both sides of an intercommunicator.
func (f *follower) channelGroup(c *handles.Comm) int {
	if c.Remote != nil && c.Remote.Number < c.Number {
		c = c.Remote
	}
	return f.group(c)
}

// keep is how many collective calls of a rank are remembered for each communicator: members are
// rarely farther apart than that.
const keep = 8

// collective counts a call that all members of a communicator, window or file have to make. It
// returns nil if the members are not known, or do not all take part.
func (f *follower) collective(c *ops.Call) *begun {
	m := &c.Met
	if m.Comm == nil || m.Comm.RemoteSize > 0 || m.Self < 0 {
		return nil
	}
	n := f.circle(m)
	g := &f.snap.Groups[n]
	if g.Entered == nil {
		g.Entered = make([]Progress, len(g.Members))
	}
	root, function := -1, c.Func.Name
	if q := c.Param("root"); q != nil {
		root = int(q.In.Num)
	}
	if def, ok := mpi.Lookup(function); ok {
		function = def.Plain().Name // the two may meet
	}
	p := &g.Entered[m.Self]
	b := &begun{place: f.place(c), known: true}
	b.Operation = Operation{Kind: Collective, Rank: c.Rank, Comm: n, Position: m.Nth, Need: meaning.NeedOf(c.Func.Name, root == m.Self), Root: -1}
	if root >= 0 && root < len(g.Members) {
		b.Root = g.Members[root]
	}
	if len(p.Last) == keep {
		p.Last = slices.Delete(p.Last, 0, 1)
	}
	p.Last = append(p.Last, CollectiveCall{Function: function, Root: root, Where: b.place})
	p.Count = m.Nth + 1
	return b
}
