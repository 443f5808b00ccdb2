package traced

import (
	"cmp"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A lockKey identifies a lock of a rank by its number, from 0, among the rank's locks of one member's memory in a
// window (or of all members' memory).
type lockKey struct {
	rank          int
	comm, ordinal int // communicator of the window, and number of the window among those of the communicator
	peer          int
	number        int
}

// A locked is the epoch from a lock to its unlock.
type locked struct {
	lockKey
	exclusive  bool
	taken, end int64 // when lock and unlock returned in the traced run, in ns

	after []*locked // earlier epochs on the same memory that must end first, as one of the two is exclusive
	late  bool      // the lock returned before the memory was free; so later transfers waited, not the lock
	next  int32     // number of epochs that have this one in after
	id    int32     // context of the meeting at its end, in which other epochs wait for it
}

// lockContexts is the first context for the ends of epochs. All other contexts are larger, except that of the run's
// end.
const lockContexts = math.MinInt32 + 1

// unordered is why locks are not modelled: an order derived from mean times may be impossible.
const unordered = "locks of windows, which nobody waits for, as the times of single calls are not known, nor who came first"

// findLocks finds, if ranks use exclusive locks, which epochs waited for which in the traced run. The simulation
// keeps this order.
func (s *ProgramSource) findLocks() error {
	locks := slices.ContainsFunc(s.r.Schema(), func(f *trace.Function) bool {
		return slices.ContainsFunc(f.Params, func(p trace.ParamDef) bool { return p.Name == "lock_type" })
	})
	if !locks || s.o.apart {
		return nil
	}
	var err error
	if s.exact, err = s.timesKept(); err != nil || !s.exact {
		return err
	}
	calls, err := ops.NewSource(s.r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime})
	if err != nil {
		return err
	}
	x := &lockSink{}
	if err := calls.Run(x); err != nil {
		return err
	}
	s.locks = make(map[lockKey]*locked)
	type window struct{ comm, ordinal int }
	type memory struct {
		window
		peer int
	}
	of, all, alone := make(map[memory][]*locked), make(map[window][]*locked), make(map[memory]bool)
	for _, l := range x.all {
		w := window{l.comm, l.ordinal}
		if l.peer == ops.AllMembers {
			all[w] = append(all[w], l)
			continue
		}
		m := memory{w, l.peer}
		of[m] = append(of[m], l)
		alone[m] = alone[m] || l.exclusive
	}
	for m, list := range of {
		if !alone[m] {
			continue
		}
		list = slices.Concat(list, all[m.window])
		slices.SortFunc(list, func(a, b *locked) int {
			return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.rank, b.rank), cmp.Compare(a.number, b.number))
		})
		order(list)
	}
	for _, l := range x.all { // in order of ranks, so that the numbers are deterministic
		if l.next > 0 || len(l.after) > 0 {
			l.id = lockContexts + int32(len(s.locks))
			s.locks[l.lockKey] = l
		}
	}
	return nil
}

// order makes the epochs of one memory wait for each other, in the order of list, which is that of their ends.
func order(list []*locked) {
	var last *locked // the last exclusive epoch
	var since []*locked
	for _, l := range list {
		before := since
		if !l.exclusive || len(since) == 0 {
			if before = nil; last != nil {
				before = []*locked{last}
			}
		}
		for _, b := range before {
			if b.rank == l.rank || slices.Contains(l.after, b) {
				continue
			}
			l.after, l.late = append(l.after, b), l.late || b.end > l.taken
			b.next++
		}
		if since = append(since, l); l.exclusive {
			last, since = l, nil
		}
	}
}

// A lockSink finds the lock epochs in a trace.
type lockSink struct {
	ops.NopSink
	all    []*locked
	open   map[lockKey]*locked // locks of the current rank that are not yet unlocked, at most one for a window and target, so lockKey.number is 0
	counts map[lockKey]int
}

func (x *lockSink) Begin(*trace.Rank) error {
	x.open, x.counts = make(map[lockKey]*locked), make(map[lockKey]int)
	return nil
}

func (x *lockSink) Enter(c *ops.Call) error {
	for i := range c.Acts {
		a := &c.Acts[i]
		if a.Kind != ops.ActWinLock && a.Kind != ops.ActWinUnlock {
			continue
		}
		k := keyOf(c.Rank, &a.Operation)
		if a.Kind == ops.ActWinUnlock {
			if l := x.open[k]; l != nil {
				l.end = c.EndNs
				x.all = append(x.all, l)
			}
			delete(x.open, k)
			continue
		}
		l := &locked{lockKey: k, exclusive: a.IsExclusiveLock(), taken: c.EndNs}
		l.number = x.counts[k]
		x.counts[k]++
		x.open[k] = l
	}
	return nil
}

func keyOf(rank int, o *ops.Operation) lockKey {
	return lockKey{rank: rank, comm: o.Comm.Number, ordinal: o.Window.WindowsAndFilesBefore, peer: o.PeerInComm}
}

// An epoch is a lock epoch that a simulated rank has begun and not ended.
type epoch struct {
	*locked
	waited bool
	kept   []dataflow.Op // transfers that begin when the lock is granted
}

