package main

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/internal/timing/series"
)

// histogramErrors sums up how far quantiles of histograms of five bins are off,
// over all calls of a rank that were made often enough to tell.
type histogramErrors struct {
	Lists [2]struct {
		N                  int
		Mean, Worst, Value float64
	}
}

// enough is how many samples a distribution must have.
const enough = 100

func (h *histogramErrors) add(keys []uint32, b series.Batch) {
	for i, list := range [][]uint64{b.Gaps, b.Durations} {
		byKey := map[uint32][]uint64{}
		for at, k := range keys {
			byKey[k] = append(byKey[k], list[at])
		}
		for _, values := range byKey {
			if len(values) < enough {
				continue
			}
			l := &h.Lists[i]
			mean, worst, value := errorsOf(values)
			l.N++
			l.Mean += mean
			l.Value += value
			l.Worst = max(l.Worst, worst)
		}
	}
}

// errorsOf returns how far the shares of samples below the quantiles are from
// what they should be, and the median error of the values.
func errorsOf(values []uint64) (mean, worst, value float64) {
	h := hist.New(hist.DefaultBins, 0)
	for _, v := range values {
		h.Add(v)
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n := float64(len(sorted))
	var off []float64
	const steps = 99
	for i := 1; i <= steps; i++ {
		q := float64(i) / (steps + 1)
		got := h.Quantile(q)
		below := func(x float64) float64 {
			at, _ := slices.BinarySearchFunc(sorted, x, func(v uint64, x float64) int {
				if float64(v) < x {
					return -1
				}
				return 1
			})
			return float64(at) / n
		}
		// A value that occurs often stands for a range of shares.
		d := max(below(got-0.5)-q, q-below(got+0.5), 0)
		mean += d / steps
		worst = max(worst, d)
		exact := float64(sorted[int(q*n)])
		off = append(off, math.Abs(got-exact)/max(exact, 1))
	}
	slices.Sort(off)
	return mean, worst, off[len(off)/2]
}
