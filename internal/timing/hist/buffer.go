package hist

import "math"

// A CountBuffer counts samples of a pair of histograms while the bins' bounds don't change: at most lastInterval
// pairs. Integers in a few cache lines suffice for that, a tally for each bin. The sums of samples and of their
// squares are exact.
//
// The first samples of a pair go to the bins directly, whose bounds change with each; then the buffer is opened. The
// zero value is the buffer of a new pair of histograms. It has no pointers, so that many can be in a slice. For
// histograms of more than DefaultBins bins it counts nothing.
type CountBuffer struct {
	left  int32 // number of sample pairs that may still be counted until one of the histograms checks its balance
	due   int32 // value of left when the histograms last heard how many samples were counted
	full  bool  // all bins of both histograms are in use
	early uint8 // number of sample pairs added to the bins directly; the buffer is open once there are firstInterval
	// Upper bounds of the bins except the last. Each word has a bound of both histograms; laneOver says how.
	bounds  [DefaultBins - 1]uint64
	tallies [2][DefaultBins]binTally
	// By histogram and bin: number of samples in the bin itself, without its tally; or countless.
	counts [2][DefaultBins]uint32
}

// A binTally is the samples of a CountBuffer in one bin.
type binTally struct {
	counted uint64 // number of samples times countOne, plus the sum of the samples
	squares uint64 // sum of the squares of the samples
	// The tally counts samples from least to least+span only, as these don't change the bin's Min and Max.
	least, span uint32
}

// A tally holds lastInterval samples, each less than 1<<sampleBits, their sum and the sum of their squares.
const (
	sampleBits = 27
	countOne   = 1 << (sampleBits + 9)
	far        = 1 << (sampleBits + 1) // larger than any sample that a tally counts, and than any finite bound
)

// countless, as an element of CountBuffer.counts, is a number of samples that exceeds 32 bits.
const countless = math.MaxUint32

// Each word of CountBuffer.bounds holds a bound of histogram 0 in its low half, and one of histogram 1 in its high
// half. A half is laneOver-1 minus the bound. Adding a sample sets bit laneBit of the half if the sample exceeds the
// bound.
const (
	laneBit  = sampleBits + 2
	laneOver = 1 << laneBit
	laneBits = laneOver | laneOver<<32
)

// PackSamples packs a sample of histogram 0 and one of histogram 1 into a word for AddPacked. ok is false if one of
// them exceeds 32 bits.
func PackSamples(a, b uint64) (both uint64, ok bool) { return a | b<<32, (a|b)>>32 == 0 }

// count counts packed samples up to the first that no tally can take, and returns how many it counted.
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
	// The number of bounds below a sample is the index of its bin. Adding them up needs no branch, which would be
	// unpredictable.
	above := (f.bounds[0]+both)&laneBits + (f.bounds[1]+both)&laneBits + (f.bounds[2]+both)&laneBits + (f.bounds[3]+both)&laneBits
	return &f.tallies[0][uint32(above)>>laneBit], &f.tallies[1][above>>(laneBit+32)]
}

// opened reports whether the buffer counts samples; before, they go to the bins directly.
func (f *CountBuffer) opened() bool { return f.early == firstInterval }

// shares computes the weights of the bins of histogram i, with the samples in their tallies. held is the number of
// samples in these tallies. ok is false if the buffer doesn't suffice: a count exceeds 32 bits or a bin's range
// exceeds 28 bits.
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

// know copies the sample counts of the bins of h, which is histogram i, to the buffer.
func (f *CountBuffer) know(i int, h *Hist) {
	for k := range h.bins {
		f.counts[i][k] = uint32(min(h.bins[k].Count, countless))
	}
}

// load copies the bounds and ranges of the bins of h, which is histogram i, to the buffer.
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
		t.least, t.span = math.MaxUint32, 0 // no sample is in this range, so the first one widens it
		if k < len(h.bins) {
			b := &h.bins[k]
			t.least = uint32(min(b.Min, far))
			t.span = uint32(min(b.Max, far)) - t.least
		}
	}
	f.know(i, h)
}

// widen extends the range of samples that the tally counts so that it includes v.
func (t *binTally) widen(v uint32) {
	least, most := min(t.least, v), max(t.least+t.span, v)
	t.least, t.span = least, most-least
}
