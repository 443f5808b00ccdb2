package waits

import (
	"cmp"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A meetingKey tells apart what members of a communicator do together.
type meetingKey struct {
	comm   int
	object int // 0: the communicator itself; else a window (odd) or file (even) of it
	number uint64
}

// A meeting is a collective operation to which not all members have come.
type meeting struct {
	members []arrival // by rank in the communicator
	came    int
	ended   int
	first   int // member that came last, and the one before that
	second  int
	waiting []waiting
}

// A waiting member is in a call, for as long as those whose data it needs have not come.
type waiting struct {
	member int
	b      *blocked
	need   need
}

// A need says whom a member waits for.
type need struct {
	kind    Kind
	root    int  // of LateRoot
	none    bool // nobody
	unknown bool // some members, but which is not looked at
}

// needs returns whom a member needs in calls of a function, root being the root's rank or none.
func needs(f *trace.Function, member, root int) need {
	m := meaning.Of(f.Name)
	if m == nil {
		if ops.Base(f) == "Barrier" {
			return need{kind: AtBarrier}
		}
		return need{kind: AtAll}
	}
	switch m.Pattern {
	case meaning.FromRoot, meaning.PartFromRoot:
		return need{kind: LateRoot, root: root, none: member == root}
	case meaning.ToRoot:
		return need{kind: EarlyRoot, none: member != root}
	case meaning.ToNext:
		return need{kind: EarlyScan, none: member == 0}
	case meaning.Neighbors:
		return need{none: true, unknown: true}
	}
	return need{kind: AtAll}
}

// comes says that a member has come to a meeting.
func (a *analysis) comes(key meetingKey, comm *handles.Comm, member int, when arrival) *meeting {
	x := a.meetings[key]
	if x == nil {
		x = &meeting{members: make([]arrival, comm.Size), first: -1, second: -1}
		a.meetings[key] = x
	}
	x.members[member] = when
	if x.came++; x.after(member, x.first) {
		x.first, x.second = member, x.first
	} else if x.after(member, x.second) {
		x.second = member
	}
	if x.came == len(x.members) {
		for _, w := range x.waiting {
			a.resolve(x, w)
		}
		x.waiting = nil
	}
	return x
}

// after reports whether a member came after another, which may be none. Of two that came at once it is the lower one.
func (x *meeting) after(i, other int) bool {
	return other < 0 || cmp.Or(cmp.Compare(x.members[i].at, x.members[other].at), cmp.Compare(other, i)) > 0
}

// ends says in which call a member waits for the others.
func (a *analysis) ends(key meetingKey, x *meeting, w waiting) {
	w.b.open++
	if x.came == len(x.members) {
		a.resolve(x, w)
	} else {
		x.waiting = append(x.waiting, w)
	}
	if x.ended++; x.ended == len(x.members) {
		delete(a.meetings, key)
	}
}

// resolve finds whom a member waited for, once all have come.
func (a *analysis) resolve(x *meeting, w waiting) {
	if !w.need.none {
		last := -1
		switch w.need.kind {
		case LateRoot:
			if w.need.root >= 0 && w.need.root < len(x.members) {
				last = w.need.root
			}
		case EarlyScan:
			for i := range w.member {
				if x.after(i, last) {
					last = i
				}
			}
		default:
			if last = x.first; last == w.member {
				last = x.second
			}
		}
		if last >= 0 && last != w.member {
			w.b.waitsFor(w.need.kind, x.members[last], nil)
		}
	}
	a.met(w.b)
}

// A group is whom a collective call is for.
type group struct {
	comm   *handles.Comm
	object int
}

// groupOf returns whose members have to make a call, comm being nil if that is not known or nobody.
func (w *watcher) groupOf(c *ops.Call, act *ops.Act) group {
	switch act.Kind {
	case ops.Collective, ops.CollectiveBegin:
		return group{comm: act.Comm}
	case ops.CommMade:
		if !c.Func.Has(trace.Collective) || c.Param("tag") != nil {
			return group{}
		}
		for i := range c.Params {
			if q := &c.Params[i]; q.Kind() == "comm" && q.In.Type == trace.Handle {
				return group{comm: w.a.s.Comms.At(c.Rank, c.Stream, c.Index, q.In.Num)}
			}
		}
	case ops.WindowMade:
		return group{comm: act.Window.Comm}
	case ops.Fence, ops.WindowFreed:
		return group{act.Window.Comm, 2*act.Window.Number + 1}
	case ops.FileOpened:
		return group{comm: act.File.Comm}
	case ops.FileClosed:
		return group{act.File.Comm, 2*act.File.Number + 2}
	}
	return group{}
}
