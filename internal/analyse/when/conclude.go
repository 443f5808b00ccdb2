package when

import (
	"cmp"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace"
)

// Limits of the rows and changes that ranks exchange. unlikeOfRun and unlikeOthers say how far a rank must differ from
// its group to have a row of its own.
const (
	mostRows      = 64
	ownRows       = 8
	mostProposals = 64
	mostRanksOf   = 8
	unlikeOfRun   = 0.02
	unlikeOthers  = 1.5
	farAbove      = 2 // least excess of an outlier's computation over its row's, in levels of the picture
)

// A proposal is a change that one or several ranks found in their own computation, iteration by iteration.
type proposal struct {
	change
	ranks []int // the first ranks that found the change, at most mostRanksOf
	of    int
	place trace.FunctionSiteNumbers
}

// same reports whether the changes of two ranks count as one: they have equal kinds, periods and directions, and
// begin at nearly the same iteration.
func (p *proposal) same(q *change, slots int) bool {
	return p.kind == q.kind && p.every == q.every && math.Abs(float64(p.from-q.from)) <= nearSlots*float64(slots) && (p.after > p.before) == (q.after > q.before)
}

// explains reports whether a rank's step or drift explains that iterations take longer or less time than at first.
func (p *proposal) explains(c *change) bool {
	shifts := func(k Kind) bool { return k == KindStep || k == KindDrift }
	return shifts(p.kind) && shifts(c.kind) && (p.after > p.before) == (c.after > c.before) && p.cost >= c.cost/2
}

// A lateRank is the rank whose computation exceeds its usual time most in a slot (one or several iterations).
type lateRank struct {
	slot, rank int
	ns         int64
	place      trace.FunctionSiteNumbers
}

// changed is the changes that ranks found in their iterations.
type changed struct {
	slots     int
	proposals []proposal
	late      []lateRank // in order of slots
	delayed   []lateRank // in order of slots: the rank that was longest without a processor
	alone     []lateRank // slots with a rank whose computation is far beyond its usual time, the largest excess first
	noise     float64    // ns: sum of the slots' excesses over their usual time, over all ranks
}

func (f *changed) code(c *wire.Coder) {
	ns := func(list ...*float64) {
		for _, v := range list {
			n := int64(math.Round(*v))
			wire.CodeIntegers(c, &n)
			*v = float64(n)
		}
	}
	place := func(p *trace.FunctionSiteNumbers) {
		wire.CodeAbove(c, &p.FunctionIndex, -1, math.MaxInt32)
		wire.CodeNaturals(c, &p.SiteNumber)
	}
	wire.CodeNaturals(c, &f.slots)
	ns(&f.noise)
	wire.CodeList(c, &f.proposals, 9, func(_ int, p *proposal) {
		wire.CodeBounded(c, &p.kind, int(kinds)-1)
		wire.CodeNaturals(c, &p.from, &p.every, &p.of)
		ns(&p.before, &p.after, &p.cost)
		place(&p.place)
		wire.CodeList(c, &p.ranks, 1, func(_ int, r *int) { wire.CodeNaturals(c, r) })
	})
	for _, list := range []*[]lateRank{&f.late, &f.delayed, &f.alone} {
		wire.CodeList(c, list, 5, func(_ int, l *lateRank) {
			wire.CodeNaturals(c, &l.slot, &l.rank)
			wire.CodeNaturals(c, &l.ns)
			place(&l.place)
		})
	}
}

