package stats

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/trace/model"
)

// mostExact is how many distinct values a distribution stores one by one. With more it has bins instead, at first coarse
// bins.
const (
	mostExact = 1024
	coarse    = 64
)

// A Bin is the numbers from Min to Max in a histogram: their sum and how many they are.
type Bin struct {
	Min, Max int64
	Sum      float64
	Count    uint64
}

// Mean returns the mean of the bin's numbers.
func (b *Bin) Mean() float64 { return b.Sum / float64(b.Count) }

// ModelBin returns the bin as a trace stores it, with the mean rounded to an integer.
func (b *Bin) ModelBin() model.Bin {
	mean := int64(math.Floor(b.Mean() + 0.5))
	return model.Bin{Low: b.Min, High: b.Max, ReplacingValue: min(max(mean, b.Min), b.Max), Count: b.Count}
}

// NumberDistribution is a distribution of integers over ranks. Count, sum and extremes are always exact; so are all
// numbers if only few are distinct.
type NumberDistribution struct {
	Count        uint64
	Sum          float64
	Min, Max     model.Extreme
	KeepAllExact bool // keep all numbers exact, however many are distinct
	exact        map[int64]uint64
	bins         []Bin // disjoint, in rising order
}

// Mean returns the mean of the numbers added.
func (n *NumberDistribution) Mean() float64 { return n.Sum / float64(n.Count) }

// SingleValue returns the number that all added numbers are equal to; ok is false if they differ, or if no number was added.
func (n *NumberDistribution) SingleValue() (v int64, ok bool) {
	return n.Min.Value, n.Count > 0 && n.Min.Value == n.Max.Value
}

// Add adds a number that occurs count times on a rank.
func (n *NumberDistribution) Add(v int64, count uint64, rank int) {
	n.AddBin(Bin{v, v, float64(v) * float64(count), count}, rank)
}

// AddBin adds b.Count numbers of a rank if only their bounds and sum are known.
func (n *NumberDistribution) AddBin(b Bin, rank int) {
	if b.Count == 0 {
		return
	}
	if e := (model.Extreme{Value: b.Min, Rank: rank}); n.Count == 0 || before(e, n.Min, 1) {
		n.Min = e
	}
	if e := (model.Extreme{Value: b.Max, Rank: rank}); n.Count == 0 || before(e, n.Max, -1) {
		n.Max = e
	}
	n.Count += b.Count
	n.Sum += b.Sum
	n.put(b)
}

// put adds the numbers of a bin to the histogram.
func (n *NumberDistribution) put(b Bin) {
	if b.Min != b.Max {
		n.bins = apart(append(n.bins, b))
		return
	}
	at, _ := slices.BinarySearchFunc(n.bins, b.Min, func(x Bin, v int64) int { return cmp.Compare(x.Max, v) })
	if at < len(n.bins) && n.bins[at].Min <= b.Min {
		n.bins[at].Sum += b.Sum
		n.bins[at].Count += b.Count
		return
	}
	if n.exact == nil {
		n.exact = make(map[int64]uint64)
	}
	n.exact[b.Min] += b.Count
	if len(n.exact) > mostExact && !n.KeepAllExact {
		n.bins, n.exact = JoinBins(n.AllBins(), coarse), nil
	}
}

// Join adds all numbers of another distribution.
func (n *NumberDistribution) Join(o *NumberDistribution) {
	if o.Count == 0 {
		return
	}
	if n.Count == 0 || before(o.Min, n.Min, 1) {
		n.Min = o.Min
	}
	if n.Count == 0 || before(o.Max, n.Max, -1) {
		n.Max = o.Max
	}
	n.Count += o.Count
	n.Sum += o.Sum
	for _, b := range o.AllBins() {
		n.put(b)
	}
}

// before reports whether extreme e replaces extreme o. With sign 1 these are minima, with sign -1 maxima; of equal
// values, that of the lower rank wins.
func before(e, o model.Extreme, sign int) bool {
	return cmp.Or(sign*cmp.Compare(e.Value, o.Value), cmp.Compare(e.Rank, o.Rank)) < 0
}

// DistinctNumbers returns the distinct numbers in rising order. ok is false if there are more than most, or if only
// bins are left.
func (n *NumberDistribution) DistinctNumbers(most int) (list []int64, ok bool) {
	if len(n.bins) > 0 || len(n.exact) > most {
		return nil, false
	}
	return slices.Sorted(maps.Keys(n.exact)), true
}

// BinCount returns the number of bins of the histogram, counting each number that is stored exactly as a bin.
func (n *NumberDistribution) BinCount() int { return len(n.bins) + len(n.exact) }

// ModelDistribution returns the distribution as a trace stores it, with at most most bins.
func (n *NumberDistribution) ModelDistribution(most int) model.Distribution {
	return model.Distribution{Least: n.Min, Most: n.Max, Bins: ModelBins(JoinBins(n.AllBins(), most))}
}

// ModelBins returns the bins as a trace stores them.
func ModelBins(list []Bin) (out []model.Bin) {
	for i := range list {
		out = append(out, list[i].ModelBin())
	}
	return out
}

// AllBins returns all numbers as bins in rising order.
func (n *NumberDistribution) AllBins() []Bin {
	list := slices.Clone(n.bins)
	for v, count := range n.exact {
		list = append(list, Bin{v, v, float64(v) * float64(count), count})
	}
	return apart(list)
}

// apart sorts bins, and merges those that overlap.
func apart(list []Bin) []Bin {
	slices.SortFunc(list, func(a, b Bin) int { return cmp.Or(cmp.Compare(a.Min, b.Min), cmp.Compare(a.Max, b.Max)) })
	out := list[:0]
	for _, b := range list {
		if k := len(out); k > 0 && b.Min <= out[k-1].Max {
			out[k-1] = with(out[k-1], b)
			continue
		}
		out = append(out, b)
	}
	return out
}

func with(a, b Bin) Bin {
	return Bin{min(a.Min, b.Min), max(a.Max, b.Max), a.Sum + b.Sum, a.Count + b.Count}
}

// JoinBins merges neighbouring bins until there are at most most, with about equal counts.
func JoinBins(list []Bin, most int) []Bin {
	if len(list) <= most {
		return list
	}
	var left float64
	for _, b := range list {
		left += float64(b.Count)
	}
	var out []Bin
	for i := 0; i < len(list); {
		b := list[i]
		want := left / float64(most-len(out))
		for i++; i < len(list) && (len(out) == most-1 || float64(b.Count)+float64(list[i].Count)/2 <= want); i++ {
			b = with(b, list[i])
		}
		left -= float64(b.Count)
		out = append(out, b)
	}
	return out
}
