package extrapolate

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/trace"
)

// Proxy returns a C program that makes the calls on any number of ranks: the shape is its loops, and the forms are its values. After Wu, Deshpande and
// Mueller, ScalaBenchGen (IPDPS 2012). It is exact on the numbers of ranks of the traces. Values that
// the traces don't determine on others are parameters at its top.
func (x *Model) Proxy(o proxy.Options) (*proxy.Program, error) {
	m := x.m
	plan, memory, err := m.plans(o.Target)
	if err != nil {
		return nil, err
	}
	last := m.runs[len(m.runs)-1].r
	s, err := proxy.NewScaled(last, plan, m.tables.Strings, o)
	if err != nil {
		return nil, err
	}
	slots := m.slots // the values fitted here are not those of the trace
	defer func() { m.slots = slots }()
	w := &programmer{m: m, s: s, names: make(map[*tried]string), functions: make(map[string]string), kinds: make([][]*kind, len(m.shape.nodes)), ranks: make(map[[2]int]*trace.Rank)}
	for _, n := range m.shape.nodes[1:] {
		if err := w.prepare(n); err != nil {
			return nil, err
		}
	}
	m.products()
	m.oneGrid()
	for _, c := range m.shape.root.children {
		if err := w.node(c, 0); err != nil {
			return nil, err
		}
	}
	t := proxy.ScaledText{Lines: w.lines, Top: w.top, Distance: w.bound(memory.distance)}
	for _, p := range slices.SortedFunc(maps.Keys(memory.low), reissue.Place.Compare) {
		t.Memory = append(t.Memory, proxy.ScaledArea{Place: p, Low: w.bound(memory.low[p]), High: w.bound(memory.high[p])})
	}
	for _, r := range m.runs {
		t.Traced = append(t.Traced, r.ranks)
	}
	p, err := s.Program(t)
	if err == nil && p.Rows > mostRows {
		return nil, fmt.Errorf("no forms fit %d values: the program would be a list of them", p.Rows)
	}
	return p, err
}

// mostRows is how many values without a form a program has.
const mostRows = 1 << 16

// bounds are numbers that must be large enough, by rank.
type bounds struct {
	obs  []env
	vals []int64
}

func (b *bounds) add(ranks, rank int, v int64) {
	b.obs, b.vals = append(b.obs, env{expr.Ranks: int64(ranks), expr.Rank: int64(rank)}), append(b.vals, v)
}

// needs are what ranks need.
type needs struct {
	low, high map[reissue.Place]*bounds
	distance  *bounds
}

// plans finds what all ranks need to make their calls; the error says what can't be made again.
func (m *pattern) plans(target reissue.Target) (*reissue.Plan, *needs, error) {
	target.Literal = true
	all, n := &reissue.Plan{}, &needs{make(map[reissue.Place]*bounds), make(map[reissue.Place]*bounds), &bounds{}}
	var slots [256]int
	for i, run := range m.runs {
		obstacles, err := reissue.Obstacles(run.r, target)
		if err != nil {
			return nil, nil, err
		}
		if len(obstacles) > 0 {
			return nil, nil, &proxy.RefusedError{Obstacles: obstacles}
		}
		of := &reissue.Plan{}
		for rank := range run.ranks {
			k, err := run.r.Rank(rank)
			if err != nil {
				return nil, nil, err
			}
			p, err := reissue.Of(run.r, k)
			if err != nil {
				return nil, nil, err
			}
			of.Join(p)
			n.distance.add(run.ranks, rank, p.Distance)
			for _, s := range p.Segments {
				if n.low[s.Place] == nil {
					n.low[s.Place], n.high[s.Place] = &bounds{}, &bounds{}
				}
				n.low[s.Place].add(run.ranks, rank, s.Low)
				n.high[s.Place].add(run.ranks, rank, s.High)
			}
		}
		if i > 0 && of.Slots != slots {
			return nil, nil, errors.New("the number of communicators, datatypes or other handles depends on the number of ranks")
		}
		slots = of.Slots
		all.Join(of)
	}
	return all, n, nil
}

// A kind is calls of a place that are alike but for numbers.
type kind struct {
	call   *trace.Call
	vals   []int64
	moved  bool // a block of the call has another name
	groups map[[maxDepth + 1]int32]*group
}

// A programmer writes the program of a pattern.
type programmer struct {
	m         *pattern
	s         *proxy.Scaled
	ranks     map[[2]int]*trace.Rank
	kinds     [][]*kind                        // by node
	which     []map[[maxDepth + 1]int32]fitted // by node: kinds; nil: there is one
	lines     []proxy.ScaledLine
	top       []proxy.Definition
	names     map[*tried]string // of values that are not one expression
	functions map[string]string // by text
}

