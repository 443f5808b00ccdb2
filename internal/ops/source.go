package ops

import (
	"errors"
	"math"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// FromStart and ToEnd are all times.
const (
	MinTime = math.MinInt64
	MaxTime = math.MaxInt64
)

// Options say what to export.
type Options struct {
	Ranks        []int // in rising order; nil: all
	FromNs, ToNs int64 // on the run's time line: calls that are under way between these times
	// StartPosition returns the position of a thread at which to begin: what was under way there is unknown, and so are the
	// numbers of messages. The thread ends at To. nil: all threads are read from their beginning.
	StartPosition func(rank, stream int) uint64
	Phase         string // only calls of marked phases of that name, by position; empty: all
	Unfinished    bool   // pass on what calls were doing that never returned: Send, Recv and Awaited
	// IsIdle returns which calls of a function do nothing that matters; nil: none. Of a long stretch of these only the
	// first ones are passed on. They neither make nor complete requests.
	IsIdle      func(f *trace.Function) func(c *trace.Call) bool
	Values      bool               // read the values attached to calls
	Messages    bool               // number messages, so that formats can say what was received where
	PerMember   bool               // say what goes to each member of a collective that has an array of counts
	FineSync    bool               // pass on synchronisations of windows with groups, views and syncs of files, and probes, too
	IgnoreTimes bool               // do not look at times, as if there were none
	Progress    func(calls uint64) // called now and then with the number of further calls that were read
	Clock       CallClock          // nil: the trace's own times
	Extent      *[2]int64          // when the first call began and the last rank ended, on the run's time line; nil: looked up
}

// A CallClock gives the times of a stream's calls. A recorder has them at hand where the trace hasn't.
type CallClock func(stream int) Ticker

// A Ticker goes through the times of a stream's calls. Those of each are when it began and ended, in ns since Extent's first, and how long
// the thread was in neither MPI nor the recorder before.
type Ticker interface {
	Next() (start, end, gap int64, err error)
	Skip(calls uint64) (end int64, err error) // goes over some, at least one; end is the latest of theirs
}

// A Source gives the calls of a trace to a Sink.
type Source struct {
	Reader    *trace.Reader
	Comms     *handles.Comms
	Ranks     []int // that are exported; some may have left no track
	Windows   []*Window
	Files     []*File
	Places    []trace.Site // call sites, in the order in which they turned up
	Losses    Losses
	CallsRead uint64 // calls so far
	StartNs   int64  // on the run's time line: where Start and End count from
	EndNs     int64  // end of the run, counted from there

	o       Options
	times   bool
	classes map[int]*ClassAmounts
	windows map[madeBy]*Window
	files   map[madeBy]*File
	places  map[trace.Site]int
}

// madeBy is what all members know of an object that they made together: their communicator and
// how many they made before.
type madeBy struct{ comm, ordinal int }

// NewSource prepares a trace.
func NewSource(r *trace.Reader, o Options) (*Source, error) {
	s := &Source{
		Reader: r, Ranks: o.Ranks, Losses: make(Losses), o: o, classes: make(map[int]*ClassAmounts),
		windows: make(map[madeBy]*Window), files: make(map[madeBy]*File), places: make(map[trace.Site]int),
	}
	s.times = (r.HasTimes() || o.Clock != nil) && !o.IgnoreTimes
	if s.o.Progress == nil {
		s.o.Progress = func(uint64) {}
	}
	if s.Ranks == nil {
		for rank := range r.Ranks() {
			s.Ranks = append(s.Ranks, rank)
		}
	}
	var err error
	if s.Comms, err = handles.TableOf(r).Comms(); err != nil {
		return nil, err
	}
	if !s.timed() {
		return s, nil
	}
	if o.Extent != nil {
		s.StartNs, s.EndNs = o.Extent[0], o.Extent[1]-o.Extent[0]
		return s, nil
	}
	first, end, err := r.TimeExtent()
	s.StartNs, s.EndNs = first, end-first
	return s, err
}

// timed reports whether there are times that are asked for.
func (s *Source) timed() bool { return s.times }

// wants reports whether a call that is under way between two times, which count from First,
// is to be exported.
func (s *Source) wants(start, end int64) bool {
	return end+s.StartNs >= s.o.FromNs && start+s.StartNs <= s.o.ToNs
}

// InTimeRange reports whether a time on the run's time line is exported.
func (s *Source) InTimeRange(ns int64) bool { return s.wants(ns-s.StartNs, ns-s.StartNs) }

// TimeKind is how well times are known. Of NoSample they say the order of a thread's calls, no more.
func (s *Source) TimeKind() (trace.SampleKind, error) {
	if !s.Reader.HasTimes() {
		return trace.NoSample, nil
	}
	return s.Reader.TimeKind()
}

// Calls returns how many calls there are to look at.
func (s *Source) Calls() (n uint64, err error) {
	for _, rank := range s.Ranks {
		k, err := s.rank(rank)
		if err != nil {
			return 0, err
		}
		if k != nil {
			n += k.Total()
		}
	}
	return n, nil
}

// OneThread reports whether ranks have one thread each, so that the calls of each come in order.
func (s *Source) OneThread() (bool, error) {
	for _, rank := range s.Ranks {
		k, err := s.rank(rank)
		if err != nil || streams(k) > 1 {
			return false, err
		}
	}
	return true, nil
}

// rank returns the view of a rank, nil if it left no track.
func (s *Source) rank(number int) (*trace.Rank, error) {
	k, err := s.Reader.Rank(number)
	if errors.Is(err, trace.ErrNoTrack) {
		return nil, nil
	}
	return k, err
}

func streams(k *trace.Rank) int {
	if k == nil {
		return 0
	}
	return k.Streams()
}

// Run goes through all calls.
func (s *Source) Run(sink Sink) error {
	for _, rank := range s.Ranks {
		if err := s.RunRank(rank, sink); err != nil {
			return err
		}
	}
	return nil
}

// RunRank goes through the calls of one rank.
func (s *Source) RunRank(number int, sink Sink) error {
	k, err := s.rank(number)
	if err != nil {
		return err
	}
	if k == nil {
		s.Losses.Add("ranks that left no track", 1)
		return nil
	}
	p, err := s.process(k)
	if err != nil {
		return err
	}
	if err := sink.Begin(k); err != nil {
		return err
	}
	if err := p.run(sink); err != nil {
		return err
	}
	return sink.End(k)
}

// window returns the window that a communicator's ranks made together as their n-th.
func (s *Source) window(comm *handles.Comm, n int, function string) *Window {
	return once.GetOrAppend(s.windows, madeBy{comm.Key(), n}, &s.Windows, func() *Window {
		return &Window{Number: len(s.Windows), MadeBy: function, Comm: comm, Ordinal: n}
	})
}

// file returns the file that a communicator's ranks opened together as their n-th.
func (s *Source) file(comm *handles.Comm, n int, name string) *File {
	return once.GetOrAppend(s.files, madeBy{comm.Key(), n}, &s.Files, func() *File { return &File{len(s.Files), name, comm, n} })
}

// place numbers a call site.
func (s *Source) place(site trace.Site) int {
	n, fresh := once.NumberOf(s.places, site)
	if fresh {
		s.Places = append(s.Places, site)
	}
	return n
}

// GetForPlace returns what a sink keeps for the place of a call. The list is by place; what it lacks is made.
func GetForPlace[T any](s *Source, list *[]T, place int, make func(trace.Site) T) T {
	for len(*list) <= place {
		*list = append(*list, make(s.Places[len(*list)]))
	}
	return (*list)[place]
}
