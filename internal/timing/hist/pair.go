package hist

import (
	"math"
	"math/bits"

	"spoor/internal/timing"
)

// A Pair is two histograms whose samples come two by two, as a call's duration and the
// gap before it do, with a summary of all samples. Samples come through a Front.
type Pair struct {
	Hists [2]Hist
	sums  [2]timing.Stat // of samples that Settle has not returned yet
}

// NewPair returns two empty histograms of at most bins bins, of the samples of a rank.
func NewPair(bins int, rank int32) *Pair {
	bins = min(max(bins, 2), MaxBins)
	p, room := new(Pair), make([]Bin, 2*bins)
	p.Hists[0].Init(room[:bins:bins], rank)
	p.Hists[1].Init(room[bins:], rank)
	return p
}

// A Front counts the samples of a pair of histograms until the bins are to be balanced.
// Until then bounds stay, so whole numbers in a few lines of memory will do: a tally for
// each bin. Nothing is lost by that; sums of samples and of their squares are exact.
//
// The zero value is the front of any pair, which has no pointers and can be one of many
// in a slice. It is for histograms of up to DefaultBins bins; it counts no sample of others.
type Front struct {
	left    int32                   // pairs of samples that may be counted before a histogram is balanced
	due     int32                   // the same, when the histograms were told last
	full    bool                    // all bins of both are in use
	bounds  [DefaultBins - 1]uint64 // see laneOver
	tallies [2][DefaultBins]tally
}

