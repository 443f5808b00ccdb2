package proxy

import (
	"cmp"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/trace"
)

// A generated C function is written once for each group of its uses that differ in times: a warm-up and the main loop
// may be one rule, but compute different amounts. Uses in one variant (ranks that run the same C functions) that share a
// copy get the mean of their times. Other variants share copies, too, with gaps of their own.

// A copied is one copy of a function.
type copied struct {
	number int
	below  []int // by step: the copy of the function that it calls; -1: it calls none
	steps  []stepTimes
	of     map[*variant]bool
}

// stepTimes is the gaps of a step: before its call, and before the call by which its loop is entered, if that gap
// differs.
type stepTimes struct {
	gap, entry *timed
}

// A timed is the gap before one call in a copied C function, over all ranks that make the call there.
type timed struct {
	of   []leafOf
	text string // the gap as an expression in C
}

type leafOf struct {
	v            *variant
	stream, leaf int
	entry        bool
}

// placed is a variant's times at the leaves of a stream.
type placed struct {
	leaves *trace.Leaves
	each   [][]reissue.LeafGaps // by member, then by leaf; or only for the first member
	factor []float64            // if each has only the first member: by member, the factor from its gaps to the member's
	mean   []reissue.LeafGaps   // by leaf: means over the members; calls are those of all members
	total  float64              // computation of all members, in ns
}

// maxPlaced is the largest number of leaves, over all ranks, whose times are kept one by one.
const maxPlaced = 1 << 22

// places finds the gaps at the leaves of a variant's stream.
func (g *generator) places(v *variant, stream int) (*placed, error) {
	p := &placed{leaves: v.ranks[0].Leaves(stream)}
	anew := v.stepwise[stream]
	if anew != nil {
		p.leaves = trace.UnfoldLeaves(trace.OpaqueGrammar(grammar.WrapOpaque(anew.g)))
	}
	n := p.leaves.Len()
	members := v.ranks
	if len(members)*n > maxPlaced {
		members = members[:1]
	}
	for _, k := range members {
		var list []reissue.LeafGaps
		var err error
		if anew != nil {
			list, err = v.stepTimes(g, k, stream, p.leaves)
		} else {
			list, _, err = reissue.LeafGapsOf(g.r, k, p.leaves)
		}
		if err != nil {
			return nil, err
		}
		p.each = append(p.each, list)
	}
	if len(members) < len(v.ranks) {
		var err error
		if p.factor, err = computed(v.ranks); err != nil {
			return nil, err
		}
	}
	p.mean = make([]reissue.LeafGaps, n)
	for m := range v.ranks {
		for leaf := range p.mean {
			x, sum := p.at(m, leaf), &p.mean[leaf]
			sum.Calls += x.Calls
			sum.Entries += x.Entries
			sum.MeanGapNs += x.MeanGapNs * float64(x.Calls-x.Entries)
			sum.MeanEntryGapNs += x.MeanEntryGapNs * float64(x.Entries)
			p.total += x.TotalGapNs()
		}
	}
	for leaf := range p.mean {
		x := &p.mean[leaf]
		x.MeanGapNs /= max(1, float64(x.Calls-x.Entries))
		x.MeanEntryGapNs /= max(1, float64(x.Entries))
	}
	return p, nil
}

// at returns a member's gaps at a leaf.
func (p *placed) at(member, leaf int) reissue.LeafGaps {
	if p.factor == nil {
		return p.each[member][leaf]
	}
	x := p.each[0][leaf]
	x.MeanGapNs, x.MeanEntryGapNs = x.MeanGapNs*p.factor[member], x.MeanEntryGapNs*p.factor[member]
	return x
}

// computed returns each rank's time outside MPI as a multiple of the first rank's.
func computed(ranks []*trace.Rank) ([]float64, error) {
	list := make([]float64, len(ranks))
	first := 0.0
	for i, k := range ranks {
		p, err := k.Process()
		if err != nil {
			return nil, err
		}
		list[i] = float64(max(1, p.FirstThreadNs-p.AllThreadsMPINs))
		first = cmp.Or(first, list[0])
		list[i] /= first
	}
	return list, nil
}

// gap returns the mean of the gaps x at the leaf, and the number of calls with them: if o.entry is set, of the gaps
// before the loop is entered, else of the others.
func (o *leafOf) gap(x reissue.LeafGaps) (ns float64, calls uint64) {
	if o.entry {
		return x.MeanEntryGapNs, x.Entries
	}
	return x.MeanGapNs, x.Calls - x.Entries
}

// Two gaps count as equal if they differ by at most the share sameGap of one of them. They also do if the difference,
// times the number of calls, is at most the share sameTime of what the ranks compute.
const (
	sameGap  = 0.1
	sameTime = 0.002
)