// seenCall is a call as it was made.
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
	return x, k.Signature(int(s.terminal)), err
}

// prepare finds the kinds of a place's calls, and fits which of them a call is.
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
			shape, err := proxy.Shape(place.function, vals, anyLength)
			if err != nil {
				return err
			}
			var fresh bool
			if is, fresh = once.Number(byShape, fmt.Sprint(shape)); fresh {
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
			maps.DeleteFunc(k.groups, func(_ [maxDepth + 1]int32, g *group) bool { return len(g.cells) == 0 }) // it is never reached
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

func (w *programmer) line(depth int, text string) {
	w.lines = append(w.lines, proxy.ScaledLine{Indent: depth, Text: text, Call: -1, Made: -1})
}

// node writes a loop or a call.
func (w *programmer) node(n *node, depth int) error {
	groups := w.m.groups[n.number]
	there := over(w, n, false, groups, func(g *group) (fitted, bool) { return g.there, true })
	if n.place < 0 {
		d := len(n.around)
		w.line(depth, fmt.Sprintf("for (int64_t i%d = 0, n%[1]d = %s; i%[1]d < n%[1]d; i%[1]d++) {", d, there))
		for _, c := range n.children {
			if err := w.node(c, depth+1); err != nil {
				return err
			}
		}
		w.line(depth, "}")
		return nil
	}
	kinds := w.kinds[n.number]
	if len(kinds) == 0 {
		return nil
	}
	test := ""
	if there != "1" {
		test = "if (" + there + ") "
	}
	if len(kinds) == 1 {
		return w.call(n, kinds[0], depth, test)
	}
	which := over(w, n, false, w.which[n.number], func(f fitted) (fitted, bool) { return f, true })
	w.line(depth, test+"switch ("+which+") {")
	for i, k := range kinds {
		w.line(depth, fmt.Sprintf("case %d:", i))
		if err := w.call(n, k, depth+1, ""); err != nil {
			return err
		}
		w.line(depth+1, "break;")
	}
	w.line(depth, "}")
	return nil
}

// call writes calls of one kind.
func (w *programmer) call(n *node, k *kind, depth int, test string) error {
	p := &w.m.places[n.place]
	spans, err := sections.SpansOf(p.function, nil, k.vals)
	if err != nil {
		return err
	}
	c := proxy.ScaledCall{Call: k.call, Vals: k.vals, Texts: make(map[int]string), Lists: make(map[int]proxy.List), Requests: make(map[int]string), Made: -1}
	put := func(at int, text string) {
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			c.Texts[at] = text
		}
	}
	one := func(cell int) string {
		return over(w, n, false, k.groups, func(g *group) (fitted, bool) { return g.cells[cell].one, true })
	}
	cell := 1 // cell 0 is the result
	for i := range spans {
		f, s := p.fields[i+1], &spans[i]
		switch f.kind {
		case words:
			switch {
			case p.makes(f):
				c.Made = int(n.place)
			case p.names(f):
				if of := one(cell); of == "-1" {
					put(s.At, one(cell+1))
				} else {
					c.Requests[f.param] = fmt.Sprintf("request(ago(%s, %s))", of, one(cell+1))
				}
			default:
				for j := range f.width {
					put(s.At+j, one(cell+j))
				}
			}
			cell += f.width
		case absent:
			cell++
		case pending:
			c.Requests[f.param] = "all_pending()"
		case list, requests:
			if err := w.list(n, k, &c, f, s.At, cell, one(cell), put); err != nil {
				return fmt.Errorf("%s: %w", w.m.text(n), err)
			}
			cell++
		}
	}
	number, err := w.s.Add(c)
	if err != nil {
		return err
	}
	gap := "0"
	if len(w.m.times) == len(w.m.runs) {
		law, _ := w.m.law(n.place, gapOf)
		gap = fmt.Sprintf("grown(%.4g, %.4g, %g, %d)", law.C0/1000, law.C1/1000, law.I, law.J)
		if law.C1 == 0 {
			gap = fmt.Sprintf("%.4g", max(0, law.C0/1000))
		}
	}
	w.lines = append(w.lines, proxy.ScaledLine{Indent: depth, Text: test, Gap: gap, Call: number, Made: c.Made})
	return nil
}

