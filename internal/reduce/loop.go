package reduce

import (
	"math"
	"strings"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// MainLoop names the loop in which a rank makes most of its calls.
const MainLoop = "main"

// rounds finds the calls of some rounds of a loop. A round is from one call that begins it to before the next.
func (w *Window) rounds(r *trace.Reader, k *trace.Rank, stream int) (s ops.Span, found bool, err error) {
	var begins func(terminal int) bool
	if w.Loop == MainLoop {
		begins, err = w.mainLoop(r, k, stream)
	} else {
		begins = w.named(k)
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
		w.begins = k.Called(t)
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
func (w *Window) named(k *trace.Rank) func(int) bool {
	is := make([]bool, k.Terminals())
	any := false
	for t := range is {
		c := k.Called(t)
		name, place, both := strings.Cut(w.Loop, "@")
		if is[t] = c.Name() == name && (!both || w.Place != nil && strings.Contains(w.Place(c.Name(), c.Site), place)); is[t] {
			any = true
		}
	}
	if !any {
		return nil
	}
	return func(t int) bool { return is[t] }
}

// mainLoop finds the loop of the call tree that has most of a thread's calls, and in it the call that is made once a round and
// least elsewhere. Where there is none, it is the loop in it that has most.
func (w *Window) mainLoop(r *trace.Reader, k *trace.Rank, stream int) (func(int) bool, error) {
	key := [2]int{k.Class(), stream}
	if begins, ok := w.main[key]; ok && k.Uniform() {
		return begins, nil
	}
	o := w.Tree
	o.Bare = true
	t, err := calltree.Of(r, k.Number(), o)
	if err != nil {
		return nil, err
	}
	if w.main == nil {
		w.main = make(map[[2]int]func(int) bool)
	}
	w.main[key] = begins(k, stream, &t.Threads[stream])
	return w.main[key], nil
}

// begins returns which calls begin the rounds of a thread's main loop, nil if it has none.
func begins(k *trace.Rank, stream int, t *calltree.Thread) func(int) bool {
	of, all := make([]trace.FunctionSite, k.Terminals()), make(map[trace.FunctionSite]uint64)
	counts := k.Counts(stream)
	for terminal := range of {
		c := k.Called(terminal)
		of[terminal] = c.FunctionSite()
		all[of[terminal]] += counts[terminal]
	}
	within := false // the main loop, of which no call is made once a round: a loop in it with one is as good
	for body := t.Body; ; {
		i := most(body)
		if i < 0 || !within && body[i].Sums.Calls < t.Total.Calls/2 {
			return nil
		}
		n := body[i]
		body = n.Body
		if n.Kind != "loop" || n.Rounds < 2 {
			continue
		}
		within = true
		// What is called elsewhere as well, as a clock is, begins no round.
		best, least := -1, uint64(math.MaxUint64)
		var once func(list []*calltree.Node, site bool)
		once = func(list []*calltree.Node, site bool) {
			for _, x := range list {
				if x.Kind == "function" {
					once(x.Body, site)
				}
				for _, terminal := range x.Terminals {
					calls, times := x.Sums.Calls, all[of[terminal]]
					if !site { // one that is called several times a round, mostly with other parameters
						calls, times = counts[terminal], counts[terminal]
					}
					if calls == n.Rounds && times < least {
						best, least = terminal, times
					}
				}
			}
		}
		if once(n.Body, true); best >= 0 {
			return func(other int) bool { return of[other] == of[best] }
		}
		if once(n.Body, false); best >= 0 {
			return func(other int) bool { return other == best }
		}
	}
}

// most returns which of some nodes that have others in them has most calls, -1 if there is none.
func most(body []*calltree.Node) int {
	best := -1
	for i, n := range body {
		if n.Body != nil && (best < 0 || n.Sums.Calls > body[best].Sums.Calls) {
			best = i
		}
	}
	return best
}
