package proxy

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// Which of several requests finishes first, and how often a test finds nothing, follows no rule. So the structure of
// a program that polls is as long as the run. Such a program runs a loop: it tests or waits until some number of
// requests are finished. Such calls in a row become one step of the proxy, FINISH, and the structure is computed
// anew. (pilgrim-tpds2022 §3.3.4.)

// A stepwise is a stream of a variant with a structure of its own, in which consecutive calls may form one step.
type stepwise struct {
	g      *grammar.Grammar
	runs   []stepCalls
	steps  uint64            // number of all steps
	labels []*tree.RuleLabel // by rule: the function or loop of the program that it represents; nil: the rules represent none
}

// A stepCalls is consecutive calls of a stream that form one step, or no step if they finish nothing.
type stepCalls struct {
	first, calls uint64 // index of the first call in the stream, and number of calls
	step         uint64 // index of the step in the stream; if none is set, of the step after these calls
	none         bool
}

// A finish is a step of a variant: calls that finish requests, an exchange, or messages that differ in numbers.
// Finishes are numbered after the trace's terminals.
type finish struct {
	terminal int    // the terminal of one of its calls
	place    string // C expression for the address of its requests
	requests int64
	what     string       // text that distinguishes the step from the variant's other finishes
	exchange []exchanging // by member, if the step is an exchange; else nil
	at       []int        // if the step is messages that differ in numbers: positions of the values that differ
	rows     [][]int64    // for each such message: the values at these positions
}

// at returns the step that a call belongs to, or that follows it.
func (s *stepwise) at(call uint64) uint64 {
	if len(s.runs) == 0 {
		return call
	}
	n := sort.Search(len(s.runs), func(i int) bool { return s.runs[i].first+s.runs[i].calls > call })
	if n == len(s.runs) {
		return s.steps - (s.end() - call)
	}
	r := &s.runs[n]
	if call <= r.first {
		return r.step - (r.first - call)
	}
	return r.step
}

// end returns the number of the stream's calls: those up to the last run's end, and one for each step after it.
func (s *stepwise) end() uint64 {
	r := &s.runs[len(s.runs)-1]
	after := r.step + 1
	if r.none {
		after = r.step
	}
	return r.first + r.calls + (s.steps - after)
}

// finishedBy returns the name of the output by which FINISH counts the finished requests; "" if FINISH doesn't make
// such calls.
func (c *call) finishedBy() string {
	if !meaning.WaitBehaviourOf(c.def).Completes {
		return ""
	}
	switch choice := meaning.WaitBehaviourOf(c.def).Choice; {
	case choice == meaning.ChooseSomeRequests:
		return "outcount"
	case choice != meaning.ChooseAllRequests && c.def.Has(mpi.AttrPolls):
		return "flag"
	case choice == meaning.ChooseAnyRequest:
		return "index"
	}
	return ""
}

// maxStepwise is the largest number of a stream's calls for which new steps are looked for.
const maxStepwise = 1 << 26

// shorter is the factor by which at least one structure must become shorter. Otherwise no new structure is used.
const shorter = 2

// A candidate is a new structure of a stream.
type candidate struct {
	v        *variant
	stream   int
	s        *stepwise
	finishes []finish // of the variant, if it uses the structure
}

// take uses the new structures in list if one of them is much shorter. It then uses all of them, so that the programs
// of all ranks stay alike.
func (g *generator) take(list []candidate) {
	if slices.ContainsFunc(list, func(c candidate) bool {
		return shorter*c.s.g.SymbolCount() <= c.v.recorded(c.v.ranks[0], c.stream).SymbolCount()
	}) {
		for _, c := range list {
			c.v.stepwise[c.stream], c.v.finishes = c.s, c.finishes
		}
	}
}