func (f *changed) join(o *changed) {
	f.slots = max(f.slots, o.slots)
	f.noise += o.noise
	for i := range o.proposals {
		q := &o.proposals[i]
		j := slices.IndexFunc(f.proposals, func(p proposal) bool { return p.kind != KindNoisy && p.same(&q.change, f.slots) })
		if j < 0 {
			f.proposals = append(f.proposals, *q)
			continue
		}
		p := &f.proposals[j]
		p.ranks = append(p.ranks, q.ranks...)
		p.ranks = p.ranks[:min(len(p.ranks), mostRanksOf)]
		mean := func(a *float64, b float64) { *a = (*a*float64(p.of) + b*float64(q.of)) / float64(p.of+q.of) }
		mean(&p.before, q.before)
		mean(&p.after, q.after)
		if q.cost > p.cost {
			p.cost, p.place, p.from = q.cost, q.place, q.from
		}
		p.of += q.of
	}
	slices.SortStableFunc(f.proposals, func(a, b proposal) int { return cmp.Compare(b.cost, a.cost) })
	f.proposals = f.proposals[:min(len(f.proposals), mostProposals)]
	f.late, f.delayed = latest(f.late, o.late), latest(f.delayed, o.delayed)
	f.alone = latest(f.alone, o.alone)
	slices.SortStableFunc(f.alone, func(a, b lateRank) int { return cmp.Compare(b.ns, a.ns) })
	f.alone = f.alone[:min(len(f.alone), mostKept)]
}

// latest merges two lists: for each slot it takes the rank with the larger excess.
func latest(a, b []lateRank) []lateRank {
	both := append(a, b...)
	slices.SortStableFunc(both, func(a, b lateRank) int { return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(b.ns, a.ns)) })
	return slices.CompactFunc(both, func(a, b lateRank) bool { return a.slot == b.slot })
}

// A row is the mean times of a group of ranks, in ns, by state and by column of the finest picture.
type row struct {
	first, ranks int
	times        [states][]int64
	unlike       int64 // for a row of one rank: ns by which its computation differs from its group's, over all columns
}

func (r *row) code(c *wire.Coder) {
	wire.CodeNaturals(c, &r.first, &r.ranks)
	wire.CodeNaturals(c, &r.unlike)
	for i := range r.times {
		wire.CodeList(c, &r.times[i], 1, func(_ int, ns *int64) { wire.CodeIntegers(c, ns) })
	}
}

// join adds the times of further ranks of the group. While ranks are joined, times are sums instead of means.
func (r *row) join(o *row) {
	if r.ranks == 0 {
		*r = *o
		return
	}
	if o.ranks == 0 {
		return
	}
	r.ranks += o.ranks
	for s := range r.times {
		for i := range r.times[s] {
			r.times[s][i] += o.times[s][i]
		}
	}
}

// rows is the rows of groups, the rows of ranks unlike their groups, and for each column the rank furthest above its
// group.
type rows struct {
	groups, own []row
	highest     []trace.WhenOutlier // by column: the rank that exceeds its group's computation most
	unlike      int64               // ns: sum over ranks of the differences from their groups' rows
}

func (x *rows) code(c *wire.Coder) {
	wire.CodeList(c, &x.groups, 3+states, func(_ int, r *row) { r.code(c) })
	wire.CodeList(c, &x.own, 3+states, func(_ int, r *row) { r.code(c) })
	wire.CodeList(c, &x.highest, 3, func(_ int, h *trace.WhenOutlier) {
		wire.CodeNaturals(c, &h.Column, &h.Rank)
		wire.CodeNaturals(c, &h.ExcessNs)
	})
	wire.CodeNaturals(c, &x.unlike)
}

func (x *rows) join(o *rows) {
	x.groups = append(x.groups, o.groups...)
	x.own = append(x.own, o.own...)
	slices.SortStableFunc(x.own, func(a, b row) int { return cmp.Compare(b.unlike, a.unlike) })
	x.own = x.own[:min(len(x.own), ownRows)]
	x.highest = append(x.highest, o.highest...)
	slices.SortStableFunc(x.highest, func(a, b trace.WhenOutlier) int {
		return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(b.ExcessNs, a.ExcessNs))
	})
	x.highest = slices.CompactFunc(x.highest, func(a, b trace.WhenOutlier) bool { return a.Column == b.Column })
	x.unlike += o.unlike
}

