package merge

import (
	"iter"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace/model"
)

// The phases of courses give leaves their times: each leaf of the first thread's structure gets the mean of its
// calls, if that differs from the terminal's and matters.

const (
	maxPlaced  = 1 << 16 // largest number of symbols of a structure that is examined
	maxQueries = 1 << 17 // largest number of lookups of arrivals for one class
	unlike     = 0.02    // relative difference up to which mean times count as equal
	little     = 1e-3    // share of all time that may be assigned to the wrong leaf
)

// placing returns the data for distributing courses to the leaves of a thread's structure, with a member's
// repetition counts. It returns nil if that structure is too large, or there are no courses.
func (c *class) placing(sh *classShape, stream, member int) *placing {
	if len(c.courses) == 0 || stream >= len(sh.streams) {
		return nil
	}
	// If counts differ between ranks, those of one rank serve for all: they only determine which call is in which
	// phase.
	g := c.repeated(sh.streams[:stream+1], member)[stream]
	if g.SymbolCount() > maxPlaced {
		return nil
	}
	tree := grammar.Unfold(g, grammar.UnfoldLimit)
	_, site := c.alone()
	p := &placing{tree: tree, arrivals: tree.Arrivals(g), site: site, ranks: float64(c.ranks.Len()), byTerminal: make(map[int][]int)}
	for leaf, t := range tree.OriginalTerminal {
		p.byTerminal[int(t)] = append(p.byTerminal[int(t)], leaf)
	}
	for i := range c.counts {
		_, same := c.counts[i].Uniform()
		p.varies = p.varies || !same
	}
	return p
}

// placed returns the leaves whose times differ from their terminal's, and the leaves whose first calls took far
// longer than the rest. mixed are the terminals whose calls may take considerably different times at different
// leaves, but these times are unknown.
func (c *class) placed(sh *classShape, times sections.Terminals) (list []sections.LeafMeanTimes, firsts []sections.FirstCallMeanTimes, mixed []int) {
	total := c.allTime()
	known := make(map[int]bool)
	p := c.placing(sh, 0, 0)
	if p != nil {
		p.queries, p.total = maxQueries, total
		for list := range alike(c.courses, (*course).sameTerminal) {
			if t := list[0].terminal; list[0].name == "" && list[0].stream == 0 {
				known[t] = p.terminal(list, times.Times(t))
				firsts = append(firsts, p.firsts(list)...)
			}
		}
		slices.SortFunc(firsts, func(a, b sections.FirstCallMeanTimes) int { return a.Leaf - b.Leaf })
		slices.SortFunc(p.out, func(a, b sections.LeafMeanTimes) int { return a.Leaf - b.Leaf })
		list = p.out
	}
	for t := range times.Len() {
		if p != nil && len(p.byTerminal[t]) < 2 {
			continue
		}
		if x := times.Times(t); !known[t] && (uneven(x.Gap, total) || uneven(x.Duration, total)) {
			mixed = append(mixed, t)
		}
	}
	return list, firsts, mixed
}

// uneven reports whether the extremes of the times s differ considerably, and the sum of s is a considerable share of
// total, the time of all calls and gaps.
func uneven(s model.Stat, total float64) bool {
	return s.Count > 1 && float64(s.Sum) > little*total && float64(s.Max-s.Min) > unlike*s.Mean()
}

// alike yields maximal runs of adjacent courses such that same is true of the first course and each other of a run.
func alike(courses []course, same func(a, b *course) bool) iter.Seq[[]course] {
	return func(yield func([]course) bool) {
		for at := 0; at < len(courses); {
			end := at + 1
			for end < len(courses) && same(&courses[at], &courses[end]) {
				end++
			}
			if !yield(courses[at:end]) {
				return
			}
			at = end
		}
	}
}

func (x *course) sameTerminal(y *course) bool {
	return x.name == y.name && x.stream == y.stream && x.terminal == y.terminal
}

// allTime returns the sum in ns of the durations of all calls of the class and the gaps before them.
func (c *class) allTime() float64 {
	sum := 0.0
	for i := range c.times {
		sum += float64(c.times[i].duration.Sum) + float64(c.times[i].gap.Sum)
	}
	return sum
}

type placing struct {
	tree       *grammar.UnfoldedGrammar
	arrivals   [][]grammar.Arrival
	byTerminal map[int][]int // by terminal: its leaves in the structure
	site       []int
	total      float64
	ranks      float64
	varies     bool // trip counts differ between ranks
	some       bool // the courses may lack the calls of some ranks
	queries    int
	first      int // number of the structure's first leaf, as leaves of all threads are numbered in a row
	out        []sections.LeafMeanTimes
}

// A callShare is a leaf's share of the calls and times of courses.
type callShare struct{ calls, time float64 }

func (s callShare) mean() float64 { return s.time / math.Max(s.calls, 1) }

// waysTo returns the arrivals at the leaves of a terminal, by site of the call before; nil if those at some leaf are
// unknown. several reports whether there is more than one arrival.
func (p *placing) waysTo(leaves []int) (ways map[int][]*grammar.Arrival, several bool) {
	ways = make(map[int][]*grammar.Arrival)
	several = len(leaves) > 1
	for _, leaf := range leaves {
		list := p.arrivals[leaf]
		if len(list) == 0 {
			return nil, false
		}
		several = several || len(list) > 1
		for i := range list {
			from := track.NoPreviousTerminal
			if list[i].PreviousTerminal != grammar.BeforeFirst {
				from = p.site[list[i].PreviousTerminal]
			}
			ways[from] = append(ways[from], &list[i])
		}
	}
	return ways, several
}

