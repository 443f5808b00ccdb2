package profile

import (
	"math/bits"

	"github.com/spoor-hpc/spoor/trace/model"
)

// A tally counts times in steps so fine that some of them make a bin, each with its count, sum,
// sum of squares and extremes. So bins can be chosen when all times are known, and everything in
// them is exact. Steps begin as fine as times are; when they become too many, neighbours
// are put together, which loses nothing but that. There are 512 of 56 bytes at most.
type tally struct {
	fine  int // steps of an octave, as a power of two
	low   int // the number of the first of steps
	steps []model.Stat
}

// tallies is one for the durations of calls and one for the gaps before them.
type tallies struct{ duration, gap tally }

const (
	finest   = 61  // each nanosecond has a step, up to 73 years, and numbers fit
	coarsest = 3   // all 64 bits are 496 steps
	mostStep = 512 // the number of steps of a tally
)

// newTallies returns empty ones.
func newTallies() *tallies { return &tallies{tally{fine: finest}, tally{fine: finest}} }

// step returns the number of a time's step; longer times are in no lower one.
func (t *tally) step(ns uint64) int {
	octave := bits.Len64(ns) - 1 - t.fine
	if octave <= 0 {
		return int(ns)
	}
	return octave<<t.fine + int(ns>>octave)
}

// add counts a time of a rank; ranks come in rising order.
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

// room returns the step of a time.
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

// coarsen puts two steps together each, as an octave then has half as many.
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

// spread makes bins of the same number of neighbouring steps each. Where times are far apart the
// bins are in about the same ratio to each other, and where they are close, as wide.
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