// stepwise returns new structures for streams that become much shorter with FINISH.
func (g *generator) stepwise(v *variant) (list []candidate) {
	v.stepwise = make([]*stepwise, v.ranks[0].Streams())
	if g.o.KeepRecordedOrder || g.o.GapModel == GapsRecorded || g.ends != nil || g.turns != nil || v.generalised {
		return nil
	}
	same := make([]string, len(v.calls)) // by terminal: the loop that its calls may be part of; "": none
	done := make([]int64, len(v.calls))
	whole := make(map[string]bool) // by loop: some call of it got all requests of the array before any was finished
	lists := v.wholeLists()
	for t := range v.calls {
		same[t], done[t] = g.finisher(v, t, lists)
		if same[t] != "" && !slices.Contains(v.calls[t].requests(), 0) { // no request was finished before
			whole[same[t]] = true
		}
	}
	for t := range same {
		if !whole[same[t]] {
			same[t] = "" // the array may have had other requests, which were finished before
		}
	}
	number := make(map[string]int)
	for stream := range v.stepwise {
		var first *stepwise
		for m, k := range v.ranks {
			s := g.steps(v, k, stream, same, done, number, lists)
			if s == nil || m > 0 && !first.g.Equal(s.g) {
				first = nil
				break
			}
			if m == 0 {
				first = s
			}
		}
		if first != nil {
			list = append(list, candidate{v, stream, first, v.finishes})
		}
	}
	for i := range list {
		list[i].finishes = v.finishes // finishes of all streams
	}
	return list
}

// finisher returns an identifier of the loop that a call may be part of, and the number of requests that the call
// finished.
func (g *generator) finisher(v *variant, t int, lists map[site]int) (string, int64) {
	c := v.calls[t]
	what := c.finishedBy()
	if what == "" || c.own >= 0 && c.lane != nil || !c.outputs || c.vals[0][0] != 0 || g.why(v, t) != "" || v.ranks[0].Lane(t) != nil {
		return "", 0
	}
	if !c.alike("index", "array_of_indices") { // which one completes first differs between members
		return "", 0
	}
	done := int64(0)
	for i := range c.f.Params {
		if n := &c.out[i]; c.f.Params[i].Name == what {
			if n.typ != trace.TypeInt {
				return "", 0
			}
			done = c.vals[0][n.at]
			if what == "index" && done >= 0 {
				if done = 1; slices.ContainsFunc(c.vals, func(vals []int64) bool { return vals[n.at] < 0 }) {
					return "", 0
				}
			}
		}
	}
	if done < 0 {
		return "", 0 // no request was active
	}
	if c.asLeft() {
		return fmt.Sprintf("%s as left %v", c.f.Name, c.site), done
	}
	if w, ok := lists[c.at()]; ok && w >= 0 && c.partOf(v.calls[w]) {
		return fmt.Sprintf("%s these %v %v", c.f.Name, v.calls[w].requests(), c.site), done
	}
	place, ok := c.place()
	if !ok {
		return "", 0
	}
	return fmt.Sprintf("%s %s %v", c.f.Name, place, c.site), done
}

// alike reports whether members agree in everything except statuses and some outputs.
func (c *call) alike(but ...string) bool {
	if len(c.vals) == 1 {
		return true
	}
	for i := range c.f.Params {
		for side, n := range []*node{&c.in[i], &c.out[i]} {
			if side == 1 && slices.Contains(but, c.f.Params[i].Name) {
				continue
			}
			list := append([]node{*n}, n.elems...)
			for _, n := range list {
				if n.typ != trace.TypeNone && n.typ != trace.TypeStatus && !c.same(n.at) {
					return false
				}
			}
		}
	}
	return c.same(0)
}

// A site is a call site that passes a given number of requests.
type site struct {
	f        string
	at       trace.Site
	requests int
}

func (c *call) at() site { return site{c.f.Name, c.site, len(c.requests())} }

// requests lists the requests in a call's array, on the first member.
func (c *call) requests() (list []int64) {
	for i := range c.f.Params {
		if c.f.Params[i].Kind == mpi.KindRequest {
			for _, n := range c.in[i].elems {
				list = append(list, c.vals[0][n.at])
			}
		}
	}
	return list
}

// wholeLists finds, by site, the terminal that gets all requests of an array before any is finished; -1: the site
// passes different requests.
func (v *variant) wholeLists() map[site]int {
	lists := make(map[site]int)
	for t, c := range v.calls {
		at := c.at()
		if c.finishedBy() == "" || at.requests == 0 || !c.alike("index", "array_of_indices") || slices.ContainsFunc(c.requests(), func(v int64) bool { return v <= 0 || v&1 != 0 }) {
			continue
		}
		if old, ok := lists[at]; !ok {
			lists[at] = t
		} else if old >= 0 && !slices.Equal(c.requests(), v.calls[old].requests()) {
			lists[at] = -1
		}
	}
	return lists
}

