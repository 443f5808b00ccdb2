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
	// Next returns the times of the next call, and its position. terminal is the call's terminal.
	Next(terminal int) (model.Timing, CallTime, error)
}

// A CallTime is the position of a call on the run's time line; see trace.TimedCall.
type CallTime struct {
	Start, End      int64
	StartErrorBound uint64
}

// A Clock converts a rank's clock to the run's time line.
type Clock struct {
	model.Clock
	OriginNs int64
}

// ToRunTime converts a reading of the clock to the time line.
func (c Clock) ToRunTime(ns int64) int64 { return c.Clock.ToRunTime(ns) - c.OriginNs }

// FromRunTime converts a time of the time line to a reading of the clock.
func (c Clock) FromRunTime(ns int64) int64 { return c.Clock.FromRunTime(ns + c.OriginNs) }

// limits bounds the errors of calls' starts if their times are means. Calls may have taken their shortest times
// before a call and their longest after it, or the reverse, with the stream's total unchanged. Times are in ns.
type limits struct {
	least, most *grammar.WeightSums // sums of gaps and durations along the stream; most is nil if the sum is out of range
	calls       [][2]duration       // by terminal: gap and duration
	span        float64             // total time of the stream
	slack       float64             // largest error of span and of the asides' positions, in ns
}

// A duration is a time between two bounds, in whole ns.
type duration struct{ least, most float64 }

func (s *duration) add(o duration) {
	s.least += o.least
	s.most += o.most
}

// BoundStartErrors computes the bounds for the starts of calls of a rank's first stream, if the stream's duration is known. n
// is the number of calls; weighed returns sums along the stream.
func (m *MeanTimes) BoundStartErrors(stats []model.Times, spanNs int64, ranks int, n uint64, weighed func(weight func(terminal uint32) int64) *grammar.WeightSums) {
	if spanNs <= 0 {
		return
	}
	l := &limits{calls: make([][2]duration, len(stats)), span: float64(spanNs), slack: float64(sections.RoundingError(spanNs, ranks) + 1)}
	for i, a := range m.asides {
		if i > 0 || ranks > sections.MaxAsidesPerRank {
			l.slack += float64(a.Ns) // its position may be a mean, or it may be the sum of several asides
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

// stretchOf returns the bounds of a call's time from its summary, in a stream of the given duration. It accounts
// for rounded extremes.
func stretchOf(s *model.Stat, span float64) duration {
	if s.Count == 0 {
		return duration{}
	}
	mean, least, most := s.Mean(), float64(s.Min), float64(s.Max)
	return duration{math.Floor(max(0, least-(mean-least)/64-1)), math.Ceil(min(span, most+(most-mean)/64+1))}
}

// A bracket sums up the bounds of consecutive calls' times.
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

// next moves over a call and returns the bounds of the time until its begin.
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

// within returns the largest error of a call's position, given the position and the bounds of the time before it,
// in ns.
func (l *limits) within(at float64, s duration) uint64 {
	low, high := s.least, l.span-(float64(l.least.Total())-s.least)
	if l.most != nil {
		low, high = max(low, l.span-(float64(l.most.Total())-s.most)), min(high, s.most)
	}
	return ceil(max(at-low, high-at, 0) + l.slack)
}

// ceil rounds up, limited to the largest uint64.
func ceil(x float64) uint64 {
	if x = math.Ceil(x); x < 1<<64 {
		return uint64(max(x, 0))
	}
	return math.MaxUint64
}
