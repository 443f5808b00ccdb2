package timeline

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/timing/series"
)

// A drift tells how far the sum of times that were kept with an error is from the truth, within a block
// whose begin and end are known. Times are in ticks.
type drift struct {
	known      bool  // where the block ends
	off        int64 // by how much more than the kept times the block takes
	less, more float64
	passed     struct{ less, more float64 } // of these, so far
}

// add takes a time of the block into account.
func (d *drift) add(kept uint64, b series.Bound) {
	less, more := span(kept, b)
	d.less += less
	d.more += more
}

// pass moves on behind a time of the block.
func (d *drift) pass(kept uint64, b series.Bound) {
	less, more := span(kept, b)
	d.passed.less += less
	d.passed.more += more
}

// at returns what is to be added to the sum of the times that were passed: their part of what the block lacks or has too
// much, in proportion to how far they may be off, so that no time becomes less than nothing. The truth is within that many ticks of it.
func (d *drift) at() (add int64, within float64) {
	if !d.known {
		return 0, math.Inf(1)
	}
	off := float64(d.off)
	low := max(-d.passed.less, off-(d.more-d.passed.more))
	high := min(d.passed.more, off+(d.less-d.passed.less))
	part := d.passed.more / max(d.more, 1)
	if off < 0 {
		part = d.passed.less / max(d.less, 1)
	}
	return int64(math.Round(off * part)), max(off*part-low, high-off*part, 0)
}

// longest is how many ticks a time, or the sum of a block's, may have for anything to be said of it: beyond, ticks wrap around.
const longest = 1 << 61

// span is how much less and more than a kept time the true one may be.
func span(kept uint64, b series.Bound) (less, more float64) {
	ns := float64(kept)
	if b.Absolute > 0 {
		return min(ns, float64(b.Absolute)), min(float64(b.Absolute), longest)
	}
	// |kept - true| ≤ e·true
	if less = ns * b.Relative / (1 + b.Relative); b.Relative < 1 {
		return less, min(ns*b.Relative/(1-b.Relative), longest)
	}
	return less, longest
}
