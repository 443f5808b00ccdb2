package hist

import "math"

// Inside a bin samples are taken to be spread evenly from Min to Mean, and
// evenly, but at another density, from Mean to Max. The two counts are those
// that make Mean the mean.

// lowPart is the share of samples below the mean.
func (b *Bin) lowPart() float64 {
	if b.Max == b.Min {
		return 0.5
	}
	return (float64(b.Max) - b.Mean) / (float64(b.Max) - float64(b.Min))
}

// below estimates what share of the samples is at most x.
func (b *Bin) below(x float64) float64 {
	least, most := float64(b.Min), float64(b.Max)
	switch low := b.lowPart(); {
	case x < least:
		return 0
	case x >= most:
		return 1
	case x <= b.Mean:
		return float64(low * ((x - least) / (b.Mean - least)))
	default:
		return low + float64((1-low)*((x-b.Mean)/(most-b.Mean)))
	}
}

// upTo estimates what share of the samples is at most the integer c, which is
// below Max, and their mean.
func (b *Bin) upTo(c uint64) (share, mean float64) {
	low, middle := b.lowPart(), floor(b.Mean, b.Min, b.Max-1)
	least := float64(b.Min)
	half := float64((least + float64(min(c, middle))) / 2)
	if c <= middle {
		return float64(low * (float64(c-b.Min+1) / float64(middle-b.Min+1))), half
	}
	more := float64((1 - low) * (float64(c-middle) / float64(b.Max-middle)))
	sum := float64(low*half) + float64(more*(float64(middle)/2+float64(c)/2))
	return low + more, sum / (low + more)
}

// at is the value that a share of the samples is at most: below's inverse.
func (b *Bin) at(part float64) float64 {
	least, most := float64(b.Min), float64(b.Max)
	switch low := b.lowPart(); {
	case part <= 0 || least == most:
		return least
	case part >= 1:
		return most
	case part <= low:
		return least + float64((b.Mean-least)*(part/low))
	default:
		return b.Mean + float64((most-b.Mean)*((part-low)/(1-low)))
	}
}

// cut divides a bin into the samples up to c and those above, Min ≤ c < Max.
// Neither part is empty if there are two samples.
func cut(b *Bin, c uint64) (low, high Bin) {
	part, mean := b.upTo(c)
	count := float64(b.Count)
	share := math.Round(float64(part * count))
	// Counts with which no two means inside the parts have the mean of both
	// would change the sum of all samples.
	from, to := float64(b.Min), float64(b.Max)
	share = min(share, math.Floor(float64(count*((to-b.Mean)/(to-float64(c))))))
	share = max(share, math.Ceil(float64(count*((float64(c)+1-b.Mean)/(float64(c)+1-from)))))
	n := uint64(min(max(share, 0), count))
	if b.Count > 1 {
		n = min(max(n, 1), b.Count-1)
	}
	inner := int32(NoRank)
	if b.MinRank == b.MaxRank {
		inner = b.MinRank
	}
	low = Bin{Count: n, Min: b.Min, MinRank: b.MinRank, Max: c, MaxRank: inner}
	high = Bin{Count: b.Count - n, Min: c + 1, MinRank: inner, Max: b.Max, MaxRank: b.MaxRank}
	switch {
	case n == b.Count:
		low.Mean, low.m2 = low.clamp(b.Mean), b.m2
		return low, high
	case n == 0:
		high.Mean, high.m2 = high.clamp(b.Mean), b.m2
		return low, high
	case n == 1:
		low.Max, mean = b.Min, float64(b.Min)
	}
	if high.Count == 1 {
		high.Min, high.Mean = b.Max, float64(b.Max)
	} else {
		high.Mean = high.clamp(opposite(b.Mean, mean, n, high.Count))
	}
	// Whichever mean was out of bounds, the other keeps the sum if it can.
	low.Mean = low.clamp(opposite(b.Mean, high.Mean, high.Count, n))
	high.Mean = high.clamp(opposite(b.Mean, low.Mean, n, high.Count))
	// What the distance of the means does not explain is inside the parts, by
	// the square of their widths.
	dl, dh := low.Mean-b.Mean, high.Mean-b.Mean
	rest := b.m2 - float64(float64(low.Count)*float64(dl*dl)) - float64(float64(high.Count)*float64(dh*dh))
	if rest > 0 {
		wl, wh := low.share(), high.share()
		if wl+wh > 0 {
			low.m2 = min(float64(rest*(wl/(wl+wh))), wl)
			high.m2 = min(float64(rest*(wh/(wl+wh))), wh)
		}
	}
	// No sample is farther from the mean than this.
	low.Max = min(low.Max, floor(math.Ceil(low.Mean+math.Sqrt(low.m2)), low.Min, c))
	high.Min = max(high.Min, floor(high.Mean-math.Sqrt(high.m2), c+1, high.Max))
	return low, high
}

// opposite is the mean of m samples that together with n samples of mean part
// have the mean whole.
func opposite(whole, part float64, n, m uint64) float64 {
	return whole + float64((whole-part)*(float64(n)/float64(m)))
}

// share is the greatest m2 that a bin can have.
func (b *Bin) share() float64 {
	w := float64(b.Max) - float64(b.Min)
	return float64(float64(w*w) * (float64(b.Count) / 4))
}
