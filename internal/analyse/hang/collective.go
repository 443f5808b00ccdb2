package hang

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/analyse/waitfor"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A groupKey tells apart what ranks make collective calls on.
type groupKey struct {
	comm   int // its number; of each rank's MPI_COMM_SELF another one
	object int // 0: the communicator itself; else a window or file that its members share
}

// A handle is a rank's name for a window or file.
type handle struct {
	param string
	num   int64
}

// A shared object is a window or file, with those who made it together.
type shared struct {
	comm   *handles.Comm
	object int
	name   fmt.Stringer // when all is known
}

type fileName string

func (f fileName) String() string { return fmt.Sprintf("file %q", string(f)) }

// share notes what the handle stands for that a call made.
func (n *standing) share(c *ops.Call, param string, x shared) {
	if q := c.Param(param); q != nil {
		n.shared[handle{param, q.Out.Num}] = x
	}
}

// group numbers a communicator; that of an intercommunicator is one side of it.
func (f *follower) group(c *handles.Comm) int { return f.groupOf(shared{c, 0, c}) }

func (f *follower) groupOf(x shared) int {
	key := groupKey{x.comm.Number, x.object}
	if x.comm.Number < 0 {
		key.comm = -1 - x.comm.WorldRank(0)
	}
	n, ok := f.groups[key]
	if !ok {
		n = len(f.names)
		f.groups[key] = n
		f.names = append(f.names, x.name)
		members := x.comm.Members()
		index := make(map[int]int, len(members))
		for i, r := range members {
			index[r] = i
		}
		f.index = append(f.index, index)
		if x.comm.Remote != nil {
			members = append(members, x.comm.Remote.Members()...)
		}
		f.snap.Groups = append(f.snap.Groups, waitfor.Group{Members: members})
	}
	return n
}

// channelGroup is the same for both sides of an intercommunicator.
func (f *follower) channelGroup(c *handles.Comm) int {
	if c.Remote != nil && c.Remote.Number < c.Number {
		c = c.Remote
	}
	return f.group(c)
}

// A collectivePlan is what the calls of a terminal have in common that all members must make.
type collectivePlan struct {
	on, root int // parameters, -1: none
	function string
}

func planOf(c *trace.Call) *collectivePlan {
	p := &collectivePlan{on: -1, root: -1, function: c.Func.Name}
	if def, ok := mpi.Lookup(c.Func.Name); ok && def.Small != nil {
		p.function = def.Small.Name // the two may meet
	}
	for i := range c.Params {
		switch q := &c.Params[i]; {
		case (q.Kind() == "comm" || q.Name() == "win" || q.Name() == "fh") && q.In.Type == trace.Handle && p.on < 0:
			p.on = i
		case q.Name() == "root":
			p.root = i
		case q.Name() == "tag":
			return &collectivePlan{on: -1} // of a part of the members, which only they know
		}
	}
	return p
}

// keep is how many collective calls of a rank are remembered for each communicator: members are
// rarely farther apart than that.
const keep = 8

// collective counts a call that all members of a communicator, window or file have to make. It
// returns nil if the members are not known, or do not all take part.
func (f *follower) collective(c *ops.Call) *begun {
	plan := f.now.plans[c.Terminal]
	if plan == nil {
		plan = planOf(c.Call)
		f.now.plans[c.Terminal] = plan
	}
	if plan.on < 0 {
		return nil
	}
	var n int
	if q := &c.Params[plan.on]; q.Kind() == "comm" {
		comm := f.s.Comms.At(c.Rank, c.Stream, c.Index, q.In.Num)
		if comm == nil || comm.RemoteSize > 0 {
			return nil
		}
		n = f.group(comm)
	} else {
		x, ok := f.now.shared[handle{q.Name(), q.In.Num}]
		if !ok || x.comm.RemoteSize > 0 {
			return nil
		}
		n = f.groupOf(x)
	}
	own, ok := f.index[n][c.Rank]
	if !ok {
		return nil
	}
	g := &f.snap.Groups[n]
	if g.Entered == nil {
		g.Entered = make([]waitfor.Progress, len(g.Members))
	}
	root := -1
	if plan.root >= 0 {
		root = int(c.Params[plan.root].In.Num)
	}
	p := &g.Entered[own]
	b := &begun{place: f.place(c), known: true}
	b.Operation = waitfor.Operation{Kind: waitfor.Collective, Rank: c.Rank, Comm: n, Position: p.Count, Need: needOf(c.Func.Name, root == own), Root: -1}
	if root >= 0 && root < len(g.Members) {
		b.Root = g.Members[root]
	}
	if len(p.Last) == keep {
		p.Last = slices.Delete(p.Last, 0, 1)
	}
	p.Last = append(p.Last, waitfor.CollectiveCall{Function: plan.function, Root: root, Where: b.place})
	p.Count++
	return b
}

// needOf tells whom a collective makes a rank wait for.
func needOf(function string, atRoot bool) waitfor.Need {
	m := meaning.Of(function)
	if m == nil {
		return waitfor.Everybody
	}
	switch p := m.Pattern; {
	case p == meaning.FromRoot || p == meaning.PartFromRoot:
		if atRoot {
			return waitfor.Somebody
		}
		return waitfor.TheRoot
	case p == meaning.ToRoot && !atRoot, p == meaning.Neighbors, p == meaning.File:
		return waitfor.Somebody
	case p == meaning.ToNext:
		return waitfor.Lower
	}
	return waitfor.Everybody
}
