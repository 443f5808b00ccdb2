// Package hist summarises times in a small, fixed number of bins whose bounds
// follow the data: the dynamically balanced histograms of "Preserving Time in
// Large-Scale Communication Traces" (ICS 2008), section 3.2, algorithms 1 and
// 2. When bins get out of balance, two neighbours that matter least are joined
// and the one that matters most is split.
//
// It departs from the paper where measuring said so (papers/codecs.md). The
// first distinct values have bins of their own, exactly, instead of a range
// guessed from the first one. The weight of a bin is its count times its width
// in octaves instead of its count alone, so that one outlier or the valley
// between two modes does not blur what lies beside it. A split bin is taken to be uniform on
// either side of its mean, with counts that agree with that mean, instead of
// half and half. And merging two histograms costs by bins, not by samples.
//
// A Buffer takes in the samples of a Pair of histograms until bins change: as whole numbers, in
// little memory, with which most looks at the balance are content.
//
// The package does not know what the times are of, and keeps no samples.
//
// Invariants:
//  1. Bins are disjoint and in rising order, and none is empty.
//  2. Count, Min and Max of a whole histogram are exact, its mean is to seven
//     digits (three after merging). Numbers of single bins are exact until a bin
//     is split or cut, and estimates from then on.
//  3. No arithmetic may be fused: products are converted explicitly, so that
//     all machines make the same bytes.
package hist

import (
	"math"
	"math/bits"
)

// DefaultBins is the default number of a histogram's bins.
const DefaultBins = 5

// MaxBins is the largest number of a histogram's bins.
const MaxBins = 256

// NoRank in place of a bin's rank means that it is unknown.
const NoRank = -1

// A Bin summarises the samples between Min and Max.
type Bin struct {
	Count    uint64
	Min, Max uint64
	Mean     float64
	m2       float64 // sum of squared distances of the samples from Mean

	// MinRank and MaxRank are ranks that had a sample of Min and of Max; NoRank: unknown.
	MinRank, MaxRank int32

	// Sums of the distances from Mean, and of their squares, of samples that Count includes but Mean and m2 do not
	// yet. Adding to Mean later saves a division for each sample.
	late, late2 float64
}

// settle includes the samples in late and late2 in Mean and m2.
func (b *Bin) settle() {
	if b.late2 == 0 {
		return
	}
	d := b.late / float64(b.Count)
	b.m2 = max(b.m2+b.late2-float64(b.late*d), 0)
	b.Mean = b.clamp(b.Mean + d)
	b.late, b.late2 = 0, 0
}

// settle includes all samples in each bin's Mean and m2. It must precede reading Mean or m2.
func (h *Hist) settle() {
	for i := range h.bins {
		h.bins[i].settle()
	}
}

// Variance is the variance of the bin's samples.
func (b *Bin) Variance() float64 {
	if b.Count == 0 {
		return 0
	}
	return b.m2 / float64(b.Count)
}

// A Hist is a histogram whose bins adapt to the samples. Its zero value can't be used; New makes one.
type Hist struct {
	bins []Bin // in rising order; their largest number is cap(bins)
	// By bin: its upper bound; larger samples belong to the next bin. A slice of its own saves cache misses.
	upto  []uint64
	left  int32 // number of samples until the next check of the balance
	every int32 // number of samples between the last check of the balance and the next
	rank  int32
}

// New returns an empty histogram for samples of the given rank. It has at most bins bins; bins less than 2 count as
// 2, more than MaxBins as MaxBins.
func New(bins int, rank int32) *Hist {
	h := new(Hist)
	h.Init(make([]Bin, min(max(bins, 2), MaxBins)), rank)
	return h
}

// Init makes h an empty histogram with at most len(room) bins, which it puts into room. It is for callers that
// allocate memory for many histograms at once.
func (h *Hist) Init(room []Bin, rank int32) {
	*h = Hist{bins: room[:0:len(room)], upto: make([]uint64, len(room)), left: firstInterval, every: firstInterval, rank: rank}
}

// The balance of bins is checked first after firstInterval samples. While a check changes nothing, the interval
// doubles, up to lastInterval. After a change it is 1/intervalShare of all samples, within these limits, as fewer
// could hardly change the balance again.
const (
	firstInterval = 16
	lastInterval  = 512
	intervalShare = 128
)

// Add adds one sample. It does not allocate.
func (h *Hist) Add(v uint64) {
	i := h.find(v)
	if !h.full() && h.grow(i, v) {
		return
	}
	h.bins[i].add(v)
	if h.left--; h.left <= 0 {
		h.balance()
	}
}

// fewBins is the number of bins up to which a linear search is used.
const fewBins = 16

// find returns the index of the bin that sample v belongs to.
func (h *Hist) find(v uint64) int {
	i := 0
	if len(h.bins) <= fewBins {
		// The number of bounds below the sample is the index of its bin. Adding them up needs no branch, which would
		// be unpredictable.
		for _, upto := range h.upto[:max(len(h.bins)-1, 0)] {
			_, above := bits.Sub64(upto, v, 0)
			i += int(above)
		}
		return i
	}
	for i < len(h.bins)-1 && v > h.upto[i] {
		i++
	}
	return i
}

// add adds a sample to Count, Min and Max. Mean and m2 are updated later, by settle.
func (b *Bin) add(v uint64) {
	b.Count++
	d := float64(v) - b.Mean
	b.late += d
	b.late2 += float64(d * d)
	// The processor predicts these branches, as new extremes are rare; min and max would store each time.
	if v < b.Min {
		b.Min = v
	}
	if v > b.Max {
		b.Max = v
	}
}