// terminal determines the times of one terminal's leaves from its courses, and appends those that differ to p.out. It
// returns false if they cannot be determined.
func (p *placing) terminal(courses []course, times model.Times) bool {
	leaves := p.byTerminal[courses[0].terminal]
	ways, several := p.waysTo(leaves)
	if !several {
		return ways != nil || len(leaves) < 2
	}
	gaps, durations := make(map[at]*callShare), make(map[at]*callShare)
	for i := range courses {
		x := &courses[i]
		list := ways[x.from]
		if len(list) == 0 || !p.deal(x.gap, list, gaps, true) || !p.deal(x.duration, list, durations, false) {
			return false // the course does not fit the structure, e.g. as it has calls from a callback
		}
	}
	gap, duration := times.Gap.Mean(), times.Duration.Mean()
	away, own := 0.0, make([]sections.LeafMeanTimes, 0, len(leaves))
	for _, leaf := range leaves {
		g, d := gaps[at{leaf, 0}], durations[at{leaf, 0}]
		if g == nil || d == nil || g.calls == 0 {
			continue
		}
		x := sections.LeafMeanTimes{Leaf: leaf, MeanGap: g.mean(), MeanDuration: d.mean(), MeanEntryGap: math.NaN()}
		off := math.Abs(x.MeanGap-gap)*g.calls + math.Abs(x.MeanDuration-duration)*d.calls
		var entries []float64 // by number of loops minus 1: mean gap before the calls that enter at least as many loops
		others := g
		for loops := 1; ; loops++ {
			e := gaps[at{leaf, loops}]
			if e == nil || e.calls == 0 || e.calls >= others.calls {
				break
			}
			entries = append(entries, e.mean())
			if miss := math.Abs(e.mean()-others.mean()) * e.calls; miss > little*p.total && miss > unlike*g.time {
				x.MeanEntryGap, x.MeanOuterEntryGaps = entries[0], entries[1:]
				off += miss
			}
			others = e
		}
		if off > unlike*(gap+duration)*g.calls || x.MeanEntryGap == x.MeanEntryGap {
			away += off
			own = append(own, x)
		}
	}
	if away > little*p.total {
		p.out = append(p.out, own...)
	}
	return true
}

// An at selects the calls at a leaf that enter at least a given number of loops.
type at struct{ leaf, loops int }

// deal distributes the calls and times in the phases of a course to the leaves in ways, and adds them to sums. With
// apart it also adds to the entries for calls that enter loops. It returns false if the course's number of calls does
// not fit that of ways, or if p.queries is used up.
func (p *placing) deal(phases []timing.Phase, ways []*grammar.Arrival, sums map[at]*callShare, apart bool) bool {
	all := timing.SumPhases(phases)
	counts := make([]uint64, len(ways))
	calls := uint64(0)
	for i, w := range ways {
		counts[i] = w.Count()
		calls += counts[i]
	}
	if calls == 0 || all.Calls == 0 {
		return calls == all.Calls
	}
	add := func(i int, part, time float64) {
		most := 0
		if apart {
			most = ways[i].LoopsEntered
		}
		for loops := range most + 1 {
			s := once.GetOrMake(sums, at{ways[i].Leaf, loops}, func() *callShare { return new(callShare) })
			s.calls += part
			s.time += time
		}
	}
	// scale is the ratio of all ranks' calls to those of the rank with the structure.
	scale := float64(all.Calls) / float64(calls)
	if of := p.ranks; !p.varies {
		if p.some {
			of = math.Min(of, math.Max(1, math.Round(scale)))
		}
		if math.Abs(scale-of) > 1e-3*of {
			return false
		}
	}
	before := make([]uint64, len(ways))
	end := 0.0
	for k, ph := range phases {
		end += float64(ph.Calls) / scale
		upTo := counts
		if k < len(phases)-1 && len(ways) > 1 {
			if p.queries -= 64 * len(ways); p.queries < 0 {
				return false
			}
			upTo = arrived(ways, uint64(math.Round(end)))
		} else if k < len(phases)-1 {
			upTo = []uint64{uint64(math.Round(end))}
		}
		inside := 0.0
		for i := range ways {
			inside += float64(upTo[i] - before[i])
		}
		for i := range ways {
			if n := float64(upTo[i] - before[i]); n > 0 {
				add(i, n*scale, float64(ph.Sum)*n/inside)
			}
		}
		before = upTo
	}
	return true
}

// arrived returns, by index in ways, how often the arrival occurs among the first calls of all ways together.
func arrived(ways []*grammar.Arrival, calls uint64) []uint64 {
	at := func(position uint64) (n uint64) {
		for _, w := range ways {
			n += w.CountBefore(position)
		}
		return n
	}
	low, high := uint64(0), uint64(1)
	for at(high) < calls && high < 1<<62 {
		high *= 2
	}
	for low < high {
		if middle := low + (high-low)/2; at(middle) < calls {
			low = middle + 1
		} else {
			high = middle
		}
	}
	list := make([]uint64, len(ways))
	for i, w := range ways {
		list[i] = w.CountBefore(low)
	}
	return list
}
