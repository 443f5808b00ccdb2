package hist

import (
	"fmt"
	"math"
	"slices"

	"spoor/internal/pack"
)

// Save writes everything of h, for a checkpoint: unlike after Decode, a loaded
// histogram goes on exactly as h does.
func (h *Hist) Save(w *pack.Writer) {
	h.settle()
	w.Uint(uint64(cap(h.bins)))
	w.Uint(uint64(len(h.bins)))
	w.Uint(uint64(h.left))
	w.Uint(uint64(h.every))
	w.Int(int64(h.rank))
	for i := range h.bins {
		b := &h.bins[i]
		for _, v := range []uint64{b.Count, b.Min, b.Max, h.upto[i]} {
			w.Uint(v)
		}
		w.Fixed(math.Float64bits(b.Mean))
		w.Fixed(math.Float64bits(b.m2))
		w.Int(int64(b.MinRank))
		w.Int(int64(b.MaxRank))
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
		b := Bin{Count: r.Uint(), Min: r.Uint(), Max: r.Uint()}
		h.upto[i] = r.Uint()
		b.Mean, b.m2 = math.Float64frombits(r.Fixed()), math.Float64frombits(r.Fixed())
		b.MinRank, b.MaxRank = int32(r.Int()), int32(r.Int())
		if b.Count == 0 || b.Min > b.Max || h.upto[i] < b.Max || !(b.Mean >= 0) || i > 0 && b.Min <= h.upto[i-1] {
			r.Check(fmt.Errorf("bin %d of a histogram makes no sense", i))
		}
		if r.Err() != nil {
			break
		}
		h.bins = append(h.bins, b)
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
