package ops

import (
	"errors"
	"math"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// MinTime and MaxTime as limits select all times.
const (
	MinTime = math.MinInt64
	MaxTime = math.MaxInt64
)

// Options say which calls a Source passes to a Sink, and what it determines about them.
type Options struct {
	Ranks        []int // in rising order; nil: all
	FromNs, ToNs int64 // on the run's time line: calls that overlap this interval
	// StartPosition returns the position in a thread at which to begin. Requests and messages from before it are unknown,
	// and messages have no numbers. The thread ends at ToNs. nil: all threads are read from their beginning.
	StartPosition  func(rank, stream int) uint64
	Phase          string // only calls in marked phases of that name, which positions determine, not times; "": all
	PassUnfinished bool   // pass what calls that never returned were doing, as ActSend, ActRecv and ActNeverCompleted
	// IsIdle returns which calls of a function do not matter; nil: all matter. Only the first ones of a long sequence
	// of such calls are passed. They must neither make nor complete requests.
	IsIdle             func(f *trace.Function) func(c *trace.Call) bool
	ReadAttachedValues bool               // read the values attached to calls
	NumberMessages     bool               // number messages, so that formats can match sends and receives
	FindBytesPerMember bool               // set Operation.PerMember: what is exchanged with each member of a collective
	PassFineSync       bool               // also pass synchronisations of windows with groups, views and syncs of files, and probes
	IgnoreTimes        bool               // act as if the trace had no times
	AddProgress        func(calls uint64) // called at intervals with the number of calls read since the last time
	CallTimes          StreamCallTimes    // nil: the trace's own times
	RunExtentNs        *[2]int64          // begin of the first call and end of the last rank, on the run's time line; nil: looked up
}

// A StreamCallTimes returns the times of a stream's calls. A recorder has them although the trace may not.
type StreamCallTimes func(stream int) CallTimeIterator

// A CallTimeIterator iterates over the times of a stream's calls: begin and end in ns since Extent's first, and the gap
// before the call without the recorder's time.
type CallTimeIterator interface {
	Next() (start, end, gap int64, err error)
	Skip(calls uint64) (end int64, err error) // Skip skips at least one call; end is the latest end of the skipped calls
}

// A Source passes the calls of a trace to a Sink.
type Source struct {
	Reader    *trace.Reader
	Comms     *handles.Comms
	Ranks     []int // selected ranks; some may have left no track
	Windows   []*Window
	Files     []*File
	Sites     []trace.Site // call sites, in the order in which they were found
	Losses    Losses
	CallsRead uint64 // number of calls passed to sinks so far
	StartNs   int64  // origin of Start and End, on the run's time line
	EndNs     int64  // end of the run relative to StartNs

	o       Options
	times   bool
	classes map[int]*ClassAmounts
	windows map[madeBy]*Window
	files   map[madeBy]*File
	places  map[trace.Site]int
}

// madeBy identifies an object that all members made together: their communicator, and how many they made before.
type madeBy struct{ comm, ordinal int }

// NewSource returns a source of a trace's calls.
func NewSource(r *trace.Reader, o Options) (*Source, error) {
	s := &Source{
		Reader: r, Ranks: o.Ranks, Losses: make(Losses), o: o, classes: make(map[int]*ClassAmounts),
		windows: make(map[madeBy]*Window), files: make(map[madeBy]*File), places: make(map[trace.Site]int),
	}
	s.times = (r.HasTimes() || o.CallTimes != nil) && !o.IgnoreTimes
	if s.o.AddProgress == nil {
		s.o.AddProgress = func(uint64) {}
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
	if o.RunExtentNs != nil {
		s.StartNs, s.EndNs = o.RunExtentNs[0], o.RunExtentNs[1]-o.RunExtentNs[0]
		return s, nil
	}
	first, end, err := r.TimeExtent()
	s.StartNs, s.EndNs = first, end-first
	return s, err
}

// timed reports whether there are times and they are not ignored.
func (s *Source) timed() bool { return s.times }

// wants reports whether a call between two times, relative to StartNs, is wanted.
func (s *Source) wants(start, end int64) bool {
	return end+s.StartNs >= s.o.FromNs && start+s.StartNs <= s.o.ToNs
}

// InTimeRange reports whether a time on the run's time line is wanted.
func (s *Source) InTimeRange(ns int64) bool { return s.wants(ns-s.StartNs, ns-s.StartNs) }

// TimeKind returns the accuracy of times. With NoSample they only represent the order of a thread's calls.
func (s *Source) TimeKind() (trace.SampleKind, error) {
	if !s.Reader.HasTimes() {
		return trace.NoSample, nil
	}
	return s.Reader.TimeKind()
}

// Calls returns how many calls Run will read.
func (s *Source) Calls() (n uint64, err error) {
	for _, rank := range s.Ranks {
		k, err := s.rank(rank)
		if err != nil {
			return 0, err
		}
		if k != nil {
			n += k.TotalCallCount()
		}
	}
	return n, nil
}

// HasOneThreadPerRank reports whether each rank has one thread only, so that its calls come in order.
func (s *Source) HasOneThreadPerRank() (bool, error) {
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

// Run passes the calls of all selected ranks to sink.
func (s *Source) Run(sink Sink) error {
	for _, rank := range s.Ranks {
		if err := s.RunRank(rank, sink); err != nil {
			return err
		}
	}
	return nil
}

// RunRank passes the calls of one rank to sink.
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

// window returns the n-th window that a communicator's ranks made together.
func (s *Source) window(comm *handles.Comm, n int, function string) *Window {
	return once.GetOrAppend(s.windows, madeBy{comm.ID(), n}, &s.Windows, func() *Window {
		return &Window{Number: len(s.Windows), MadeBy: function, Comm: comm, WindowsAndFilesBefore: n}
	})
}

// file returns the n-th file that a communicator's ranks opened together.
func (s *Source) file(comm *handles.Comm, n int, name string) *File {
	return once.GetOrAppend(s.files, madeBy{comm.ID(), n}, &s.Files, func() *File { return &File{len(s.Files), name, comm, n} })
}

// place returns the index of a call site, which it adds if it is new.
func (s *Source) place(site trace.Site) int {
	n, fresh := once.NumberOf(s.places, site)
	if fresh {
		s.Sites = append(s.Sites, site)
	}
	return n
}

// GetForSite returns a sink's data for the place of a call. list is by place; make creates missing elements.
func GetForSite[T any](s *Source, list *[]T, place int, make func(trace.Site) T) T {
	for len(*list) <= place {
		*list = append(*list, make(s.Sites[len(*list)]))
	}
	return (*list)[place]
}
