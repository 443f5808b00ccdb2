package hist

import "slices"

// Merge adds the samples of o to h, whose largest number of bins stays the same. Bins of h and o that overlap are cut
// at each other's ends first. The time depends on the number of bins only.
func (h *Hist) Merge(o *Hist) {
	if len(o.bins) == 0 {
		return
	}
	h.settle()
	o.settle()
	if len(h.bins) == 0 && len(o.bins) <= cap(h.bins) {
		h.bins = append(h.bins, o.bins...)
		copy(h.upto, o.upto[:len(o.bins)])
		h.bound(len(h.bins) - 1)
		return
	}
	all := overlay(h.bins, o.bins)
	for len(all) > cap(h.bins) {
		best, at := 0.0, -1
		for i := range len(all) - 1 {
			if w := newShare(all[i].Count+all[i+1].Count, all[i].Min, all[i+1].Max).weight(); at < 0 || w < best {
				best, at = w, i
			}
		}
		all[at] = joinBins(&all[at], &all[at+1])
		all = slices.Delete(all, at+1, at+2)
	}
	h.bins = append(h.bins[:0], all...)
	for i := range h.bins {
		h.bound(i)
	}
}

// overlay returns disjoint bins in rising order with all samples of a and b. In each of a and b, bins are disjoint
// and in rising order.
func overlay(a, b []Bin) []Bin {
	all := make([]Bin, 0, 2*(len(a)+len(b)))
	var x, y Bin // first bins of a and b, without the parts that are in all already; Count 0: no bins are left
	next := func(list *[]Bin) (head Bin) {
		if len(*list) > 0 {
			head, *list = (*list)[0], (*list)[1:]
		}
		return head
	}
	x, y = next(&a), next(&b)
	for x.Count > 0 && y.Count > 0 {
		if y.Min < x.Min {
			x, y, a, b = y, x, b, a
		}
		switch {
		case x.Max < y.Min:
			all = append(all, x)
			x = next(&a)
		case x.Min == x.Max || y.Min == y.Max || x.Min == y.Min && x.Max == y.Max:
			// If both ranges are equal, or one is a single value, cutting would not separate anything.
			x, y, a, b = absorb(x, y, a, b)
		case x.Min < y.Min:
			var low Bin
			low, x = cut(&x, y.Min-1)
			if low.Count > 0 {
				all = append(all, low)
			}
			if x.Count == 0 {
				x = next(&a)
			}
		default: // equal Min, different Max
			if y.Max < x.Max {
				x, y, a, b = y, x, b, a
			}
			var low Bin
			low, y = cut(&y, x.Max)
			if low.Count > 0 {
				x = joinBins(&x, &low)
			}
			all = append(all, x)
			x = next(&a)
			if y.Count == 0 {
				y = next(&b)
			}
		}
	}
	if x.Count > 0 {
		all = append(append(all, x), a...)
	}
	if y.Count > 0 {
		all = append(append(all, y), b...)
	}
	return all
}

// absorb joins x and y, the overlapping first bins of a and b. The result replaces one of them, and the next bin of
// its list the other.
func absorb(x, y Bin, a, b []Bin) (x2, y2 Bin, a2, b2 []Bin) {
	next := func(list []Bin) (Bin, []Bin) {
		if len(list) == 0 {
			return Bin{}, nil
		}
		return list[0], list[1:]
	}
	j := joinBins(&x, &y)
	// The result replaces the bin with the larger Max, as that one may overlap more bins of the other list.
	if x.Max >= y.Max {
		x = j
		y, b = next(b)
	} else {
		y = j
		x, a = next(a)
	}
	return x, y, a, b
}
