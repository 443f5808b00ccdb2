package hist

import "math"

// Unwrap returns the Hist in a value of package trace, whose exported type hides it.
func Unwrap(shown interface{ Count() uint64 }) *Hist {
	return shown.(interface{ itself() *Hist }).itself()
}

func (h *Hist) itself() *Hist { return h }

// Bins returns the bins in rising order, as the histogram's own slice.
func (h *Hist) Bins() []Bin {
	h.settle()
	return h.bins
}

// Count returns the number of samples.
func (h *Hist) Count() uint64 {
	n := uint64(0)
	for i := range h.bins {
		n += h.bins[i].Count
	}
	return n
}

// Total returns one bin of all samples; its Count is 0 without samples.
func (h *Hist) Total() Bin {
	var t Bin
	h.settle()
	for i := range h.bins {
		if i == 0 {
			t = h.bins[i]
		} else {
			t = joinBins(&t, &h.bins[i])
		}
	}
	return t
}

// Quantile returns an estimate of the value that a share q of the samples, from 0 to 1, does not exceed; 0 for an
// empty histogram. Quantile(0) and Quantile(1) are exact.
func (h *Hist) Quantile(q float64) float64 {
	n := len(h.bins)
	if n == 0 {
		return 0
	}
	h.settle()
	if q >= 1 {
		return float64(h.bins[n-1].Max)
	}
	rank := math.Max(q, 0) * float64(h.Count())
	if !(rank > 0) {
		return float64(h.bins[0].Min)
	}
	for i := range h.bins {
		b := &h.bins[i]
		if c := float64(b.Count); rank > c && i < n-1 {
			rank -= c
		} else {
			return b.at(rank / c)
		}
	}
	return float64(h.bins[n-1].Max)
}

// ShareBelow returns an estimate of the share of samples that are at most v, from 0 to 1.
func (h *Hist) ShareBelow(v float64) float64 {
	sum := 0.0
	h.settle()
	for i := range h.bins {
		part := h.bins[i].below(v)
		sum += float64(part * float64(h.bins[i].Count))
	}
	return sum / max(float64(h.Count()), 1)
}