// A tally is what a Front knows of a bin.
type tally struct {
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

// Bounds for both histograms lie side by side, one in each half of a word. A half has
// laneOver-1 less the bound: adding a sample sets the half's bit laneOver if it is above.
const (
	laneBit  = sampleBits + 2
	laneOver = 1 << laneBit
	laneBits = laneOver | laneOver<<32
)

// Two returns a sample of each histogram as AddAll takes them, if both are of 32 bits.
func Two(a, b uint64) (both uint64, ok bool) { return a | b<<32, (a|b)>>32 == 0 }

// AddAll puts in samples of each histogram, as Two makes them. Many at a time are quicker
// than one by one, for which all this would come from farther memory.
func (p *Pair) AddAll(f *Front, samples []uint64) {
	for {
		n := f.count(samples)
		if n == len(samples) {
			return
		}
		p.Add(f, uint64(uint32(samples[n])), samples[n]>>32)
		samples = samples[n+1:]
	}
}

// count counts samples. It returns how many; the next one is none for a tally.
func (f *Front) count(list []uint64) int {
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
func (f *Front) tally(both uint64) (a, b *tally) {
	// Where a time falls can't be foretold; counting bounds below it needs no branch.
	above := (f.bounds[0]+both)&laneBits + (f.bounds[1]+both)&laneBits + (f.bounds[2]+both)&laneBits + (f.bounds[3]+both)&laneBits
	return &f.tallies[0][uint32(above)>>laneBit], &f.tallies[1][above>>(laneBit+32)]
}

// Add puts in a sample of each histogram, and makes the front fit for what is like it.
func (p *Pair) Add(f *Front, a, b uint64) {
	if p.fronted() {
		if f.left <= 0 {
			p.catchUp(f)
		}
		if (a|b)>>sampleBits == 0 {
			both, _ := Two(a, b)
			if f.full {
				x, y := f.tally(both)
				x.widen(uint32(a))
				y.widen(uint32(b))
			}
			if f.count([]uint64{both}) == 1 {
				return
			}
		}
		p.fold(f)
	}
	for i, v := range [2]uint64{a, b} {
		p.Hists[i].Add(v)
		p.sums[i].Add(v)
	}
	if p.fronted() {
		f.load(0, &p.Hists[0])
		f.load(1, &p.Hists[1])
		p.begin(f)
	}
}

// Settle brings the histograms up to date. It returns summaries of the samples of each since
// it was called last. Merged, all it returned is exact; a single one may have extremes that
// were there before.
func (p *Pair) Settle(f *Front) (a, b timing.Stat) {
	if p.fronted() {
		if p.fold(f); f.left <= 0 {
			p.catchUp(f)
		}
	}
	return p.told()
}

// Pause is Settle for a checkpoint, after which more samples come soon: those that the front
// has counted of late may stay there, and are told of later. Save writes them as they are.
func (p *Pair) Pause(f *Front) (a, b timing.Stat) {
	if p.fronted() {
		if f.due == f.left {
			p.fold(f) // no more came since it was asked last
		}
		if p.tell(f); f.left <= 0 {
			p.catchUp(f)
		}
	}
	return p.told()
}

// told returns the summaries that have not been returned yet.
func (p *Pair) told() (a, b timing.Stat) {
	a, b = p.sums[0], p.sums[1]
	p.sums = [2]timing.Stat{}
	return a, b
}

// fronted reports whether the histograms have few enough bins for a Front.
func (p *Pair) fronted() bool { return cap(p.Hists[0].bins) <= DefaultBins }

// full reports whether all bins are in use.
func (h *Hist) full() bool { return len(h.bins) == cap(h.bins) }

// catchUp balances the histograms for which it is time. It is the first thing that happens
// to a front.
func (p *Pair) catchUp(f *Front) {
	fresh := f.due == 0
	p.tell(f)
	for i := range p.Hists {
		h := &p.Hists[i]
		if h.left <= 0 {
			h.take(&f.tallies[i], &p.sums[i])
			h.balance()
		} else if !fresh {
			continue
		}
		f.load(i, h)
	}
	p.begin(f)
}

// fold moves what the front has to the histograms.
func (p *Pair) fold(f *Front) {
	p.tell(f)
	for i := range p.Hists {
		p.Hists[i].take(&f.tallies[i], &p.sums[i])
	}
}

// tell lets the histograms know how many samples the front took of late.
func (p *Pair) tell(f *Front) {
	taken := f.due - f.left
	p.Hists[0].left -= taken
	p.Hists[1].left -= taken
	f.due = f.left
}

// begin lets the front take samples until a histogram is to be balanced.
func (p *Pair) begin(f *Front) {
	f.left = min(p.Hists[0].left, p.Hists[1].left)
	f.due = f.left
	f.full = p.Hists[0].full() && p.Hists[1].full()
}

// load gives the front the bounds and ranges of a histogram's bins.
func (f *Front) load(i int, h *Hist) {
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
}

// widen makes a tally go as far as v, its next sample.
func (t *tally) widen(v uint32) {
	least, most := min(t.least, v), max(t.least+t.span, v)
	t.least, t.span = least, most-least
}

// take moves what a front has counted to the bins and to a summary.
func (h *Hist) take(tallies *[DefaultBins]tally, sum *timing.Stat) {
	all := timing.Stat{Min: math.MaxUint64}
	for k := range h.bins {
		t := &tallies[k]
		if t.counted == 0 {
			continue
		}
		n, total := t.counted/countOne, t.counted%countOne
		least, most := uint64(t.least), uint64(t.least)+uint64(t.span)
		h.bins[k].take(n, total, t.squares, least, most)
		all.Count += n
		all.Sum += total
		all.Squares = all.Squares.Plus(timing.Wide{Lo: t.squares})
		all.Min, all.Max = min(all.Min, least), max(all.Max, most)
		t.counted, t.squares = 0, 0
	}
	sum.Merge(all)
}

// take puts in n samples from least to most, or of less, with a sum and a sum of squares.
func (b *Bin) take(n, sum, squares, least, most uint64) {
	b.settle()
	high, low, _ := spread(n, sum, squares)
	count := float64(n)
	own := (float64(float64(high)*(1<<64)) + float64(low)) / count
	part := count / float64(b.Count+n)
	d := float64(sum)/count - b.Mean
	b.m2 += own + float64(float64(d*d)*float64(float64(b.Count)*part))
	b.Count += n
	b.Min, b.Max = min(b.Min, least), max(b.Max, most)
	b.Mean = b.clamp(b.Mean + float64(d*part))
}

// spread is n·squares − sum², which is exact, and so not below zero if there are such samples.
func spread(n, sum, squares uint64) (high, low uint64, ok bool) {
	h1, l1 := bits.Mul64(n, squares)
	h2, l2 := bits.Mul64(sum, sum)
	low, borrow := bits.Sub64(l1, l2, 0)
	high, borrow = bits.Sub64(h1, h2, borrow)
	return high, low, borrow == 0
}
