package waits

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A meetingKey identifies a collective operation of a group.
type meetingKey struct {
	ops.CollectiveSequence
	started bool // the operation was begun by starting a persistent request, which is counted separately
	number  uint64
}

func (k meetingKey) compare(o meetingKey) int {
	return cmp.Or(cmp.Compare(k.CommKey, o.CommKey), cmp.Compare(k.ObjectCode, o.ObjectCode), cmp.Compare(flag(k.started), flag(o.started)), cmp.Compare(k.number, o.number))
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A meeting is a collective operation at which the rank has arrived, but maybe not all others.
type meeting struct {
	*group           // nil: the rank waits for its neighbours only
	from    []uint64 // numbers of the neighbours' signals
	key     meetingKey
	self    int // the rank's index in the group
	when    arrival
	free    int64 // ns that the rank had been outside of MPI directly before
	need    need
	awaited int        // number of members that will arrive
	comes   bool       // the rank is one of the awaited members
	other   *meeting   // the meeting of the other side of an intercommunicator, for which the rank waits, too
	waiting []*blocked // the calls in which the rank waits for the others
	all     *coming    // the arrivals of all members; nil: some have not arrived
}

// A group is the members of one or more communicators.
type group struct {
	members []int // ranks of the world
	self    int
	large   bool       // the members are too many to send the late one a question each
	pending []*meeting // meetings at which not all members have arrived
}

// maxDirect is the largest number of members that each send the late one a question.
const maxDirect = 64

// groupsOf lists the groups that a rank is in, in the same order on all ranks, and the group of each communicator.
func groupsOf(comms *handles.Comms, rank int) (list []*group, of map[int]*group) {
	of = make(map[int]*group)
	known := make(map[string]*group)
	for _, c := range comms.List() {
		members, self := c.Members(), c.RankOf(rank)
		if c.RemoteSize > 0 {
			if c.Remote == nil || c.Remote.ID() < c.ID() {
				continue // the other side belongs to another world, or the group is listed for the other side
			}
			if members = append(members, c.Remote.Members()...); self < 0 {
				self = slices.Index(members, rank)
			}
		}
		if self < 0 || len(members) < 2 || slices.Contains(members, -1) {
			continue // the rank is not in the group, or alone, or a member left no track and never arrives
		}
		name := fmt.Sprint(members)
		g := once.GetOrAppend(known, name, &list, func() *group { return &group{members: members, self: self} })
		if of[c.ID()] = g; c.Remote != nil {
			of[c.Remote.ID()] = g
		}
	}
	return list, of
}

// A need is the members that a member waits for in a collective.
type need struct {
	kind    Kind
	root    bool // the member is the root
	none    bool // the member waits for nobody
	unknown bool // the member waits for some members, but the trace doesn't say which
	may     bool // the call may return before all have arrived; if it did, it waited for nobody
}

// needs returns which members a member waits for in calls of a function. root is the root's rank, or negative, such as
// ops.NoRoot.
func needs(f *trace.Function, member, root int) need {
	m := meaning.DataMovementOf(f.Name)
	n := need{root: member == root}
	switch meaning.AwaitedMembersOf(f.Name, n.root) {
	case meaning.AwaitsRoot:
		n.kind = LateRoot
		return n
	case meaning.AwaitsLowerRanks:
		n.kind, n.none = EarlyScan, member == 0
		return n
	case meaning.AwaitsNoMember:
		n.none = true
		return n
	case meaning.AwaitsSomeMembers:
		if m.Pattern != meaning.PatternFile {
			n.none, n.unknown = true, true
			return n
		}
	}
	makes := (f.Has(trace.AttrCreatesComm) || f.Has(trace.AttrCreatesWin)) && !f.Has(trace.AttrNonblocking)
	n.may = m == nil && !makes && !ops.HasAttr(f, mpi.AttrBarrier) || m != nil && m.Pattern == meaning.PatternFile
	switch {
	case m != nil && m.Pattern == meaning.PatternToRoot:
		n.kind = EarlyRoot
	case ops.HasAttr(f, mpi.AttrBarrier):
		n.kind = WaitAtBarrier
	default:
		n.kind = WaitAtNxN
	}
	return n
}

// across determines the late member for a member of an intercommunicator, which waits for the other side or its root.
// If all need each other, libraries may have it wait for its own side, too.
func (x *meeting) across(f *trace.Function, remote *handles.Comm, root int) {
	self := math.MinInt // no rank; a root is on the other side, unless the rank itself is the root
	if root == ops.RootSelf {
		self = root
	}
	other := *x
	other.key.CommKey, other.awaited, other.comes = remote.ID(), remote.Size, false
	other.need = needs(f, self, root)
	other.need.none = other.need.none || root == ops.RootThisSide
	x.need, x.other = other.need, &other
	if x.need.may = true; x.need.kind != WaitAtNxN && x.need.kind != WaitAtBarrier {
		x.need.none = true
	}
}

// A coming is the state of a meeting: how many members have arrived, the last of them, when the root arrived, and for
// a scan each arrival.
type coming struct {
	key   meetingKey
	came  int
	last  comer
	root  comer // rank -1: not arrived, or no root
	scans []comer
}

// A comer is a member that has arrived.
type comer struct {
	arrival
	free int64
	self int
}

// after reports whether a member arrived after another. If both times are equal, the lower rank counts as later.
func (c *comer) after(o *comer) bool {
	return cmp.Or(cmp.Compare(c.at, o.at), cmp.Compare(o.self, c.self)) > 0
}

func (c *coming) join(o *coming) {
	c.came += o.came
	if o.last.after(&c.last) {
		c.last = o.last
	}
	if o.root.rank >= 0 {
		c.root = o.root
	}
	c.scans = append(c.scans, o.scans...)
}

// ends sets the call in which a member waits for the others.
func (x *meeting) ends(w *rankAnalysis, b *blocked) {
	if x.group == nil {
		for _, number := range x.from {
			w.awaits(number, awaiting{b, x.need.kind, x.need.may}, true)
		}
		return
	}
	if x.other != nil {
		x.other.ends(w, b)
	}
	b.opens()
	if x.waiting = append(x.waiting, b); x.all != nil {
		w.resolve(x)
	}
}

// meet exchanges arrivals, and finds the group's meetings at which all members have arrived.
func (w *rankAnalysis) meet(g *group) error {
	var own []byte
	w.try(func() error {
		list := make([]coming, 0, len(g.pending))
		for _, x := range g.pending {
			if !x.comes {
				continue
			}
			c := comer{x.when, x.free, x.self}
			y := coming{key: x.key, came: 1, last: c, root: comer{arrival: arrival{rank: -1}}}
			if x.need.root && x.need.kind != EarlyRoot {
				y.root = c
			}
			if x.need.kind == EarlyScan {
				y.scans = []comer{c}
			}
			list = append(list, y)
		}
		slices.SortFunc(list, func(a, b coming) int { return a.key.compare(b.key) })
		own = appendComings(nil, list)
		return nil
	})
	all, err := w.Reduce(g.members, g.self, own, func(a, b []byte) (both []byte) {
		both = a
		w.try(func() error {
			x, err := readComings(a)
			if err != nil {
				return err
			}
			y, err := readComings(b)
			if err != nil {
				return err
			}
			both = appendComings(nil, merged(x, y))
			return nil
		})
		return both
	})
	if err != nil {
		return err
	}
	w.try(func() error {
		list, err := readComings(all)
		if err != nil {
			return err
		}
		left := g.pending[:0]
		for _, x := range g.pending {
			i, ok := slices.BinarySearchFunc(list, x.key, func(c coming, k meetingKey) int { return c.key.compare(k) })
			if ok && list[i].came == x.awaited {
				x.all = &list[i]
				w.resolve(x)
			} else {
				left = append(left, x)
			}
		}
		clear(g.pending[len(left):])
		g.pending = left
		return nil
	})
	return nil
}

// merged merges two lists sorted by key, and joins entries with equal keys.
func merged(a, b []coming) []coming {
	list := make([]coming, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch order := a[0].key.compare(b[0].key); {
		case order < 0:
			list, a = append(list, a[0]), a[1:]
		case order > 0:
			list, b = append(list, b[0]), b[1:]
		default:
			c := a[0]
			c.join(&b[0])
			list, a, b = append(list, c), a[1:], b[1:]
		}
	}
	return append(append(list, a...), b...)
}

// resolve determines the rank that a member waited for, once all have arrived.
func (w *rankAnalysis) resolve(x *meeting) {
	all := x.all
	for _, b := range x.waiting {
		if !x.need.none {
			var last *comer
			switch x.need.kind {
			case LateRoot:
				if all.root.rank >= 0 {
					last = &all.root
				}
			case EarlyScan:
				for i := range all.scans {
					if c := &all.scans[i]; c.self < x.self && (last == nil || c.after(last)) {
						last = c
					}
				}
			default:
				last = &all.last // the last member to arrive is the late one for all others
			}
			if last != nil && int(last.rank) != w.Rank() {
				free := int64(-1)
				if x.large {
					free = last.free
				}
				b.comes(x.need.kind, last.arrival, free, x.need.may)
			}
		}
		w.met(b)
	}
	x.waiting = nil
}

// Flags of the states of meetings that ranks exchange.
const (
	nextInCircle = 1 << iota // the key is that of the previous meeting in the message, with the next number
	// samePlace: stream, call site and error of the last arrival equal those of the previous meeting in the message.
	samePlace
	hasRoot
	hasScans
	isStarted
)

func appendComings(b []byte, list []coming) []byte {
	before := &coming{}
	return wire.AppendEncoded(b, func(c *wire.Coder) {
		for i := range list {
			list[i].code(c, before, i == 0)
			before = &list[i]
		}
	})
}

func readComings(b []byte) (list []coming, err error) {
	before := coming{}
	err = wire.DecodeEach(b, "collective calls", func(c *wire.Coder) {
		x := coming{root: comer{arrival: arrival{rank: -1}}}
		x.code(c, &before, len(list) == 0)
		list, before = append(list, x), x
	})
	return list, err
}

func (x *coming) code(c *wire.Coder, before *coming, first bool) {
	next := before.key
	next.number++
	flags := byte(0)
	for _, f := range []struct {
		set bool
		bit byte
	}{
		{!first && x.key == next, nextInCircle}, {!first && x.last.sameWhere(&before.last.arrival), samePlace}, {x.root.rank >= 0, hasRoot},
		{len(x.scans) > 0, hasScans}, {x.key.started, isStarted},
	} {
		if f.set {
			flags |= f.bit
		}
	}
	if wire.CodeByte(c, &flags); c.Reader != nil {
		x.key = next
		x.key.started = flags&isStarted != 0
	}
	if flags&nextInCircle == 0 {
		wire.CodeRelative(c, &x.key.CommKey, 0)
		wire.CodeRelative(c, &x.key.ObjectCode, 0)
		wire.CodeUints(c, &x.key.number)
	}
	wire.CodeBounded(c, &x.came, math.MaxInt32)
	if flags&samePlace != 0 {
		x.last.within, x.last.stream, x.last.place = before.last.within, before.last.stream, before.last.place
	}
	x.last.code(c, before.last.at, flags&samePlace != 0)
	if flags&hasRoot != 0 {
		x.root.code(c, x.last.at, false)
	}
	if flags&hasScans != 0 {
		wire.CodeList(c, &x.scans, 4, func(_ int, s *comer) { s.code(c, x.last.at, false) })
	}
}

func (x *comer) code(c *wire.Coder, at int64, same bool) {
	wire.CodeRelative(c, &x.at, at)
	wire.CodeBounded(c, &x.rank, math.MaxInt32)
	wire.CodeBounded(c, &x.self, math.MaxInt32)
	free := max(0, x.free)
	if wire.CodeNaturals(c, &free); c.Reader != nil {
		x.free = free
	}
	if !same {
		x.where(c)
	}
}

// meets reports whether acts of a kind are operations of all members of a communicator, window or file.
func meets(kind ops.ActKind) bool {
	switch kind {
	case ops.ActCollective, ops.ActCollectiveBegin, ops.ActCommMade, ops.ActCommFreed, ops.ActWindowMade, ops.ActWinFence, ops.ActWindowFreed, ops.ActFileOpened, ops.ActFileClosed,
		ops.ActFileSought, ops.ActFileViewed, ops.ActFileSynced, ops.ActRead, ops.ActReadBegin, ops.ActWrite, ops.ActWriteBegin:
		return true
	}
	return false
}
