package trace

import (
	"fmt"
	"iter"
	"slices"
)

// A SampleKind says how well a time is known. The order is from nothing to all.
type SampleKind uint8

// The kinds of samples.
const (
	NoSample        SampleKind = iota // nothing was recorded
	MeanSample                        // the mean of calls like it
	HistogramSample                   // a value of the histogram of calls like it: many of them have its shape
	BoundedSample                     // the call's own time, within Bound
	ExactSample                       // the call's own time
)

func (k SampleKind) String() string {
	return [...]string{"unknown", "mean", "histogram", "bounded", "exact"}[k]
}

// Own reports whether the time is that of the call itself, exactly or within a bound.
// If not, it is representative: of calls like it.
func (k SampleKind) Own() bool { return k == BoundedSample || k == ExactSample }

// A Sample is a time in nanoseconds. The call's own time is at most Bound away
// from it, whatever the kind.
type Sample struct {
	Ns    uint64
	Kind  SampleKind
	Bound uint64
}

// A Timing is how long a call took, and how long its thread was outside MPI
// before it. The gap before a thread's first call is 0.
type Timing struct {
	Duration, Gap Sample
	// Spoor and Off are ns between the call before and this one that are in neither: what the recorder or a
	// plugin took, and for how long tracing was switched off. See Aside.
	Spoor, Off uint64
	Early      bool // these lie right behind the call before, not right before this one
}

// Asides returns what lies between a call and the one before in the same thread, which began
// at start and ended at last.
func (t *Timing) Asides(index uint64, last, start int64) (list []Stretch) {
	at := start - int64(t.Spoor) - int64(t.Off)
	if t.Early {
		at = min(at, last) // the end may be drawn
	}
	if t.Off > 0 {
		list = append(list, Stretch{at, Aside{Call: index, Ns: int64(t.Off), Off: true}})
		at += int64(t.Off)
	}
	if t.Spoor > 0 {
		list = append(list, Stretch{at, Aside{Call: index, Ns: int64(t.Spoor), Off: false}})
	}
	return list
}

// A TimedCall is a call together with its times.
type TimedCall struct {
	*Call
	Timing Timing
	// Start is when the call began, in nanoseconds on the run's one time line:
	// since rank 0's first call, on rank 0's clock (see Rank.Clock). Where times are the calls' own, so are
	// starts, between ranks as well, up to how well clocks agree. With means and histograms starts are
	// representative. Calls keep their order, and each 32,768 of a stream together take as long as their means
	// do, but a single one may be off. The whole rank may be off against others, too: the table of processes
	// has the end of a rank to a millisecond, and its span to 0.1 % (3 % on thousands of ranks).
	Start int64
	// Within is how far Start may be from when the call began, as seen from the rank's first call;
	// math.MaxUint64 if that is not known.
	Within uint64
	end    int64
}

// End is when the call returned, on the same time line. That is Start and the duration
// where the rank's clock is as fast as rank 0's, and the line is not stretched.
func (c *TimedCall) End() int64 { return c.end }

// when says where on the run's time line a call is; see TimedCall.
type when struct {
	start, end int64
	within     uint64
}

// timeline gives the times of one stream's calls, in order.
type timeline interface {
	// next returns the times of the next call, and where it is. terminal is that of the call.
	next(terminal int) (Timing, when, error)
}

// Timed yields the calls of a stream in program order with their times. After
// an error it stops.
func (k *Rank) Timed(stream int) iter.Seq2[TimedCall, error] { return k.TimedFrom(stream, 0) }

// TimedFrom yields the calls of a stream from a position on, with their times.
func (k *Rank) TimedFrom(stream int, index uint64) iter.Seq2[TimedCall, error] {
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

// next fills in the times of the call that is next on a line.
func (c *TimedCall) next(line timeline) error {
	t, w, err := line.next(c.Terminal)
	c.Timing, c.Start, c.end, c.Within = t, w.start, w.end, w.within
	return err
}

// Timings yields what Timed does without the calls: by position, terminal and
// times. It is the faster where a call's parameters don't matter.
func (k *Rank) Timings(stream int) iter.Seq2[TimedTerminal, error] {
	return func(yield func(TimedTerminal, error) bool) {
		line, err := k.timeline(stream, 0)
		if err != nil {
			yield(TimedTerminal{}, err)
			return
		}
		at := uint64(0)
		for n := range k.streams[stream].All() {
			t, w, err := line.next(int(n))
			if !yield(TimedTerminal{at, int(n), t, w.start, w.end}, err) || err != nil {
				return
			}
			at++
		}
	}
}

// TimingsFrom yields what Timings does, from a position on.
func (k *Rank) TimingsFrom(stream int, index uint64) iter.Seq2[TimedTerminal, error] {
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
			t, w, err := line.next(int(n))
			if !yield(TimedTerminal{at, int(n), t, w.start, w.end}, err) || err != nil {
				return
			}
		}
	}
}

