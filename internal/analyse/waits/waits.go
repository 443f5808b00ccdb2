// Package waits determines which ranks waited for which, and why: the wait states of a run as EXPERT and Scalasca
// classify them (Wolf and Mohr 2003; Geimer et al. 2010), and their causes.
//
// Each rank processes its own calls, one window of time after the other. At the end of a window ranks exchange what
// they need of each other: when messages were sent, and when receives were posted (message.go); which member arrived
// last at a collective (meeting.go); who waited for whom, as only the late rank knows what it did meanwhile
// (local.go). So memory grows with the calls of a window and with pending operations. Ranks are goroutines, for a
// trace with times (Analyse), or processes at the end of a run (AnalyseRun).
//
// A call waits at most once: if it completes several operations, for the one that arrived last. The wait lasts from
// the call's beginning until the other ranks had arrived, never past the call's end. A rank that arrived last waits
// for nobody.
package waits

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// A Kind is a kind of wait state.
type Kind int

// The kinds of wait states.
const (
	LateSender   Kind = iota // a receive was posted before its message was sent
	WrongOrder               // a LateSender while messages that were received later had already been sent
	LateReceiver             // a send could not complete before its receive was posted
	WaitAtBarrier
	WaitAtNxN       // a collective that needs data of all members
	LateRoot        // a collective that needs data of the root
	EarlyRoot       // the root needs data of all others
	EarlyScan       // a scan needs data of all members before
	WaitAtInit      // all ranks initialise MPI together
	WaitAtFinalize  // all ranks finalize MPI together
	LatePost        // access to memory that its owner has not opened yet with MPI_Win_post
	LateComplete    // MPI_Win_wait, while others have not ended their access
	WaitForLock     // another rank held the lock of the memory
	WaitForProgress // the owner of the memory was outside of MPI, and the library needed it for progress
	kinds
)

var kindNames = [kinds]string{
	"late sender", "late sender, wrong order", "late receiver", "wait at barrier", "wait at all-to-all", "late root", "early root", "early scan", "wait at init", "wait at finalize",
	"late post", "late complete", "wait for lock", "wait for progress",
}

func (k Kind) String() string { return kindNames[k] }

// Kinds names all wait states, in order of their numbers.
func Kinds() []string { return slices.Clone(kindNames[:]) }

// MarshalText writes a kind by its name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind by its name.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("no wait state is called %q", text)
	}
	*k = Kind(i)
	return nil
}

// Options select what Analyse does.
type Options struct {
	NameSite func(function string, s trace.Site) string // names a call site; nil: module and offset
	Begin    func(calls uint64)                         // called with the number of calls to read; may be nil
	Progress func(calls uint64)                         // called now and then with the number of further calls that were read; may be nil
	EachWait func(w Wait)                               // called for every wait; may be nil
	WithPath bool                                       // find the critical path, too
	Loops    LoopFinder                                 // finds the loops around the path's calls; nil: not wanted
	Visitor  func(rank int) CallVisitor                 // returns a visitor for a rank's calls; may be nil, but must not return nil
}

// A CallVisitor sees the calls of a rank. Times are in ns.
type CallVisitor interface {
	SetZero(from int64)                                  // sets the time on the run's time line that call times count from
	AddCall(stream, terminal int, start, end, gap int64) // is called for each call; calls of a thread come in order
	AddWait(stream int, from, ns int64)                  // is called when a call's wait is known; from is the call's beginning
}

// alone is the visitor of a rank without one: it does nothing.
type alone struct{}

func (alone) SetZero(int64)                   {}
func (alone) AddCall(_, _ int, _, _, _ int64) {}
func (alone) AddWait(int, int64, int64)       {}

// LoopFinder finds the loops around calls, as calltree.Loops does.
type LoopFinder interface {
	// LoopsAround returns the numbers of the loops around each distinct call of a rank's thread: by terminal, outermost
	// first.
	LoopsAround(rank, stream int) ([][]int, error)
	Loop(n int) show.Loop
}

