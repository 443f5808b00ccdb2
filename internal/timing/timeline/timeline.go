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

// A TimeLine gives the times of one stream's calls, in order.
type TimeLine interface {
	// Next returns the times of the next call, and where it is. terminal is that of the call.
	Next(terminal int) (model.Timing, CallTime, error)
}

// CallTime says where on the run's time line a call is; see trace.TimedCall.
type CallTime struct {
	Start, End      int64
	StartErrorBound uint64
}

// A Clock is where a rank's clock is on the run's time line.
type Clock struct {
	model.Clock
	OriginNs int64
}

// ToRunTime is the time line at a time of the clock.
func (c Clock) ToRunTime(ns int64) int64 { return c.Clock.ToRunTime(ns) - c.OriginNs }

// FromRunTime is the time of the clock at one of the time line.
func (c Clock) FromRunTime(ns int64) int64 { return c.Clock.FromRunTime(ns + c.OriginNs) }

// limits bounds the errors of calls' starts that follow from means: equal calls may have taken their shortest and
// longest times before and after them, with the stream's total unchanged. Times are in ns.
type limits struct {
	least, most *grammar.WeightSums // of gaps and durations; most is nil where they add up to too much to say anything
	calls       [][2]duration       // by terminal: of the gap and the duration
	span        float64             // of the stream
	slack       float64             // how far that is known, and where asides are
}

// A duration is a time between two bounds, in whole ns.
type duration struct{ least, most float64 }

func (s *duration) add(o duration) {
	s.least += o.least
	s.most += o.most
}

// BoundStartErrors finds how far the starts of calls of a rank's first stream may be off, if it is known how long that took.
// There are n calls; weighed adds up along the stream.
func (m *MeanTimes) BoundStartErrors(stats []model.Times, spanNs int64, ranks int, n uint64, weighed func(weight func(terminal uint32) int64) *grammar.WeightSums) {
	if spanNs <= 0 {
		return
	}
	l := &limits{calls: make([][2]duration, len(stats)), span: float64(spanNs), slack: float64(sections.RoundingError(spanNs, ranks) + 1)}
	for i, a := range m.asides {
		if i > 0 || ranks > sections.MaxAsidesPerRank {
			l.slack += float64(a.Ns) // which may be together with others, or a mean
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

// stretchOf is how long a call of a summary took, in a stream that took so long; files round extremes.
func stretchOf(s *model.Stat, span float64) duration {
	if s.Count == 0 {
		return duration{}
	}
	mean, least, most := s.Mean(), float64(s.Min), float64(s.Max)
	return duration{math.Floor(max(0, least-(mean-least)/64-1)), math.Ceil(min(span, most+(most-mean)/64+1))}
}

// A bracket adds up how long calls took.
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

// next advances past a call and returns the time until it began.
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

// within is the largest error of a call's position, at a time of its stream in ns.
func (l *limits) within(at float64, s duration) uint64 {
	low, high := s.least, l.span-(float64(l.least.Total())-s.least)
	if l.most != nil {
		low, high = max(low, l.span-(float64(l.most.Total())-s.most)), min(high, s.most)
	}
	return ceil(max(at-low, high-at, 0) + l.slack)
}

// ceil is the next whole number, the largest there is if it is beyond.
func ceil(x float64) uint64 {
	if x = math.Ceil(x); x < 1<<64 {
		return uint64(max(x, 0))
	}
	return math.MaxUint64
}
