// Package extrapolate makes the trace of a run on a number of ranks that nobody ran, from traces of the same program on
// smaller ones.
//
// All ranks of all runs share one shape: call sites in order, and loops around them. What differs between them is
// fitted: whether a site is reached, the trip count of a loop, and each value of a call. For each of these, forms of
// the rank and the number of ranks are tried, simplest first. A value is determined only if all simplest forms that fit
// everything seen give the same one. After Wu and Mueller, ScalaExtrap (PPoPP 2011), which fits parameters of stencils
// along the corners of a grid.
package extrapolate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/track/trackwriter"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// OmittedCallsKey is the metadata key under which a partial trace describes the calls that it lacks.
const OmittedCallsKey = noted + ".lacks"

// noted is the metadata key under which an extrapolated trace says from which runs it was made.
const noted = trace.MetaNotePrefix + ".extrapolated"

// IsExtrapolated reports whether a trace is extrapolated.
func IsExtrapolated(r *trace.Reader) bool { return r.Meta()[noted] != "" }

// A Refusal is the error that some values of an extrapolated run can't be determined.
type Refusal struct {
	TargetRanks   int
	ReasonByValue map[string]string // by name of the value
	// numbers of ranks whose traces would determine most of these values; empty: more traces don't help
	HelpfulRankCounts []int
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("%s of a run on %d ranks can't be determined from these traces:\n  %s", show.FormatPlural(len(r.ReasonByValue), "value"), r.TargetRanks, strings.Join(r.list(8), "\n  "))
	if len(r.HelpfulRankCounts) > 0 {
		text += fmt.Sprintf("\ntraces on %s ranks would decide more", strings.Trim(strings.ReplaceAll(fmt.Sprint(r.HelpfulRankCounts), " ", ", "), "[]"))
	}
	return text
}

