package grammar

import (
	"math"
)

// An Arrival is one way in which the sequence reaches a leaf, by the previous terminal. A leaf at the beginning of
// a loop has several: one by which the loop is entered, and one for its further iterations.
type Arrival struct {
	Leaf             int
	PreviousTerminal int  // the terminal directly before the leaf, or BeforeFirst
	EntersLoop       bool // the innermost loop that begins with the leaf begins with this arrival, instead of going on
	LoopsEntered     int  // number of loops, nested from the innermost one outwards, that begin with this arrival
	levels           []level
}

// BeforeFirst is used as the predecessor of the first terminal.
const BeforeFirst = -1

// A level is a symbol on the path from the start rule to a leaf; levels are outermost first.
type level struct {
	offset uint64 // number of terminals before the symbol in its body
	length uint64 // length of one iteration in terminals
	count  uint64 // number of iterations
	only   rounds // selected iterations: those in which the arrival occurs
	below  uint64 // number of arrivals in one of the selected iterations
}

// rounds selects the iterations of a symbol in which an arrival occurs.
type rounds uint8

const (
	allRounds rounds = iota
	firstRound
	furtherRounds
)

// of returns how many of the first n iterations r selects.
func (r rounds) of(n uint64) uint64 {
	switch {
	case r == firstRound:
		return min(n, 1)
	case r == furtherRounds:
		return n - min(n, 1)
	}
	return n
}

// Count returns how often the arrival occurs in the sequence.
func (a *Arrival) Count() uint64 { return a.CountBefore(math.MaxUint64) }

// CountBefore returns how often the arrival occurs among the first position terminals.
func (a *Arrival) CountBefore(position uint64) uint64 {
	sum := uint64(0)
	for i := range a.levels {
		l := &a.levels[i]
		if position <= l.offset {
			return sum
		}
		position -= l.offset
		done := min(position/l.length, l.count)
		sum += l.only.of(done) * l.below
		if done == l.count || l.only.of(done+1) == l.only.of(done) {
			return sum
		}
		position -= done * l.length
	}
	return sum
}

// deepest is the largest depth of leaves whose arrivals are computed.
const deepest = 128

// Arrivals returns the arrivals at each leaf, by leaf. counts is the original grammar, or one that differs from it in
// counts only. For leaves in instances that several uses share, it returns no arrivals.
func (t *UnfoldedGrammar) Arrivals(counts *Grammar) [][]Arrival {
	out := make([][]Arrival, len(t.OriginalTerminal))
	if len(t.OriginalRule) == 0 {
		return out
	}
	x := arriving{t: t, counts: counts, out: out, uses: make([]int, len(t.OriginalRule))}
	for _, body := range t.Grammar.Rules {
		for _, s := range body {
			if s.TerminalOrRule < 0 {
				x.uses[-s.TerminalOrRule]++
			}
		}
	}
	x.measure()
	x.instance(0)
	return out
}

type arriving struct {
	t      *UnfoldedGrammar
	counts *Grammar
	out    [][]Arrival
	uses   []int
	length []uint64 // by instance: its length in terminals
	last   []int    // by instance: its last terminal
	path   []visitStep
}

// A visitStep is a symbol of an instance on the current path.
type visitStep struct {
	instance int32
	at       int
	level    level
}

func (x *arriving) count(instance int32, at int) uint64 {
	return x.t.count(x.counts, instance, at)
}

// measure computes lengths and last terminals of instances.
func (x *arriving) measure() {
	x.length, x.last = x.t.lengths(x.counts), make([]int, len(x.t.OriginalRule))
	for _, n := range x.t.Grammar.RuleOrder() {
		for _, s := range x.t.Grammar.Rules[n] {
			x.last[n] = x.lastOf(s.TerminalOrRule)
		}
	}
}

func (x *arriving) lengthOf(id int32) uint64 {
	if id < 0 {
		return x.length[-id]
	}
	return 1
}

func (x *arriving) lastOf(id int32) int {
	if id < 0 {
		return x.last[-id]
	}
	return int(x.t.OriginalTerminal[id])
}

func (x *arriving) instance(n int32) {
	if len(x.path) >= deepest {
		return
	}
	offset := uint64(0)
	for at, s := range x.t.Grammar.Rules[n] {
		l := level{offset: offset, length: x.lengthOf(s.TerminalOrRule), count: x.count(n, at)}
		offset += l.length * l.count
		x.path = append(x.path, visitStep{n, at, l})
		switch {
		case s.TerminalOrRule >= 0:
			x.leaf(s.TerminalOrRule)
		case x.uses[-s.TerminalOrRule] == 1:
			x.instance(-s.TerminalOrRule)
		}
		x.path = x.path[:len(x.path)-1]
	}
}

// leaf adds the arrivals at the leaf at the end of the path.
func (x *arriving) leaf(id int32) {
	only := make([]rounds, len(x.path))
	loops := 0
	add := func(from int) {
		a := Arrival{Leaf: int(id), PreviousTerminal: from, EntersLoop: loops > 0, LoopsEntered: loops, levels: make([]level, len(x.path))}
		below := uint64(1)
		for i := len(x.path) - 1; i >= 0; i-- {
			a.levels[i] = x.path[i].level
			a.levels[i].only, a.levels[i].below = only[i], below
			below *= only[i].of(a.levels[i].count)
		}
		x.out[id] = append(x.out[id], a)
	}
	for i := len(x.path) - 1; i >= 0; i-- {
		s := &x.path[i]
		body := x.t.Grammar.Rules[s.instance]
		if s.level.count > 1 {
			only[i] = furtherRounds
			add(x.lastOf(body[s.at].TerminalOrRule))
			only[i] = firstRound
			loops++
		}
		if s.at > 0 {
			add(x.lastOf(body[s.at-1].TerminalOrRule))
			return
		}
	}
	add(BeforeFirst)
}
