package when

import (
	"cmp"
	"math"
	"slices"
)

// A Kind is how iterations differ from others.
type Kind int

// The kinds of findings.
const (
	KindSlow    Kind = iota // one takes longer
	KindStep                // all from one on do, or all before
	KindDrift               // each takes longer than the one before, or less
	KindPeriod              // every n-th takes longer
	KindNoisy               // one rank's vary more than others'
	KindDelayed             // ranks were ready to compute, and had no processor
	kinds
)

var kindNames = [kinds]string{"slow", "step", "drift", "period", "noisy", "without a processor"}

func (k Kind) String() string { return kindNames[k] }

// A change is what differs in a series of times, one a slot.
type change struct {
	kind          Kind
	from, every   int
	before, after float64 // ns a slot
	cost          float64 // ns of the run
}

// Bounds of what is a change.
const (
	around      = 31  // iterations whose median is the normal time of one
	leastShape  = 8   // iterations with the same calls that are compared with each other alone
	sigmas      = 6   // by which one must be slower
	leastSlots  = 16  // of a series that is looked at for changes
	leastAUC    = 0.9 // of the probability that a block after a step is slower than one before
	leastZ      = 3.5 // of the rank-sum statistic
	leastOfAll  = 0.03
	leastOfOwn  = 0.05
	lineBetter  = 0.8 // of a step's error: a line is the better explanation
	fromMAD     = 1.48
	slowInTurn  = 0.7  // of the iterations in turn
	slowElse    = 3    // times as often as others
	byChance    = 0.01 // over all periods that were tried
	longest     = 256  // period
	noisyRatio  = 4    // times the others
	noisyOften  = 0.05 // of the iterations
	noisyOfRun  = 0.03
	nearSlots   = 0.03 // of the iterations, between equal changes of several ranks
	leastShare  = 0.01 // of the run
	mostKept    = 16
	refinements = 3
	tailOfNoise = 4 // times an excess of the noise: one of a slow iteration
)

// slowBy are the measures of a slow slot of a period, as parts of what one typically takes.
var slowBy = []float64{0.1, 0.5, 1, 2}

// blocksOf are how many blocks a series is divided into, in turn, to see whether they go up or down.
var blocksOf = []int{64, 32, 20}

// normal is what each slot usually takes: the running median of slots with the same calls, or of all where few have these.
func normal(v []float64, shapes []int) []float64 {
	out := make([]float64, len(v))
	of := make(map[int][]int)
	for i := range v {
		of[shapes[i]] = append(of[shapes[i]], i)
	}
	every := make([]int, len(v))
	for i := range every {
		every[i] = i
	}
	window := make([]float64, 0, around)
	for _, list := range of {
		among := list
		if len(list) < leastShape {
			among = every
		}
		for _, i := range list {
			at, _ := slices.BinarySearch(among, i)
			from := max(0, min(at-around/2, len(among)-around))
			window = window[:0]
			for _, j := range among[from:min(len(among), from+around)] {
				window = append(window, v[j])
			}
			slices.Sort(window)
			out[i] = window[len(window)/2]
		}
	}
	return out
}

func alike(n int) []int { return make([]int, n) }

// over is by how much slots take more than usual, and how much that varies: 1.48 times the median of its size, a standard deviation of
// what is normal.
func over(v, usual []float64) (excess []float64, sigma float64) {
	excess, size := make([]float64, len(v)), make([]float64, len(v))
	for i := range v {
		excess[i] = v[i] - usual[i]
		size[i] = math.Abs(excess[i])
	}
	return excess, fromMAD * median(size)
}

// changes finds what changes in a series. typical is what a slot of the run takes. Those of a period have a shape of their own in what is
// returned.
func changes(v []float64, shapes []int, typical float64) (list []change, apart []int) {
	apart = shapes
	if len(v) < leastSlots {
		return nil, apart
	}
	turns := alike(len(v))
	if p, ok := periodic(v, typical); ok {
		list = append(list, p)
		apart = slices.Clone(shapes)
		for i := range v {
			if apart[i] *= 2; i%p.every == p.from {
				apart[i]++
				turns[i] = 1
			}
		}
	}
	s, ok := shifted(v, turns, typical)
	if !ok { // calls that differ hide it
		s, ok = shifted(v, apart, typical)
	}
	if ok {
		list = append(list, s)
	}
	return list, apart
}

