package hist

import (
	"math"
	"math/bits"

	"github.com/spoor-hpc/spoor/trace/model"
)

// A Pair is two histograms whose samples come two by two, as a call's duration and the
// gap before it do, with a summary of all samples. Samples come through a Buffer.
type Pair struct {
	Hists [2]Hist
	sums  [2]model.Stat // of samples that Settle has not returned yet
}

// NewPair returns two empty histograms of at most bins bins, of the samples of a rank.
func NewPair(bins int, rank int32) *Pair {
	bins = min(max(bins, 2), MaxBins)
	p, room := new(Pair), make([]Bin, 2*bins)
	p.Hists[0].Init(room[:bins:bins], rank)
	p.Hists[1].Init(room[bins:], rank)
	return p
}

// AddPacked puts in samples of each histogram, as Two makes them. Many at a time are quicker
// than one by one, for which all this would come from farther memory.
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

// Add puts in a sample of each histogram, and makes the buffer fit for what is like it.
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

// put adds a sample of each histogram to the bins.
func (p *Pair) put(a, b uint64) {
	for i, v := range [2]uint64{a, b} {
		p.Hists[i].Add(v)
		p.sums[i].Add(v)
	}
}

// Flush brings the histograms up to date. It returns summaries of the samples of each since
// it was called last. Merged, all it returned is exact; a single one may have extremes that
// were there before.
func (p *Pair) Flush(f *CountBuffer) (a, b model.Stat) {
	if f.opened() {
		if p.fold(f); f.left <= 0 {
			p.catchUp(f)
		}
	}
	return p.told()
}

// FlushForCheckpoint is Settle for a checkpoint, after which more samples follow soon: those that the buffer has counted of late may
// stay there, and are returned later. Save writes them as they are.
func (p *Pair) FlushForCheckpoint(f *CountBuffer) (a, b model.Stat) {
	if f.opened() {
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
func (p *Pair) told() (a, b model.Stat) {
	a, b = p.sums[0], p.sums[1]
	p.sums = [2]model.Stat{}
	return a, b
}

// buffered reports whether the histograms have few enough bins for a Buffer.
func (p *Pair) buffered() bool { return cap(p.Hists[0].bins) <= DefaultBins }

// full reports whether all bins are in use.
func (h *Hist) full() bool { return len(h.bins) == cap(h.bins) }

// advance opens a buffer when the bins have had the first samples.
func (p *Pair) advance(f *CountBuffer) {
	if f.early++; f.opened() {
		p.open(f)
	}
}

// open lets a buffer that has nothing take samples, from what the bins are.
func (p *Pair) open(f *CountBuffer) {
	f.early = firstInterval
	f.load(0, &p.Hists[0])
	f.load(1, &p.Hists[1])
	p.begin(f)
}

// catchUp balances the histograms for which it is time.
func (p *Pair) catchUp(f *CountBuffer) {
	p.tell(f)
	for i := range p.Hists {
		if p.Hists[i].left <= 0 {
			p.look(f, i)
		}
	}
	p.begin(f)
}

// look balances a histogram. Nearly always all is well, and what the buffer has says so: it
// is at hand where the bins are far.
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
		p.take(f, i) // before there are more than tallies can hold
	}
}

// fold moves what the buffer has to the histograms.
func (p *Pair) fold(f *CountBuffer) {
	p.tell(f)
	p.take(f, 0)
	p.take(f, 1)
}

// take moves what the buffer has of a histogram to that.
func (p *Pair) take(f *CountBuffer, i int) {
	p.Hists[i].take(&f.tallies[i], &p.sums[i])
	f.know(i, &p.Hists[i])
}

// tell informs the histograms how many samples the buffer counted of late.
func (p *Pair) tell(f *CountBuffer) {
	taken := f.due - f.left
	p.Hists[0].left -= taken
	p.Hists[1].left -= taken
	f.due = f.left
}

// begin lets the buffer take samples until a histogram is to be balanced.
func (p *Pair) begin(f *CountBuffer) {
	f.left = min(p.Hists[0].left, p.Hists[1].left)
	f.due = f.left
	f.full = p.Hists[0].full() && p.Hists[1].full()
}

// take moves what a buffer has counted to the bins and to a summary.
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