// Conclude combines the findings of all ranks. Rank 0 gets the trace's section; nil: no rank has times.
func (x *RankAnalysis) Conclude() (*trace.When, error) {
	own := changed{}
	x.try(func() error {
		if x.canvas != nil && x.loop != nil {
			own = x.changed()
		}
		return nil
	})
	if err := joined(x, x.all, x.Rank(), &own, false); err != nil {
		return nil, err
	}
	all, err := x.rows()
	if err != nil {
		return nil, err
	}
	var w *trace.When
	if x.Rank() == 0 && x.means != nil {
		x.try(func() error {
			w = x.picture(all)
			w.Findings = x.findings(&own)
			return nil
		})
	}
	if err := x.exemplars(w); err != nil || w == nil {
		return nil, err
	}
	return w, x.broken
}

// durations returns the mean time of each slot, in ns, over the ranks.
func (x *RankAnalysis) durations() []float64 {
	list := make([]float64, len(x.shapes))
	for i := range list {
		list[i] = float64(x.means[i+2] - x.means[i+1])
	}
	return list
}

// run returns the mean run time of the ranks, in ns.
func (x *RankAnalysis) run() float64 { return float64(x.means[len(x.means)-1] - x.means[0]) }

// computed returns the rank's computation time in each slot, in ns, with its time in calls on files.
func (x *RankAnalysis) computed() []float64 {
	list := floats(x.canvas.series(x.canvas.states[computing]))
	for i, ns := range x.canvas.series(x.canvas.states[inFiles]) {
		list[i] += float64(ns)
	}
	return list
}

// changed finds the changes in the rank's computation.
func (x *RankAnalysis) changed() (f changed) {
	v, run, typical := x.computed(), x.run(), median(x.durations())
	list, apart := changes(v, x.shapes, typical)
	f.slots = len(v)
	for _, c := range list {
		if c.cost >= leastShare*run {
			f.proposals = append(f.proposals, proposal{c, []int{x.Rank()}, 1, x.mostly(&c)})
		}
	}
	rest := slices.Clone(v) // v, with slots of a period reduced to their usual time
	for _, c := range list {
		for i := c.from; c.kind == KindPeriod && i < len(rest); i += c.every {
			rest[i] = min(rest[i], c.before)
		}
	}
	sum, often := noise(rest, apart, typical)
	if f.noise = sum; sum >= noisyOfRun*run && float64(often) >= noisyOften*float64(len(v)) {
		usual := median(v)
		c := change{KindNoisy, 0, 0, usual, usual + sum/float64(len(v)), sum}
		f.proposals = append(f.proposals, proposal{c, []int{x.Rank()}, 1, x.mostly(&c)})
	}
	for _, c := range slow(v, apart, typical) {
		if c.cost >= leastShare*run && len(f.alone) < mostKept {
			f.alone = append(f.alone, lateRank{c.from, x.Rank(), int64(c.cost), trace.FunctionSiteNumbers{FunctionIndex: -1}})
		}
	}
	excess, _ := over(v, normal(v, apart))
	for i, e := range excess {
		if e > typical/10 && e < math.MaxInt64/2 {
			f.late = append(f.late, lateRank{i, x.Rank(), int64(e), x.placeOf(x.most[i])})
		}
	}
	waited := x.canvas.series(x.canvas.states[waiting])
	for i := range v { // a rank that waits loses nothing by having no processor
		if ns := x.before[i] + max(0, x.within[i]-waited[i]); ns > 0 {
			f.delayed = append(f.delayed, lateRank{i, x.Rank(), ns, trace.FunctionSiteNumbers{FunctionIndex: -1}})
		}
	}
	return f
}

func (x *RankAnalysis) placeOf(e excess) trace.FunctionSiteNumbers {
	if e.ns <= 0 {
		return trace.FunctionSiteNumbers{FunctionIndex: -1}
	}
	return x.order.places[e.site]
}

