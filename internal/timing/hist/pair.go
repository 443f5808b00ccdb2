package hist

import (
	"math"
	"math/bits"

	"github.com/spoor-hpc/spoor/trace/model"
)

// A Pair is two histograms whose samples come in pairs, such as the duration and the gap of a call, with summaries of
// all samples. Samples pass through a CountBuffer, which the caller keeps.
type Pair struct {
	Hists [2]Hist
	sums  [2]model.Stat // by histogram: summary of the samples that Flush has not returned yet
}

// NewPair returns two empty histograms for samples of the given rank, with at most bins bins each.
func NewPair(bins int, rank int32) *Pair {
	bins = min(max(bins, 2), MaxBins)
	p, room := new(Pair), make([]Bin, 2*bins)
	p.Hists[0].Init(room[:bins:bins], rank)
	p.Hists[1].Init(room[bins:], rank)
	return p
}

// AddPacked adds pairs of samples that PackSamples packed. Adding many in one call is faster, as the memory of the
// pair is then loaded into the cache only once.
func (p *Pair) AddPacked(f *CountBuffer, samples []uint64) {
	for {
		n := f.count(samples)
		if n == len(samples) {
			return
		}
		p.Add(f, uint64(uint32(samples[n])), samples[n]>>32)
		samples = samples[n+1:]
	}
}

// Add adds sample a to histogram 0 and b to histogram 1. It also makes the buffer count similar samples.
func (p *Pair) Add(f *CountBuffer, a, b uint64) {
	if !f.opened() {
		if p.put(a, b); p.buffered() {
			p.advance(f)
		}
		return
	}
	if f.left <= 0 {
		p.catchUp(f)
	}
	if (a|b)>>sampleBits == 0 {
		both, _ := PackSamples(a, b)
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
	p.put(a, b)
	p.open(f)
}

// put adds sample a to the bins of histogram 0, and b to those of histogram 1.
func (p *Pair) put(a, b uint64) {
	for i, v := range [2]uint64{a, b} {
		p.Hists[i].Add(v)
		p.sums[i].Add(v)
	}
}

// Flush adds all counted samples to the histograms' bins. It returns a summary for each histogram of the samples
// since the previous Flush. The sums of all summaries are exact; one summary alone may have the extremes of earlier
// samples.
func (p *Pair) Flush(f *CountBuffer) (a, b model.Stat) {
	if f.opened() {
		if p.fold(f); f.left <= 0 {
			p.catchUp(f)
		}
	}
	return p.told()
}

// FlushForCheckpoint is Flush for a checkpoint, after which more samples follow soon. It may leave samples in the
// buffer, to be returned by a later call. SaveCheckpoint writes these with the buffer.
func (p *Pair) FlushForCheckpoint(f *CountBuffer) (a, b model.Stat) {
	if f.opened() {
		if f.due == f.left {
			p.fold(f) // no samples came since the previous FlushForCheckpoint: probably none follow
		}
		if p.tell(f); f.left <= 0 {
			p.catchUp(f)
		}
	}
	return p.told()
}

// told returns the summaries that were not returned yet, and resets them.
func (p *Pair) told() (a, b model.Stat) {
	a, b = p.sums[0], p.sums[1]
	p.sums = [2]model.Stat{}
	return a, b
}

// buffered reports whether the histograms have few enough bins to use a CountBuffer.
func (p *Pair) buffered() bool { return cap(p.Hists[0].bins) <= DefaultBins }

// full reports whether the histogram has all the bins that it may have.
func (h *Hist) full() bool { return len(h.bins) == cap(h.bins) }

// advance counts a pair of samples that went to the bins directly. It opens the buffer after firstInterval of them.
func (p *Pair) advance(f *CountBuffer) {
	if f.early++; f.opened() {
		p.open(f)
	}
}

// open makes an empty buffer count samples for the current bins.
func (p *Pair) open(f *CountBuffer) {
	f.early = firstInterval
	f.load(0, &p.Hists[0])
	f.load(1, &p.Hists[1])
	p.begin(f)
}

// catchUp checks the balance of each histogram that has had all samples of its interval.
func (p *Pair) catchUp(f *CountBuffer) {
	p.tell(f)
	for i := range p.Hists {
		if p.Hists[i].left <= 0 {
			p.look(f, i)
		}
	}
	p.begin(f)
}

// look checks the balance of histogram i. Nearly always no change is needed, and the buffer alone shows that: it is
// in the cache, while the bins are not.
func (p *Pair) look(f *CountBuffer, i int) {
	h := &p.Hists[i]
	var room [DefaultBins]binWeight
	shares := room[:len(h.bins)]
	held, known := f.shares(i, shares)
	if !known {
		p.take(f, i)
		h.balance()
		f.load(i, h)
		return
	}
	at, with, better := choose(shares)
	if better {
		p.take(f, i)
		h.change(at, with)
		f.load(i, h)
		return
	}
	if h.leave(); held+uint64(h.left) > lastInterval {
		p.take(f, i) // otherwise the tallies might overflow before the next check
	}
}

// fold moves the samples in the buffer to the bins of both histograms.
func (p *Pair) fold(f *CountBuffer) {
	p.tell(f)
	p.take(f, 0)
	p.take(f, 1)
}

// take moves the samples of histogram i from the buffer to its bins.
func (p *Pair) take(f *CountBuffer, i int) {
	p.Hists[i].take(&f.tallies[i], &p.sums[i])
	f.know(i, &p.Hists[i])
}

// tell subtracts the number of newly counted samples from what is left of both histograms' intervals.
func (p *Pair) tell(f *CountBuffer) {
	taken := f.due - f.left
	p.Hists[0].left -= taken
	p.Hists[1].left -= taken
	f.due = f.left
}

// begin lets the buffer count samples until one of the histograms must check its balance.
func (p *Pair) begin(f *CountBuffer) {
	f.left = min(p.Hists[0].left, p.Hists[1].left)
	f.due = f.left
	f.full = p.Hists[0].full() && p.Hists[1].full()
}

// take moves the samples of tallies to the histogram's bins, and adds them to sum.
func (h *Hist) take(tallies *[DefaultBins]binTally, sum *model.Stat) {
	all := model.Stat{Min: math.MaxUint64}
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
		all.Squares = all.Squares.Plus(model.Uint128{Lo: t.squares})
		all.Min, all.Max = min(all.Min, least), max(all.Max, most)
		t.counted, t.squares = 0, 0
	}
	sum.Merge(all)
}

// take adds n samples from least to most to the bin, given their sum and the sum of their squares.
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

// spread returns n·squares − sum² in 128 bits: n² times the variance. ok is false if it is negative, which is
// impossible for true sums.
func spread(n, sum, squares uint64) (high, low uint64, ok bool) {
	h1, l1 := bits.Mul64(n, squares)
	h2, l2 := bits.Mul64(sum, sum)
	low, borrow := bits.Sub64(l1, l2, 0)
	high, borrow = bits.Sub64(h1, h2, borrow)
	return high, low, borrow == 0
}