// periodic finds whether every n-th slot is slow, by one of some measures: more often than chance has it, over all that is tried.
func periodic(v []float64, typical float64) (best change, found bool) {
	usual := normal(v, alike(len(v)))
	excess, sigma := over(v, usual)
	n, most := len(v), min(longest, len(v)/3)
	tried, least := 0, math.Inf(1)
	for d := 3; d <= most; d++ {
		tried += d
	}
	for _, share := range slowBy {
		var slow []int
		for i, e := range excess {
			if e > max(sigmas*sigma, share*typical) {
				slow = append(slow, i)
			}
		}
		if len(slow) < 3 || 2*len(slow) > n {
			continue
		}
		for d := 3; d <= most; d++ {
			in := make([]int, d)
			for _, i := range slow {
				in[i%d]++
			}
			for p, k := range in {
				of := (n - p + d - 1) / d
				rest := float64(len(slow)-k) / float64(max(1, n-of))
				if k < 3 || float64(k) < slowInTurn*float64(of) || float64(k)/float64(of) < slowElse*rest {
					continue
				}
				if q := tail(n, len(slow), of, k) * float64(tried); q < byChance && q < least {
					least = q
					best, found = change{kind: KindPeriod, from: p, every: d}, true
				}
			}
		}
	}
	if !found {
		return best, false
	}
	var with, without []float64
	for i := best.from; i < n; i += best.every {
		with, without = append(with, v[i]), append(without, usual[i])
		best.cost += max(0, excess[i])
	}
	best.before, best.after = median(without), median(with)
	return best, true
}

// tail is the probability that at least k of some slots are slow, if the slow ones of all n are anywhere among them.
func tail(n, slow, of, k int) (sum float64) {
	choose := func(n, k int) float64 {
		lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
		return lg(n) - lg(k) - lg(n-k)
	}
	for i := k; i <= min(of, slow) && slow-i <= n-of; i++ {
		sum += math.Exp(choose(of, i) + choose(n-of, slow-i) - choose(n, slow))
	}
	return sum
}

// shifted finds a step or a drift: a split of the series, in blocks, such that nearly all blocks of one part are above
// those of the other, by the rank-sum statistic of Mann and Whitney.
func shifted(v []float64, shapes []int, typical float64) (change, bool) {
	y, at := leveled(v, shapes)
	if len(y) < leastSlots {
		return change{}, false
	}
	for _, most := range blocksOf { // the more slots a block has, the less do single ones matter
		if c, ok := shift(y, at, min(most, len(y)), len(v), typical); ok {
			return c, true
		}
	}
	return change{}, false
}