// mostly returns the call before which the rank's excess of computation, summed over the changed slots, is largest.
func (x *RankAnalysis) mostly(c *change) trace.FunctionSiteNumbers {
	sums := make(map[int]float64)
	best := excess{}
	for i, e := range x.most {
		in := true
		switch c.kind {
		case KindStep:
			in = (i >= c.from) == (c.after > c.before)
		case KindDrift:
			in = (2*i >= len(x.most)) == (c.after > c.before)
		case KindPeriod:
			in = i%c.every == c.from
		}
		if !in || e.ns <= 0 {
			continue
		}
		if sums[e.site] += e.ns; sums[e.site] > best.ns {
			best = excess{sums[e.site], e.site}
		}
	}
	return x.placeOf(best)
}

// findings makes the findings: from the changes that ranks found in their computation, and from changes in the mean
// durations of iterations.
func (x *RankAnalysis) findings(f *changed) []trace.WhenFinding {
	if x.loop == nil || len(x.shapes) == 0 {
		return nil
	}
	v, run, each := x.durations(), x.run(), newGrid(x.loop, 0, 0, 0).each
	typical := median(v)
	var out []trace.WhenFinding
	add := func(c *change) *trace.WhenFinding {
		slot := func(ns float64) int64 { return int64(math.Round(ns / float64(each))) }
		out = append(out, trace.WhenFinding{
			Kind: int(c.kind), FirstIteration: uint64(c.from) * each, Period: uint64(c.every) * each, EndingCall: trace.FunctionSiteNumbers{FunctionIndex: -1},
			BeforeNs: slot(c.before), AfterNs: slot(c.after), CostNs: int64(c.cost),
		})
		return &out[len(out)-1]
	}
	ranks := float64(x.Size())
	for i := range f.proposals {
		p := &f.proposals[i]
		if others := (f.noise - p.cost) / max(1, ranks-1); p.kind == KindNoisy && p.cost < noisyRatio*others {
			continue
		}
		w := add(&p.change)
		w.Ranks, w.RankCount, w.EndingCall = p.ranks, p.of, p.place
	}
	program, delayed := undelayed(v, x.shapes, f.delayed)
	if delayed.cost >= leastShare*run {
		w := add(&delayed.change)
		w.Ranks, w.RankCount, w.LongerNs = []int{delayed.rank}, 1, delayed.ns
	}
	v = program
	list, apart := changes(v, x.shapes, typical)
	for i := range list {
		c := &list[i]
		known := slices.ContainsFunc(f.proposals, func(p proposal) bool { return p.same(c, len(v)) || p.explains(c) })
		if !known && c.cost >= max(leastShare*run, delayed.cost) { // a change that no rank's computation explains may be the machine's
			add(c)
		}
	}
	told := make(map[int]bool) // slots whose late rank a finding names: the next slot's finding must not blame it again
	for _, c := range joinedSlow(slow(v, apart, typical), f.alone, v, normal(v, apart)) {
		if c.cost < leastShare*run {
			continue
		}
		late := lateRank{}
		for _, l := range f.late { // a rank late for the next iteration may have become late in the one before
			if (l.slot == c.from || l.slot == c.from-1) && !told[l.slot] && l.ns > late.ns {
				late = l
			}
		}
		of := float64(late.ns) >= c.cost/2
		if !of && c.cost < delayed.cost {
			continue
		}
		if w := add(&c); of {
			told[late.slot] = true
			w.Ranks, w.RankCount, w.LongerNs, w.EndingCall = []int{late.rank}, 1, late.ns, late.place
		}
	}
	slices.SortStableFunc(out, func(a, b trace.WhenFinding) int { return cmp.Compare(b.CostNs, a.CostNs) })
	return out[:min(len(out), mostKept)]
}

