package cut

import (
	"math"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/marked"
	"github.com/spoor-hpc/spoor/trace"
)

// MainLoop names the loop in which a rank makes most of its calls.
const MainLoop = "main"

// rounds finds the calls of some rounds of a loop. A round is from one call that begins it to before the next.
func (w *Window) rounds(k *trace.Rank, stream int) (s marked.Span, found bool, err error) {
	var begins func(terminal int) bool
	if w.Loop == MainLoop {
		begins, err = mainLoop(k, stream)
	} else {
		begins, err = w.named(k)
	}
	if err != nil || begins == nil {
		return s, false, err
	}
	x := k.Occurrences(stream, begins)
	if x.Total() == 0 || w.First >= x.Total() {
		return s, x.Total() > 0, nil
	}
	s.First, _ = x.Nth(w.First)
	if _, t := x.Nth(w.First); w.begins == nil {
		if w.begins, err = k.Called(t); err != nil {
			return s, false, err
		}
	}
	s.End = k.Len(stream)
	switch {
	case w.End < x.Total():
		s.End, _ = x.Nth(w.End)
	case x.Total() > 1: // the last round is as long as the one before: what follows the loop isn't in it
		a, _ := x.Nth(x.Total() - 2)
		b, _ := x.Nth(x.Total() - 1)
		s.End = min(s.End, b+(b-a))
	}
	return s, true, nil
}

// named returns the calls that a text names: a function, or what a call site is called, or a part of it.
func (w *Window) named(k *trace.Rank) (func(int) bool, error) {
	is := make([]bool, k.Terminals())
	any := false
	for t := range is {
		c, err := k.Called(t)
		if err != nil {
			return nil, err
		}
		name, place, both := strings.Cut(w.Loop, "@")
		if is[t] = c.Name() == name && (!both || w.Place != nil && strings.Contains(w.Place(c.Name(), c.Site), place)); is[t] {
			any = true
		}
	}
	if !any {
		return nil, nil
	}
	return func(t int) bool { return is[t] }, nil
}

// A caller is a function and where it is called.
type caller struct {
	function uint16
	site     trace.Site
}

// mainLoop finds the loop that has most of a stream's calls, and in it the call site that is called once
// a round and least elsewhere, or such a distinct call. Where there is none, it is the loop in it that has most.
func mainLoop(k *trace.Rank, stream int) (func(int) bool, error) {
	of := make([]caller, k.Terminals())
	for t := range of {
		c, err := k.Called(t)
		if err != nil {
			return nil, err
		}
		of[t] = caller{c.Func.ID, c.Site.Alone()}
	}
	sizes := make(map[trace.Node]uint64)
	n := k.Structure(stream)
	for {
		var most trace.Node
		size := uint64(0)
		for _, child := range n.Children() {
			if s := calls(child, sizes); s > size {
				most, size = child, s
			}
		}
		if size < k.Len(stream)/2 || most.Kind == trace.CallNode {
			return bySites(k, stream, of)
		}
		if n = most; n.Count < leastRounds {
			continue
		}
		x := tally{of: of, callers: make(map[caller]uint64), terminals: make(map[int]uint64)}
		for _, child := range n.Children() {
			x.count(child, 1)
		}
		counts := k.Counts(stream)
		all := make(map[caller]uint64)
		for t, n := range counts {
			all[of[t]] += n
		}
		// What is called elsewhere as well, as a clock is, begins no round.
		best, least := -1, uint64(math.MaxUint64)
		for _, t := range x.order {
			if n := all[of[t]]; x.callers[of[t]] == 1 && n < least {
				best, least = t, n
			}
		}
		if best >= 0 {
			return func(other int) bool { return of[other] == of[best] }, nil
		}
		// A site that is called several times a round, mostly with other parameters.
		for _, t := range x.order {
			if n := counts[t]; x.terminals[t] == 1 && n < least {
				best, least = t, n
			}
		}
		if best >= 0 {
			return func(other int) bool { return other == best }, nil
		}
	}
}

// leastRounds is from how many on something that repeats is a loop.
const leastRounds = 3

// bySites finds a loop whose rounds differ too much for the grammar to have seen it: where most calls are made
// from sites that are called equally often, that is in how many rounds there are. Calls that
// need no other rank don't count, as there may be any number of them.
func bySites(k *trace.Rank, stream int, of []caller) (func(int) bool, error) {
	times := make(map[caller]uint64)
	local := make(map[caller]bool)
	for t, n := range k.Counts(stream) {
		times[of[t]] += n
		c, err := k.Called(t)
		if err != nil {
			return nil, err
		}
		local[of[t]] = c.Func.Has(trace.Local)
	}
	covered := make(map[uint64]uint64) // by number of rounds: calls
	for c, n := range times {
		if !local[c] && n >= leastRounds {
			covered[n] += n
		}
	}
	rounds := uint64(0)
	for n, calls := range covered {
		if calls > covered[rounds] || calls == covered[rounds] && n < rounds {
			rounds = n
		}
	}
	if rounds == 0 {
		return nil, nil
	}
	for t := range of { // in the order in which they come
		if c := of[t]; times[c] == rounds && !local[c] {
			return func(other int) bool { return of[other] == c }, nil
		}
	}
	return nil, nil
}

// calls counts those of a node with all its rounds.
func calls(n trace.Node, known map[trace.Node]uint64) uint64 {
	if size, ok := known[n]; ok {
		return size
	}
	size := n.Count
	if n.Kind != trace.CallNode {
		round := uint64(0)
		for _, c := range n.Children() {
			round += calls(c, known)
		}
		size *= round
	}
	known[n] = size
	return size
}

// mostNodes bounds how much of a round is looked at.
const mostNodes = 1 << 16

// A tally is how often a round makes which calls.
type tally struct {
	of        []caller
	callers   map[caller]uint64
	terminals map[int]uint64
	order     []int // terminals, as they come
}

func (x *tally) count(n trace.Node, times uint64) {
	if len(x.terminals) > mostNodes {
		return
	}
	times *= n.Count
	if n.Kind == trace.CallNode {
		if x.terminals[n.Terminal] == 0 {
			x.order = append(x.order, n.Terminal)
		}
		x.terminals[n.Terminal] += times
		x.callers[x.of[n.Terminal]] += times
		return
	}
	for _, child := range n.Children() {
		x.count(child, times)
	}
}
