package hist

import (
	"math"
	"math/bits"

	"github.com/spoor-hpc/spoor/trace/model"
)

// A Pair is two histograms whose samples come in pairs, such as a call's duration and gap, with a summary of all
// samples. Samples pass through a CountBuffer, which the caller keeps.
type Pair struct {
	Hists [2]Hist
	sums  [2]model.Stat // of samples that Flush has not returned yet
}

// NewPair returns two empty histograms of at most bins bins, of the samples of a rank.
func NewPair(bins int, rank int32) *Pair {
	bins = min(max(bins, 2), MaxBins)
	p, room := new(Pair), make([]Bin, 2*bins)
	p.Hists[0].Init(room[:bins:bins], rank)
	p.Hists[1].Init(room[bins:], rank)
	return p
}

// AddPacked adds pairs of samples that PackSamples packed. Adding many at a time is faster, as each pair's memory is
// loaded into the cache once.
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

// Add adds a sample to each histogram, and prepares the buffer for similar ones.
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

// Flush brings the histograms up to date. It returns summaries of the samples since its last call. The sum of all
// returned summaries is exact; a single one may have extremes of earlier samples.
func (p *Pair) Flush(f *CountBuffer) (a, b model.Stat) {
	if f.opened() {
		if p.fold(f); f.left <= 0 {
			p.catchUp(f)
		}
	}
	return p.told()
}

// FlushForCheckpoint is Flush for a checkpoint, after which more samples follow soon. Samples in the buffer may stay
// there, and a later call returns them. Save writes them as they are.
func (p *Pair) FlushForCheckpoint(f *CountBuffer) (a, b model.Stat) {
	if f.opened() {
		if f.due == f.left {
			p.fold(f) // no samples were added since the last FlushForCheckpoint
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

// buffered reports whether the histograms have few enough bins for a CountBuffer.
func (p *Pair) buffered() bool { return cap(p.Hists[0].bins) <= DefaultBins }

// full reports whether all bins are in use.
func (h *Hist) full() bool { return len(h.bins) == cap(h.bins) }

// advance opens the buffer after the bins got the first samples.
func (p *Pair) advance(f *CountBuffer) {
	if f.early++; f.opened() {
		p.open(f)
	}
}

// open prepares an empty buffer for the current bins.
func (p *Pair) open(f *CountBuffer) {
	f.early = firstInterval
	f.load(0, &p.Hists[0])
	f.load(1, &p.Hists[1])
	p.begin(f)
}

// catchUp checks the balance of the histograms whose interval is over.
func (p *Pair) catchUp(f *CountBuffer) {
	p.tell(f)
	for i := range p.Hists {
		if p.Hists[i].left <= 0 {
			p.look(f, i)
		}
	}
	p.begin(f)
}

// look checks the balance of a histogram. Nearly always no change is needed, and the buffer alone shows that: it is
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
		p.take(f, i) // before the tallies overflow
	}
}

// fold moves the buffer's samples to the histograms.
func (p *Pair) fold(f *CountBuffer) {
	p.tell(f)
	p.take(f, 0)
	p.take(f, 1)
}

// take moves the buffer's samples of a histogram to its bins.
func (p *Pair) take(f *CountBuffer, i int) {
	p.Hists[i].take(&f.tallies[i], &p.sums[i])
	f.know(i, &p.Hists[i])
}

// tell subtracts the samples that the buffer counted from the histograms' intervals.
func (p *Pair) tell(f *CountBuffer) {
	taken := f.due - f.left
	p.Hists[0].left -= taken
	p.Hists[1].left -= taken
	f.due = f.left
}

// begin lets the buffer count samples until the next check of a balance.
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

// take adds n samples between least and most, given their sum and sum of squares.
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

// spread is n·squares − sum² in 128 bits; ok is false if that is negative, which no samples have.
func spread(n, sum, squares uint64) (high, low uint64, ok bool) {
	h1, l1 := bits.Mul64(n, squares)
	h2, l2 := bits.Mul64(sum, sum)
	low, borrow := bits.Sub64(l1, l2, 0)
	high, borrow = bits.Sub64(h1, h2, borrow)
	return high, low, borrow == 0
}