// joinedSlow adds slots in which a single rank computed far longer than usual, if the slot took longer by at least
// half of that excess. On machines that disturb all ranks, this shows such slots more clearly.
func joinedSlow(list []change, alone []lateRank, v, usual []float64) []change {
	for _, l := range alone {
		if slices.ContainsFunc(list, func(c change) bool { return c.from == l.slot || c.from == l.slot+1 }) {
			continue
		}
		for _, i := range []int{l.slot, l.slot + 1} {
			if i < len(v) && v[i]-usual[i] >= float64(l.ns)/2 {
				list = append(list, change{KindSlow, i, 0, usual[i], v[i], v[i] - usual[i]})
				break
			}
		}
	}
	return list
}

// A delayedRun is the time that the run lost because ranks had no processor, and the rank that lost most in one slot.
type delayedRun struct {
	change
	lateRank
}

// undelayed subtracts from each slot the time in which a rank had no processor, but at most the slot's excess over
// its usual time.
func undelayed(v []float64, shapes []int, list []lateRank) (out []float64, d delayedRun) {
	without := slices.Clone(v)
	for _, l := range list {
		without[l.slot] = max(0, v[l.slot]-float64(l.ns))
	}
	usual := normal(without, shapes)
	out = slices.Clone(v)
	d.kind = KindWaitingForCPU
	for _, l := range list {
		i := l.slot
		out[i] = max(without[i], min(v[i], usual[i]))
		if d.cost += v[i] - out[i]; l.ns > d.ns {
			d.lateRank, d.from, d.before, d.after = l, i, usual[i], v[i]
		}
	}
	return out, d
}

// rows gathers on rank 0 the rows of groups, and the rows of ranks that differ from their group.
func (x *RankAnalysis) rows() (*rows, error) {
	size := (x.Size() + mostRows - 1) / mostRows
	first := x.Rank() / size * size
	group := x.all[first:min(first+size, x.Size())]
	var c columns
	own := row{first: x.Rank(), ranks: 1}
	x.try(func() error {
		if x.canvas == nil {
			own.ranks = 0
			return nil
		}
		c = x.canvas.columns()
		for s := range own.times {
			own.times[s] = c.sums(x.canvas.states[s])
		}
		return nil
	})
	sum := own
	for s := range sum.times {
		sum.times[s] = slices.Clone(own.times[s])
	}
	if err := joined(x, group, x.Rank()-first, &sum, true); err != nil {
		return nil, err
	}
	var all rows
	x.try(func() error {
		if sum.ranks == 0 {
			return nil
		}
		for s := range sum.times {
			for i := range sum.times[s] {
				sum.times[s][i] /= int64(sum.ranks)
			}
		}
		if x.Rank() == first {
			sum.first, sum.ranks = first, len(group)
			all.groups = []row{sum}
		}
		if own.ranks == 0 || len(group) == 1 {
			return nil
		}
		for i, ns := range own.times[computing] {
			d := ns - sum.times[computing][i]
			if own.unlike += max(d, -d); d > 0 {
				all.highest = append(all.highest, trace.WhenOutlier{Column: i, Rank: x.Rank(), ExcessNs: d})
			}
		}
		if all.unlike = own.unlike; float64(own.unlike) > unlikeOfRun*x.run() {
			all.own = []row{own}
		}
		return nil
	})
	if err := joined(x, x.all, x.Rank(), &all, false); err != nil {
		return nil, err
	}
	// By group, the largest difference: one far-off rank moves the mean, so that all others differ from it, too.
	most := make(map[int]int64)
	for _, r := range all.own {
		most[r.first/size] = max(most[r.first/size], r.unlike)
	}
	all.own = slices.DeleteFunc(all.own, func(r row) bool {
		return float64(r.unlike)*float64(x.Size()) < unlikeOthers*float64(all.unlike) || 2*r.unlike < most[r.first/size]
	})
	slices.SortFunc(all.own, func(a, b row) int { return cmp.Compare(a.first, b.first) })
	return &all, nil
}
