package trace

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
)

// A TimedCall is a call together with its times.
type TimedCall struct {
	*Call
	Timing Timing
	// StartNs is when the call began, in nanoseconds on the run's time line: since rank 0's first call, on rank 0's
	// clock (see Rank.Clock). If the trace has the time of each call, Start is exact, and comparable between ranks
	// up to the error of the clocks.
	//
	// If the trace has means or histograms instead, Start is estimated. Calls keep their order, and each block of
	// 32,768 calls of a stream takes as long as its means say, but Start of a single call may be wrong. If the trace
	// has section when (see Reader.When), calls of a first thread are right to within one of its columns. All calls of
	// a rank may be shifted relative to other ranks, too: the table of processes has the end of a rank to a
	// millisecond, and its duration to 0.1 % (3 % on thousands of ranks).
	StartNs int64
	// StartErrorBoundNs is the largest error of Start, in ns, relative to the rank's first call; math.MaxUint64 if
	// unknown. If the ranks' iterations were not simultaneous, calls placed by the columns of When may be wrong by
	// more.
	StartErrorBoundNs uint64
	end               int64
}

// EndNs returns when the call returned, in ns on the time line. It may differ from Start plus duration, as the rank's
// clock may not be as fast as rank 0's, and as means are scaled to the run's duration.
func (c *TimedCall) EndNs() int64 { return c.end }

// TimedCalls yields the calls of a stream in program order with their times. It ends after an error.
func (k *Rank) TimedCalls(stream int) iter.Seq2[TimedCall, error] { return k.TimedCallsFrom(stream, 0) }

// TimedCallsFrom is like TimedCalls, but begins with the call at the given index.
func (k *Rank) TimedCallsFrom(stream int, index uint64) iter.Seq2[TimedCall, error] {
	return func(yield func(TimedCall, error) bool) {
		line, err := k.timeline(stream, index)
		if err != nil {
			yield(TimedCall{}, err)
			return
		}
		for c, err := range k.CallsFrom(stream, index) {
			t := TimedCall{Call: c}
			if err == nil {
				err = t.next(line)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// next sets the call's times to those of the next call of line, an iterator over the same stream.
func (c *TimedCall) next(line timeline.CallTimeIterator) error {
	t, w, err := line.Next(c.Terminal)
	c.Timing, c.StartNs, c.end, c.StartErrorBoundNs = t, w.StartNs, w.EndNs, w.MaxStartErrorNs
	return err
}

// TimedTerminals yields index, terminal and times of each call of a stream, in order. It is faster than TimedCalls, as
// it does not decode parameters.
func (k *Rank) TimedTerminals(stream int) iter.Seq2[TimedTerminal, error] {
	return k.TimedTerminalsFrom(stream, 0)
}

// TimedTerminalsFrom is like TimedTerminals, but begins with the call at the given index.
func (k *Rank) TimedTerminalsFrom(stream int, index uint64) iter.Seq2[TimedTerminal, error] {
	return func(yield func(TimedTerminal, error) bool) {
		line, err := k.timeline(stream, index)
		if err != nil {
			yield(TimedTerminal{}, err)
			return
		}
		cursor := k.streams[stream].Cursor()
		cursor.Seek(index)
		for {
			at := cursor.Pos()
			n, ok := cursor.Next()
			if !ok {
				return
			}
			t, w, err := line.Next(int(n))
			if !yield(TimedTerminal{at, int(n), t, w.StartNs, w.EndNs}, err) || err != nil {
				return
			}
		}
	}
}

// A TimedTerminal is the index in its stream, the terminal and the times of a call; see TimedCall.
type TimedTerminal struct {
	Index    uint64
	Terminal int
	Timing   Timing
	StartNs  int64
	end      int64
}

// NewTimedTerminal returns a TimedTerminal whose times are exact. gap is in ns; start and end are ns on the time line.
func NewTimedTerminal(index uint64, terminal int, gap, start, end int64) TimedTerminal {
	own := func(ns int64) Sample { return Sample{Ns: uint64(max(0, ns)), Kind: ExactSample} }
	return TimedTerminal{index, terminal, Timing{Duration: own(end - start), Gap: own(gap)}, start, end}
}

// EndNs returns when the call returned, in ns on the time line, as TimedCall.EndNs does.
func (t *TimedTerminal) EndNs() int64 { return t.end }

// TimeKind returns how accurate the times of calls are, judged by the first call that has a time.
func (r *Reader) TimeKind() (SampleKind, error) {
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return NoSample, err
		}
		series, err := k.openSeries()
		if err != nil {
			return NoSample, err
		}
		if series == nil {
			stats, hists, err := r.timeLineTimes(k.nclass)
			if err != nil {
				return NoSample, err
			}
			if first, ok := k.streams[0].Cursor().Next(); len(hists) == 0 && ok { // no need to compute a time line
				return meanSample(stats[first].Duration).Kind, nil
			}
		}
		for t, err := range k.TimedTerminals(0) {
			if err != nil {
				return NoSample, fmt.Errorf("rank %d: times: %w", k.number, err)
			}
			return t.Timing.Duration.Kind, nil
		}
	}
	return NoSample, nil
}

// StartNs returns when the rank's first call began, in ns on the time line: since rank 0's first call, on rank 0's clock.
func (k *Rank) StartNs() (int64, error) {
	l, err := k.line()
	if err != nil {
		return 0, err
	}
	ns, err := k.began()
	return l.ToRunTime(ns), err
}

// EndNs returns when the rank's run ended, in ns on the time line. None of its calls ends later.
func (k *Rank) EndNs() (int64, error) {
	end, err := k.StartNs()
	if err != nil {
		return 0, err
	}
	p, err := k.Process()
	if err != nil {
		return 0, err
	}
	end += p.WallNs()
	s, err := k.openSeries()
	if err != nil {
		return 0, err
	}
	for stream := range k.Streams() {
		n := k.CallCount(stream)
		if n == 0 || s == nil && stream == 0 {
			continue // a first thread's time line from means ends when the process does
		}
		line, err := k.timeline(stream, n-1)
		if err != nil {
			return 0, err
		}
		_, last, err := line.Next(timeline.TerminalAt(k.streams[stream], n-1))
		if err != nil {
			return 0, err
		}
		end = max(end, last.EndNs)
	}
	return end, nil
}

// EndNs returns when the last rank's run ended, in ns on the time line.
func (r *Reader) EndNs() (int64, error) {
	_, end, err := r.TimeExtent()
	return end, err
}

// TimeExtent returns when the earliest call of all ranks began, at most 0, and when the last rank's run ended. Both are
// in ns on the time line.
func (r *Reader) TimeExtent() (first, end int64, err error) {
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return 0, 0, err
		}
		start, err := k.StartNs()
		if err != nil {
			return 0, 0, err
		}
		last, err := k.EndNs()
		if err != nil {
			return 0, 0, err
		}
		first, end = min(first, start), max(end, last)
	}
	return first, end, nil
}

