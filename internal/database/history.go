package database

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/stats"
)

// A Step is all runs with one value of a tag, as one point of a history.
type Step struct {
	Value     string  `json:"value"` // of the tag
	Runs      int     `json:"runs"`
	Median    float64 `json:"median"`
	Deviation float64 `json:"deviation"` // 1.4826 times the median distance from the median
	// Change is the median's from that of all runs since the last change, as a share of it.
	Change  float64 `json:"change"`
	Verdict string  `json:"verdict"` // Same, More, Less
}

// Verdicts on a step.
const (
	Same = "same"
	More = "more"
	Less = "less"
)

// A Series is the values of the runs of one step, in the order of history.
type Series struct {
	Value  string
	Values []float64
}

// sigmas is by how many deviations a step must be off before it is a change and no chance.
const sigmas = 3

// History compares each step with all runs since the last change: it is another one if its median
// differs by more than the threshold, a share, and by more than three times the deviation of
// either.
func History(list []Series, threshold float64) []Step {
	steps := make([]Step, 0, len(list))
	var before []float64
	for _, s := range list {
		x := Step{Value: s.Value, Runs: len(s.Values), Verdict: Same}
		x.Median, x.Deviation = medianDeviation(s.Values)
		if len(before) > 0 {
			base, deviation := medianDeviation(before)
			off := x.Median - base
			switch {
			case base != 0:
				x.Change = off / base
			case off != 0:
				x.Change = math.Copysign(1, off)
			}
			if math.Abs(x.Change) > threshold && math.Abs(off) > sigmas*max(deviation, x.Deviation) {
				x.Verdict = More
				if off < 0 {
					x.Verdict = Less
				}
				before = nil
			}
		}
		before = append(before, s.Values...)
		steps = append(steps, x)
	}
	return steps
}

// medianDeviation returns the median, and the median distance from it on the scale of a normal
// distribution's deviation.
func medianDeviation(values []float64) (mid, deviation float64) {
	mid = stats.Median(values)
	far := make([]float64, len(values))
	for i, v := range values {
		far[i] = math.Abs(v - mid)
	}
	return mid, 1.4826 * stats.Median(far)
}
