package hist

import "math"

// A CountBuffer counts the samples of a pair of histograms until bins are to change, or there are
// lastInterval of them. Until then bounds stay, so whole numbers in a few lines of memory will do: a tally for
// each bin. Nothing is lost by that; sums of samples and of their squares are exact.
//
// The first samples of a pair go to the bins, which change with each of them; then the buffer
// is opened. The zero value is the buffer of any new pair. It has no pointers and can be one
// of many in a slice. It is for histograms of up to DefaultBins bins; it counts no sample of others.
type CountBuffer struct {
	left    int32                   // pairs of samples that may be counted before a histogram is balanced
	due     int32                   // the same, when the histograms were last updated
	full    bool                    // all bins of both are in use
	early   uint8                   // samples that the bins got before, up to firstInterval
	bounds  [DefaultBins - 1]uint64 // see laneOver
	tallies [2][DefaultBins]binTally
	counts  [2][DefaultBins]uint32 // of the bins, without what the tallies have; see countless
}

// A binTally sums up the samples of a Buffer that fall into a bin.
type binTally struct {
	counted     uint64 // countOne for each sample, and their sum
	squares     uint64 // sum of squares
	least, span uint32 // samples from least to least+span widen nothing
}

// The limits of a tally: lastInterval samples of less than 1<<sampleBits, their sum and
// the sum of their squares.
const (
	sampleBits = 27
	countOne   = 1 << (sampleBits + 9)
	far        = 1 << (sampleBits + 1) // what no sample reaches, and nothing goes beyond
)

// countless means more samples than fit into 32 bits.
const countless = math.MaxUint32

// Bounds for both histograms lie side by side, one in each half of a word. A half has
// laneOver-1 less the bound: adding a sample sets the half's bit laneOver if it is above.
const (
	laneBit  = sampleBits + 2
	laneOver = 1 << laneBit
	laneBits = laneOver | laneOver<<32
)

// PackSamples returns a sample of each histogram as AddAll takes them, if both are of 32 bits.
func PackSamples(a, b uint64) (both uint64, ok bool) { return a | b<<32, (a|b)>>32 == 0 }

// count counts samples, up to the first that belongs to no tally, and returns how many.
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

// tally returns where two samples belong, as Two makes them.
func (f *CountBuffer) tally(both uint64) (a, b *binTally) {
	// Where a time falls can't be foretold; counting bounds below it needs no branch.
	above := (f.bounds[0]+both)&laneBits + (f.bounds[1]+both)&laneBits + (f.bounds[2]+both)&laneBits + (f.bounds[3]+both)&laneBits
	return &f.tallies[0][uint32(above)>>laneBit], &f.tallies[1][above>>(laneBit+32)]
}

// opened reports whether samples go through the buffer.
func (f *CountBuffer) opened() bool { return f.early == firstInterval }

// shares sets the sums of a histogram's bins and tallies, if the buffer has enough for that, and returns how many
// samples are in tallies.
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

// know notes how many samples a histogram's bins have.
func (f *CountBuffer) know(i int, h *Hist) {
	for k := range h.bins {
		f.counts[i][k] = uint32(min(h.bins[k].Count, countless))
	}
}

// load gives the buffer the bounds and ranges of a histogram's bins.
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
		t.least, t.span = math.MaxUint32, 0 // not even one sample is in there
		if k < len(h.bins) {
			b := &h.bins[k]
			t.least = uint32(min(b.Min, far))
			t.span = uint32(min(b.Max, far)) - t.least
		}
	}
	f.know(i, h)
}

// widen makes a tally go as far as v, its next sample.
func (t *binTally) widen(v uint32) {
	least, most := min(t.least, v), max(t.least+t.span, v)
	t.least, t.span = least, most-least
}
