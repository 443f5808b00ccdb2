package hist

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"spoor/internal/pack"
)

// binState is how many bytes Save writes of a bin, besides ranks.
const binState = 48

// Save writes everything of h, for a checkpoint: unlike after Decode, a loaded
// histogram goes on exactly as h does. It is made for speed, as checkpoints are taken
// every few thousand calls, and a program may have hundreds of histograms.
func (h *Hist) Save(w *pack.Writer) {
	h.settle()
	w.Uint(uint64(cap(h.bins)))
	w.Uint(uint64(len(h.bins)))
	w.Uint(uint64(h.left))
	w.Uint(uint64(h.every))
	w.Int(int64(h.rank))
	own, at := true, len(w.B)
	w.B = slices.Grow(w.B, binState*len(h.bins))[:at+binState*len(h.bins)]
	for i := range h.bins {
		b, to := &h.bins[i], (*[binState]byte)(w.B[at+binState*i:])
		put := binary.LittleEndian.PutUint64
		put(to[0:], b.Count)
		put(to[8:], b.Min)
		put(to[16:], b.Max)
		put(to[24:], h.upto[i])
		put(to[32:], math.Float64bits(b.Mean))
		put(to[40:], math.Float64bits(b.m2))
		own = own && b.MinRank == h.rank && b.MaxRank == h.rank
	}
	w.Bool(own) // of a histogram that others were not merged into
	for i := range h.bins {
		if !own {
			w.Int(int64(h.bins[i].MinRank))
			w.Int(int64(h.bins[i].MaxRank))
		}
	}
}

// Load reads what Save wrote.
func Load(r *pack.Reader) *Hist {
	room := r.Index(MaxBins + 1)
	n := r.Index(room + 1)
	h := New(room, NoRank)
	h.left, h.every = int32(r.Index(math.MaxInt32)), int32(r.Index(math.MaxInt32))
	h.rank = int32(r.Int())
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
	if own := r.Bool(); !own {
		for i := range h.bins {
			h.bins[i].MinRank, h.bins[i].MaxRank = int32(r.Int()), int32(r.Int())
		}
	}
	if n := len(h.bins); n > 0 {
		h.upto[n-1] = math.MaxUint64
	}
	return h
}

// Clone returns a copy that shares nothing with h.
func (h *Hist) Clone() *Hist {
	c := *h
	c.bins = append(make([]Bin, 0, cap(h.bins)), h.bins...)
	c.upto = slices.Clone(h.upto)
	return &c
}