// placeOf writes the address of the requests that the loop around a call gets.
func (g *generator) placeOf(v *variant, t int, lists map[site]int) string {
	c := v.calls[t]
	if c.asLeft() {
		return (&writer{g: g, v: v, c: c, t: t}).requests("array_of_requests")
	}
	if w, ok := lists[c.at()]; ok && w >= 0 && c.partOf(v.calls[w]) {
		return (&writer{g: g, v: v, c: v.calls[w], t: w}).requests("array_of_requests")
	}
	place, _ := c.place()
	place, _, _ = strings.Cut(place, " of ")
	return g.passes(c, int64(len(c.requests())), place)
}

// partOf reports whether a call gets the remaining requests of another call.
func (c *call) partOf(whole *call) bool {
	all := whole.requests()
	for i, v := range c.requests() {
		if v != 0 && v != all[i] {
			return false
		}
	}
	return true
}

// place writes the address of a call's requests, which include those that were finished before. It returns false if
// they were not made one directly after the other.
func (c *call) place() (string, bool) {
	for i := range c.f.Params {
		if c.f.Params[i].Kind != mpi.KindRequest {
			continue
		}
		n := &c.in[i]
		if n.typ == trace.TypeRequest {
			v := c.vals[0][n.at]
			return fmt.Sprintf("request(%d)", v>>1), v > 0 && v&1 == 0
		}
		from, known := int64(0), false
		for k := range n.elems {
			v := c.vals[0][n.elems[k].at]
			if v == 0 {
				continue
			}
			if first := v + 2*int64(k); v < 0 || v&1 != 0 || known && first != from {
				return "", false
			} else {
				from, known = first, true
			}
		}
		return fmt.Sprintf("window(%d) of %d", from>>1, len(n.elems)), known && from>>1 >= int64(len(n.elems))
	}
	return "", false
}

// steps finds the steps of a stream; nil if no calls can be combined.
func (g *generator) steps(v *variant, k *trace.Rank, stream int, same []string, done []int64, number map[string]int, lists map[site]int) *stepwise {
	if k.CallCount(stream) > maxStepwise {
		return nil
	}
	s := &stepwise{}
	b := grammar.NewBuilder()
	var now *stepCalls
	last, requests, terminal, first := "", int64(0), 0, 0
	close := func() {
		if now == nil {
			return
		}
		if now.none = requests == 0; !now.none {
			key := fmt.Sprintf("%d %s", requests, last)
			n, fresh := once.NumberOf(number, key)
			if fresh {
				v.finishes = append(v.finishes, finish{terminal: terminal, place: g.placeOf(v, first, lists), requests: requests, what: key})
			}
			b.Append(uint32(len(v.calls) + n))
			s.steps++
		}
		s.runs = append(s.runs, *now)
		now = nil
	}
	at := uint64(0)
	for n := range k.Sequence(stream) {
		is := same[n]
		if c := v.calls[n]; now != nil && is != "" && c.asLeft() && c.f == v.calls[first].f && c.site == v.calls[first].site {
			is = last // the call gets the requests that the previous call left
		}
		if is == "" || is != last {
			close()
		}
		if last = is; last == "" {
			b.Append(uint32(n))
			s.steps++
			at++
			continue
		}
		if now == nil {
			now = &stepCalls{first: at, step: s.steps}
			requests, terminal, first = 0, n, n
		}
		now.calls++
		at++
		if requests += done[n]; done[n] > 0 {
			terminal = n // the step is written like this call, as it has a status
		}
	}
	close()
	s.g = b.Grammar()
	if len(s.runs) == 0 {
		return nil
	}
	return s
}

// structure returns a stream's structure on a member.
func (v *variant) structure(k *trace.Rank, stream int) trace.Node {
	if s := v.stepwise[stream]; s != nil {
		return trace.StructureOf(trace.OpaqueGrammar(grammar.WrapOpaque(s.g)))
	}
	return k.Structure(stream)
}

