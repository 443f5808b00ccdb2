package hist

import "math"

// A CountBuffer counts the samples of a pair of histograms between changes of the bins, at most lastInterval of them. In
// that time bin bounds are fixed, so that integers in a few cache lines suffice: a tally for each bin. The sums of
// samples and of their squares are exact.
//
// The first samples of a pair go to the bins, which change with each of them; then the buffer is opened. The zero
// value is the buffer of any new pair. It has no pointers and can be one of many in a slice. It supports histograms
// of up to DefaultBins bins; it counts no samples of larger ones.
type CountBuffer struct {
	left    int32                   // number of sample pairs that may still be counted before a histogram is balanced
	due     int32                   // value of left when the histograms were last updated
	full    bool                    // all bins of both histograms are in use
	early   uint8                   // number of samples added to the bins before the buffer was opened, up to firstInterval
	bounds  [DefaultBins - 1]uint64 // of both histograms, see laneOver
	tallies [2][DefaultBins]binTally
	counts  [2][DefaultBins]uint32 // samples in the bins without the tallies; see countless
}

// A binTally sums up the samples of a CountBuffer that fall into a bin.
type binTally struct {
	counted     uint64 // countOne for each sample, plus the sum of the samples
	squares     uint64 // sum of squares
	least, span uint32 // samples from least to least+span are within the bin's current range
}

// The limits of a tally: lastInterval samples of less than 1<<sampleBits, their sum and
// the sum of their squares.
const (
	sampleBits = 27
	countOne   = 1 << (sampleBits + 9)
	far        = 1 << (sampleBits + 1) // above all samples and bounds
)

// countless marks a count that exceeds 32 bits.
const countless = math.MaxUint32

// Each word of bounds holds one bound of each histogram, one in each half. A half is laneOver-1 minus the bound:
// adding a sample sets bit laneOver of the half if the sample exceeds the bound.
const (
	laneBit  = sampleBits + 2
	laneOver = 1 << laneBit
	laneBits = laneOver | laneOver<<32
)

// PackSamples packs a sample of each histogram for AddPacked; ok is false if one exceeds 32 bits.
func PackSamples(a, b uint64) (both uint64, ok bool) { return a | b<<32, (a|b)>>32 == 0 }

// count counts samples up to the first that belongs to no tally, and returns how many it counted.
func (f *CountBuffer) count(list []uint64) int {
	const tooLarge = math.MaxUint32 &^ (1<<sampleBits - 1)
	done := min(len(list), int(f.left))
	for i, both := range list[:done] {
		if both&(tooLarge|tooLarge<<32) != 0 {
			done = i
			break
		}
		x, y := f.tally(both)
		a, b := uint64(uint32(both)), both>>32
		if uint32(a)-x.least > x.span || uint32(b)-y.least > y.span {
			done = i
			break
		}
		x.counted += a + countOne
		x.squares += a * a
		y.counted += b + countOne
		y.squares += b * b
	}
	f.left -= int32(done)
	return done
}

// tally returns the tallies of two samples that PackSamples packed.
func (f *CountBuffer) tally(both uint64) (a, b *binTally) {
	// Counting the bounds below a sample needs no branch, which would be unpredictable.
	above := (f.bounds[0]+both)&laneBits + (f.bounds[1]+both)&laneBits + (f.bounds[2]+both)&laneBits + (f.bounds[3]+both)&laneBits
	return &f.tallies[0][uint32(above)>>laneBit], &f.tallies[1][above>>(laneBit+32)]
}

// opened reports whether the buffer counts samples.
func (f *CountBuffer) opened() bool { return f.early == firstInterval }

// shares computes the weights of a histogram's bins including tallies. held is how many samples are in tallies. ok
// is false if the buffer does not suffice for that.
func (f *CountBuffer) shares(i int, shares []binWeight) (held uint64, ok bool) {
	for k := range shares {
		t, count := &f.tallies[i][k], f.counts[i][k]
		n := t.counted / countOne
		if count == countless || t.least+t.span >= far {
			return 0, false
		}
		held += n
		shares[k] = newShare(uint64(count)+n, uint64(t.least), uint64(t.least+t.span))
	}
	return held, true
}

// know copies the sample counts of a histogram's bins to the buffer.
func (f *CountBuffer) know(i int, h *Hist) {
	for k := range h.bins {
		f.counts[i][k] = uint32(min(h.bins[k].Count, countless))
	}
}

// load copies the bounds and ranges of a histogram's bins to the buffer.
func (f *CountBuffer) load(i int, h *Hist) {
	half := 32 * i
	for k := range f.bounds {
		bound := uint64(laneOver - 1)
		if k < len(h.bins)-1 {
			bound = min(bound, h.upto[k])
		}
		f.bounds[k] = f.bounds[k]&^(math.MaxUint32<<half) | (laneOver-1-bound)<<half
	}
	for k := range f.tallies[i] {
		t := &f.tallies[i][k]
		t.least, t.span = math.MaxUint32, 0 // empty: any sample widens it
		if k < len(h.bins) {
			b := &h.bins[k]
			t.least = uint32(min(b.Min, far))
			t.span = uint32(min(b.Max, far)) - t.least
		}
	}
	f.know(i, h)
}

// widen extends a tally's range to its next sample v.
func (t *binTally) widen(v uint32) {
	least, most := min(t.least, v), max(t.least+t.span, v)
	t.least, t.span = least, most-least
}