// shift tries it with n blocks. y are values of all slots; the slots at the positions at are used.
func shift(y []float64, at []int, n, slots int, typical float64) (change, bool) {
	blocks := make([]float64, n)
	begin := func(b int) int { return b * len(y) / n }
	for b := range blocks {
		blocks[b] = median(y[begin(b):begin(b+1)])
	}
	ranks := ranked(blocks)
	sum, bestZ, split, auc := 0.0, 0.0, 0, 0.0
	for i := 1; i < len(blocks); i++ {
		sum += ranks[i-1]
		a, b := float64(i), float64(len(blocks)-i)
		u := a*b - (sum - a*(a+1)/2) // pairs whose later one is above
		z := math.Abs(u-a*b/2) / math.Sqrt(a*b*(a+b+1)/12)
		if z > bestZ {
			bestZ, split, auc = z, i, u/(a*b)
		}
	}
	if bestZ < leastZ || max(auc, 1-auc) < leastAUC {
		return change{}, false
	}
	big := func(a, b float64) bool {
		d := math.Abs(b - a)
		return d >= leastOfAll*typical && d >= leastOfOwn*min(a, b)
	}
	first, second := median(blocks[:split]), median(blocks[split:])
	stepError, lineError := 0.0, 0.0
	slope, level := line(blocks)
	for i, b := range blocks {
		if i < split {
			stepError += math.Abs(b - first)
		} else {
			stepError += math.Abs(b - second)
		}
		lineError += math.Abs(b - (level + slope*float64(i)))
	}
	if lineError < lineBetter*stepError {
		last := level + slope*float64(len(blocks)-1)
		return change{KindDrift, 0, 0, level, last, math.Abs(last-level) / 2 * float64(slots)}, big(level, last)
	}
	k := 0
	for range refinements {
		k = refined(y, first, second)
		first, second = median(y[:k]), median(y[k:])
	}
	from := at[k]
	after := slots - from
	if second < first {
		after = from
	}
	return change{KindStep, from, 0, first, second, math.Abs(second-first) * float64(after)}, big(first, second)
}

// leveled has slots with the same calls vary around the median of all. Slots with calls that few have are left out; at are those that are
// in.
func leveled(v []float64, shapes []int) (y []float64, at []int) {
	of := make(map[int][]float64)
	for i, s := range shapes {
		of[s] = append(of[s], v[i])
	}
	all, medians := median(v), make(map[int]float64)
	for s, list := range of {
		medians[s] = median(list)
	}
	for i, s := range shapes {
		if len(of[s]) >= leastShape {
			y, at = append(y, v[i]-medians[s]+all), append(at, i)
		}
	}
	return y, at
}

// ranked returns the ranks of values, from 1; equal ones have their mean.
func ranked(v []float64) []float64 {
	by := make([]int, len(v))
	for i := range by {
		by[i] = i
	}
	slices.SortFunc(by, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	out := make([]float64, len(v))
	for i := 0; i < len(by); {
		j := i
		for j < len(by) && v[by[j]] == v[by[i]] {
			j++
		}
		for _, k := range by[i:j] {
			out[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return out
}

// line is the median slope between values and the level at the first, after Theil and Sen.
func line(v []float64) (slope, level float64) {
	var slopes, levels []float64
	for i := range v {
		for j := range i {
			slopes = append(slopes, (v[i]-v[j])/float64(i-j))
		}
	}
	slope = median(slopes)
	for i, x := range v {
		levels = append(levels, x-slope*float64(i))
	}
	return slope, median(levels)
}

// refined finds where the values go from one level to the other: the absolute error is least.
func refined(y []float64, first, second float64) int {
	best, least, sum := 1, math.Inf(1), 0.0
	for i := 1; i < len(y); i++ {
		if sum += math.Abs(y[i-1]-first) - math.Abs(y[i-1]-second); sum < least {
			best, least = i, sum
		}
	}
	return best
}

// slow finds the slots that take far more than usual, most first.
func slow(v []float64, shapes []int, typical float64) (list []change) {
	usual := normal(v, shapes)
	excess, sigma := over(v, usual)
	by := slices.Clone(excess)
	slices.SortFunc(by, func(a, b float64) int { return cmp.Compare(b, a) })
	least := max(sigmas*sigma, typical/2)
	if i := max(4, len(by)/50); i < len(by) {
		least = max(least, tailOfNoise*by[i])
	}
	for i, e := range excess {
		if e > least {
			list = append(list, change{KindSlow, i, 0, usual[i], v[i], e})
		}
	}
	slices.SortStableFunc(list, func(a, b change) int { return cmp.Compare(b.cost, a.cost) })
	return list
}

// noise is the sum of what slots take more than usual, and in how many it is more than a tenth of a slot.
func noise(v []float64, shapes []int, typical float64) (sum float64, often int) {
	excess, _ := over(v, normal(v, shapes))
	for _, e := range excess {
		if sum += max(0, e); e > typical/10 {
			often++
		}
	}
	return sum, often
}
