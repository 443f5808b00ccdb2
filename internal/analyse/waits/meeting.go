package waits

import (
	"cmp"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A meetingKey tells apart what members of a communicator do together.
type meetingKey struct {
	ops.Circle
	started bool // by starting a persistent request: these are counted by themselves
	number  uint64
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
	switch meaning.NeedOf(f.Name, member == root) {
	case meaning.Root:
		return need{kind: LateRoot, root: root}
	case meaning.Lower:
		return need{kind: EarlyScan, none: member == 0}
	case meaning.Nobody:
		return need{none: true}
	case meaning.Some:
		return need{none: true, unknown: true}
	}
	switch m := meaning.Of(f.Name); {
	case m != nil && m.Pattern == meaning.ToRoot:
		return need{kind: EarlyRoot}
	case ops.Is(f, mpi.Barrier):
		return need{kind: AtBarrier}
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

// meets reports whether acts of a kind are what members do together.
func meets(kind ops.Kind) bool {
	switch kind {
	case ops.Collective, ops.CollectiveBegin, ops.CommMade, ops.WindowMade, ops.Fence, ops.WindowFreed, ops.FileOpened, ops.FileClosed:
		return true
	}
	return false
}
