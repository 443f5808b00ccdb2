package merge

import (
	"sort"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace/model"
)

// mostLeaves is the largest number of leaves of a terminal for which first calls are examined.
const mostLeaves = 1 << 10

// firsts returns the leaves of one terminal whose first call on each rank took far longer than the later ones. It
// recognises one-time work, before a loop's first iteration or in a first call, because it is a phase of its own.
func (p *placing) firsts(courses []course) (list []sections.FirstCallMeanTimes) {
	leaves := p.byTerminal[courses[0].terminal]
	if !p.longFirst(courses) || len(leaves) > mostLeaves {
		return nil
	}
	ways, _ := p.waysTo(leaves)
	for i := range courses {
		x := &courses[i]
		first := earliest(ways[x.from])
		if first == nil || !begins(first, p.arrivals[first.Leaf]) {
			continue
		}
		gap, late := p.apart(x.gap, x.gap)
		duration, slow := p.apart(x.duration, durations(courses)...)
		if late || slow {
			list = append(list, sections.FirstCallMeanTimes{Leaf: first.Leaf, MeanGap: gap, MeanDuration: duration})
		}
	}
	return list
}

// longFirst reports whether, in any of the courses, the first call of each rank took far longer than the other calls.
// It is a quick test, as this is rare.
func (p *placing) longFirst(courses []course) bool {
	for i := range courses {
		x := &courses[i]
		if _, late := p.apart(x.gap, x.gap); late {
			return true
		}
		if _, slow := p.apart(x.duration, durations(courses)...); slow {
			return true
		}
	}
	return false
}

// durations returns the phases of the durations of all courses of a terminal. They are compared together, as
// durations depend less on the previous call than gaps do.
func durations(courses []course) (all [][]timing.Phase) {
	for i := range courses {
		all = append(all, courses[i].duration)
	}
	return all
}

// apart returns the mean time of the calls in the first of phases. It reports whether these are one call of each rank,
// and their mean is far longer than that of all other calls in the lists all.
func (p *placing) apart(phases []timing.Phase, all ...[]timing.Phase) (mean float64, apart bool) {
	if len(phases) == 0 || phases[0].Calls == 0 {
		return 0, false
	}
	mean = float64(phases[0].Sum) / float64(phases[0].Calls)
	if float64(phases[0].Calls) != p.ranks {
		return mean, false
	}
	var rest timing.Phase
	for _, list := range all {
		sum := timing.SumPhases(list)
		rest.Calls += sum.Calls
		rest.Sum += sum.Sum
	}
	rest.Calls -= phases[0].Calls
	rest.Sum -= phases[0].Sum
	if rest.Calls == 0 {
		return mean, false
	}
	usual := float64(rest.Sum) / float64(rest.Calls)
	return mean, model.FirstCallsDiffer(mean, usual, p.total/p.ranks)
}

// arrives returns how many calls of the stream there are up to the first one of the arrival w, this one included.
func arrives(w *grammar.Arrival) int {
	return sort.Search(1<<62, func(n int) bool { return w.CountBefore(uint64(n)) > 0 })
}

// earliest returns the one of the arrivals in ways that occurs first in the stream; nil if ways is empty.
func earliest(ways []*grammar.Arrival) (first *grammar.Arrival) {
	at := 0
	for _, w := range ways {
		if n := arrives(w); first == nil || n < at {
			first, at = w, n
		}
	}
	return first
}

// begins reports whether first occurs in the stream before all other arrivals in ways, those at its leaf.
func begins(first *grammar.Arrival, ways []grammar.Arrival) bool {
	at := arrives(first)
	for i := range ways {
		if arrives(&ways[i]) < at {
			return false
		}
	}
	return true
}
