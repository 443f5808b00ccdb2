package extrapolate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/trace"
)

// GenerateProxy returns a C program that makes the calls on any number of ranks: the shape gives its loops, the forms
// its values. After Wu, Deshpande and Mueller, ScalaBenchGen (IPDPS 2012). It is exact on the traced numbers of
// ranks. Values that the traces don't determine on other numbers are parameters at the beginning of the program.
func (x *Model) GenerateProxy(o proxy.Options) (*proxy.Program, error) {
	m := x.m
	plan, memory, err := m.plans(o.Target)
	if err != nil {
		return nil, err
	}
	last := m.runs[len(m.runs)-1].r
	s, err := proxy.NewScalableProgram(last, plan, m.tables.Strings, o)
	if err != nil {
		return nil, err
	}
	slots := m.slots // the values that are fitted here are not the model's
	defer func() { m.slots = slots }()
	w := &programmer{m: m, s: s, open: make(map[*tried]*expr.Expr), kinds: make([][]*kind, len(m.shape.nodes)), ranks: make(map[[2]int]*trace.Rank)}
	for _, n := range m.shape.nodes[1:] {
		if err := w.prepare(n); err != nil {
			return nil, err
		}
	}
	m.products()
	m.oneGrid()
	for _, c := range m.shape.root.children {
		if err := w.node(c); err != nil {
			return nil, err
		}
	}
	s.RequestDistances = w.bound(memory.distance)
	for _, p := range slices.SortedFunc(maps.Keys(memory.low), reissue.MemorySegment.Compare) {
		s.Memory = append(s.Memory, proxy.ScalableMemory{Place: p, LowOffset: slices.Min(memory.low[p].vals), HighOffsets: w.bound(memory.high[p])})
	}
	for _, r := range m.runs {
		s.TracedRankCounts = append(s.TracedRankCounts, r.ranks)
	}
	p, err := s.Program()
	if err == nil && p.UndeterminedTableRows > mostRows {
		return nil, fmt.Errorf("no forms fit %d values: the program would be a list of them", p.UndeterminedTableRows)
	}
	return p, err
}

// mostRows is the largest number of rows in the tables of a proxy.
const mostRows = 1 << 16

// bounds are how much of a resource, such as memory, each observed rank needs.
type bounds struct {
	obs  []env
	vals []int64
}

func (b *bounds) add(ranks, rank int, v int64) {
	b.obs, b.vals = append(b.obs, env{expr.VariableRankCount: int64(ranks), expr.VariableRank: int64(rank)}), append(b.vals, v)
}

// needs are the bounds of resources: low and high are offsets in a memory segment, distance counts requests.
type needs struct {
	low, high map[reissue.MemorySegment]*bounds
	distance  *bounds
}

// plans returns the resources that all ranks need to make their calls. The error lists calls that can't be made
// again.
func (m *pattern) plans(target reissue.TargetMPI) (*reissue.ResourcePlan, *needs, error) {
	target.KeepMPIChosenNumbers = true
	all, n := &reissue.ResourcePlan{}, &needs{make(map[reissue.MemorySegment]*bounds), make(map[reissue.MemorySegment]*bounds), &bounds{}}
	var slots [256]int
	for i, run := range m.runs {
		obstacles, err := reissue.Obstacles(run.r, target)
		if err != nil {
			return nil, nil, err
		}
		if len(obstacles) > 0 {
			return nil, nil, &proxy.RefusedError{Obstacles: obstacles}
		}
		of := &reissue.ResourcePlan{}
		for rank := range run.ranks {
			k, err := run.r.Rank(rank)
			if err != nil {
				return nil, nil, err
			}
			p, err := reissue.ResourcePlanOf(run.r, k)
			if err != nil {
				return nil, nil, err
			}
			of.Widen(p)
			n.distance.add(run.ranks, rank, p.MaxRequestDistance)
			for _, s := range p.Segments {
				if n.low[s.MemorySegment] == nil {
					n.low[s.MemorySegment], n.high[s.MemorySegment] = &bounds{}, &bounds{}
				}
				n.low[s.MemorySegment].add(run.ranks, rank, s.Low)
				n.high[s.MemorySegment].add(run.ranks, rank, s.High)
			}
		}
		if i > 0 && of.HandleSlots != slots {
			return nil, nil, errors.New("the number of communicators, datatypes or other handles depends on the number of ranks")
		}
		slots = of.HandleSlots
		all.Widen(of)
	}
	return all, n, nil
}

// A kind is the calls of a place whose values have the same structure: they differ only in numbers.
type kind struct {
	call   *trace.Call
	vals   []int64
	moved  bool // vals has a memory segment that oneName chose
	groups map[[maxDepth + 1]int32]*group
}

