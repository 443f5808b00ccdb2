package machine

import (
	"fmt"
	"slices"
)

// fewest are the calls that a figure needs.
const fewest = 100

// RecorderCost is what tracing costs: the gaps before calls that were made one after the other,
// and how much longer calls take that do next to nothing, both in ns as a trace has them. local is
// how long these take untraced.
func RecorderCost(gaps, calls []float64, local float64) (Recorder, error) {
	if len(gaps) < fewest || len(calls) < fewest {
		return Recorder{}, fmt.Errorf("what tracing costs: the trace has %d calls, too few", len(gaps)+len(calls))
	}
	return Recorder{Gap: ps(middle(gaps)), Call: ps(max(0, middle(calls)-local))}, nil
}

// middle is the mean of the middle half: times come in steps of the clock, so that a median is one of these.
func middle(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	v = v[len(v)/4 : len(v)-len(v)/4]
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
