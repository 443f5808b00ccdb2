package profile

import (
	"math/bits"

	"github.com/spoor-hpc/spoor/trace/model"
)

// A tally is a histogram with narrow intervals, called steps, which are merged into bins at the end. Each step has a
// count, sum, sum of squares and extremes. So bins can be chosen once all times are known, and their sums are exact.
// Steps are 1 ns wide at first. When there are too many, pairs of neighbours are merged. A tally has at most 512 steps
// of 56 bytes.
type tally struct {
	fine  int // logarithm, base 2, of the number of steps per octave (times from 2ⁿ to 2ⁿ⁺¹ ns)
	low   int // number of the first step, steps[0], as the method step counts
	steps []model.Stat
}

// tallies is the tally of the calls' durations and the tally of the gaps before them.
type tallies struct{ duration, gap tally }

const (
	finest   = 61  // value of fine in an empty tally: steps are 1 ns wide for all times below 2⁶² ns
	coarsest = 3   // least value of fine: 496 steps then cover all 64-bit times
	mostStep = 512 // largest number of steps of a tally
)

// newTallies returns empty tallies.
func newTallies() *tallies { return &tallies{tally{fine: finest}, tally{fine: finest}} }

// step returns the number of the step that a time in ns belongs to. The number rises with the time.
func (t *tally) step(ns uint64) int {
	octave := bits.Len64(ns) - 1 - t.fine
	if octave <= 0 {
		return int(ns)
	}
	return octave<<t.fine + int(ns>>octave)
}

// add counts a time in ns of a rank's call. Ranks come in rising order, so that the lowest rank with an extreme is
// kept.
func (t *tally) add(ns uint64, rank int32) {
	s := t.room(ns)
	if s.Count == 0 || ns < s.Min {
		s.MinRank = rank
	}
	if s.Count == 0 || ns > s.Max {
		s.MaxRank = rank
	}
	s.Add(ns)
}

// room returns the statistics of the step that a time in ns belongs to. It makes the step if needed.
func (t *tally) room(ns uint64) *model.Stat {
	n := t.step(ns)
	if len(t.steps) == 0 {
		t.low, t.steps = n, make([]model.Stat, 1)
	}
	for max(n, t.low+len(t.steps)-1)-min(n, t.low) >= mostStep && t.fine > coarsest {
		t.coarsen()
		n = t.step(ns)
	}
	if n < t.low {
		t.steps = append(make([]model.Stat, t.low-n), t.steps...)
		t.low = n
	}
	if more := n - t.low - len(t.steps) + 1; more > 0 {
		t.steps = append(t.steps, make([]model.Stat, more)...)
	}
	return &t.steps[n-t.low]
}

// coarsen merges pairs of neighbouring steps, which halves the number of steps per octave.
func (t *tally) coarsen() {
	before := t.steps
	t.fine--
	t.low = t.step(before[0].Min)
	t.steps = make([]model.Stat, t.step(before[len(before)-1].Max)-t.low+1)
	for _, s := range before {
		if s.Count > 0 {
			t.steps[t.step(s.Min)-t.low].Merge(s)
		}
	}
}

// spread merges the steps into at most MaxHistogramBins bins, each of the same number of steps. Bins grow in a constant
// ratio if the times are far apart, and have equal widths if they are close.
func (t *tally) spread() Histogram {
	width := (len(t.steps) + MaxHistogramBins - 1) / MaxHistogramBins
	var all model.Stat
	s := Histogram{Bins: []HistogramBin{}}
	for at := 0; at < len(t.steps); at += width {
		var sum model.Stat
		for _, step := range t.steps[at:min(at+width, len(t.steps))] {
			sum.Merge(step)
		}
		if sum.Count > 0 {
			s.Bins = append(s.Bins, ofStat(sum))
		}
		all.Merge(sum)
	}
	s.HistogramBin = ofStat(all)
	return s
}

func ofStat(s model.Stat) HistogramBin {
	return HistogramBin{s.Count, s.Min, s.Max, int(s.MinRank), int(s.MaxRank), s.Mean(), s.Deviation()}
}
