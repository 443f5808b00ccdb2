// SyntheticTripCounts draws the trip counts of loops from a distribution, if a trace has nothing else of them.
//
// Invariants:
//
//  1. A trip count MUST depend only on the seed, the family, the key and how many runs with that key came before.
//     Ranks that run a loop together have the same key, and so get the same counts without communication.
//  2. All trip counts of a key together MUST be distributed like the original ones: so each rank has as many
//     iterations in all as its runs had on average.
//  3. The size of the result MUST be bounded: see mostDrawn.

package grammar

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/trace/model"
)

// A SyntheticLoop is a repeated symbol of a class's streams with a synthetic count.
type SyntheticLoop struct {
	RepeatedSymbol int
	Family         int
	DrawKeyOfRank  []int64 // by rank of the class: ranks with equal keys run the loop together, with equal counts
}

// A SyntheticTripCounts is the distributions and the loops for synthetic trip counts.
type SyntheticTripCounts struct {
	Seed     uint64
	Families []model.SyntheticLoops
	Loops    [][]SyntheticLoop // by class: its loops with synthetic counts
}

// mostDrawn limits the synthetic trip counts of a class over all ranks, mostRuns those of a rank.
const (
	mostDrawn = 1 << 24
	mostRuns  = 1 << 16
)

// MaxDrawsPerRank returns how many synthetic trip counts a rank may have, by the number of ranks.
func MaxDrawsPerRank(ranks int) int { return min(mostRuns, mostDrawn/max(1, ranks)) }

// mostSymbols limits the number of symbols of the start rule of a stream after unrolling.
const mostSymbols = 1 << 20

// mostNested limits how deep the rules around a loop with synthetic trip counts may be nested.
const mostNested = 1 << 10

// An UnrolledStreams is streams in which each run of a loop with synthetic trip counts is separate.
type UnrolledStreams struct {
	Streams        []*Grammar
	VaryingSymbols []int // indices, as of EachRepeatedSymbol, of the repeated symbols whose counts differ between ranks
	// OriginalSymbols is, by index in VaryingSymbols, the symbol's index in UnrollStreams' varying; -1: its counts are
	// synthetic. DrawnCounts has, by index in VaryingSymbols and rank of the class, the synthetic counts; nil for others.
	OriginalSymbols []int
	DrawnCounts     [][]int64
}

var errUneven = errors.New("a loop around one whose rounds are drawn has not as many on all ranks")

// UnrollStreams draws the trip counts of a class's loops. varying is the indices of repeated symbols whose recorded counts
// differ between ranks.
func (d *SyntheticTripCounts) UnrollStreams(streams []*Grammar, varying []int, loops []SyntheticLoop, ranks int) (*UnrolledStreams, error) {
	u := &unroller{loops: loops, varying: varying, ranks: ranks, out: &UnrolledStreams{}}
	for _, g := range streams {
		x, err := u.stream(g)
		if err != nil {
			return nil, err
		}
		u.out.Streams = append(u.out.Streams, x)
	}
	if u.next != len(loops) {
		return nil, fmt.Errorf("loop of repeated symbol %d, there are %d", loops[u.next].RepeatedSymbol, u.number)
	}
	return u.out, d.draw(u)
}

// LoopFamiliesOfTerminals returns, for each terminal of a class, the family of synthetic loops around it, from 1; 0: none.
func LoopFamiliesOfTerminals(streams []*Grammar, loops []SyntheticLoop, terminals int) []int {
	out := make([]int, terminals)
	next := 0
	for _, g := range streams {
		seen := make([]bool, len(g.Rules))
		family := 0
		var within func(s Symbol)
		within = func(s Symbol) {
			switch {
			case s.TerminalOrRule >= 0:
				out[s.TerminalOrRule] = family
			case !seen[-s.TerminalOrRule]:
				seen[-s.TerminalOrRule] = true
				for _, x := range g.Rules[-s.TerminalOrRule] {
					within(x)
				}
			}
		}
		for _, body := range g.Rules {
			for _, s := range body {
				if s.Count < 2 {
					continue
				}
				if len(loops) > 0 && loops[0].RepeatedSymbol == next {
					family, loops = loops[0].Family+1, loops[1:]
					within(s)
				}
				next++
			}
		}
	}
	return out
}

// An unroller is the state of unrolling the streams of a class.
type unroller struct {
	loops   []SyntheticLoop
	varying []int
	ranks   int
	number  int // number of repeated symbols of the original streams so far, as of EachRepeatedSymbol
	next    int // index of the next element of loops
	made    int // number of repeated symbols in the result
	runs    []int
	out     *UnrolledStreams
}

