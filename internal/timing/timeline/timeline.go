// Package timeline puts the calls of a stream on the run's one time line, given what a trace has of their times. Each
// call has its own (Series), or those of calls like it: means, or values drawn from histograms. A block
// of calls with such times is stretched to where means have it.
//
// Invariants:
//
//  1. A line opened at a position goes on as one that came there from the beginning.
//  2. What is drawn follows from rank, stream and position alone.
//  3. How far a call may be from where it is placed is said, or that it isn't known.
//
// It reads no section of a file: package trace does, and has the lines' callers.
package timeline

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A CallTimeIterator yields the times of one stream's calls, in order.
type CallTimeIterator interface {
	// Next returns the times of the next call, and when it was on the time line. The caller passes the call's
	// terminal.
	Next(terminal int) (model.Timing, CallTime, error)
}

// A CallTime is when a call started and ended on the run's time line; see trace.TimedCall.
type CallTime struct {
	StartNs, EndNs  int64
	MaxStartErrorNs uint64
}

// A Clock converts readings of a rank's clock to the run's time line.
type Clock struct {
	model.Clock
	OriginNs int64
}

// ToRunTime converts a reading of the rank's clock in ns to the time line.
func (c Clock) ToRunTime(ns int64) int64 { return c.Clock.ToTimeLine(ns) - c.OriginNs }

// FromRunTime converts a time on the time line to a reading of the rank's clock in ns.
func (c Clock) FromRunTime(ns int64) int64 { return c.Clock.FromTimeLine(ns + c.OriginNs) }

// limits bounds the error of a call's start if times are means. In the worst cases all calls before it took their
// shortest time and all after it their longest, or the reverse, while the stream's duration is known. Times are in
// ns.
type limits struct {
	// Sums along the stream of the shortest and of the longest times of gaps and calls. most is nil if its sum is out
	// of range.
	least, most *grammar.WeightSums
	calls       [][2]duration // by terminal: bounds of its gaps (0) and of its durations (1)
	span        float64       // duration of the stream
	slack       float64       // largest error of span, and of where asides are, together
}

// A duration is the bounds of an unknown time, in whole ns.
type duration struct{ least, most float64 }

func (s *duration) add(o duration) {
	s.least += o.least
	s.most += o.most
}

// BoundStartErrors computes bounds for the start errors of the calls of a rank's first stream, if spanNs, the
// stream's duration, is known. n is the number of calls. weighed returns the sums of weights of terminals along the
// stream.
func (m *MeanTimes) BoundStartErrors(stats []model.Times, spanNs int64, ranks int, n uint64, weighed func(weight func(terminal uint32) int64) *grammar.WeightSums) {
	if spanNs <= 0 {
		return
	}
	l := &limits{calls: make([][2]duration, len(stats)), span: float64(spanNs), slack: float64(sections.ProcessRoundingErrorNs(spanNs, ranks) + 1)}
	for i, a := range m.asides {
		if i > 0 || ranks > sections.MaxAsidesPerRank {
			// Where the aside is may follow from means, or it may be several asides of a rank in one.
			l.slack += float64(a.Ns)
		}
	}
	for t := range stats {
		l.calls[t] = [2]duration{stretchOf(&stats[t].Gap, l.span), stretchOf(&stats[t].Duration, l.span)}
	}
	l.least = weighed(func(t uint32) int64 { return int64(l.calls[t][0].least + l.calls[t][1].least) })
	if float64(n)*l.span < math.MaxInt64/4 {
		l.most = weighed(func(t uint32) int64 { return int64(l.calls[t][0].most + l.calls[t][1].most) })
	}
	m.limits = l
}

// stretchOf returns the bounds of a time from its summary s over many calls. span is the duration of the stream. The
// summary's extremes may be rounded.
func stretchOf(s *model.Stat, span float64) duration {
	if s.Count == 0 {
		return duration{}
	}
	mean, least, most := s.Mean(), float64(s.Min), float64(s.Max)
	return duration{math.Floor(max(0, least-(mean-least)/64-1)), math.Ceil(min(span, most+(most-mean)/64+1))}
}

// A bracket is a position in a stream with the bounds of the time before it.
type bracket struct {
	*limits
	before duration
}

func (m *MeanTimes) bracket(index uint64) bracket {
	b := bracket{limits: m.limits}
	if m.limits != nil && index > 0 {
		b.before.least = float64(b.limits.least.Before(index))
		if b.limits.most != nil {
			b.before.most = float64(b.limits.most.Before(index))
		}
	}
	return b
}

// next moves over a call, and returns the bounds of the time from the stream's begin to the begin of the call.
func (b *bracket) next(terminal int) duration {
	if b.limits == nil {
		return duration{}
	}
	c := &b.calls[terminal]
	b.before.add(c[0])
	until := b.before
	b.before.add(c[1])
	return until
}

// within returns the largest error of a call's start in ns. at is its estimated start, in ns since the stream began;
// s is the bounds of the time before it.
func (l *limits) within(at float64, s duration) uint64 {
	low, high := s.least, l.span-(float64(l.least.Total())-s.least)
	if l.most != nil {
		low, high = max(low, l.span-(float64(l.most.Total())-s.most)), min(high, s.most)
	}
	return ceil(max(at-low, high-at, 0) + l.slack)
}

// ceil rounds up to an integer from 0 to the largest uint64.
func ceil(x float64) uint64 {
	if x = math.Ceil(x); x < 1<<64 {
		return uint64(max(x, 0))
	}
	return math.MaxUint64
}
