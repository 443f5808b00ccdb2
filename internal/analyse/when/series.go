package when

import (
	"cmp"
	"math"
	"slices"
)

// A Kind is a way in which iterations differ from others.
type Kind int

// The kinds of findings.
const (
	KindSlow          Kind = iota // single iterations take longer
	KindStep                      // all iterations after a point take longer, or all before
	KindDrift                     // iterations take longer and longer, or less and less time
	KindPeriod                    // every n-th iteration takes longer
	KindNoisy                     // one rank's iterations vary more than the others'
	KindWaitingForCPU             // ranks were able to compute, but had no processor
	kinds
)

var kindNames = [kinds]string{"slow", "step", "drift", "period", "noisy", "without a processor"}

func (k Kind) String() string { return kindNames[k] }

// A change is how some of a series' times, one per slot, differ from the others. from is the first of these slots,
// or the first after a step. every is the length of a period in slots, else 0.
type change struct {
	kind          Kind
	from, every   int
	before, after float64 // ns of a slot: before and after a step or drift, else without and with the change
	cost          float64 // ns that the change adds to the run
}

// Thresholds for changes.
const (
	around      = 31  // number of neighbours whose median is an iteration's normal time
	leastShape  = 8   // least number of iterations with the same calls that are compared only with each other
	sigmas      = 6   // standard deviations by which a slow iteration exceeds the normal time
	leastSlots  = 16  // shortest series that is searched for changes
	leastAUC    = 0.9 // least probability that a block after a step is slower than one before
	leastZ      = 3.5 // least value of the rank-sum statistic
	leastOfAll  = 0.03
	leastOfOwn  = 0.05
	lineBetter  = 0.8 // a line explains the series better than a step if its error is below this part of the step's
	fromMAD     = 1.48
	slowInTurn  = 0.7  // least share of slow iterations among every n-th one
	slowElse    = 3    // slow iterations must be this many times as frequent among every n-th one as elsewhere
	byChance    = 0.01 // largest probability of a chance result, over all periods tried
	longest     = 256  // longest period, in slots
	noisyRatio  = 4    // a noisy rank's excess is this many times the others'
	noisyOften  = 0.05 // least share of iterations in which a rank is noisy
	noisyOfRun  = 0.03
	nearSlots   = 0.03 // share of the iterations: equal changes of several ranks are at most this far apart
	leastShare  = 0.01 // least cost of a change, as a share of the run
	mostKept    = 16
	refinements = 3
	// tailOfNoise is the least excess of a slow iteration, as a multiple of the excess that only 2 % of all reach.
	tailOfNoise = 4
)

// slowBy is the excesses above which a slot of a period counts as slow, as multiples of a typical slot's time.
var slowBy = []float64{0.1, 0.5, 1, 2}

// blocksOf is the numbers of blocks into which a series is divided to find steps and drifts. They are tried in this
// order.
var blocksOf = []int{64, 32, 20}

// normal is the usual time of each slot: the running median of slots with the same calls, or of all slots if few have
// these calls.
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

// over returns each slot's excess over its usual time, and the standard deviation of normal excesses: 1.48 times the
// median of their absolute values.
func over(v, usual []float64) (excess []float64, sigma float64) {
	excess, size := make([]float64, len(v)), make([]float64, len(v))
	for i := range v {
		excess[i] = v[i] - usual[i]
		size[i] = math.Abs(excess[i])
	}
	return excess, fromMAD * median(size)
}

// changes finds the changes of a series. typical is the typical time of a slot. Slots with equal calls have equal
// numbers in shapes; apart is shapes with further numbers for the slots of a period.
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
	if !ok { // differing calls may hide a period
		s, ok = shifted(v, apart, typical)
	}
	if ok {
		list = append(list, s)
	}
	return list, apart
}

// periodic finds out whether every n-th slot is slow by one of the measures of slowBy, more often than chance
// explains over all attempts.
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

// tail is the probability that at least k of some `of` slots are slow, if `slow` of all n slots are slow at random
// places.
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

// shifted finds a step or a drift. It divides the series into blocks, and looks for a split with nearly all blocks of
// one part above the other's, by the rank-sum statistic of Mann and Whitney.
func shifted(v []float64, shapes []int, typical float64) (change, bool) {
	y, at := leveled(v, shapes)
	if len(y) < leastSlots {
		return change{}, false
	}
	for _, most := range blocksOf { // larger blocks reduce the weight of single slots
		if c, ok := shift(y, at, min(most, len(y)), len(v), typical); ok {
			return c, true
		}
	}
	return change{}, false
}

// shift searches for a step or a drift with n blocks. y[i] is the value of slot at[i]; slots is the number of all
// slots.
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
		u := a*b - (sum - a*(a+1)/2) // number of pairs in which the later block is higher
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

// leveled shifts the values of slots with the same calls to vary around the median of all. It leaves out slots with
// rare calls; at is the positions of the others.
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

// ranked returns the ranks of values, from 1; equal values have the mean of their ranks.
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

// line returns the median slope between values, and the level at the first one (Theil and Sen).
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

// refined finds the position of the step between two levels at which the absolute error is least.
func refined(y []float64, first, second float64) int {
	best, least, sum := 1, math.Inf(1), 0.0
	for i := 1; i < len(y); i++ {
		if sum += math.Abs(y[i-1]-first) - math.Abs(y[i-1]-second); sum < least {
			best, least = i, sum
		}
	}
	return best
}

// slow finds the slots far above their usual time, largest first.
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

// noise returns the sum of the slots' excesses, in ns, and the number of slots with an excess above a tenth of the
// typical time.
func noise(v []float64, shapes []int, typical float64) (sum float64, often int) {
	excess, _ := over(v, normal(v, shapes))
	for _, e := range excess {
		if sum += max(0, e); e > typical/10 {
			often++
		}
	}
	return sum, often
}
