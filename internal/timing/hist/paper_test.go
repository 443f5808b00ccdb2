package hist

import "math"

// A paper is the histogram as algorithms 1 and 2 of the paper have it, to
// compare with: the range is guessed from the first value, counts alone decide,
// a split bin has half of the samples on either side.
type paper struct {
	bins []paperBin
	adds int
}

type paperBin struct {
	min, max, count, mean, m2 float64
}

func (h *paper) add(v float64, k int) {
	if h.bins == nil {
		for i := range k {
			w := max(2*v, 1) / float64(k)
			h.bins = append(h.bins, paperBin{min: float64(i) * w, max: float64(i+1) * w, mean: (float64(i) + 0.5) * w})
		}
	}
	last := &h.bins[len(h.bins)-1]
	last.max = math.Max(last.max, v)
	h.bins[0].min = math.Min(h.bins[0].min, v)
	i := 0
	for v > h.bins[i].max {
		i++
	}
	b := &h.bins[i]
	b.count++
	old := b.mean
	if b.count == 1 {
		b.mean, b.m2 = v, 0
	} else {
		b.mean += (v - b.mean) / b.count
		b.m2 += (v - old) * (v - b.mean)
	}
	if h.adds++; h.adds%16 == 0 {
		h.rebalance()
	}
}

func (h *paper) rebalance() {
	at := 0
	for i, b := range h.bins {
		if b.count > h.bins[at].count {
			at = i
		}
	}
	with, least := -1, 0.5*h.bins[at].count
	for i := range len(h.bins) - 1 {
		if sum := h.bins[i].count + h.bins[i+1].count; i != at && i+1 != at && sum <= least {
			with, least = i, sum
		}
	}
	b := h.bins[at]
	if with < 0 || !(b.mean > b.min && b.mean < b.max) {
		return
	}
	a, c := h.bins[with], h.bins[with+1]
	j := paperBin{min: a.min, max: c.max, count: a.count + c.count, m2: a.m2 + c.m2, mean: (a.mean + c.mean) / 2}
	if j.count > 0 {
		j.mean = (a.mean*a.count + c.mean*c.count) / j.count
	}
	sigma := math.Sqrt(b.m2 / b.count)
	low := paperBin{min: b.min, max: b.mean, count: b.count / 2, mean: math.Max(b.mean-sigma/2, b.min), m2: b.m2 / 8}
	high := paperBin{min: b.mean, max: b.max, count: b.count / 2, mean: math.Min(b.mean+sigma/2, b.max), m2: b.m2 / 8}
	var out []paperBin
	for i, x := range h.bins {
		switch i {
		case at:
			out = append(out, low, high)
		case with:
			out = append(out, j)
		case with + 1:
		default:
			out = append(out, x)
		}
	}
	h.bins = out
}

func (h *paper) quantile(q float64) float64 {
	n := 0.0
	for _, b := range h.bins {
		n += b.count
	}
	n *= q
	for i, b := range h.bins {
		if n > b.count && i < len(h.bins)-1 {
			n -= b.count
			continue
		}
		if b.count == 0 {
			return b.min
		}
		return b.min + (b.max-b.min)*math.Min(n/b.count, 1)
	}
	return 0
}
