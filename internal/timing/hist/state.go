package hist

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"spoor/internal/pack"
)

// Bytes that Save writes: of each histogram, of each bin besides ranks, and of those if
// others than the histogram's own are among them.
const (
	headState = 13
	binState  = 48
	rankState = 8
)

var le = binary.LittleEndian

// Save writes everything of h, for a checkpoint: unlike after Decode, a loaded
// histogram goes on exactly as h does. It is made for speed, as checkpoints are taken
// every few thousand calls, and a program may have hundreds of histograms.
//
//	head = room u16, bins u16, left u16, every u16, rank i32, own u8, bin…, ranks… if not own
func (h *Hist) Save(w *pack.Writer) {
	h.settle()
	own := true // no others were merged into it
	for i := range h.bins {
		own = own && h.bins[i].MinRank == h.rank && h.bins[i].MaxRank == h.rank
	}
	size := headState + binState*len(h.bins)
	if !own {
		size += rankState * len(h.bins)
	}
	at := len(w.B)
	w.B = slices.Grow(w.B, size)[:at+size]
	to := w.B[at:]
	le.PutUint16(to[0:], uint16(cap(h.bins)))
	le.PutUint16(to[2:], uint16(len(h.bins)))
	le.PutUint16(to[4:], uint16(h.left))
	le.PutUint16(to[6:], uint16(h.every))
	le.PutUint32(to[8:], uint32(h.rank))
	to[12] = 0
	if own {
		to[12] = 1
	}
	to = to[headState:]
	for i := range h.bins {
		b := &h.bins[i]
		bin := (*[binState]byte)(to)
		le.PutUint64(bin[0:], b.Count)
		le.PutUint64(bin[8:], b.Min)
		le.PutUint64(bin[16:], b.Max)
		le.PutUint64(bin[24:], h.upto[i])
		le.PutUint64(bin[32:], math.Float64bits(b.Mean))
		le.PutUint64(bin[40:], math.Float64bits(b.m2))
		to = to[binState:]
	}
	for i := range h.bins {
		if !own {
			le.PutUint32(to[0:], uint32(h.bins[i].MinRank))
			le.PutUint32(to[4:], uint32(h.bins[i].MaxRank))
			to = to[rankState:]
		}
	}
}

// Load reads what Save wrote.
func Load(r *pack.Reader) *Hist {
	sizes, rank := r.Fixed(), int32(r.Uint32())
	own := r.Byte() != 0
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
	for i := range n {
		b := Bin{Count: r.Fixed(), Min: r.Fixed(), Max: r.Fixed()}
		h.upto[i] = r.Fixed()
		b.Mean, b.m2 = math.Float64frombits(r.Fixed()), math.Float64frombits(r.Fixed())
		b.MinRank, b.MaxRank = h.rank, h.rank
		const most = 1e100 // far above what 2^64 samples of 2^64 come to
		if b.Count == 0 || b.Min > b.Max || h.upto[i] < b.Max || !(b.Mean >= 0 && b.Mean < most) || !(b.m2 >= 0 && b.m2 < most) || i > 0 && b.Min <= h.upto[i-1] {
			r.Check(fmt.Errorf("bin %d of a histogram makes no sense", i))
		}
		if r.Err() != nil {
			break
		}
		h.bins = append(h.bins, b)
	}
	if !own {
		for i := range h.bins {
			h.bins[i].MinRank, h.bins[i].MaxRank = int32(r.Uint32()), int32(r.Uint32())
		}
	}
	if n := len(h.bins); n > 0 {
		h.upto[n-1] = math.MaxUint64
	}
	return h
}

// Save writes the histograms of p, which must be settled.
func (p *Pair) Save(w *pack.Writer) {
	p.Hists[0].Save(w)
	p.Hists[1].Save(w)
}

// LoadPair reads what Save wrote.
func LoadPair(r *pack.Reader) *Pair {
	p := &Pair{Hists: [2]Hist{*Load(r), *Load(r)}}
	if a, b := cap(p.Hists[0].bins), cap(p.Hists[1].bins); a != b {
		r.Fail("a pair of histograms of %d and %d bins", a, b)
	}
	return p
}

// Clone returns a copy that shares nothing with h.
func (h *Hist) Clone() *Hist {
	c := *h
	c.bins = append(make([]Bin, 0, cap(h.bins)), h.bins...)
	c.upto = slices.Clone(h.upto)
	return &c
}

// Scale returns the histogram in another unit, f of which make one of the old. Extremes are
// rounded; where those of two bins come to be the same, the sample at the lower end of the
// upper bin counts as one above, or the bins become one if that leaves nothing.
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

// scaled is v·f, rounded, or the largest number if that is larger.
func scaled(v uint64, f float64) uint64 {
	if x := float64(float64(v)*f) + 0.5; x < 1<<64 {
		return uint64(x)
	}
	return math.MaxUint64
}