// near reports whether the mean gap of leaves in of is close enough to that of the variant's leaves in t.
func (t *timed) near(v *variant, of []leafOf) bool {
	had, n := mean(v, t.of)
	ns, calls := mean(v, of)
	if n == 0 || calls == 0 {
		return true
	}
	off := math.Abs(had - ns)
	return off <= sameGap*ns || off*min(n, calls) <= sameTime*v.placed[of[0].stream].total
}

// mean is the mean gap of a variant's leaves, and the number of their calls.
func mean(v *variant, of []leafOf) (gap, calls float64) {
	for i := range of {
		if x := &of[i]; x.v == v {
			ns, n := x.gap(v.placed[x.stream].mean[x.leaf])
			gap, calls = gap+ns*float64(n), calls+float64(n)
		}
	}
	return gap / max(1, calls), calls
}

// copies assigns the instances of a stream to copies of their functions. number gives the function of each rule.
type copies struct {
	g      *generator
	v      *variant
	stream int
	number map[int]int
	done   map[int]int // by instance: the number of its copy
	leaf   map[int]int // by instance: its first leaf, by which a loop around it may be entered; -1: it begins with a loop of its own
}

// An instance is a step of a function at one place of the stream, with the leaves whose gaps it has: several in a loop.
type instance struct {
	below        int
	gap, entries []leafOf
}

// instance assigns the rule at a node of the stream's structure to a copy of its function, and returns the copy's
// number. It chooses the copy if as is -1, else it uses copy number as.
func (x *copies) instance(n trace.Node, as int) int {
	if c, ok := x.done[n.RuleCopy]; ok {
		return c
	}
	p := x.g.parts[x.number[n.Rule]]
	steps := make([]instance, len(p.steps))
	for k := range steps {
		steps[k].below = -1
		if as >= 0 {
			steps[k].below = p.copies[as].below[k]
		}
	}
	for i, c := range n.Children() {
		k := p.at[i]
		s := &steps[k]
		first := c.Leaf
		if c.Rule < 0 {
			s.gap = append(s.gap, x.leafOf(c.Leaf, false))
		} else {
			// Later iterations call the same copy as the first.
			if below := x.instance(c, s.below); s.below < 0 {
				s.below = below
			}
			first = x.leaf[c.RuleCopy]
		}
		if p.steps[k].count != "" {
			if first >= 0 {
				s.entries = append(s.entries, x.leafOf(first, true))
			}
			first = -1
		}
		if i == 0 {
			x.leaf[n.RuleCopy] = first
		}
	}
	for k := range steps {
		if s := &steps[k]; !slices.ContainsFunc(s.entries, x.entered) {
			s.entries = nil
		}
	}
	if as < 0 {
		as = x.find(p, steps)
	}
	c := p.copies[as]
	c.of[x.v] = true
	for k := range steps {
		add(&c.steps[k].gap, steps[k].gap)
		add(&c.steps[k].entry, steps[k].entries)
	}
	x.done[n.RuleCopy] = as
	return as
}

func (x *copies) leafOf(leaf int, entry bool) leafOf { return leafOf{x.v, x.stream, leaf, entry} }

// find returns the copy of a function for an instance, made if no copy is close.
func (x *copies) find(p *ruleFunction, steps []instance) int {
	best := -1
	for i, c := range p.copies {
		if !slices.EqualFunc(c.below, steps, func(below int, s instance) bool { return below == s.below }) {
			continue
		}
		if !c.of[x.v] {
			if best < 0 {
				best = i // the first copy that only other variants use so far
			}
			continue
		}
		if x.near(c, steps) {
			return i
		}
	}
	if best < 0 {
		best = len(p.copies)
		c := &copied{steps: make([]stepTimes, len(steps)), of: make(map[*variant]bool)}
		for k := range steps {
			c.below = append(c.below, steps[k].below)
		}
		p.copies = append(p.copies, c)
	}
	return best
}

func add(t **timed, of []leafOf) {
	if len(of) == 0 {
		return
	}
	if *t == nil {
		*t = &timed{}
	}
	(*t).of = append((*t).of, of...)
}

// entered reports whether a loop's entry has a different gap.
func (x *copies) entered(o leafOf) bool {
	p := x.v.placed[x.stream]
	m := p.mean[o.leaf]
	if m.Entries == 0 {
		return false
	}
	off := math.Abs(m.MeanEntryGapNs - m.MeanGapNs)
	return off > sameGap*max(m.MeanEntryGapNs, m.MeanGapNs) && off*float64(m.Entries) > sameTime*p.total
}

func (x *copies) near(c *copied, steps []instance) bool {
	for k := range steps {
		s, t := &steps[k], &c.steps[k]
		if s.gap != nil && t.gap != nil && !t.gap.near(x.v, s.gap) {
			return false
		}
		if (t.entry != nil) != (s.entries != nil) {
			return false
		}
		if t.entry != nil && !t.entry.near(x.v, s.entries) {
			return false
		}
	}
	return true
}
