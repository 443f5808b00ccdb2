package hist

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Sizes in bytes of what SaveCheckpoint writes: of a histogram without its bins, of a bin whose numbers have 32 bits or
// 64 bits, and of the ranks of a bin. The last is for a tally of Pair.SaveCheckpoint.
const (
	headState   = 13
	narrowState = 32
	wideState   = 48
	rankState   = 8
	tallyState  = 25
)

// MaxPairCheckpointBytes is the number of bytes that Pair.SaveCheckpoint nearly always needs at most, for histograms of
// up to DefaultBins bins.
const MaxPairCheckpointBytes = 2*(headState+DefaultBins*narrowState) + 1 + 2*DefaultBins*tallyState

// Flags of a histogram in SaveCheckpoint.
const (
	isOwn    = 1 << iota // all extremes are of the histogram's own rank, so that no ranks of bins follow
	isNarrow             // counts and samples fit into 32 bits
)

var le = binary.LittleEndian

// SaveCheckpoint writes the exact state of h for a checkpoint. In contrast to Decode, LoadCheckpoint returns a
// histogram that continues exactly as h does. SaveCheckpoint is optimised for speed, as checkpoints are taken every few
// thousand calls, and a program may have hundreds of histograms.
//
//	head = room u16, bins u16, left u16, every u16, rank i32, flags u8, bin…, ranks… if not isOwn
//	bin  = count, least, most, bound of 4 or 8 bytes each, mean and m2 of 8
func (h *Hist) SaveCheckpoint(w *wire.Coder) {
	h.settle()
	flags, large := byte(isOwn), uint64(0)
	for i := range h.bins {
		b := &h.bins[i]
		large |= b.Count | b.Max
		if b.MinRank != h.rank || b.MaxRank != h.rank {
			flags = 0
		}
	}
	size := wideState
	if large <= math.MaxUint32 {
		flags |= isNarrow
		size = narrowState
	}
	if flags&isOwn == 0 {
		size += rankState
	}
	at := len(w.Buf)
	w.Buf = slices.Grow(w.Buf, headState+size*len(h.bins))[:at+headState+size*len(h.bins)]
	to := w.Buf[at:]
	le.PutUint16(to[0:], uint16(cap(h.bins)))
	le.PutUint16(to[2:], uint16(len(h.bins)))
	le.PutUint16(to[4:], uint16(h.left))
	le.PutUint16(to[6:], uint16(h.every))
	le.PutUint32(to[8:], uint32(h.rank))
	to[12] = flags
	to = to[headState:]
	for i := range h.bins {
		b := &h.bins[i]
		if flags&isNarrow != 0 {
			bin := (*[narrowState]byte)(to)
			le.PutUint64(bin[0:], b.Count|b.Min<<32)
			le.PutUint64(bin[8:], b.Max|h.upto[i]<<32)
			le.PutUint64(bin[16:], math.Float64bits(b.Mean))
			le.PutUint64(bin[24:], math.Float64bits(b.m2))
			to = to[narrowState:]
			continue
		}
		bin := (*[wideState]byte)(to)
		le.PutUint64(bin[0:], b.Count)
		le.PutUint64(bin[8:], b.Min)
		le.PutUint64(bin[16:], b.Max)
		le.PutUint64(bin[24:], h.upto[i])
		le.PutUint64(bin[32:], math.Float64bits(b.Mean))
		le.PutUint64(bin[40:], math.Float64bits(b.m2))
		to = to[wideState:]
	}
	if flags&isOwn == 0 {
		for i := range h.bins {
			le.PutUint32(to[0:], uint32(h.bins[i].MinRank))
			le.PutUint32(to[4:], uint32(h.bins[i].MaxRank))
			to = to[rankState:]
		}
	}
}

// LoadCheckpoint reads a histogram that SaveCheckpoint wrote.
func LoadCheckpoint(r *wire.Reader) *Hist {
	sizes, rank := r.Uint64(), int32(r.Uint32())
	flags := r.Byte()
	room, n := int(uint16(sizes)), int(uint16(sizes>>16))
	if room < 2 || room > MaxBins || n > room {
		r.Fail("%d of %d bins", n, room)
		return New(2, NoRank)
	}
	h := New(room, rank)
	h.left, h.every = int32(uint16(sizes>>32)), int32(sizes>>48)
	if h.left < 1 || h.left > lastInterval || h.every < firstInterval || h.every > lastInterval {
		r.Fail("bins are balanced after %d of %d samples", h.left, h.every)
	}
	number := r.Uint64
	if flags&isNarrow != 0 {
		number = func() uint64 { return uint64(r.Uint32()) }
	}
	for i := range n {
		b := Bin{Count: number(), Min: number(), Max: number()}
		h.upto[i] = number()
		b.Mean, b.m2 = math.Float64frombits(r.Uint64()), math.Float64frombits(r.Uint64())
		b.MinRank, b.MaxRank = h.rank, h.rank
		const most = 1e100 // far above the sum of 2^64 samples of 2^64
		if b.Count == 0 || b.Min > b.Max || h.upto[i] < b.Max || !(b.Mean >= 0 && b.Mean < most) || !(b.m2 >= 0 && b.m2 < most) || i > 0 && b.Min <= h.upto[i-1] {
			r.RecordError(fmt.Errorf("bin %d of a histogram makes no sense", i))
		}
		if r.Err() != nil {
			break
		}
		h.bins = append(h.bins, b)
	}
	if flags&isOwn == 0 {
		for i := range h.bins {
			h.bins[i].MinRank, h.bins[i].MaxRank = int32(r.Uint32()), int32(r.Uint32())
		}
	}
	if n := len(h.bins); n > 0 {
		h.upto[n-1] = math.MaxUint64
	}
	return h
}