// An unrollMark is the indices of a symbol in unroller.loops and in unroller.varying, plus 1; 0: it is not there.
type unrollMark struct{ loop, varying int }

// An unrolledRule is what becomes of a rule of the original stream.
type unrolledRule struct {
	marks    []unrollMark // by symbol of its body
	expanded bool         // the rule is inlined at each use, as it or a rule below it contains loops to unroll
	number   int32        // its number in the result, if not expanded
}

// A streamUnroller unrolls one stream.
type streamUnroller struct {
	*unroller
	rules    [][]Symbol
	unrolled []unrolledRule // by rule
	into     *Grammar
}

// stream unrolls one stream.
func (u *unroller) stream(g *Grammar) (*Grammar, error) {
	x := &streamUnroller{unroller: u, rules: g.Rules, unrolled: make([]unrolledRule, len(g.Rules))}
	if err := x.mark(); err != nil {
		return nil, err
	}
	x.expandUsers()
	x.renumber()
	if err := x.emit(0, 0); err != nil {
		return nil, err
	}
	if err := x.emitRules(); err != nil {
		return nil, err
	}
	return x.into, nil
}

// mark sets the marks of all rules of the stream, and expanded for those with loops to unroll.
func (x *streamUnroller) mark() error {
	at := 0
	for at < len(x.varying) && x.varying[at] < x.number {
		at++
	}
	for r, body := range x.rules {
		rule := &x.unrolled[r]
		rule.marks = make([]unrollMark, len(body))
		for i := range body {
			if body[i].Count < 2 {
				continue
			}
			m := &rule.marks[i]
			if x.next < len(x.loops) && x.loops[x.next].RepeatedSymbol == x.number {
				x.next++
				m.loop = x.next
				rule.expanded = true
			}
			if at < len(x.varying) && x.varying[at] == x.number {
				at++
				if m.varying = at; m.loop > 0 {
					return errUneven
				}
			}
			x.number++
		}
	}
	return nil
}

// expands reports whether a symbol is replaced by the body of its rule.
func (x *streamUnroller) expands(s Symbol) bool {
	return s.TerminalOrRule < 0 && x.unrolled[-s.TerminalOrRule].expanded
}

// expandUsers marks the users of expanded rules as expanded, too.
func (x *streamUnroller) expandUsers() {
	for again := true; again; {
		again = false
		for r, body := range x.rules {
			if rule := &x.unrolled[r]; !rule.expanded && slices.ContainsFunc(body, x.expands) {
				rule.expanded, again = true, true
			}
		}
	}
}

// renumber numbers the rules that are not expanded.
func (x *streamUnroller) renumber() {
	n := int32(0)
	for r := 1; r < len(x.rules); r++ {
		if rule := &x.unrolled[r]; !rule.expanded {
			n++
			rule.number = n
		}
	}
	x.into = &Grammar{Rules: make([][]Symbol, 1, n+1)}
}

// emit appends the body of a rule to the first rule of the result.
func (x *streamUnroller) emit(r int32, depth int) error {
	if depth > mostNested {
		return fmt.Errorf("loops within each other %d deep", depth)
	}
	for i, s := range x.rules[r] {
		m := x.unrolled[r].marks[i]
		if x.expands(s) {
			if m.loop > 0 || m.varying > 0 {
				return errUneven
			}
			for range s.Count {
				if err := x.emit(-s.TerminalOrRule, depth+1); err != nil {
					return err
				}
			}
			continue
		}
		s, err := x.emitted(s, m)
		if err != nil {
			return err
		}
		if x.into.Rules[0] = append(x.into.Rules[0], s); len(x.into.Rules[0]) > mostSymbols {
			return errMany
		}
	}
	return nil
}

// emitRules copies the rules that are not expanded.
func (x *streamUnroller) emitRules() (err error) {
	for r := 1; r < len(x.rules); r++ {
		rule := &x.unrolled[r]
		if rule.expanded {
			continue
		}
		body := slices.Clone(x.rules[r])
		for i, s := range body {
			if body[i], err = x.emitted(s, rule.marks[i]); err != nil {
				return err
			}
		}
		x.into.Rules = append(x.into.Rules, body)
	}
	return nil
}