// A TimedTerminal says which call stands at a position of a stream, and its
// times; see TimedCall.
type TimedTerminal struct {
	Index    uint64
	Terminal int
	Timing   Timing
	Start    int64
	end      int64
}

// End is that of TimedCall.
func (t *TimedTerminal) End() int64 { return t.end }

// TimeKind tells how well the times of calls are known, by the first call of a rank that
// has one.
func (r *Reader) TimeKind() (SampleKind, error) {
	for rank := range r.Ranks() {
		if r.ClassOf(rank) < 0 {
			continue
		}
		k, err := r.Rank(rank)
		if err != nil {
			return NoSample, err
		}
		for t, err := range k.Timings(0) {
			if err != nil {
				return NoSample, fmt.Errorf("rank %d: times: %w", rank, err)
			}
			return t.Timing.Duration.Kind, nil
		}
	}
	return NoSample, nil
}

// Start is when the rank's first call began: nanoseconds since rank 0's first
// call, on rank 0's clock.
func (k *Rank) Start() (int64, error) {
	l, err := k.line()
	if err != nil {
		return 0, err
	}
	ns, err := k.began()
	return l.common(ns), err
}

// End is when the rank's run ended, on the same time line: no call of it ends later.
func (k *Rank) End() (int64, error) {
	end, err := k.Start()
	if err != nil {
		return 0, err
	}
	p, err := k.Process()
	if err != nil {
		return 0, err
	}
	end += p.WholeNs()
	s, err := k.openSeries()
	if err != nil {
		return 0, err
	}
	for stream := range k.Streams() {
		n := k.Len(stream)
		if n == 0 || s == nil && stream == 0 {
			continue // the line of means ends there
		}
		line, err := k.timeline(stream, n-1)
		if err != nil {
			return 0, err
		}
		_, last, err := line.next(terminalAt(k.streams[stream], n-1))
		if err != nil {
			return 0, err
		}
		end = max(end, last.end)
	}
	return end, nil
}

// End is when the last rank's run ended, on the run's time line.
func (r *Reader) End() (int64, error) {
	_, end, err := r.Extent()
	return end, err
}

// Extent is when the first rank's first call began, and when the last rank's run ended.
func (r *Reader) Extent() (first, end int64, err error) {
	for rank := range r.Ranks() {
		if r.ClassOf(rank) < 0 {
			continue
		}
		k, err := r.Rank(rank)
		if err != nil {
			return 0, 0, err
		}
		start, err := k.Start()
		if err != nil {
			return 0, 0, err
		}
		last, err := k.End()
		if err != nil {
			return 0, 0, err
		}
		first, end = min(first, start), max(end, last)
	}
	return first, end, nil
}

// timeline returns the times of a stream from a position on.
func (k *Rank) timeline(stream int, index uint64) (timeline, error) {
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
		return newMeanLine(m, index), nil
	}
	return k.newBlockLine(m, open, stream, index), nil
}

// samples returns what opens a stream's samples at a position, nil if each call at a place has the same times.
func (k *Rank) samples(m *meanTimes, stream int) (func(index uint64) sampler, error) {
	_, hists, err := k.r.timeLineTimes(k.nclass)
	if err != nil {
		return nil, err
	}
	if len(hists) > 0 {
		return func(index uint64) sampler { return k.newHistLine(newMeanLine(m, index), hists, stream, index) }, nil
	}
	if slices.ContainsFunc(m.places, func(t LeafTimes) bool { return t.Entries > 0 }) {
		leaves := k.Leaves(stream)
		return func(index uint64) sampler {
			visits := leaves.Cursor(k)
			visits.Skip(index)
			return &entryLine{newMeanLine(m, index), visits}
		}, nil
	}
	return nil, nil
}