// A programmer writes the proxy of a pattern.
type programmer struct {
	m     *pattern
	s     *proxy.ScalableProgram
	ranks map[[2]int]*trace.Rank
	kinds [][]*kind // by number of a place's node: the kinds of its calls
	// by number of a place's node, then by group: index of the kind in kinds; nil: there is only one kind
	which []map[[maxDepth + 1]int32]fitted
	open  map[*tried]*expr.Expr // by fitted value: the parameter of the C program that it became
}

// seenCall returns a call that was observed at a place with the given values, and its signature.
func (w *programmer) seenCall(place, values int32) (*trace.Call, []int64, error) {
	s := w.m.samples[[2]int32{place, values}]
	k := w.ranks[[2]int{s.run, int(s.rank)}]
	if k == nil {
		var err error
		if k, err = w.m.runs[s.run].r.Rank(int(s.rank)); err != nil {
			return nil, nil, err
		}
		w.ranks[[2]int{s.run, int(s.rank)}] = k
	}
	x, err := k.Terminal(int(s.terminal))
	if err != nil || !x.RequestsFromEarlierCall() {
		return x, k.Signature(int(s.terminal)), err
	}
	at, _ := k.Occurrences(0, func(t int) bool { return t == int(s.terminal) }).Nth(0)
	x, err = k.Call(0, at)
	for _, vals := range k.SignaturesFrom(0, at) {
		return x, slices.Clone(vals), err
	}
	return x, nil, err
}

// prepare finds the kinds of a place's calls, and fits the index of the kind.
func (w *programmer) prepare(n *node) error {
	m := w.m
	w.which = append(w.which, make([]map[[maxDepth + 1]int32]fitted, len(m.shape.nodes)-len(w.which))...)
	mask, open := m.fixed(n)
	if len(open) > 2 || len(m.groups[n.number]) == 0 {
		return fmt.Errorf("%s: what happens there depends on too many loops", m.text(n))
	}
	if n.place < 0 {
		return nil
	}
	anyLength := false
	for _, g := range m.groups[n.number] {
		anyLength = anyLength || slices.ContainsFunc(g.cells, func(c cell) bool { return c.any != nil })
	}
	place := &m.places[n.place]
	anyLength = anyLength || slices.ContainsFunc(place.fields, func(f field) bool { return f.kind == pending })
	byShape := make(map[string]int)
	known := make(map[int32]int)
	type made struct {
		e      env
		values []int64
		kind   int
	}
	by := make(map[[maxDepth + 1]int32][]made)
	for i := range m.rows[n.number] {
		r := &m.rows[n.number][i]
		if r.what < 0 {
			continue
		}
		is, ok := known[r.what]
		if !ok {
			c, vals, err := w.seenCall(n.place, r.what)
			if err != nil {
				return err
			}
			vals, moved, err := w.m.renamed(place, m.groups[n.number][reduced(r.index, mask)], m.envOf(n, open, r), m.values[r.what], vals)
			if err != nil {
				return err
			}
			shape, err := proxy.LineInvariantValues(place.function, vals, anyLength)
			if err != nil {
				return err
			}
			var fresh bool
			if is, fresh = once.NumberOf(byShape, fmt.Sprint(shape)); fresh {
				w.kinds[n.number] = append(w.kinds[n.number], &kind{call: c, vals: vals, moved: moved})
			}
			if k := w.kinds[n.number][is]; len(vals) > len(k.vals) || k.moved && !moved {
				k.call, k.vals, k.moved = c, vals, moved
			}
			known[r.what] = is
		}
		key := reduced(r.index, mask)
		by[key] = append(by[key], made{m.envOf(n, open, r), m.values[r.what], is})
	}
	kinds := w.kinds[n.number]
	if len(kinds) <= 1 {
		for _, k := range kinds {
			k.groups = maps.Clone(m.groups[n.number])
			// Drop groups whose calls were never made.
			maps.DeleteFunc(k.groups, func(_ [maxDepth + 1]int32, g *group) bool { return len(g.cells) == 0 })
		}
		return nil
	}
	w.which[n.number] = make(map[[maxDepth + 1]int32]fitted)
	for key, list := range by {
		obs, which := make([]env, len(list)), make([]int64, len(list))
		for i, x := range list {
			obs[i], which[i] = x.e, int64(x.kind)
		}
		w.which[n.number][key] = m.fit("which kind of call "+m.text(n)+" is", obs, which)
		for is, k := range kinds {
			var obs []env
			var values [][]int64
			for _, x := range list {
				if x.kind == is {
					obs, values = append(obs, x.e), append(values, x.values)
				}
			}
			if k.groups == nil {
				k.groups = make(map[[maxDepth + 1]int32]*group)
			}
			if len(obs) == 0 {
				continue
			}
			g := &group{}
			if err := m.cells(n, g, m.text(n), obs, values, nil, &turns{}); err != nil {
				return err
			}
			k.groups[key] = g
		}
	}
	return nil
}