// list describes up to most refused values, each with its reason. Values that differ only in the iteration are one.
func (r *Refusal) list(most int) (list []string) {
	count := make(map[string]int)
	for _, slot := range slices.Sorted(maps.Keys(r.ReasonByValue)) {
		text := iteration.ReplaceAllString(slot, "")
		if count[text]++; count[text] == 1 {
			list = append(list, slot)
		}
	}
	more := len(list) - most
	list = list[:min(len(list), most)]
	for i, slot := range list {
		text := iteration.ReplaceAllString(slot, "")
		list[i] = text + ": " + r.ReasonByValue[slot]
		if n := count[text]; n > 1 {
			list[i] = fmt.Sprintf("%s, in %d iterations that differ: %s", text, n, r.ReasonByValue[slot])
		}
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return list
}

// iteration matches the part of a fitted value's name that says in which iteration of loops it is.
var iteration = regexp.MustCompile(` in iteration \[[\d ]*\]`)

// A Model is the common structure of traces of one program on several numbers of ranks.
type Model struct {
	m *pattern
	// by run and rank: the calls, for a second attempt with loops from the order of calls; nil if m has such loops
	// already
	calls [][]*grammar.Grammar
	// what the second attempt found, if the last Extrapolate used it; else nil
	second *pattern
}

// Learn builds the model from traces of one program on different numbers of ranks. name gives call sites their names;
// if it is nil, these are module and offset.
func Learn(traces []*trace.Reader, name func(trace.Site) string) (*Model, error) {
	makeLists()
	if len(traces) < 3 {
		return nil, errors.New("three traces at least are needed, on different numbers of ranks")
	}
	list := slices.Clone(traces)
	slices.SortStableFunc(list, func(a, b *trace.Reader) int { return cmp.Compare(a.Ranks(), b.Ranks()) })
	if name == nil {
		name = func(s trace.Site) string { return s.String() }
	}
	fitted := make(map[string]bool)
	for {
		x, err := learned(list, name, fitted)
		if e := (*contradiction)(nil); errors.As(err, &e) && !fitted[e.function] {
			fitted[e.function] = true
			continue
		}
		return x, err
	}
}

// learned builds the model from traces in the order of their numbers of ranks. Results of the functions in fitted are
// fitted like other values, not computed by MPI's rules.
func learned(list []*trace.Reader, name func(trace.Site) string, fitted map[string]bool) (*Model, error) {
	p := newProgram(name)
	p.fitted = fitted
	var err error
	if p.builds, p.outline.named, err = buildsOf(list); err != nil {
		return nil, err
	}
	timed := !slices.ContainsFunc(list, func(r *trace.Reader) bool { return !r.HasTimes() })
	var calls [][]*grammar.Grammar
	for i, r := range list {
		if i > 0 && r.Ranks() == list[i-1].Ranks() {
			return nil, fmt.Errorf("two traces are of %d ranks", r.Ranks())
		}
		for note := range r.Meta() {
			if what := strings.TrimPrefix(note, trace.MetaNotePrefix+"."); slices.Contains(changed, what) {
				return nil, fmt.Errorf("%s: its calls are not those of a run (%s)", r.Name(), r.Meta()[note])
			}
		}
		if thinned, err := r.MergedSizes(); err != nil || len(thinned) > 0 {
			return nil, cmp.Or(err, fmt.Errorf("%s: sizes of messages are approximate (spoor reduce)", r.Name()))
		}
		w, err := p.outline.wayOf(r)
		if err != nil {
			return nil, err
		}
		p.runs = append(p.runs, &run{r.Ranks(), r, w})
		var of []*grammar.Grammar
		places := len(p.places)     // number of places known before this run
		known := make(map[int]bool) // classes of ranks whose times were added
		for rank := range r.Ranks() {
			k, err := r.Rank(rank)
			if err != nil {
				return nil, err
			}
			if rank == 0 {
				if err := p.take(k); err != nil {
					return nil, err
				}
			}
			if x, err := k.Process(); err != nil {
				return nil, err
			} else if x.EndState != track.EndFinished || x.LostCalls > 0 {
				return nil, fmt.Errorf("%s: not all calls of rank %d are known: it %s, and %s were lost", r.Name(), rank, x.EndState, show.FormatPlural(x.LostCalls, "call"))
			}
			c, steps, err := p.rank(k)
			if err != nil {
				return nil, err
			}
			if timed && !known[k.Class()] {
				known[k.Class()] = true
				if err := p.timed(i, k, steps); err != nil {
					return nil, err
				}
			}
			of = append(of, c)
		}
		calls = append(calls, of)
		if err := p.checkSplits(); err != nil {
			return nil, err
		}
		if i > 0 && !slices.ContainsFunc(of, func(g *grammar.Grammar) bool {
			return slices.ContainsFunc(g.Terminals(), func(n uint32) bool { return int(p.calls[n].place) < places })
		}) {
			return nil, fmt.Errorf("%s and %s have no call site in common: they must be of the same binary, or of builds with debug information of the same program", list[0].Name(), r.Name())
		}
	}
	if p.uncoded == nil {
		if m, err := learn(p, calls, true); err == nil {
			return &Model{m: m, calls: calls}, nil
		}
	}
	m, err := learn(p, calls, false)
	return &Model{m: m}, err
}

// buildsOf returns the build IDs common to all traces, and whether some traces have further ones.
func buildsOf(list []*trace.Reader) (all map[string]bool, others bool, err error) {
	count := make(map[string]int)
	for _, r := range list {
		sites, err := r.Sites()
		if err != nil {
			return nil, false, err
		}
		seen := make(map[string]bool)
		for i := range sites {
			for _, frame := range sites[i].Frames() {
				if !seen[frame.BuildID] {
					seen[frame.BuildID] = true
					count[frame.BuildID]++
				}
			}
		}
	}
	all = map[string]bool{"": true}
	for id, n := range count {
		all[id] = all[id] || n == len(list)
		others = others || n < len(list)
	}
	return all, others, nil
}

// changed are the suffixes of the metadata keys by which traces say that their calls are not those of a run.
var changed = []string{"extrapolated", "drawn", "partners", "part", "changed", "order"}

// take copies the strings and sites that occur in a rank's values to the program's tables.
func (p *program) take(k *trace.Rank) error {
	h, err := k.Track()
	if err != nil {
		return err
	}
	t := track.Sealed(h).Track()
	maps.Copy(p.tables.Strings, t.Strings)
	for v, s := range t.Sites {
		if v > 1<<32 { // the hash of a site that occurs as a value
			p.tables.Sites[v] = s
		}
	}
	return nil
}

// Options are what Extrapolate may leave out or guess.
type Options struct {
	AllowPartial      bool // leave out calls that can't be determined
	AllowDistantTimes bool // give times beyond 16 times the largest traced number of ranks, too
}

// Extrapolate returns the trace on a number of ranks. The error is a *Refusal if some of it can't be determined. A
// partial trace comes together with a *Refusal: it lacks the refused calls, and those that depend on them, which
// count as lost.
func (x *Model) Extrapolate(ranks int, o Options) (*sections.Content, error) {
	x.second = nil
	whole := Options{AllowDistantTimes: o.AllowDistantTimes}
	c, err := x.at(ranks, whole)
	refusal := (*Refusal)(nil)
	if !errors.As(err, &refusal) {
		return c, err
	}
	if x.calls != nil {
		m, failed := learn(x.m.program, x.calls, false)
		if failed == nil {
			if c, failed = (&Model{m: m}).at(ranks, whole); failed == nil {
				x.second = m
				return c, nil
			}
		}
	}
	if o.AllowPartial {
		return x.at(ranks, o)
	}
	return nil, err
}

func (x *Model) at(ranks int, o Options) (*sections.Content, error) {
	all := &together{Options: o, world: worldOf(ranks), splits: make(map[splitKey]*colored)}
	if !o.AllowPartial {
		all.sizes = &unsaid{of: make([][]int64, ranks)}
	}
	c, err := x.content(ranks, all)
	if err == nil && all.sizes != nil && all.sizes.any.Load() {
		if err = all.sizes.lookUp(c); err == nil {
			c, err = x.content(ranks, all)
		}
	}
	if err == nil {
		err = check(c)
	}
	return c, err
}

// sideBySide is the number of ranks that are made concurrently.
const sideBySide = 16

// content makes the content of the trace. all is what the makers of its ranks share.
func (x *Model) content(ranks int, all *together) (*sections.Content, error) {
	times, off := x.m.durations(ranks, all.AllowDistantTimes)
	mode, about := timing.ModeStats, fmt.Sprintf("times of call sites are fitted, and off by %.0f %% where each run is left out in turn", 100*off)
	if times == nil {
		mode, about = timing.ModeNone, "times are not known"
		if x.m.far(ranks) {
			about = fmt.Sprintf("times are not given for more than %d times the largest number of ranks, unless by --far", farthest)
		}
	}
	to, err := trackwriter.NewCollector(ranks, timing.Options{Mode: mode})
	if err != nil {
		return nil, err
	}
	defer to.Close()
	last := x.m.runs[len(x.m.runs)-1].r
	k, err := last.Rank(0)
	if err != nil {
		return nil, err
	}
	q, err := k.Process()
	if err != nil {
		return nil, err
	}
	refused, left, anywhere := make(map[string]refusal), uint64(0), 0
	for first := 0; first < ranks; first += sideBySide {
		made := make([]*maker, min(sideBySide, ranks-first))
		errs := make([]error, len(made))
		var group sync.WaitGroup
		for i := range made {
			group.Go(func() { made[i], errs[i] = x.m.rankOf(int64(ranks), first+i, times, all) })
		}
		group.Wait()
		err := cmp.Or(errs...)
		for _, k := range made {
			for slot, why := range k.refused {
				if _, known := refused[slot]; !known {
					refused[slot] = why
				}
			}
			if err == nil && (len(refused) == 0 || all.AllowPartial) {
				err = to.Add(k.out, track.Process{Host: q.Host, PID: q.PID, EndState: q.EndState, SpanNs: int64(k.now), LostCalls: k.left})
			}
			k.out.Close()
			left += k.left
			anywhere += k.anywhere
		}
		if err != nil {
			return nil, err
		}
	}
	var from []string
	for _, r := range x.m.runs {
		from = append(from, fmt.Sprint(r.ranks))
	}
	meta := last.Meta()
	meta[noted] = fmt.Sprintf("extrapolated from runs on %s ranks: nobody made this one; %s", strings.Join(from, ", "), about)
	if anywhere > 0 {
		meta[noted] += fmt.Sprintf("; %s of buffers not determined, written as ?", show.FormatPlural(anywhere, "address"))
	}
	if len(refused) == 0 {
		return to.Content(meta)
	}
	e := x.refusal(ranks, refused)
	if !all.AllowPartial {
		return nil, e
	}
	meta[OmittedCallsKey] = fmt.Sprintf("it lacks %s at least, which can't be determined: %s", show.FormatPlural(left, "call"), strings.Join(e.list(2), "; "))
	c, err := to.Content(meta)
	return c, cmp.Or[error](err, e)
}

// refusal returns the error for the refused values, by name, without those that are refused only because of others.
func (x *Model) refusal(ranks int, refused map[string]refusal) *Refusal {
	follows := func(slot string, r refusal) bool {
		return r.why == errRequest.Error() || r.why == handles.ErrUnknown.Error() || strings.HasPrefix(slot, whichComplete)
	}
	all := maps.Clone(refused)
	if maps.DeleteFunc(refused, follows); len(refused) == 0 {
		refused = all
	}
	e := &Refusal{TargetRanks: ranks, ReasonByValue: make(map[string]string), HelpfulRankCounts: x.next(ranks, refused)}
	for slot, r := range refused {
		e.ReasonByValue[slot] = r.why
	}
	return e
}

// takes reports whether the program seems to run on a number of ranks. If all traced numbers and the wanted one are
// squares, powers of two or multiples of a common divisor, so must this one be.
func (p *program) takes(ranks, wanted int) bool {
	root := expr.FunctionNamed("root")
	square := func(n int) bool { return root(int64(n), 0, 0)*root(int64(n), 0, 0) == int64(n) }
	power := func(n int) bool { return bits.OnesCount(uint(n)) == 1 }
	common, squares, powers := int64(wanted), square(wanted), power(wanted)
	for _, r := range p.runs {
		common = stats.GCD(common, int64(r.ranks))
		squares, powers = squares && square(r.ranks), powers && power(r.ranks)
	}
	return int64(ranks)%common == 0 && (!squares || square(ranks)) && (!powers || power(ranks))
}

// next returns up to three numbers of ranks whose traces would decide between the forms of refused values: forms differ
// there, or a count first becomes 0. The program must seem to run on these numbers. They are not the wanted number, and
// at most twice the largest traced one.
func (x *Model) next(wanted int, slots map[string]refusal) (list []int) {
	const most = 3
	open := slices.Collect(maps.Values(slots))
	largest := x.m.runs[len(x.m.runs)-1].ranks
	for len(list) < most {
		best, decided := 0, 0
		for ranks := 4; ranks <= 2*largest; ranks++ {
			if ranks == wanted || !x.m.takes(ranks, wanted) || slices.ContainsFunc(x.m.runs, func(r *run) bool { return r.ranks == ranks }) {
				continue
			}
			n := 0
			for _, r := range open {
				if r.differ(int64(ranks)) {
					n++
				}
			}
			if n > decided {
				best, decided = ranks, n
			}
		}
		if best == 0 {
			break
		}
		list = append(list, best)
		open = slices.DeleteFunc(open, func(r refusal) bool { return r.differ(int64(best)) })
	}
	slices.Sort(list)
	return list
}

// differ reports whether, on some rank of a run, the forms of a refused value differ, or the value, a count, becomes 0.
func (r *refusal) differ(ranks int64) bool {
	for rank := range ranks {
		first, said := int64(0), false
		for i := range r.forms {
			e := env{expr.VariableRankCount: ranks, expr.VariableRank: rank}
			v, ok := r.forms[i].Eval(&e)
			if ok && (said && v != first || r.vanishes && r.forms[i].vanishes(&e, v)) {
				return true
			}
			if ok {
				first, said = v, true
			}
		}
	}
	return false
}

// A FittedValue describes one fitted value: whether a call is made, a trip count, or a value of a call.
type FittedValue struct {
	Name string `json:"slot"`
	// all equally simple formulas that fit; "?": an address that may be any
	FittingForms []string `json:"forms"`
	// why the value is refused whatever the forms give; "": it is what they give, if they agree
	RefusalReason string `json:"wrong,omitempty"`
}

// FittedValues describes all fitted values in the order of the program. Values that differ only in the iteration are one.
func (x *Model) FittedValues() (list []FittedValue) {
	known := make(map[string]int)
	var count []int
	for _, f := range x.m.slots {
		s := FittedValue{Name: iteration.ReplaceAllString(f.text, ""), FittingForms: []string{}, RefusalReason: f.wrong}
		for i := range f.forms {
			s.FittingForms = append(s.FittingForms, f.guarding(f.forms[i].Expr).String())
		}
		if f.spare && (f.wrong != "" || len(f.forms) == 0) {
			s.FittingForms, s.RefusalReason = []string{"?"}, ""
		}
		n, fresh := once.NumberOf(known, fmt.Sprint(s))
		if fresh {
			list, count = append(list, s), append(count, 0)
		}
		count[n]++
	}
	for i, n := range count {
		if n > 1 {
			list[i].Name += fmt.Sprintf(", in %d iterations", n)
		}
	}
	return list
}

// Assumptions lists what the last result, for a number of ranks, depends on but the traces don't show. It is the grid
// that all values about a grid have in common, that shares equal in all traces remain equal, and that no new behaviour
// begins with more ranks.
func (x *Model) Assumptions(ranks int) (list []string) {
	m := cmp.Or(x.second, x.m)
	var common map[int]bool
	for _, t := range m.memo {
		if t.wrong != "" || len(t.forms) == 0 || slices.ContainsFunc(t.forms, func(f form) bool { return f.grid < 0 }) {
			continue
		}
		has := make(map[int]bool)
		for i := range t.forms {
			g := t.forms[i].grid
			has[g] = common == nil || common[g]
		}
		maps.DeleteFunc(has, func(_ int, all bool) bool { return !all })
		common = has
	}
	if len(common) > 0 {
		grid := expr.Grids()[slices.Min(slices.Collect(maps.Keys(common)))]
		sides := grid.Sides(int64(ranks))
		text := fmt.Sprintf("%d × %d", sides[0], sides[1])
		if grid.Dimensions == 3 {
			text += fmt.Sprintf(" × %d", sides[2])
		}
		list = append(list, "ranks are a grid of "+text+", as even as on the traced numbers")
	}
	known := make(map[string]bool)
	for _, t := range m.slots {
		if f := t.assumed.Load(); f != nil && !known[f.String()] {
			known[f.String()] = true
			list = append(list, fmt.Sprintf("shares of a total are equal, as on the traced numbers: %s is %s", t.text, f))
		}
	}
	return append(list, fmt.Sprintf("the program does nothing else from more than %d ranks on", m.runs[len(m.runs)-1].ranks))
}

// worldOf returns the ranks of MPI_COMM_WORLD, in order.
func worldOf(ranks int) []int {
	world := make([]int, ranks)
	for i := range world {
		world[i] = i
	}
	return world
}