// list writes a list, whose length is an expression.
func (w *programmer) list(n *node, k *kind, c *proxy.ScaledCall, f field, at, cell int, length string, put func(at int, text string)) error {
	elements := -1 // of lists of one length
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
	code := func(e int) string {
		return fmt.Sprintf("request_code(%s, %s)", over(w, n, anyLength, k.groups, element(e, 0)), over(w, n, anyLength, k.groups, element(e, 1)))
	}
	switch {
	case f.kind == requests && anyLength:
		c.Requests[f.param] = fmt.Sprintf("these((int)(%s), LIST64(%[1]s, %s))", length, code(0))
	case f.kind == requests && elements > 0:
		var list []string
		for e := range elements {
			list = append(list, code(e))
		}
		c.Requests[f.param] = fmt.Sprintf("these(%d, A64(%s))", elements, strings.Join(list, ", "))
	case f.kind == requests:
	case anyLength && f.width == 1 && sums.factor != 0:
		of := over(w, n, true, k.groups, func(g *group) (fitted, bool) { return g.cells[sums.cell].any[0], true })
		c.Lists[at] = proxy.List{Length: length, Element: fmt.Sprintf("%d * sum_before(%s)", sums.factor, of)}
	case anyLength && f.width == 1:
		c.Lists[at] = proxy.List{Length: length, Element: over(w, n, anyLength, k.groups, element(0, 0))}
	case anyLength && f.out:
		c.Lists[at] = proxy.List{Length: length, Element: "0"}
	case anyLength:
		return errors.New("lists of this kind have several lengths")
	default:
		for e := range max(elements, 0) {
			for word := range f.width {
				put(at+1+e*f.width+word, over(w, n, anyLength, k.groups, element(e, word)))
			}
		}
	}
	return nil
}

// variables are the names in forms.
var variables = regexp.MustCompile(`\b[injkmt]\b`)

// over is a value of a node as an expression, which depends on the iterations of loops that are equally long everywhere.
func over[T any](w *programmer, n *node, inList bool, groups map[[maxDepth + 1]int32]T, of func(T) (fitted, bool)) string {
	mask, open := w.m.fixed(n)
	names := map[string]string{"i": "0", "n": "0", "j": "0", "k": "0", "m": "0"}
	if inList {
		names["k"], names["m"] = "k", "m"
	}
	names["t"] = fmt.Sprintf("i%d", innermost(mask))
	if len(open) > 0 {
		names["i"], names["n"] = fmt.Sprintf("i%d", open[0]), fmt.Sprintf("n%d", open[0])
	}
	if len(open) > 1 {
		names["j"] = fmt.Sprintf("i%d", open[1])
	}
	actual := func(text string) string {
		return variables.ReplaceAllStringFunc(text, func(v string) string { return names[v] })
	}
	at := ""
	length := make([]int32, len(n.around))
	for d := 1; d < len(n.around); d++ {
		if mask>>d&1 == 0 {
			continue
		}
		c := n.around[d].cycle
		length[d] = c.kept(w.m.rows[n.around[d].number][0].what)
		if at != "" {
			at = fmt.Sprintf("(%s) * %d + ", at, length[d])
		}
		switch {
		case c.every == 0:
			at += fmt.Sprintf("i%d", d)
		case c.first == 0:
			at += fmt.Sprintf("(i%d %% %d)", d, c.every)
		default:
			at += fmt.Sprintf("(i%[1]d < %[2]d ? i%[1]d : %[2]d + (i%[1]d - %[2]d) %% %[3]d)", d, c.first, c.every)
		}
	}
	cases := make(map[string][]int64)
	var order []string
	for _, key := range slices.SortedFunc(maps.Keys(groups), func(a, b [maxDepth + 1]int32) int { return slices.Compare(a[:], b[:]) }) {
		f, ok := of(groups[key])
		if !ok {
			continue
		}
		text := w.text(f, len(open) > 0)
		if cases[text] == nil {
			order = append(order, text)
		}
		number := int64(0)
		for d, n := range length {
			if n > 0 {
				number = number*int64(n) + int64(key[d])
			}
		}
		cases[text] = append(cases[text], number)
	}
	if len(order) == 0 {
		return "0"
	}
	if len(order) == 1 {
		return actual(order[0])
	}
	if text, ok := w.numbers(order, cases); ok {
		return fmt.Sprintf(text, at)
	}
	var b strings.Builder
	for _, text := range order {
		list := make([]string, len(cases[text]))
		for i, n := range cases[text] {
			list[i] = fmt.Sprintf("case %d:", n)
		}
		fmt.Fprintf(&b, "    %s\n        return %s;\n", strings.Join(list, " "), text)
	}
	body := b.String()
	name := w.defined(body, func(name string) string {
		const unused = "(void)i, (void)n, (void)j, (void)k, (void)m"
		return fmt.Sprintf("static int64_t %s(int64_t at, int64_t i, int64_t n, int64_t j, int64_t k, int64_t m)\n{\n    %s;\n    switch (at) {\n%s    }\n    return only_traced(%q, 0);\n}\n\n",
			name, unused, body, w.m.text(n))
	})
	return fmt.Sprintf("%s(%s, %s, %s, %s, %s, %s)", name, at, names["i"], names["n"], names["j"], names["k"], names["m"])
}
