package hist

import "math"

// A Tilt is the distribution over a histogram's values with a given mean that is most similar to the histogram
// (exponential tilting). Each bin's count is multiplied by exp(λ·mean). Of two modes, one may practically vanish.
type Tilt struct {
	h     *Hist
	upto  []float64 // by bin: cumulative share of the samples, including the bin
	scale float64   // factor of all values if no such distribution has the mean
}

// Tilt returns a distribution with the given mean. If the mean is beyond all samples, it scales their values. It
// returns nil for a histogram without samples.
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

// weights are the weights of the bins, with memory for tilted ones.
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

// tilted returns the weights of tilted bins, valid until its next call. The largest of them is about 1.
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

// tilting returns the exponent λ for a mean between those of the first and the last bin, by bisection: the mean
// rises with λ.
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

// Quantile is the value that share q of the samples is at most.
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

// A TiltedBin is a bin of a tilted distribution.
type TiltedBin struct{ Share, Mean float64 }

// Bins returns the bins that have samples.
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