// grow adds a bin for sample v before or after bin i, the nearest one, unless v is in the range of bin i. It reports
// whether it did.
func (h *Hist) grow(i int, v uint64) bool {
	n := len(h.bins)
	if n > 0 {
		b := &h.bins[i]
		if v >= b.Min && v <= b.Max {
			return false
		}
		if v > b.Max {
			i++
		}
	}
	h.bins = h.bins[:n+1]
	copy(h.bins[i+1:], h.bins[i:n])
	copy(h.upto[i+1:], h.upto[i:n])
	h.bins[i] = Bin{Count: 1, Min: v, Max: v, Mean: float64(v), MinRank: h.rank, MaxRank: h.rank}
	h.bound(i - 1)
	h.bound(i)
	return true
}

// bound sets the bound between bins i and i+1 to the middle between their ranges.
func (h *Hist) bound(i int) {
	switch {
	case i < 0 || i >= len(h.bins):
	case i == len(h.bins)-1:
		h.upto[i] = math.MaxUint64
	default:
		h.upto[i] = h.bins[i].Max + (h.bins[i+1].Min-h.bins[i].Max-1)/2
	}
}

// balance joins the two neighbouring bins that together have least weight, and splits the bin with the largest
// weight, if that makes the weights sufficiently more equal.
func (h *Hist) balance() {
	var room [MaxBins]binWeight
	shares := room[:len(h.bins)]
	for i := range h.bins {
		b := &h.bins[i]
		shares[i] = newShare(b.Count, b.Min, b.Max)
	}
	if at, with, better := choose(shares); better {
		h.change(at, with)
	} else {
		h.leave()
	}
}

// A binWeight is a bin's count and range, which determine its weight.
type binWeight struct {
	count     uint64
	low, high int64 // octave of the bin's Min, and of its Max
}

func newShare(count, low, high uint64) binWeight { return binWeight{count, octave(low), octave(high)} }

// choose returns the index of the bin to split, and of the first of the two bins to join. better is false if that
// would not make the weights sufficiently more equal.
func choose(shares []binWeight) (at, with int, better bool) {
	most, at := 0.0, -1
	for i := range shares {
		if w := shares[i].weight(); w > most {
			most, at = w, i
		}
	}
	join, with := math.Inf(1), -1
	for i := range len(shares) - 1 {
		if a, b := &shares[i], &shares[i+1]; i != at && i+1 != at {
			both := binWeight{a.count + b.count, a.low, b.high}
			if w := both.weight(); w < join {
				join, with = w, i
			}
		}
	}
	return at, with, at >= 0 && with >= 0 && join <= float64(most*worth)
}

// leave keeps the bins as they are, and doubles the interval to the next check of the balance.
func (h *Hist) leave() {
	h.every = min(2*h.every, lastInterval)
	h.left = h.every
}

// change splits bin at, and joins bin with and its successor, so that the number of bins stays the same.
func (h *Hist) change(at, with int) {
	h.settle()
	h.every = int32(min(max(h.Count()/intervalShare, firstInterval), lastInterval))
	h.left = h.every
	// Joining frees an element of the slice, which splitting takes; the elements in between move by one.
	low, high := split(&h.bins[at])
	joined := joinBins(&h.bins[with], &h.bins[with+1])
	if with < at {
		copy(h.bins[with+1:at-1], h.bins[with+2:at])
		h.bins[with], h.bins[at-1], h.bins[at] = joined, low, high
	} else {
		copy(h.bins[at+2:with+1], h.bins[at+1:with])
		h.bins[at], h.bins[at+1], h.bins[with+1] = low, high, joined
	}
	for i := range h.bins {
		h.bound(i)
	}
}

// worth is how large the weight of the joined bin may be, as a share of the weight of the bin that is split;
// otherwise balance changes nothing.
const worth = 0.6

// weight is the number of samples times the bin's width in octaves; 0 if all its samples are equal.
func (s binWeight) weight() float64 {
	return float64(float64(s.count) * float64(s.high-s.low))
}

// octave is approximately 65536·log2(v+1), linear between powers of two.
func octave(v uint64) int64 {
	if v++; v == 0 {
		return 64 << 16
	}
	n := bits.Len64(v) - 1
	return int64(n)<<16 | int64(v<<(63-n)<<1>>48)
}

// joinBins returns one bin with all samples of a and b.
func joinBins(a, b *Bin) Bin {
	j := Bin{Count: a.Count + b.Count, Min: a.Min, MinRank: a.MinRank, Max: a.Max, MaxRank: a.MaxRank}
	if b.Min < a.Min {
		j.Min, j.MinRank = b.Min, b.MinRank
	}
	if b.Max > a.Max {
		j.Max, j.MaxRank = b.Max, b.MaxRank
	}
	part := float64(b.Count) / float64(j.Count)
	d := b.Mean - a.Mean
	j.Mean = j.clamp(a.Mean + float64(d*part))
	j.m2 = a.m2 + b.m2 + float64(float64(d*d)*float64(float64(a.Count)*part))
	return j
}

// clamp returns m, a mean of the bin's samples, or the nearest end of the bin if rounding has moved m out of it.
func (b *Bin) clamp(m float64) float64 { return min(max(m, float64(b.Min)), float64(b.Max)) }

// split cuts a bin at its mean. The bin must have different samples.
func split(b *Bin) (low, high Bin) { return cut(b, floor(b.Mean, b.Min, b.Max-1)) }

// floor returns x rounded down to an integer, but at least least and at most most.
func floor(x float64, least, most uint64) uint64 {
	if x >= 1<<64 {
		return most
	}
	return min(max(uint64(max(x, 0)), least), most)
}