// node writes the C code of a loop or a call.
func (w *programmer) node(n *node) error {
	groups := w.m.groups[n.number]
	there := over(w, n, false, groups, func(g *group) (fitted, bool) { return g.there, true })
	if n.place < 0 {
		return w.s.WriteLoop(len(n.around), there, func() error {
			for _, c := range n.children {
				if err := w.node(c); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var calls []*proxy.ScalableCall
	for _, k := range w.kinds[n.number] {
		c, err := w.call(n, k)
		if err != nil {
			return err
		}
		calls = append(calls, c)
	}
	switch len(calls) {
	case 0:
		return nil
	case 1:
		return w.s.WriteCall(there, calls[0])
	}
	return w.s.WriteSwitch(there, over(w, n, false, w.which[n.number], func(f fitted) (fitted, bool) { return f, true }), calls)
}

// call describes the calls of one kind to the proxy's writer.
func (w *programmer) call(n *node, k *kind) (*proxy.ScalableCall, error) {
	p := &w.m.places[n.place]
	spans, err := sections.SpansOf(p.function, nil, k.vals)
	if err != nil {
		return nil, err
	}
	c := &proxy.ScalableCall{Call: k.call, TracedValues: k.vals, Formulas: make(map[int]*expr.Expr), ArrayFormulas: make(map[int]proxy.ArrayFormula), RequestFormulas: make(map[int]proxy.RequestFormulas), RequestMakerNumber: -1}
	put := func(at int, e *expr.Expr) {
		if _, number := e.Constant(); !number {
			c.Formulas[at] = e
		}
	}
	one := func(cell int) *expr.Expr {
		return over(w, n, false, k.groups, func(g *group) (fitted, bool) { return g.cells[cell].one, true })
	}
	cell := 1 // index in group.cells; 0 is the return code
	for i := range spans {
		f, s := p.fields[i+1], &spans[i]
		switch f.kind {
		case words:
			switch {
			case p.makes(f):
				c.RequestMakerNumber = int(n.place)
			case p.names(f):
				if of := one(cell); of.IsNumber(-1) {
					put(s.First, one(cell+1))
				} else {
					c.RequestFormulas[f.param] = proxy.RequestFormulas{MakingCalls: []*expr.Expr{of}, RequestsMadeSince: []*expr.Expr{one(cell + 1)}}
				}
			default:
				for j := range f.width {
					put(s.First+j, one(cell+j))
				}
			}
			cell += f.width
		case absent:
			cell++
		case pending:
			c.RequestFormulas[f.param] = proxy.RequestFormulas{AllPending: true}
		case list, requests:
			if err := w.list(n, k, c, f, s.First, cell, one(cell), put); err != nil {
				return nil, fmt.Errorf("%s: %w", w.m.text(n), err)
			}
			cell++
		}
	}
	if len(w.m.times) == len(w.m.runs) {
		c.GapLaw, _ = w.m.law(n.place, gapOf)
	}
	return c, nil
}

// list adds the formulas of a list of variable length to c.
func (w *programmer) list(n *node, k *kind, c *proxy.ScalableCall, f field, at, cell int, length *expr.Expr, put func(at int, e *expr.Expr)) error {
	elements := -1 // number of elements, if it is equal everywhere; -1: not known yet
	anyLength := false
	var sums sum
	for _, g := range k.groups {
		x := &g.cells[cell]
		if sums.factor != 0 && x.sum != sums || x.sum.factor != 0 && g.cells[x.sum.cell].any == nil {
			return errors.New("lists are sums of several others")
		}
		sums = x.sum
		if x.any != nil {
			anyLength = true
			continue
		}
		if elements >= 0 && elements != len(x.each) {
			return errors.New("lists are of several lengths")
		}
		elements = len(x.each)
	}
	if anyLength && elements > 0 {
		return errors.New("lists are of one length in some iterations, of several in others")
	}
	element := func(k, word int) func(g *group) (fitted, bool) {
		return func(g *group) (fitted, bool) {
			if x := &g.cells[cell]; x.sum.factor != 0 {
				return fitted{}, false
			} else if x.any != nil {
				return x.any[word], true
			} else if len(x.each) > 0 {
				return x.each[k][word], true
			}
			return fitted{}, false
		}
	}
	value := func(e, word int) *expr.Expr { return over(w, n, anyLength, k.groups, element(e, word)) }
	switch {
	case f.kind == requests && anyLength:
		c.RequestFormulas[f.param] = proxy.RequestFormulas{IsArray: true, Length: length, MakingCalls: []*expr.Expr{value(0, 0)}, RequestsMadeSince: []*expr.Expr{value(0, 1)}}
	case f.kind == requests:
		r := proxy.RequestFormulas{IsArray: true}
		for e := range max(elements, 0) {
			r.MakingCalls, r.RequestsMadeSince = append(r.MakingCalls, value(e, 0)), append(r.RequestsMadeSince, value(e, 1))
		}
		c.RequestFormulas[f.param] = r
	case anyLength && f.width == 1 && sums.factor != 0:
		of := over(w, n, true, k.groups, func(g *group) (fitted, bool) { return g.cells[sums.cell].any[0], true })
		c.ArrayFormulas[at] = proxy.ArrayFormula{Length: length, Element: scaled(sums.factor, proxy.PrefixSumExpr(of), 0)}
	case anyLength && f.width == 1:
		c.ArrayFormulas[at] = proxy.ArrayFormula{Length: length, Element: value(0, 0)}
	case anyLength && f.out:
		c.ArrayFormulas[at] = proxy.ArrayFormula{Length: length, Element: expr.Number(0)}
	case anyLength:
		return errors.New("lists of this kind have several lengths")
	default:
		for e := range max(elements, 0) {
			for word := range f.width {
				put(at+1+e*f.width+word, value(e, word))
			}
		}
	}
	return nil
}

// over returns a formula for a node's value, which of selects in each group. It may depend on the iterations of loops
// whose trip counts are equal everywhere.
func over[T any](w *programmer, n *node, inList bool, groups map[[maxDepth + 1]int32]T, of func(T) (fitted, bool)) *expr.Expr {
	mask, open := w.m.fixed(n)
	actual := func(v expr.Variable) *expr.Expr {
		switch {
		case v == expr.VariableRank || v == expr.VariableRankCount || inList && (v == expr.VariableListIndex || v == expr.VariableListLength):
			return expr.VariableExpr(v)
		case v == expr.VariableFixedIteration:
			return proxy.LoopIterationExpr(innermost(mask))
		case v == expr.VariableLoopIteration && len(open) > 0:
			return proxy.LoopIterationExpr(open[0])
		case v == expr.VariableLoopTripCount && len(open) > 0:
			return proxy.LoopTripCountExpr(open[0])
		case v == expr.VariableOuterIteration && len(open) > 1:
			return proxy.LoopIterationExpr(open[1])
		}
		return expr.Number(0)
	}
	at := expr.Number(0) // one number for the iterations of all loops with equal trip counts
	length := make([]int32, len(n.around))
	for d := 1; d < len(n.around); d++ {
		if mask>>d&1 == 0 {
			continue
		}
		c := n.around[d].cycle
		length[d] = c.kept(w.m.rows[n.around[d].number][0].what)
		i := proxy.LoopIterationExpr(d)
		if first, every := expr.Number(int64(c.first)), expr.Number(int64(c.every)); c.every > 0 {
			turn := expr.Sum(first, expr.Remainder(expr.Sum(i, expr.Number(-int64(c.first))), every))
			if i = turn; c.first > 0 {
				i = expr.Conditional(expr.Less(proxy.LoopIterationExpr(d), first), proxy.LoopIterationExpr(d), turn)
			}
		}
		at = expr.Sum(scaled(int64(length[d]), at, 0), i)
	}
	index := make(map[string]int)
	var cases []proxy.ValueCase
	for _, key := range slices.SortedFunc(maps.Keys(groups), func(a, b [maxDepth + 1]int32) int { return slices.Compare(a[:], b[:]) }) {
		f, ok := of(groups[key])
		if !ok {
			continue
		}
		e := w.formula(f, len(open) > 0)
		k, fresh := once.NumberOf(index, e.String())
		if fresh {
			cases = append(cases, proxy.ValueCase{Value: e})
		}
		number := int64(0)
		for d, n := range length {
			if n > 0 {
				number = number*int64(n) + int64(key[d])
			}
		}
		cases[k].WhenEqualTo = append(cases[k].WhenEqualTo, number)
	}
	switch len(cases) {
	case 0:
		return expr.Number(0)
	case 1:
		return cases[0].Value.Replace(actual)
	}
	if e, ok := w.numbers(cases, at); ok {
		return e
	}
	return w.s.CasesValue(w.m.text(n), at, cases).Replace(actual)
}

// place returns the number of a place, from 0, counted over all runs.
func (p *program) place(f *trace.Function, site uint64, fields []field) int32 {
	key := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(f.ID)), site)
	for _, x := range fields {
		out := byte(0)
		if x.out {
			out = 1
		}
		key = append(binary.AppendVarint(key, int64(x.param)), out, byte(x.kind))
		key = binary.AppendVarint(key, int64(x.width))
	}
	n, fresh := once.NumberOf(p.placeOf, string(key))
	if fresh {
		p.places = append(p.places, place{f, site, fields})
	}
	return n
}
