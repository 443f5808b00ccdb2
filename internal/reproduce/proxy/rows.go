package proxy

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// A master answers whichever rank is first. Its calls are a loop, but the ranks follow no rule, so the structure is
// as long as the run. Messages of one call site that differ only in numbers then become one step, with the numbers in
// a table.

// muchShorter is the factor by which tables must shorten a structure. fewTabulated is the number of symbols up to which
// a structure needs no tables.
const (
	muchShorter  = 4
	fewTabulated = 100
)

// tabulate looks for streams that tables make much shorter. Classes of several ranks get no tables, as their calls
// already agree.
func (g *generator) tabulate() {
	for _, v := range g.list {
		k := v.ranks[0]
		if g.o.GapModel == GapsRecorded || g.ends != nil || g.turns != nil || v.generalised || len(v.members) > 1 || len(v.stepwise) != 1 || v.stepwise[0] != nil ||
			k.CallCount(0) > maxStepwise || v.recorded(k, 0).SymbolCount() <= fewTabulated {
			continue
		}
		steps, list := v.tabled()
		b := grammar.NewBuilder()
		for t := range k.Sequence(0) {
			if n := steps[t] - len(v.calls); n >= 0 {
				f := &list[n]
				row := make([]int64, len(f.at))
				for j, at := range f.at {
					row[j] = v.calls[t].vals[0][at]
				}
				f.rows = append(f.rows, row)
			}
			b.Append(uint32(steps[t]))
		}
		if s := (&stepwise{g: b.Grammar(), steps: k.CallCount(0)}); muchShorter*s.g.SymbolCount() <= v.recorded(k, 0).SymbolCount() {
			v.stepwise[0], v.finishes = s, list
		}
	}
}

// tabled returns, by terminal, the number of its step, and the steps that several terminals share.
func (v *variant) tabled() (steps []int, list []finish) {
	groups := make(map[string][]int)
	steps = make([]int, len(v.calls))
	for t, c := range v.calls {
		steps[t] = t
		if key := v.likeness(t, c); key != "" {
			groups[key] = append(groups[key], t)
		}
	}
	for t, c := range v.calls {
		group := groups[v.likeness(t, c)]
		if len(group) < 2 || group[0] != t {
			continue
		}
		f := finish{terminal: t}
		for _, at := range c.numbers() {
			if slices.ContainsFunc(group, func(u int) bool { return v.calls[u].vals[0][at] != c.vals[0][at] }) {
				f.at = append(f.at, at)
			}
		}
		for _, u := range group {
			steps[u] = len(v.calls) + len(list)
		}
		list = append(list, f)
	}
	return steps, list
}

// likeness returns a text that is equal for messages that can form one step; "" for other calls.
func (v *variant) likeness(t int, c *call) string {
	if c.def == nil || c.def.Index("source") < 0 && c.def.Index("dest") < 0 || v.ranks[0].Lane(t) != nil {
		return ""
	}
	vals := slices.Clone(c.vals[0])
	for _, at := range c.numbers() {
		vals[at] = 0
	}
	for i := range c.out {
		if n := &c.out[i]; n.filled() {
			clear(vals[n.at+signature.StatusSourcePosition : n.at+signature.StatusCancelledPosition])
		}
	}
	return fmt.Sprint(c.f.Name, c.site, c.shape, vals)
}

// numbers lists the positions of a message's values that can be in a table: integers without a name. For
// wildcards and polls, the source and tag in the status are among them.
func (c *call) numbers() (list []int) {
	source, tag := int64(0), int64(0)
	asks := meaning.WaitBehaviourOf(c.def)
	for i := range c.f.Params {
		p, n := &c.f.Params[i], &c.in[i]
		if n.typ != trace.TypeInt || p.Dir != trace.DirIn {
			continue
		}
		v := c.vals[0][n.at]
		switch p.Name {
		case asks.Source:
			source = v
		case asks.Tag:
			tag = v
		}
		if name(p.Kind, v) == "" {
			list = append(list, n.at)
		}
	}
	wild := meaning.IsWildcard(source, tag)
	for i := range c.out {
		if n := &c.out[i]; n.filled() && (wild || c.def.Has(mpi.AttrPolls)) {
			list = append(list, n.at+signature.StatusSourcePosition, n.at+signature.StatusTagPosition)
		}
	}
	return list
}

// filled reports whether a node is the status of a received message.
func (n *node) filled() bool {
	return n.typ == trace.TypeStatus && (n.n == signature.StatusFormFilled || n.n == signature.StatusFormIgnored)
}

// rowLine writes a step of messages that differ in numbers.
func (g *generator) rowLine(v *variant, f *finish) *line {
	c := *v.calls[f.terminal]
	c.lane = make(map[int]string)
	n := g.rows(v, len(f.at), 1, func(int) [][]int64 { return f.rows })
	for j, at := range f.at {
		c.lane[at] = fmt.Sprintf("ROW(%d, %d)", n, j)
	}
	w := &writer{g: g, v: v, c: &c, t: f.terminal, sinks: make(map[string]int), after: []string{fmt.Sprintf("next_row(%d);", n)}}
	text, _ := w.statement()
	return g.shared(&line{site: g.site(c.site), text: text})
}
