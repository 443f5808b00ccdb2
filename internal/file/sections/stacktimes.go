package sections

import (
	"cmp"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
)

// far is the largest share of all time that may be credited to wrong callers.
const far = 1e-3

// placeStacks returns the class's LeafMeanTimes, with further leaves added; leaves has the terminal of each leaf. Calls
// that differ in their stacks alone share a summary of times. Leaves are added for calls from which its means differ
// much.
func (p *ClassPools) placeStacks(class *Class, leaves, groups, like []int32, counts []uint64) []LeafMeanTimes {
	of, _ := pools(groups, like)
	total := 0.0
	for k := range p.Stats {
		for i := range p.Stats[k] {
			total += float64(p.Stats[k][i].Sum)
		}
	}
	placed := make([]bool, len(leaves))
	for _, x := range class.LeafMeanTimes {
		placed[x.Leaf] = true
	}
	// left is, by terminal, whether a reader gives the terminal, if it has no means, the time that the other calls of
	// its summary leave. It does if all ranks made as many calls and no leaf of the terminal has means of its own.
	left := make([]bool, len(of))
	if len(class.Streams) == 1 && len(class.RepetitionCounts) == 0 {
		for i := range left {
			left[i] = true
		}
		for leaf, t := range leaves {
			left[t] = left[t] && !placed[leaf]
		}
	}
	alike := make(map[int32]*stackless)
	for i, n := range of {
		t := class.Terminals.Times(i)
		s := once.GetOrMake(alike, like[i], func() *stackless { return &stackless{left: true} })
		x := stackCalls{
			terminal: i, calls: float64(counts[i]),
			pooled: callTime{p.Stats[1][n].Mean(), p.Stats[0][n].Mean()}, own: callTime{t.Gap.Mean(), t.Duration.Mean()},
		}
		x.known = t.Duration.Count != p.Stats[0][n].Count && t.Duration.Count >= counts[i]
		s.left = s.left && left[i]
		s.calls = append(s.calls, x)
	}
	wanted := make([]bool, len(of))
	some := false
	for _, s := range alike {
		if len(s.calls) == 1 {
			continue // the calls have one stack only: other terminals in their summary differ in values
		}
		for _, t := range s.apart(far * total) {
			wanted[t], some = true, true
		}
	}
	if !some {
		return class.LeafMeanTimes
	}
	list := slices.Clone(class.LeafMeanTimes)
	for leaf, t := range leaves {
		if wanted[t] && !placed[leaf] {
			x := class.Terminals.Times(int(t))
			list = append(list, LeafMeanTimes{Leaf: leaf, MeanGap: x.Gap.Mean(), MeanDuration: x.Duration.Mean(), MeanEntryGap: math.NaN()})
		}
	}
	slices.SortFunc(list, func(a, b LeafMeanTimes) int { return cmp.Compare(a.Leaf, b.Leaf) })
	return list
}

// A stackless is the terminals of a class that differ from each other in their stacks only.
type stackless struct {
	calls []stackCalls
	left  bool // a reader gives terminals without own means the time that the terminals with own means leave
}

type stackCalls struct {
	terminal    int
	calls       float64
	own, pooled callTime // mean times of the terminal's calls, and of all calls that share its summary
	known       bool     // all of the terminal's calls have times, and other terminals in the summary have some, too
}

// A callTime is a mean gap and duration, in ns.
type callTime struct{ gap, duration float64 }

func (a callTime) from(b callTime) float64 {
	return math.Abs(a.gap-b.gap) + math.Abs(a.duration-b.duration)
}

// apart lists the terminals that need means of their own, so that no terminal's time is wrong by more than enough ns.
// The terminals without own means share the time that the others leave. So of two terminals that differ, one needs
// own means: the one with less time, as rounding makes a smaller error in it.
func (s *stackless) apart(enough float64) (list []int) {
	own := make([]bool, len(s.calls))
	var rest callTime // sum of the times of all calls of the terminals without own means
	n := 0.0
	for _, x := range s.calls {
		n += x.calls
		rest.add(x.pooled, x.calls)
	}
	for {
		worst, most := -1, 0.0
		for i, x := range s.calls {
			if own[i] || !x.known || x.calls == 0 {
				continue
			}
			others := x.pooled
			if s.left {
				others = callTime{max(rest.gap, 0) / n, max(rest.duration, 0) / n}
			}
			off := x.own.from(others) * x.calls
			if off > max(enough, most*asFar) || off > max(enough, most/asFar) && x.time() < s.calls[worst].time() {
				worst, most = i, off
			}
		}
		if worst < 0 {
			return list
		}
		x := &s.calls[worst]
		own[worst] = true
		n -= x.calls
		rest.add(x.own.rounded(), -x.calls)
		list = append(list, x.terminal)
	}
}

// asFar is the largest ratio of two errors of time that apart takes as equal.
const asFar = 1.01

func (x *stackCalls) time() float64 { return (x.own.gap + x.own.duration) * x.calls }

func (a *callTime) add(b callTime, calls float64) {
	a.gap += b.gap * calls
	a.duration += b.duration * calls
}

// rounded returns the times as a reader decodes them.
func (a callTime) rounded() callTime {
	return callTime{unrounded(RoundToFloatCode(a.gap, meanBits), meanBits), unrounded(RoundToFloatCode(a.duration, meanBits), meanBits)}
}
