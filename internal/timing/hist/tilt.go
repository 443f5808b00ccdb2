package hist

import "math"

// A Tilt is a histogram's distribution changed to have a given mean, as little as possible (exponential tilting): the
// count of each bin is multiplied by exp(λ·mean of the bin). Of two modes, one may practically vanish.
type Tilt struct {
	h     *Hist
	upto  []float64 // by bin: share of the samples in this bin and those before it
	scale float64   // factor of all values, if tilting alone doesn't give the wanted mean; else about 1
}

// Tilt returns the histogram's distribution tilted to the given mean. A mean that tilting can't reach is reached by
// scaling all values. Tilt returns nil for a histogram without samples.
func (h *Hist) Tilt(mean float64) *Tilt {
	h.settle()
	n := len(h.bins)
	if n == 0 {
		return nil
	}
	t := &Tilt{h: h, upto: make([]float64, n), scale: 1}
	var all, sum float64
	for i := range h.bins {
		b := &h.bins[i]
		all += float64(b.Count)
		sum += float64(b.Count) * b.Mean
	}
	least, most := h.bins[0].Mean, h.bins[n-1].Mean
	lambda, weights := 0.0, h.weights()
	if whole := sum / all; math.Abs(mean-whole) > 0.001*whole && most > least {
		lambda = weights.tilting(min(max(mean, least), most), most-least)
	}
	total := 0.0
	sum = 0
	for i, w := range weights.tilted(lambda) {
		total += w
		sum += w * h.bins[i].Mean
		t.upto[i] = total
	}
	for i := range t.upto {
		t.upto[i] /= total
	}
	if sum > 0 && lambda != 0 || most == least && most > 0 {
		t.scale = mean / (sum / total)
	}
	return t
}

// A weights computes how much of a tilted distribution is in each bin: it has the logarithms of the bins' counts, and
// room for the result.
type weights struct {
	bins       []Bin
	logs, room []float64
}

func (h *Hist) weights() *weights {
	w := &weights{h.bins, make([]float64, len(h.bins)), make([]float64, len(h.bins))}
	for i := range w.logs {
		w.logs[i] = math.Log(float64(h.bins[i].Count))
	}
	return w
}

// tilted returns a weight for each bin: its count times exp(λ·mean), scaled so that the largest is about 1. The slice
// is valid until the next call.
func (x *weights) tilted(lambda float64) []float64 {
	w, most := x.room, math.Inf(-1)
	for i := range w {
		w[i] = x.logs[i] + lambda*x.bins[i].Mean
		most = max(most, w[i])
	}
	for i := range w {
		w[i] = math.Exp(w[i] - most)
	}
	return w
}

// tilting returns the λ that gives the wanted mean, which is between those of the first and the last bin. It uses
// bisection, as the mean rises with λ. width is the difference between the two bins' means.
func (x *weights) tilting(mean, width float64) float64 {
	low, high := -1000/width, 1000/width
	for range 200 {
		middle := (low + high) / 2
		if middle == low || middle == high {
			return middle // no float64 is between low and high
		}
		var all, sum float64
		for i, w := range x.tilted(middle) {
			all += w
			sum += w * x.bins[i].Mean
		}
		if sum/all < mean {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// Quantile returns the value that share q of the distribution, from 0 to 1, does not exceed.
func (t *Tilt) Quantile(q float64) float64 {
	below := 0.0
	for i, upto := range t.upto {
		if q < upto || i == len(t.upto)-1 {
			part := 1.0
			if upto > below {
				part = min(max((q-below)/(upto-below), 0), 1)
			}
			return t.scale * t.h.bins[i].at(part)
		}
		below = upto
	}
	return 0
}

// A TiltedBin is a bin of a tilted distribution: its share of the distribution, and the mean of its values.
type TiltedBin struct{ Share, Mean float64 }

// Bins returns the bins with more than a millionth of the distribution.
func (t *Tilt) Bins() []TiltedBin {
	var list []TiltedBin
	below := 0.0
	for i, upto := range t.upto {
		if upto-below > 1e-6 {
			list = append(list, TiltedBin{upto - below, t.scale * t.h.bins[i].Mean})
		}
		below = upto
	}
	return list
}
