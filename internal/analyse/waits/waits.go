// Package waits says which ranks waited for which, and why: the wait states of a run, as they
// were classified by EXPERT and Scalasca (Wolf and Mohr 2003; Geimer et al. 2010), and who
// brought them about.
//
// Each rank goes through its own calls, a window of time after the other. At the end of a window ranks tell each other what the
// others need: when messages were sent, and when receives were posted (message.go); which member came last to a collective
// (meeting.go); who waited for whom, as only the late rank knows what it did meanwhile (local.go). So memory follows the calls of a
// window and what is under way. Ranks may be goroutines, for a trace with times (Of), or processes at the end of a run.
//
// A call waits at most once: of several operations that it completes, for the one that came last. A call waits from its
// beginning until the others had come, never past its own end; a rank that came last waits for nobody.
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

// A Kind is a reason to wait.
type Kind int

// The kinds of wait states.
const (
	LateSender   Kind = iota // a receive was there before its message was sent
	WrongOrder               // the same, while other messages that were received later had been sent
	LateReceiver             // a send could not go on before its receive was posted
	WaitAtBarrier
	WaitAtNxN       // a collective that needs data of all members
	LateRoot        // a collective that needs data of the root
	EarlyRoot       // the root needs data of all others
	EarlyScan       // a scan needs data of all members before
	WaitAtInit      // MPI is initialised by all ranks together
	WaitAtFinalize  // and ended
	LatePost        // access to a rank's memory that it has not opened yet, by MPI_Win_post
	LateComplete    // MPI_Win_wait, while others have not ended their access
	WaitForLock     // another rank had locked the memory
	WaitForProgress // the rank with the memory was outside of MPI, and the library needs it
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

// Options say how to look.
type Options struct {
	NameSite func(function string, s trace.Site) string // of a call site; nil: module and offset
	Begin    func(calls uint64)                         // called with the number of calls to read; may be nil
	Progress func(calls uint64)                         // called now and then with the number of further calls that were read; may be nil
	EachWait func(w Wait)                               // called for every wait; may be nil
	WithPath bool                                       // find the critical path, too
	Loops    Loops                                      // around the calls of the path; nil: not asked for
	Visitor  func(rank int) CallVisitor                 // goes along with a rank; may be nil, but not return it
}

// A CallVisitor goes along with a rank through its calls. Times are in ns.
type CallVisitor interface {
	SetZero(from int64)                                  // says where on the run's time line the times of calls count from
	AddCall(stream, terminal int, start, end, gap int64) // takes each call, those of a thread in order
	Waited(stream int, from, ns int64)                   // takes what a call waited, from its beginning on, once that is known
}

// alone is for a rank with which nobody goes along.
type alone struct{}

func (alone) SetZero(int64)                   {}
func (alone) AddCall(_, _ int, _, _, _ int64) {}
func (alone) Waited(int, int64, int64)        {}

// Loops finds the loops around calls, as calltree.Loops does.
type Loops interface {
	// LoopsAround returns the loops around each distinct call of a rank's thread, by terminal, outermost first.
	LoopsAround(rank, stream int) ([][]int, error)
	Loop(n int) show.Loop
}

// A Wait is time that one call waited. One whose reason turns out to be another is taken back first: its
// time is below 0 then.
type Wait struct {
	Rank, Stream int
	Kind         Kind
	BeginNs, Ns  int64 // From counts from the first call of any rank, as the calls of export do
	LateRank     int   // the rank that came last
}

// Analyse finds the wait states of a trace with a time for every call. Of any other it returns what the ranks found out at the end of the
// run: with the call sites and ranks that have most of it, and without single waits. Times are in ns.
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

// windowCalls is how many calls of all ranks a window has, about.
var windowCalls uint64 = 1 << 18

// of has a goroutine for each rank.
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
			Ranks: []int{rank}, FromNs: ops.MinTime, ToNs: ops.MaxTime, Messages: true, FineSync: true, Progress: locked(o.Progress), Extent: &[2]int64{first, end},
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

// all does everything that a rank does.
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