// timeline returns an iterator over the times of a stream's calls, from the call at the given index on.
func (k *Rank) timeline(stream int, index uint64) (timeline.CallTimeIterator, error) {
	s, err := k.openSeries()
	if err != nil {
		return nil, err
	}
	if s != nil {
		return k.seriesLine(s, stream, index)
	}
	m, err := k.means(stream)
	if err != nil {
		return nil, err
	}
	open, err := k.samples(m, stream)
	if err != nil {
		return nil, err
	}
	if open == nil {
		return timeline.NewMeanTimeIterator(m, index), nil
	}
	return timeline.NewBlockTimeIterator(m, open, k.streams[stream], index), nil
}

func (k *Rank) seriesLine(s *timeline.SeriesTimes, stream int, index uint64) (timeline.CallTimeIterator, error) {
	asides, err := k.asidesOf(stream)
	if err != nil {
		return nil, err
	}
	at, err := k.line()
	if err != nil {
		return nil, err
	}
	return s.OpenTimeIterator(stream, index, asides, at)
}

// samples returns a function that returns, for an index in a stream, an iterator over the durations and gaps of its
// calls from there on. It returns nil if all calls at a leaf have the same duration and gap.
func (k *Rank) samples(m *timeline.MeanTimes, stream int) (func(index uint64) timeline.TimeSampler, error) {
	_, hists, err := k.r.timeLineTimes(k.nclass)
	if err != nil {
		return nil, err
	}
	if len(hists) > 0 {
		h := &timeline.HistogramTimes{Histograms: hists, Groups: k.class.Groups(), Stream: k.streams[stream], Seed: uint64(k.number)<<32 ^ uint64(stream)<<56}
		if m.Leaves != nil {
			h.Arrivals = k.Leaves(stream).arrivals(k)
		}
		return func(index uint64) timeline.TimeSampler { return timeline.NewHistSampler(m, h, index) }, nil
	}
	if slices.ContainsFunc(m.LeafTimes, func(t LeafTimes) bool { return t.Entries > 0 }) {
		leaves := k.Leaves(stream)
		return func(index uint64) timeline.TimeSampler {
			visits := leaves.Cursor(k)
			visits.Skip(index)
			return timeline.NewLoopEntrySampler(m, index, visits.c)
		}, nil
	}
	return nil, nil
}

// A latestTimes caches the class of section times that was decoded last: a rank's time line needs it several times,
// and the next ranks often belong to the same class.
type latestTimes struct {
	mu    sync.Mutex
	known bool
	class int
	times []Times
	none  bool // whether the class has no histograms; they are not cached, as each time line needs its own
}

// of returns the cached times of a class. It returns nil if they are not cached, or if the caller also wants the
// histograms, which are never cached, and the class has some.
func (l *latestTimes) of(class int, histograms bool) []Times {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known && l.class == class && (l.none || !histograms) {
		return l.times
	}
	return nil
}

// timeLineTimes returns the statistics of a class by terminal, which must not be changed, and its histograms.
func (r *Reader) timeLineTimes(class int) ([]Times, []sections.Histogram, error) {
	l := &r.latest
	if known := l.of(class, true); known != nil {
		return known, nil, nil
	}
	times, hists, err := r.timesOf(class)
	if err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.class, l.times, l.none = true, class, times, len(hists) == 0
	return times, hists, nil
}