// A Wait is the waiting time of one call. If its kind turns out to be wrong, it is taken back first by a Wait with
// negative time.
type Wait struct {
	Rank, Stream int
	Kind         Kind
	BeginNs, Ns  int64 // the wait's begin, after the first call of any rank as in the output of export, and its length
	LateRank     int   // the rank that arrived last
}

// Analyse finds the wait states of a trace with a time for every call. For any other trace it returns what the ranks
// found at the end of the run: the largest call sites and ranks, without single waits. Times are in ns.
func Analyse(r *trace.Reader, o Options) (*Report, error) {
	if err := r.RequireTimes(); err != nil {
		return nil, err
	}
	kind, err := r.TimeKind()
	if err != nil {
		return nil, err
	}
	if o.NameSite == nil {
		o.NameSite = func(_ string, s trace.Site) string { return fmt.Sprintf("%s+0x%x", s.Module, s.Offset) }
	}
	if kind.OfTheCallItself() {
		return of(r, kind, o)
	}
	rep, err := FromTrace(r, o.NameSite)
	if err == nil && rep == nil {
		err = ErrNoSingleTimes
	}
	return rep, err
}

// windowCalls is the approximate number of calls in a window, over all ranks.
var windowCalls uint64 = 1 << 18

// of analyses a trace with a goroutine for each rank.
func of(r *trace.Reader, kind trace.SampleKind, o Options) (*Report, error) {
	first, end, err := r.TimeExtent()
	if err != nil {
		return nil, err
	}
	x, err := NewPlaces(r)
	if err != nil {
		return nil, err
	}
	torn, err := missing(r)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	locked := func(f func(uint64)) func(uint64) {
		if f == nil {
			return nil
		}
		return func(n uint64) {
			mu.Lock()
			defer mu.Unlock()
			f(n)
		}
	}
	ranks := LocalTransports(r.Ranks())
	list, calls := make([]*rankAnalysis, len(ranks)), uint64(0)
	for rank, t := range ranks {
		s, err := ops.NewSource(r, ops.Options{
			Ranks: []int{rank}, FromNs: ops.MinTime, ToNs: ops.MaxTime, NumberMessages: true, PassFineSync: true, AddProgress: locked(o.Progress), RunExtentNs: &[2]int64{first, end},
		})
		if err != nil {
			return nil, err
		}
		n, err := s.Calls()
		if err != nil {
			return nil, err
		}
		calls += n
		w := newLocal(t, s, x)
		w.direct = r.Ranks()
		if o.EachWait != nil {
			w.each = func(x Wait) {
				mu.Lock()
				defer mu.Unlock()
				o.EachWait(x)
			}
		}
		if o.Visitor != nil {
			w.rider = o.Visitor(rank)
		}
		w.rider.SetZero(first)
		if o.WithPath {
			w.hops = &hops{of: make(map[int32][]hop)}
		}
		list[rank] = w
	}
	if o.Begin != nil {
		o.Begin(calls)
	}
	var windows []int64
	n := int64(calls/windowCalls) + 1
	for i := range n {
		windows = append(windows, (end-first)/n*(i+1))
	}
	errs := make([]error, len(list))
	var wait sync.WaitGroup
	for i, w := range list {
		wait.Go(func() {
			if errs[i] = w.all(r, torn, windows); errs[i] != nil {
				ranks[i].(*virtual).close()
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, errElsewhere) && !errors.Is(err, errClosed) {
			return nil, err
		}
	}
	all := list[0].own()
	for _, w := range list[1:] {
		all.join(w.own(), r.Ranks())
	}
	rep := all.report(r.Ranks(), x, o.NameSite)
	rep.TimesKind = kind.String()
	if o.WithPath {
		rep.Path, err = paths(list, rep, &o)
	}
	return rep, err
}

// all runs one rank's whole analysis.
func (w *rankAnalysis) all(r *trace.Reader, torn bool, windows []int64) error {
	w.try(func() (err error) {
		w.enterGroups(w.s.Comms)
		w.follow, err = w.s.Follow(w.Rank(), w)
		return err
	})
	if torn {
		if err := w.findTorn(r); err != nil {
			return err
		}
	}
	return w.run(windows)
}
