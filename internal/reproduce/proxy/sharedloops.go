package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// Ranks whose requests finish in different orders are in different classes. If FINISH hides the order, they make the
// same steps and form one variant. Values that differ between ranks are expressions of the rank, as within a class.

// A source is the variant that a member of a merged variant comes from.
type source struct {
	v         *variant
	member    int
	terminals []int // by terminal of the merged variant: the source's terminal
	finishes  []int // by finish of the merged variant: the source's finish
}

// terminal returns a member's own number of a terminal.
func (v *variant) terminal(member, t int) int {
	if v.sources == nil {
		return t
	}
	return v.sources[member].terminals[t]
}

// steady is a variant's steps with terminals renumbered in order of first use: first calls, then finishes.
type steady struct {
	v         *variant
	g         *grammar.Grammar
	terminals []int // by new number: the variant's terminal; at the end, a terminal of one call of each finish
	finishes  []int // by new number: index in the variant's finishes
}

// steadyOf returns the renumbered steps of a variant, and a text that is equal for variants with equal steps. It
// returns nil if the variant can't be merged with others.
func (g *generator) steadyOf(v *variant) (*steady, string) {
	if len(v.stepwise) != 1 || v.stepwise[0] == nil || v.hists != nil || g.o.AllowPartial {
		return nil, ""
	}
	s := &steady{v: v, g: &grammar.Grammar{Rules: make([][]grammar.Symbol, len(v.stepwise[0].g.Rules))}}
	var key strings.Builder
	number := make(map[int32]int32)
	old := v.stepwise[0].g.Rules
	known := make([]bool, len(old))
	var use func(rule int)
	use = func(rule int) {
		known[rule] = true
		for _, x := range old[rule] {
			switch _, ok := number[x.TerminalOrRule]; {
			case x.TerminalOrRule < 0:
				if !known[-x.TerminalOrRule] {
					use(int(-x.TerminalOrRule))
				}
			case ok:
			case int(x.TerminalOrRule) < len(v.calls):
				number[x.TerminalOrRule] = int32(len(s.terminals))
				s.terminals = append(s.terminals, int(x.TerminalOrRule))
				c := v.calls[x.TerminalOrRule]
				fmt.Fprintln(&key, c.f.Name, c.site, c.shape)
			default:
				n := int(x.TerminalOrRule) - len(v.calls)
				number[x.TerminalOrRule] = -1 - int32(len(s.finishes)) // finishes are numbered after all calls
				s.finishes = append(s.finishes, n)
				fmt.Fprintln(&key, "finish", v.finishes[n].what)
			}
		}
	}
	use(0)
	calls := len(s.terminals)
	for _, t := range s.terminals {
		if v.ranks[0].Lane(t) != nil {
			return nil, ""
		}
	}
	for _, n := range s.finishes {
		if v.finishes[n].rows != nil {
			return nil, ""
		}
		s.terminals = append(s.terminals, v.finishes[n].terminal)
	}
	for r, body := range old {
		s.g.Rules[r] = slices.Clone(body)
		for i := range s.g.Rules[r] {
			if x := &s.g.Rules[r][i]; x.TerminalOrRule >= 0 {
				if x.TerminalOrRule = number[x.TerminalOrRule]; x.TerminalOrRule < 0 {
					x.TerminalOrRule = int32(calls+len(s.finishes)) - 1 - x.TerminalOrRule
				}
			}
		}
	}
	fmt.Fprintf(&key, "%d %d ", v.plan.Threads, calls)
	key.Write(s.g.AppendBinary(nil))
	return s, key.String()
}

// together merges the variants with equal steps.
func (g *generator) together() {
	groups := make(map[string][]*steady)
	var list []*variant
	keys := make([]string, len(g.list))
	for i, v := range g.list {
		s, key := g.steadyOf(v)
		if keys[i] = key; s != nil {
			groups[key] = append(groups[key], s)
		}
	}
	for i, v := range g.list {
		switch group := groups[keys[i]]; {
		case keys[i] == "" || len(group) == 1:
			list = append(list, v)
		case group[0].v == v:
			list = append(list, joined(group))
		}
	}
	for i, v := range list {
		v.number = i
	}
	g.list = list
}

// joined merges variants with equal steps.
func joined(group []*steady) *variant {
	first := group[0]
	out := &variant{stepwise: []*stepwise{{g: first.g, steps: first.v.stepwise[0].steps}}, plan: first.v.plan}
	for _, s := range group {
		for m := range s.v.members {
			out.sources = append(out.sources, source{s.v, m, s.terminals, s.finishes})
		}
		out.plan.Widen(s.v.plan)
	}
	slices.SortFunc(out.sources, func(a, b source) int { return cmp.Compare(a.v.members[a.member], b.v.members[b.member]) })
	for _, t := range first.terminals {
		c := *first.v.calls[t]
		c.vals = nil
		out.calls = append(out.calls, &c)
	}
	for _, x := range out.sources {
		v, m := x.v, x.member
		out.members, out.ranks = append(out.members, v.members[m]), append(out.ranks, v.ranks[m])
		out.plans, out.made = append(out.plans, v.plans[m]), append(out.made, v.made[m])
		for t, c := range out.calls {
			vals := v.calls[x.terminals[t]].vals[m]
			if t >= len(first.terminals)-len(first.finishes) {
				vals = first.v.calls[first.terminals[t]].vals[0] // a finish is written like any of its calls
			}
			c.vals = append(c.vals, vals)
		}
	}
	for i, n := range first.finishes {
		f := first.v.finishes[n]
		if f.exchange != nil {
			f.exchange = nil
			for _, x := range out.sources {
				f.exchange = append(f.exchange, x.v.finishes[x.finishes[i]].exchange[x.member])
			}
		}
		f.terminal = len(first.terminals) - len(first.finishes) + i
		out.finishes = append(out.finishes, f)
	}
	return out
}

