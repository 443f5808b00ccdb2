package hist

import "math"

// Samples of a bin are assumed to be uniform from Min to Mean, and from Mean to Max, with different densities. The
// counts of the two parts follow from Mean.

// lowPart is the share of the bin's samples that are below its mean.
func (b *Bin) lowPart() float64 {
	if b.Max == b.Min {
		return 0.5
	}
	return (float64(b.Max) - b.Mean) / (float64(b.Max) - float64(b.Min))
}

// below estimates which share of the bin's samples is at most x.
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

// upTo estimates the share of the bin's samples that are at most c, and the mean of these samples. c is less than
// Max.
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

// at returns the value that this share of the bin's samples does not exceed: the inverse of below.
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

// cut divides a bin into the samples up to c and those above, where Min ≤ c < Max. Of two samples or more each part
// gets one at least. The means of the parts are limited by what samples at the ends of the bin allow, and such that
// the sum of all samples is unchanged.
func cut(b *Bin, c uint64) (low, high Bin) {
	part, mean := b.upTo(c)
	count := float64(b.Count)
	share := math.Round(float64(part * count))
	from, to, at, next := float64(b.Min), float64(b.Max), float64(c), float64(c)+1
	share = min(share, math.Floor(float64(count*((to-b.Mean)/(to-at)))-float64((at-from)/(to-at))+nearly))
	share = max(share, math.Ceil(float64(count*((next-b.Mean)/(next-from)))+float64((to-next)/(next-from))-nearly))
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
	switch n {
	case b.Count:
		low.Mean, low.m2 = low.clamp(b.Mean), b.m2
		return low, high
	case 0:
		high.Mean, high.m2 = high.clamp(b.Mean), b.m2
		return low, high
	}
	// The largest possible mean of the low part, whose least sample is from, and the least of the high part, whose
	// greatest is to.
	most := from + float64((at-from)*(float64(n-1)/float64(n)))
	least := to - float64((to-next)*(float64(high.Count-1)/float64(high.Count)))
	high.Mean = min(max(opposite(b.Mean, min(mean, most), n, high.Count), least), to)
	// If the mean of one part was out of bounds, that of the other part changes to keep the sum of all samples, if
	// possible.
	low.Mean = min(max(opposite(b.Mean, high.Mean, high.Count, n), from), most)
	high.Mean = min(max(opposite(b.Mean, low.Mean, n, high.Count), least), to)
	// Part of the variance is due to the distance between the means. What remains is divided between the parts in
	// proportion to the square of their widths.
	dl, dh := low.Mean-b.Mean, high.Mean-b.Mean
	rest := b.m2 - float64(float64(low.Count)*float64(dl*dl)) - float64(float64(high.Count)*float64(dh*dh))
	if rest > 0 {
		wl, wh := low.share(), high.share()
		if wl+wh > 0 {
			low.m2 = min(float64(rest*(wl/(wl+wh))), wl)
			high.m2 = min(float64(rest*(wh/(wl+wh))), wh)
		}
	}
	low.Max = floor(math.Ceil(low.Mean+low.reach(low.Mean-from)-nearly), low.Min, c)
	high.Min = floor(math.Floor(high.Mean-high.reach(to-high.Mean)+nearly), c+1, high.Max)
	// With one sample both ends are equal, even beyond 1<<53 where float64 is inexact.
	if low.Count == 1 {
		low.Max = low.Min
	}
	if high.Count == 1 {
		high.Min = high.Max
	}
	// Rounding may have moved the means out of the parts.
	low.Mean, high.Mean = low.clamp(low.Mean), high.clamp(high.Mean)
	low.pair()
	high.pair()
	return low, high
}

// nearly is the rounding error of an integer result.
const nearly = 1e-9

// reach is the largest possible distance of one end of the bin from its mean, if the other end is at distance end. It
// follows from the sum of squares, as all other samples are between the ends.
func (b *Bin) reach(end float64) float64 {
	if b.Count == 1 {
		return 0
	}
	others := float64(b.Count - 1)
	return min(max(math.Sqrt(b.m2), end/others), float64(end*others))
}

// pair computes Mean and m2 of a bin of one or two samples from its Min and Max.
func (b *Bin) pair() {
	if b.Count <= 2 {
		b.Mean = float64(b.Min) + (float64(b.Max)-float64(b.Min))/2
		b.m2 = b.share()
	}
}

// opposite returns the mean of m samples. Together with n samples whose mean is part, they have the mean whole.
func opposite(whole, part float64, n, m uint64) float64 {
	return whole + float64((whole-part)*(float64(n)/float64(m)))
}

// share returns the largest m2 that the bin can have, given its Count, Min and Max.
func (b *Bin) share() float64 {
	w := float64(b.Max) - float64(b.Min)
	return float64(float64(w*w) * (float64(b.Count) / 4))
}