// step returns the step that a member's call belongs to, or that follows it.
func (v *variant) step(k *trace.Rank, stream int, call uint64) uint64 {
	if s := v.runs(k, stream); s != nil {
		return s.at(call)
	}
	return call
}

// finishLine writes a FINISH step.
func (g *generator) finishLine(v *variant, f *finish) *line {
	if f.exchange != nil {
		return g.exchangeLine(v, f)
	}
	if f.rows != nil {
		return g.rowLine(v, f)
	}
	c := v.calls[f.terminal]
	count := ""
	if meaning.WaitBehaviourOf(c.def).Choice != meaning.ChooseOneRequest {
		count = fmt.Sprint(c.vals[0][c.in[0].at])
	}
	got := c.finishedBy()
	switch {
	case count != "" && got == "flag":
		got = "testany"
	case got == "flag" || got == "index":
		got += "_" // a C variable and function have these names
	}
	text := g.finishCall(v, c, count, f.place)
	l := &line{site: g.site(c.site)}
	l.text = func(gap string) string { return fmt.Sprintf("FINISH(%d, %s, %s, %s);", f.requests, got, gap, text) }
	return g.shared(l)
}

// finishCall writes the call of a FINISH step.
func (g *generator) finishCall(v *variant, c *call, count, place string) string {
	w := &writer{g: g, v: v, c: c, sinks: make(map[string]int)}
	status := "&status"
	_, length := w.outLength(&node{})
	all := "statuses(" + length + ")"
	for i := range c.f.Params {
		p := &c.f.Params[i]
		if p.Kind == mpi.KindStatus && w.ignores(&c.out[i]) {
			status, all = "MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE"
		}
	}
	var args string
	switch got := c.finishedBy(); {
	case count == "" && c.def.Index("flag") < 0:
		args = fmt.Sprintf("%s, %s", place, status)
	case count == "":
		args = fmt.Sprintf("%s, &flag, %s", place, status)
	case meaning.WaitBehaviourOf(c.def).Choice == meaning.ChooseAllRequests:
		args = fmt.Sprintf("%s, %s, %s", count, place, all)
	case got == "flag":
		args = fmt.Sprintf("%s, %s, &number[0], &flag, %s", count, place, status)
	case got == "index":
		args = fmt.Sprintf("%s, %s, &number[0], %s", count, place, status)
	default:
		args = fmt.Sprintf("%s, %s, &number[0], room(4 * %s), %s", count, place, count, all)
	}
	return fmt.Sprintf("%s(%s)", c.f.Name, args)
}

// stepTimes returns a member's gaps at the leaves of a stream with a new structure. The gaps of all calls of a step
// are before the step's first call.
func (v *variant) stepTimes(g *generator, k *trace.Rank, stream int, leaves *trace.Leaves) ([]reissue.LeafGaps, error) {
	old := k.Leaves(stream)
	list, _, err := reissue.LeafGapsOf(g.r, k, old)
	if err != nil {
		return nil, err
	}
	s := v.runs(k, stream)
	out := make([]reissue.LeafGaps, leaves.Len())
	cursor := leaves.Cursor(k)
	at, run, passed := uint64(0), 0, 0.0
	for leaf, enters := range old.Visits(k) {
		gap := list[leaf].MeanGapNs
		if enters && list[leaf].Entries > 0 {
			gap = list[leaf].MeanEntryGapNs
		}
		passed += gap
		for run < len(s.runs) && at >= s.runs[run].first+s.runs[run].calls {
			run++
		}
		inside := run < len(s.runs) && at >= s.runs[run].first
		last := inside && at+1 == s.runs[run].first+s.runs[run].calls && !s.runs[run].none
		at++
		if inside && !last {
			continue
		}
		to, loops, _ := cursor.Next()
		x := &out[to]
		if x.Calls++; loops > 0 {
			x.Entries++
			x.MeanEntryGapNs += passed
		} else {
			x.MeanGapNs += passed
		}
		passed = 0
	}
	for i := range out {
		x := &out[i]
		x.RankFactor = 1
		x.MeanGapNs /= max(1, float64(x.Calls-x.Entries))
		x.MeanEntryGapNs /= max(1, float64(x.Entries))
	}
	return out, nil
}
