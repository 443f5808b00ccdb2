// A Drawing has loops run as often as a distribution says that they were, where a trace has no more of them.
//
// Invariants:
//
//  1. A number of rounds MUST follow from the seed, the family, the key and how many runs with that key came before, and
//     from nothing else: ranks that run a loop together have the same key, and so draw alike without looking at each other.
//  2. All numbers that a key draws together MUST be spread as the distribution is: so each rank has as many rounds in all
//     as its runs had in the mean.
//  3. What is made of a trace MUST be bounded: see mostDrawn.

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
	SymbolNumber int
	Family       int
	KeyOfRank    []int64 // of each rank
}

// A SyntheticCounts is what there is to draw from.
type SyntheticCounts struct {
	Seed     uint64
	Families []model.SyntheticLoops
	Loops    [][]SyntheticLoop // by class
}

// mostDrawn bounds the numbers of a class that are drawn, of all ranks, and mostRuns those of a rank.
const (
	mostDrawn = 1 << 24
	mostRuns  = 1 << 16
)

// MaxDrawsPerRank is how many numbers a rank may draw, by the number of ranks.
func MaxDrawsPerRank(ranks int) int { return min(mostRuns, mostDrawn/max(1, ranks)) }

// mostSymbols limits the symbols of a stream.
const mostSymbols = 1 << 20

// mostNested limits the nesting of loops around a synthetic one.
const mostNested = 1 << 10

// An UnrolledStreams is streams with each run of a loop whose rounds are drawn apart.
type UnrolledStreams struct {
	Streams []*Grammar
	Varying []int // numbers of repeated symbols whose counts differ by rank
	// OriginalNumbers says which they were before; -1: drawn. Drawn has those, by rank.
	OriginalNumbers []int
	DrawnCounts     [][]int64
}

var errUneven = errors.New("a loop around one whose rounds are drawn has not as many on all ranks")

// UnrollStreams draws the rounds of a class's loops. varying is what differs by rank for other reasons.
func (d *SyntheticCounts) UnrollStreams(streams []*Grammar, varying []int, loops []SyntheticLoop, ranks int) (*UnrolledStreams, error) {
	u := &unroller{loops: loops, varying: varying, ranks: ranks, out: &UnrolledStreams{}}
	for _, g := range streams {
		x, err := u.stream(g)
		if err != nil {
			return nil, err
		}
		u.out.Streams = append(u.out.Streams, x)
	}
	if u.next != len(loops) {
		return nil, fmt.Errorf("loop of repeated symbol %d, there are %d", loops[u.next].SymbolNumber, u.number)
	}
	return u.out, d.draw(u)
}

// SyntheticFamilies returns, for each terminal of a class, the family of synthetic loops around it, from 1; 0: none.
func SyntheticFamilies(streams []*Grammar, loops []SyntheticLoop, terminals int) []int {
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
				if len(loops) > 0 && loops[0].SymbolNumber == next {
					family, loops = loops[0].Family+1, loops[1:]
					within(s)
				}
				next++
			}
		}
	}
	return out
}

// An unroller goes through the streams of a class.
type unroller struct {
	loops   []SyntheticLoop
	varying []int
	ranks   int
	number  int // of the next repeated symbol
	next    int // of loops
	made    int // repeated symbols of what comes out
	runs    []int
	out     *UnrolledStreams
}

// An unrollMark is what is known of a symbol: the number of its loop, or of what varies, from 1.
type unrollMark struct{ loop, varying int }

// An unrolledRule is what becomes of a rule.
type unrolledRule struct {
	marks    []unrollMark // of its symbols
	expanded bool         // wherever it is used: it has drawn loops in it, or in what it uses
	number   int32        // in what comes out, if it isn't
}

// A streamUnroller unrolls one stream.
type streamUnroller struct {
	*unroller
	rules    [][]Symbol
	unrolled []unrolledRule // by rule
	into     *Grammar
}

// stream unrolls one.
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

// mark marks the symbols whose counts are drawn or vary.
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
			if x.next < len(x.loops) && x.loops[x.next].SymbolNumber == x.number {
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

// expands reports whether a symbol is replaced by what its rule has.
func (x *streamUnroller) expands(s Symbol) bool {
	return s.TerminalOrRule < 0 && x.unrolled[-s.TerminalOrRule].expanded
}

// expandUsers has rules expanded that use such rules.
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

// renumber numbers the rules that stay.
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

// emit writes what a rule has at the end of the first rule.
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

// emitRules writes the rules that stay.
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

// emitted notes a symbol that comes out, and returns it with the number that its rule has then.
func (x *streamUnroller) emitted(s Symbol, m unrollMark) (Symbol, error) {
	if s.TerminalOrRule < 0 {
		s.TerminalOrRule = -x.unrolled[-s.TerminalOrRule].number
	}
	return s, x.symbol(m, s)
}

var errMany = fmt.Errorf("more than %d numbers of rounds to draw, or more than %d of a rank", mostDrawn, mostRuns)

// symbol notes a symbol that comes out.
func (u *unroller) symbol(m unrollMark, s Symbol) error {
	if s.Count < 2 {
		return nil
	}
	switch {
	case m.loop > 0:
		if u.runs = append(u.runs, m.loop-1); len(u.runs) > MaxDrawsPerRank(u.ranks) {
			return errMany
		}
		u.out.Varying, u.out.OriginalNumbers = append(u.out.Varying, u.made), append(u.out.OriginalNumbers, -1)
	case m.varying > 0:
		u.out.Varying, u.out.OriginalNumbers = append(u.out.Varying, u.made), append(u.out.OriginalNumbers, m.varying-1)
	}
	u.made++
	return nil
}

// draw fills in the numbers of rounds.
func (d *SyntheticCounts) draw(u *unroller) error {
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
			if loop.Family >= len(d.Families) || len(loop.KeyOfRank) != u.ranks {
				return fmt.Errorf("loop %d is of family %d of %d, with keys of %d ranks of %d", l, loop.Family, len(d.Families), len(loop.KeyOfRank), u.ranks)
			}
			k := of{loop.Family, loop.KeyOfRank[rank]}
			runs[k] = append(runs[k], i)
		}
		for k, list := range runs {
			b := bundle{k, len(list)}
			if known[b] == nil {
				known[b] = d.DrawRounds(k.family, k.key, len(list))
			}
			for i, run := range list {
				drawn[run][rank] = known[b][i]
			}
		}
	}
	next := 0
	for _, from := range u.out.OriginalNumbers {
		var list []int64
		if from < 0 {
			list = drawn[next]
			next++
		}
		u.out.DrawnCounts = append(u.out.DrawnCounts, list)
	}
	return nil
}

// DrawRounds draws numbers of rounds of a family's loops, for as many runs with a key as there are. Runs are put in an
// order at random, and take their part of the distribution in turn.
func (d *SyntheticCounts) DrawRounds(family int, key int64, runs int) []int64 {
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
	// The first position is drawn too, otherwise the numbers of a few runs would be equal for all keys.
	shift := float64(DrawHash(from, uint64(runs))>>11) / (1 << 53)
	bin, below := 0, float64(0)
	for i, p := range order {
		at := (float64(i) + shift) / float64(runs) * float64(total)
		for bin+1 < len(x.Bins) && below+float64(x.Bins[bin].Count) <= at {
			below += float64(x.Bins[bin].Count)
			bin++
		}
		out[p.run] = x.Bins[bin].Value
	}
	return out
}

// DrawHash is the hash that all is drawn by, splitmix64 of a counter.
func DrawHash(h, counter uint64) uint64 {
	z := (h ^ counter*0xd1342543de82ef95) + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