// SaveCheckpoint writes both histograms of p and the samples that the buffer counted. Flush or FlushForCheckpoint must
// precede it.
//
//	pair  = two histograms, number of tallies u8, tally…
//	tally = histogram<<4 | bin u8, counted, squares u64, least, span u32
func (p *Pair) SaveCheckpoint(w *wire.Coder, f *CountBuffer) {
	p.Hists[0].SaveCheckpoint(w)
	p.Hists[1].SaveCheckpoint(w)
	at := len(w.Buf)
	w.Buf = append(w.Buf, 0)
	for i := range f.tallies {
		for k := range f.tallies[i] {
			t := &f.tallies[i][k]
			if t.counted == 0 {
				continue
			}
			w.Buf[at]++
			n := len(w.Buf)
			w.Buf = slices.Grow(w.Buf, tallyState)[:n+tallyState]
			to := (*[tallyState]byte)(w.Buf[n:])
			to[0] = byte(i<<4 | k)
			le.PutUint64(to[1:], t.counted)
			le.PutUint64(to[9:], t.squares)
			le.PutUint32(to[17:], t.least)
			le.PutUint32(to[21:], t.span)
		}
	}
}

// LoadPairCheckpoint reads what Pair.SaveCheckpoint wrote. The samples in the buffer at that time go to f, which must
// be empty.
func LoadPairCheckpoint(r *wire.Reader, f *CountBuffer) *Pair {
	p := &Pair{Hists: [2]Hist{*LoadCheckpoint(r), *LoadCheckpoint(r)}}
	if a, b := cap(p.Hists[0].bins), cap(p.Hists[1].bins); a != b {
		r.Fail("a pair of histograms of %d and %d bins", a, b)
	}
	n := int(r.Byte())
	if !p.buffered() {
		if n > 0 {
			r.Fail("%d tallies of histograms of %d bins", n, cap(p.Hists[0].bins))
		}
		return p
	}
	p.open(f)
	for range n {
		at := r.Byte()
		t := binTally{counted: r.Uint64(), squares: r.Uint64(), least: r.Uint32(), span: r.Uint32()}
		i, k := int(at>>4), int(at&15)
		if i > 1 || k >= len(p.Hists[i].bins) || !t.sensible(uint64(lastInterval-p.Hists[i].left)) {
			r.Fail("a tally of bin %d of histogram %d makes no sense", k, i)
			break
		}
		f.tallies[i][k] = t
	}
	return p
}

// sensible reports whether t may be a tally of at least 1 and at most most samples: a check of data from a file.
func (t *binTally) sensible(most uint64) bool {
	n, sum := t.counted/countOne, t.counted%countOne
	if n == 0 || n > most || sum/n>>sampleBits != 0 || t.squares/n>>(2*sampleBits) != 0 {
		return false
	}
	least, greatest := uint64(t.least), uint64(t.least)+uint64(t.span)
	_, _, ok := spread(n, sum, t.squares)
	return ok && greatest <= far && n*least <= sum && sum <= n*greatest
}

// Clone returns a copy that shares no memory with h.
func (h *Hist) Clone() *Hist {
	c := *h
	c.bins = append(make([]Bin, 0, cap(h.bins)), h.bins...)
	c.upto = slices.Clone(h.upto)
	return &c
}

// Scale returns the histogram in another unit: each sample is multiplied by f. Extremes are rounded to integers. If
// two bins then share an end, the Min of the upper bin is raised by one. If that leaves no range for the upper bin,
// the bins are joined.
func (h *Hist) Scale(f float64) *Hist {
	h.settle()
	s := New(cap(h.bins), h.rank)
	for _, b := range h.bins {
		b.Min, b.Max = scaled(b.Min, f), scaled(b.Max, f)
		b.Mean, b.m2 = b.clamp(float64(b.Mean*f)), float64(b.m2*float64(f*f))
		if n := len(s.bins); n > 0 && b.Min <= s.bins[n-1].Max {
			below := &s.bins[n-1]
			if b.Max == below.Max {
				*below = joinBins(below, &b)
				continue
			}
			b.Min = below.Max + 1
			b.Mean = b.clamp(b.Mean)
		}
		s.bins = append(s.bins, b)
	}
	for i := range s.bins {
		s.bound(i)
	}
	return s
}

// scaled returns v·f, rounded to an integer and at most 2^64-1.
func scaled(v uint64, f float64) uint64 {
	if x := float64(float64(v)*f) + 0.5; x < 1<<64 {
		return uint64(x)
	}
	return math.MaxUint64
}
