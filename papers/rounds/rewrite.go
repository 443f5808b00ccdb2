package rounds

import (
	"errors"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/track"
)

// instead is added to a number N while ranks are merged, and the sum replaces the trip count of a synthetic loop. N is
// the number of the loop's body on its rank, so ranks that have the same loops in the same order are in one class.
const instead = 1 << 32

// rewrite removes the runs of loops with synthetic trip counts from the rank's calls, and scales the times of calls to
// their new numbers.
func (x *rank) rewrite(d *grammar.SyntheticTripCounts) {
	terminals := uint32(len(x.t.Signatures))
	g := x.t.Streams[0].Grammar
	calls := slices.Clone(g.TerminalCounts(len(x.t.Signatures)))
	b := grammar.NewBuilder()
	next := g.Cursor()
	skip := func(to uint64, keep bool) {
		for next.Pos() < to {
			t, _ := next.Next()
			if keep {
				b.Append(t)
			}
		}
	}
	type of struct {
		family int
		key    int64
	}
	rounds := make(map[of][]*run)
	for i := range x.runs {
		r := &x.runs[i]
		n := r.body.node
		if n.group == nil || n.group.of.number < 1 {
			continue
		}
		if r.body.number < 0 {
			r.body.number = len(x.drawn)
			x.drawn = append(x.drawn, r.body)
		}
		skip(r.first, true)
		b.Append(terminals + uint32(r.body.number))
		end := r.first + r.rounds*uint64(len(r.body.terminal))
		next.Seek(end)
		k := of{n.group.of.number - 1, n.group.key}
		rounds[k] = append(rounds[k], r)
	}
	if len(x.drawn) == 0 {
		return
	}
	skip(next.Len(), true)
	now := slices.Clone(calls)
	for k, list := range rounds {
		for i, n := range d.DrawTripCounts(k.family, k.key, len(list)) {
			for _, t := range list[i].body.terminal {
				now[t] += uint64(n) - list[i].rounds
			}
		}
	}
	x.t.Streams[0].Grammar = x.nested(b.Grammar(), terminals)
	for t := range x.t.Times {
		s := &x.t.Times[t]
		x.calls += int64(now[t] - calls[t])
		x.ns -= int64(s.Duration.Sum + s.Gap.Sum)
		s.Duration, s.Gap = track.ScaleStat(s.Duration, now[t]), track.ScaleStat(s.Gap, now[t])
		x.ns += int64(s.Duration.Sum + s.Gap.Sum)
	}
	x.t.DropCallPositions()
}

// span adds to each rank's run time the time that its synthetic loops take more than the recorded ones. Ranks with
// equal numbers of additional calls get the mean of it, as ranks that wait for each other end together.
func span(ranks []*rank) {
	type sum struct{ ns, ranks int64 }
	more := make(map[int64]sum)
	for _, x := range ranks {
		s := more[x.calls]
		more[x.calls] = sum{s.ns + x.ns, s.ranks + 1}
	}
	for _, x := range ranks {
		if p, s := &x.t.Process, more[x.calls]; p.SpanNs > 0 {
			p.SpanNs = max(p.SpanNs+s.ns/s.ranks, 1)
		}
	}
}

// nested inserts the bodies of loops into a grammar: body i replaces the placeholder symbol terminals + i.
func (x *rank) nested(g *grammar.Grammar, terminals uint32) *grammar.Grammar {
	out := &grammar.Grammar{Rules: make([][]grammar.Symbol, 1)}
	bodies := make([]*grammar.Grammar, len(x.drawn))
	for i, n := range x.drawn {
		b := grammar.NewBuilder()
		for _, t := range n.terminal {
			b.Append(uint32(t))
		}
		bodies[i] = b.Grammar()
	}
	type place struct {
		g    *grammar.Grammar
		rule int32
	}
	known := map[place]int32{{g, 0}: 0}
	var put func(at place, to int32)
	rule := func(at place) int32 {
		r, fresh := once.NumberOf(known, at)
		if fresh {
			out.Rules = append(out.Rules, nil)
			put(at, r)
		}
		return -r
	}
	put = func(at place, to int32) {
		var body []grammar.Symbol
		for _, s := range at.g.Rules[at.rule] {
			switch {
			case s.TerminalOrRule < 0:
				body = append(body, grammar.Symbol{TerminalOrRule: rule(place{at.g, -s.TerminalOrRule}), Count: s.Count})
			case at.g != g || uint32(s.TerminalOrRule) < terminals:
				body = append(body, s)
			default:
				n := int(uint32(s.TerminalOrRule) - terminals)
				loop := grammar.Symbol{Count: instead + uint64(n)}
				if one := bodies[n].Rules[0]; len(one) == 1 && one[0].Count == 1 {
					loop.TerminalOrRule = one[0].TerminalOrRule
					if loop.TerminalOrRule < 0 {
						loop.TerminalOrRule = rule(place{bodies[n], -loop.TerminalOrRule})
					}
				} else {
					loop.TerminalOrRule = rule(place{bodies[n], 0})
				}
				for range s.Count {
					body = append(body, loop)
				}
			}
		}
		out.Rules[to] = body
	}
	put(place{g, 0}, 0)
	return out
}

var errApart = errors.New("ranks that do the same have other loops with synthetic trip counts")

// class lists the loops with synthetic trip counts of class i in d.drawing. In c, the class, it replaces the
// placeholders of their trip counts (instead + N) by 2.
func (d *TripCountDrawer) class(i int, c *sections.Class, byRank map[int]*rank) error {
	ranks := c.Ranks.Values()
	var which []int
	for n := range grammar.CountRepeatedSymbols(c.Streams) {
		if n >= len(c.RepetitionCounts) {
			break
		}
		vals := c.RepetitionCounts[n].Values()
		if slices.Max(vals) < instead {
			continue
		}
		loop := grammar.SyntheticLoop{RepeatedSymbol: n, Family: -1}
		for at, v := range vals {
			x := byRank[int(ranks[at])]
			if v -= instead; v < 0 || x == nil || int(v) >= len(x.drawn) {
				return errApart
			}
			g := x.drawn[v].node.group
			if loop.Family < 0 {
				loop.Family = g.of.number - 1
			}
			if loop.Family != g.of.number-1 {
				return errApart
			}
			loop.DrawKeyOfRank = append(loop.DrawKeyOfRank, g.key)
		}
		d.drawing.Loops[i] = append(d.drawing.Loops[i], loop)
		which = append(which, n)
		c.RepetitionCounts[n] = column.Constant(2, len(vals))
	}
	if len(which) == 0 {
		return nil
	}
	var err error
	if c.Streams, err = grammar.WithRepetitionCounts(c.Streams, which, func(int) int64 { return 2 }); err != nil {
		return err
	}
	_, err = d.drawing.UnrollStreams(c.Streams, varying(c), d.drawing.Loops[i], len(ranks))
	return err
}

// varying returns the positions of repeated symbols whose counts differ between ranks.
func varying(c *sections.Class) (list []int) {
	for n := range c.RepetitionCounts {
		if _, same := c.RepetitionCounts[n].Uniform(); !same {
			list = append(list, n)
		}
	}
	return list
}
