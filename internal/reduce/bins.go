package reduce

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

// Merges reports whether sizes low to high are one at a precision: they differ by no more than
// what is missing to 100 %, of the greatest.
func Merges(low, high int64, precision int) bool {
	return float64(high-low)*100 <= float64(100-precision)*float64(high)
}

// Bins merges sizes, which are in rising order. The bin that has most sizes comes first: so values that lie
// around a mean are not split there. What stands for a bin is a multiple of grain, so that it is a whole number
// of elements for senders and receivers; where there is none, the sizes stay. Nothing is never merged with something, and sizes that are alone are in no bin.
func Bins(list []stats.Bin, precision int, grain int64) (out []trace.Bin) {
	for len(list) > 0 && list[0].Low <= 0 {
		list = list[1:]
	}
	var split func(list []stats.Bin)
	split = func(list []stats.Bin) {
		for len(list) > 0 {
			first, end := fullest(list, precision)
			split(list[:first])
			if b, ok := merged(list[first:end], grain); ok {
				out = append(out, b)
			}
			list = list[end:]
		}
	}
	split(list)
	slices.SortFunc(out, func(a, b trace.Bin) int { return cmp.Compare(a.Low, b.Low) })
	return out
}

// fullest returns the window of sizes that merge which has most calls.
func fullest(list []stats.Bin, precision int) (first, end int) {
	var most, count uint64
	from := 0
	for to := range list {
		count += list[to].Count
		for !Merges(list[from].Low, list[to].Low, precision) {
			count -= list[from].Count
			from++
		}
		if count > most {
			most, first, end = count, from, to+1
		}
	}
	return first, end
}

// merged returns a bin of several sizes.
func merged(list []stats.Bin, grain int64) (b trace.Bin, ok bool) {
	if len(list) < 2 {
		return b, false
	}
	b.Low, b.High = list[0].Low, list[len(list)-1].Low
	sum := 0.0
	for _, x := range list {
		b.Count += x.Count
		sum += float64(x.Low-b.Low) * float64(x.Count)
	}
	mean := b.Low + int64(sum/float64(b.Count)+0.5)
	b.Value = (mean + grain/2) / grain * grain
	if b.Value < b.Low {
		b.Value = (b.Low + grain - 1) / grain * grain
	}
	if b.Value > b.High {
		b.Value = b.High / grain * grain
	}
	return b, b.Value >= b.Low && b.Value <= b.High
}