// lock adds the wait for a lock, unless later transfers waited for it in the traced run.
func (w *writer) lock(x *ops.Operation) {
	if !w.s.exact {
		if x.Call.Param("lock_type") != nil {
			w.s.leave(unordered, 1, w.duration, false)
		}
		return
	}
	k := keyOf(w.k.Number(), x)
	n := w.taken[k]
	if w.taken == nil {
		w.taken, w.turns = make(map[lockKey]int), make(map[lockKey]*epoch)
	}
	w.taken[k]++
	at := k
	at.number = n
	l := w.s.locks[at]
	if l == nil {
		return
	}
	t := &epoch{locked: l, waited: len(l.after) == 0}
	w.turns[k] = t
	if !l.late {
		w.wait(t)
	}
}

// wait adds the operations that wait for the earlier epochs on the memory, and the transfers kept until then.
func (w *writer) wait(t *epoch) {
	if !t.waited {
		t.waited = true
		for _, l := range t.after {
			w.add(dataflow.Op{Kind: dataflow.OpMeet, WaitPattern: dataflow.WaitForRoot, Context: l.id, Members: l.next + 1, MatchIndex: 1, Request: dataflow.NoRequest})
		}
	}
	for _, o := range t.kept {
		w.add(o)
	}
	t.kept = nil
}

// turnOf returns the epoch of the window's lock under which a rank accesses a member's memory; nil if nobody waits
// because of it.
func (w *writer) turnOf(x *ops.Operation) *epoch {
	if w.turns == nil || x.Window == nil {
		return nil
	}
	k := keyOf(w.k.Number(), x)
	if t := w.turns[k]; t != nil {
		return t
	}
	k.peer = ops.AllMembers
	return w.turns[k]
}

// unlock adds the wait for the lock, if that is not added yet, and the end of the epoch.
func (w *writer) unlock(x *ops.Operation) {
	k := keyOf(w.k.Number(), x)
	t := w.turns[k]
	if t == nil {
		return
	}
	delete(w.turns, k)
	w.wait(t)
	if t.next > 0 {
		w.add(dataflow.Op{Kind: dataflow.OpMeet, WaitPattern: dataflow.WaitForRoot, IsRoot: true, Context: t.id, Members: t.next + 1, MatchIndex: 1, Request: dataflow.NoRequest})
	}
}

// windowInfo is the number of bytes that members exchange to make a window.
const windowInfo = 24

// transfer adds a one-sided transfer. It ends in a call that synchronises the window, or when its request is waited
// for. It returns false if there is no model.
func (w *writer) transfer(a *ops.Act) bool {
	x := &a.Operation
	target := x.Comm.WorldRank(x.PeerInComm)
	if target < 0 || w.s.o.apart {
		return false
	}
	o := dataflow.Op{Kind: dataflow.OpPut, Peer: int32(target), Bytes: int64(min(x.SentBytes, 1<<50))}
	if x.ReceivedBytes > 0 { // a get, or an operation that returns the old value
		o.Kind, o.Bytes = dataflow.OpGet, int64(min(max(x.SentBytes, x.ReceivedBytes), 1<<50))
	}
	if t := w.turnOf(x); t != nil && !t.waited && w.s.function(x.StartedBy).base[0] != 'R' {
		o.Request, o.CallIndex, o.Thread = w.number(), w.site, w.thread
		w.requests[x.ID] = o.Request
		t.kept = append(t.kept, o)
		return true
	}
	w.begin(x.ID, o)
	return true
}

// epoch adds a call that synchronises a window with a group of ranks (MPI_Win_post, start, complete or wait). A
// message without bytes informs each member of the group that the memory is open to it. Another one goes back when
// its accesses are complete.
func (w *writer) epoch(a *ops.Act) bool {
	x := &a.Operation
	if w.s.o.apart {
		return false
	}
	o := dataflow.Op{Kind: dataflow.OpSend, Context: context(x.Comm) + 1, Tag: -1 - 2*int64(x.Window.Number), IsBuffered: true, Request: dataflow.NoRequest}
	if a.Kind == ops.ActWinComplete || a.Kind == ops.ActWinWait {
		o.Tag--
	}
	if a.Kind == ops.ActWinStart || a.Kind == ops.ActWinWait {
		o.Kind = dataflow.OpReceive
	}
	for _, rank := range x.GroupWorldRanks {
		if rank != w.k.Number() {
			o.Peer = int32(rank)
			w.add(o)
		}
	}
	return true
}

// synchronised adds a collective at which all members of a communicator wait for each other. It returns false if there
// is no model.
func (w *writer) synchronised(comm *handles.Comm, operation meaning.CollectiveOperation, bytes int64) bool {
	g := w.group(comm)
	if g.me < 0 || w.s.o.apart {
		return false
	}
	c := w.inRun(dataflow.Collective{
		Operation: operation, Members: comm.Size, OwnMember: g.me, Root: -1, WorldRankOf: comm.WorldRank, Context: context(comm) + 1,
		SentBytes: bytes, ReceivedBytes: bytes * int64(comm.Size),
	})
	w.together(&c, &c, g.level, 0, false)
	return true
}