// runs returns the stepwise of a member's own variant, which has the calls that each FINISH replaces; nil if the stream
// has none.
func (v *variant) runs(k *trace.Rank, stream int) *stepwise {
	if v.sources == nil {
		return v.stepwise[stream]
	}
	m, _ := slices.BinarySearch(v.members, k.Number())
	return v.sources[m].v.stepwise[stream]
}

// A trace doesn't record when a thread began. The proxy's threads begin with MPI, and wait for each other where the
// trace shows that one uses what another made. Otherwise they begin when everything exists that they use and the
// first thread made. The first thread waits for them before it frees any of that.

// findNested finds the calls of a variant that free objects which later calls from callbacks still use.
func (v *variant) findNested() error {
	for _, k := range v.ranks {
		lists, err := handles.FreesWithCallbackUses(k)
		if err != nil {
			return err
		}
		for _, list := range lists {
			for _, x := range list {
				if v.nested == nil {
					v.nested = make(map[int]bool)
				}
				v.nested[x.FreeTerminal] = true
			}
		}
	}
	return nil
}

// freesLate adds statements that free objects whose freeing was put off: before the call makes another object with the
// same index in the proxy's array, or at the end.
func (w *writer) freesLate() {
	if w.c.def.Has(mpi.AttrFinalises) {
		w.first = append(w.first, "free_now(NULL);")
	}
	for i, p := range w.c.f.Params {
		if p.Kind != mpi.KindComm && p.Kind != mpi.KindDatatype && p.Kind != mpi.KindWin || p.Dir == trace.DirIn || p.Dir == trace.DirInOut || p.Dir == trace.DirFree {
			continue
		}
		if n := w.c.out[i]; n.typ == trace.TypeHandle && w.c.vals[0][n.at] >= trace.FirstCreatedHandle {
			w.first = append(w.first, fmt.Sprintf("free_now(&%s[%s]);", handleArrays[p.Kind], w.slot(n.at)))
		}
	}
}

// threads determines where a variant's threads begin and end.
func (g *generator) threads(v *variant) {
	v.begin = -1
	streams := v.ranks[0].Streams()
	if streams < 2 {
		return
	}
	if g.turns != nil {
		for t, c := range v.calls {
			if v.begin < 0 && (c.f.Name == "MPI_Init" || c.f.Name == "MPI_Init_thread") {
				v.begin = t
			}
		}
		v.end = make(map[int]bool)
		for t, c := range v.calls {
			v.end[t] = c.f.Name == "MPI_Finalize"
		}
		return
	}
	main, others := v.ranks[0].TerminalCounts(0), make([]uint64, len(v.calls))
	for s := 1; s < streams; s++ {
		for t, n := range v.ranks[0].TerminalCounts(s) {
			others[t] += n
		}
	}
	type handle struct {
		kind mpi.Kind
		num  int64
	}
	used := make(map[handle]bool)
	each := func(c *call, nodes []node, f func(h handle, p *trace.ParamDef)) {
		for i := range nodes {
			list := []node{nodes[i]}
			if nodes[i].typ == trace.TypeArray {
				list = nodes[i].elems
			}
			for _, n := range list {
				if n.typ != trace.TypeHandle && n.typ != trace.TypeMPITObject {
					continue
				}
				if num := c.vals[0][n.at]; num >= trace.FirstCreatedHandle {
					f(handle{c.f.Params[i].Kind, num}, &c.f.Params[i])
				}
			}
		}
	}
	for t, c := range v.calls {
		if others[t] > 0 {
			each(c, c.in, func(h handle, _ *trace.ParamDef) { used[h] = true })
		}
	}
	for t, c := range v.calls {
		if others[t] > 0 {
			// These objects are not made by the first thread.
			each(c, c.out, func(h handle, _ *trace.ParamDef) { delete(used, h) })
		}
	}
	for t, c := range v.calls {
		switch {
		case main[t] == 0:
			continue
		case v.begin < 0 && (c.f.Name == "MPI_Init" || c.f.Name == "MPI_Init_thread"):
			v.begin = t
		}
		each(c, c.out, func(h handle, _ *trace.ParamDef) {
			if used[h] && others[t] == 0 {
				v.begin = t
			}
		})
	}
	v.end = make(map[int]bool)
	for t, c := range v.calls {
		if main[t] == 0 {
			continue
		}
		if c.f.Name == "MPI_Finalize" {
			v.end[t] = true
		}
		each(c, c.in, func(h handle, p *trace.ParamDef) {
			if p.Dir == trace.DirFree && used[h] {
				v.end[t] = true
			}
		})
	}
}