// emitted returns symbol s with its rule's new number, as it becomes part of the result. It counts s by calling symbol.
func (x *streamUnroller) emitted(s Symbol, m unrollMark) (Symbol, error) {
	if s.TerminalOrRule < 0 {
		s.TerminalOrRule = -x.unrolled[-s.TerminalOrRule].number
	}
	return s, x.symbol(m, s)
}

var errMany = fmt.Errorf("more than %d numbers of rounds to draw, or more than %d of a rank", mostDrawn, mostRuns)

// symbol counts symbol s of the result if it is repeated. If its count differs between ranks, symbol adds it to
// VaryingSymbols.
func (u *unroller) symbol(m unrollMark, s Symbol) error {
	if s.Count < 2 {
		return nil
	}
	switch {
	case m.loop > 0:
		if u.runs = append(u.runs, m.loop-1); len(u.runs) > MaxDrawsPerRank(u.ranks) {
			return errMany
		}
		u.out.VaryingSymbols, u.out.OriginalSymbols = append(u.out.VaryingSymbols, u.made), append(u.out.OriginalSymbols, -1)
	case m.varying > 0:
		u.out.VaryingSymbols, u.out.OriginalSymbols = append(u.out.VaryingSymbols, u.made), append(u.out.OriginalSymbols, m.varying-1)
	}
	u.made++
	return nil
}

// draw draws the synthetic trip counts of the unrolled loops, as u.out.DrawnCounts.
func (d *SyntheticTripCounts) draw(u *unroller) error {
	drawn := make([][]int64, len(u.runs))
	for i := range drawn {
		drawn[i] = make([]int64, u.ranks)
	}
	type of struct {
		family int
		key    int64
	}
	type bundle struct {
		of
		runs int
	}
	known := make(map[bundle][]int64)
	for rank := range u.ranks {
		runs := make(map[of][]int)
		for i, l := range u.runs {
			loop := &u.loops[l]
			if loop.Family >= len(d.Families) || len(loop.DrawKeyOfRank) != u.ranks {
				return fmt.Errorf("loop %d is of family %d of %d, with keys of %d ranks of %d", l, loop.Family, len(d.Families), len(loop.DrawKeyOfRank), u.ranks)
			}
			k := of{loop.Family, loop.DrawKeyOfRank[rank]}
			runs[k] = append(runs[k], i)
		}
		for k, list := range runs {
			b := bundle{k, len(list)}
			if known[b] == nil {
				known[b] = d.DrawTripCounts(k.family, k.key, len(list))
			}
			for i, run := range list {
				drawn[run][rank] = known[b][i]
			}
		}
	}
	next := 0
	for _, from := range u.out.OriginalSymbols {
		var list []int64
		if from < 0 {
			list = drawn[next]
			next++
		}
		u.out.DrawnCounts = append(u.out.DrawnCounts, list)
	}
	return nil
}

// DrawTripCounts draws the trip counts of a family's loops, one for each of the runs that have this key. It divides the
// family's distribution into as many equal parts as there are runs. The runs get a count from one part each, in random
// order.
func (d *SyntheticTripCounts) DrawTripCounts(family int, key int64, runs int) []int64 {
	x := &d.Families[family]
	total := uint64(0)
	for i := range x.Bins {
		total += x.Bins[i].Count
	}
	type place struct {
		hash uint64
		run  int
	}
	order := make([]place, runs)
	from := DrawHash(DrawHash(d.Seed, uint64(family)), uint64(key))
	for i := range order {
		order[i] = place{DrawHash(from, uint64(i)), i}
	}
	slices.SortFunc(order, func(a, b place) int { return cmp.Or(cmp.Compare(a.hash, b.hash), a.run-b.run) })
	out := make([]int64, runs)
	if total == 0 {
		return out
	}
	// The place within each part from which the count comes is random, too, and the same for all parts. Otherwise a few
	// runs would have equal counts for all keys.
	shift := float64(DrawHash(from, uint64(runs))>>11) / (1 << 53)
	bin, below := 0, float64(0)
	for i, p := range order {
		at := (float64(i) + shift) / float64(runs) * float64(total)
		for bin+1 < len(x.Bins) && below+float64(x.Bins[bin].Count) <= at {
			below += float64(x.Bins[bin].Count)
			bin++
		}
		out[p.run] = x.Bins[bin].ReplacingValue
	}
	return out
}

// DrawHash is the hash for all random decisions: splitmix64 of a counter.
func DrawHash(h, counter uint64) uint64 {
	z := (h ^ counter*0xd1342543de82ef95) + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
