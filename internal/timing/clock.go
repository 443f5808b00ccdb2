// The ranks of a run compare their clocks, so that what they did can be
// put on one time line. Ranks that read the same clock are found first; of each clock
// one rank exchanges messages with another's, over a binomial tree of the clocks, once
// when the run begins and once when it ends.
//
// It is not about how a clock is read or calibrated, and it sets no clock.
//
// Invariants:
//
//  1. Ranks with one clock send a message up a tree and get one back, no more, and
//     no offset is made up between them.
//  2. An offset is from the exchange with the least round trip, and off by half of
//     that at most, however unequal the ways there and back; along the tree
//     both add up. How far clocks drift apart in the milliseconds that a comparison
//     lasts is left out.
//  3. A time between the two comparisons is put on the time line with no more error than
//     theirs, if no clock drifts more than any hardware does.
//  4. All ranks make each call here together, or none of them does.

package timing

import "github.com/spoor-hpc/spoor/trace/model"

// ClockLines joins two comparisons of the same clocks.
func ClockLines(first, last []ClockEstimate) []model.Clock {
	lines := make([]model.Clock, min(len(first), len(last)))
	for i := range lines {
		a, b := first[i], last[i]
		lines[i] = model.Clock{
			AtNs:     [2]int64{a.AtNs, b.AtNs},
			OffsetNs: [2]int64{a.OffsetNs, b.OffsetNs},
			BoundNs:  max(a.BoundNs, b.BoundNs),
		}
	}
	if len(lines) > 0 {
		lines[0] = model.Clock{}
	}
	return lines
}
