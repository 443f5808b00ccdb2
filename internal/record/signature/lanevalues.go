package signature

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// LaneReader is a lane of one rank with random access to its calls. It is safe for use by several goroutines at
// once.
type LaneReader struct {
	ValueIndices []int
	FirstValues  []int64 // values, parallel to Values, in the lane's first call
	Steps        *grammar.Grammar
	StepValues   [][]int64 // by step number, then parallel to Values: what the step adds

	length uint64                // number of steps
	sums   []*grammar.WeightSums // parallel to Values: sums of what the steps add to the value
}

// CallCount returns the number of calls.
func (v *LaneReader) CallCount() uint64 { return v.length + 1 }

// At returns the lane's values in its i-th call, counted from 0.
func (v *LaneReader) At(i uint64) []int64 {
	vals := make([]int64, len(v.FirstValues))
	for k := range vals {
		vals[k] = v.FirstValues[k] + v.sums[k].Before(min(i, v.length))
	}
	return vals
}

// Bounds returns the least and the greatest value that the k-th of Values has,
// in time proportional to the compressed steps.
func (v *LaneReader) Bounds(k int) (least, most int64) {
	type extent struct{ sum, least, most int64 } // of some consecutive steps: their sum, least and greatest partial sum
	all := grammar.Fold(v.Steps, extent{}, func(id uint32) extent {
		d := v.StepValues[id][k]
		return extent{d, min(d, 0), max(d, 0)}
	}, func(x, e extent, count uint64) extent {
		// The extremes over n repetitions are in the first or the last one.
		last := x.sum + e.sum*int64(count-1)
		return extent{last + e.sum, min(x.least, x.sum+e.least, last+e.least), max(x.most, x.sum+e.most, last+e.most)}
	})
	return v.FirstValues[k] + all.least, v.FirstValues[k] + all.most
}

// A LaneCursor walks through the values of a lane.
type LaneCursor struct {
	Values []int64 // of the current call
	of     *LaneReader
	steps  *grammar.Cursor
}

// Cursor returns a cursor at the i-th call.
func (v *LaneReader) Cursor(i uint64) *LaneCursor {
	c := &LaneCursor{of: v, steps: v.Steps.Cursor(), Values: v.At(i)}
	c.steps.Seek(i)
	return c
}

// Next moves on to the next call.
func (c *LaneCursor) Next() {
	if s, ok := c.steps.Next(); ok {
		for k, d := range c.of.StepValues[s] {
			c.Values[k] += d
		}
	}
}

// sum sets v.sums, with which At finds the values of any call. Values to which all steps add the same share one
// element.
func (v *LaneReader) sum() {
	v.sums = make([]*grammar.WeightSums, len(v.FirstValues))
	known := make(map[string]*grammar.WeightSums)
	var key []byte
	for k := range v.sums {
		key = key[:0]
		for _, step := range v.StepValues {
			key = wire.AppendVarint(key, step[k])
		}
		s := known[string(key)]
		if s == nil {
			s = grammar.NewWeightSums(v.Steps, func(s uint32) int64 { return v.StepValues[s][k] })
			known[string(key)] = s
		}
		v.sums[k] = s
	}
}

// SameValues reports whether two lanes have the same values in every call. It does not expand them, and may miss some
// equal lanes.
func (v *LaneReader) SameValues(o *LaneReader) bool {
	return v.length == o.length && slices.Equal(v.ValueIndices, o.ValueIndices) && slices.Equal(v.FirstValues, o.FirstValues) &&
		slices.EqualFunc(v.StepValues, o.StepValues, slices.Equal[[]int64]) && v.Steps.Equal(o.Steps)
}

// Text renders how the k-th of Values changes: "0..999 by 1", or its bounds.
func (v *LaneReader) Text(k int) string {
	last := v.At(v.length)[k]
	if len(v.StepValues) == 0 || last == v.FirstValues[k] && len(v.StepValues) == 1 {
		return fmt.Sprint(v.FirstValues[k])
	}
	step := v.StepValues[0][k]
	for _, s := range v.StepValues {
		if s[k] != step {
			least, most := v.Bounds(k)
			return fmt.Sprintf("from %d to %d", least, most)
		}
	}
	return fmt.Sprintf("%d..%d by %d", v.FirstValues[k], last, step)
}
