package timing

import "github.com/spoor-hpc/spoor/internal/file/wire"

// PhaseNumbers is how numbers of either sign went on that some of the calls have: the lines of what
// is below zero of a call, of what is above, and of how many it has. Being no times, they
// have no noise of the clock.
type PhaseNumbers struct {
	below, above, count PhaseLine
	calls               uint64
}

// NewPhaseNumbers makes room for them, for those of which there are very many if few is set.
func NewPhaseNumbers(few bool) *PhaseNumbers {
	n := new(PhaseNumbers)
	for _, l := range n.lines() {
		l.few, l.fine = few, true
	}
	return n
}

func (n *PhaseNumbers) lines() [3]*PhaseLine { return [3]*PhaseLine{&n.below, &n.above, &n.count} }

// Add takes in what a call has before which there were so many calls, all told; those of which
// nothing was said have no numbers.
func (n *PhaseNumbers) Add(before, below, above, count uint64) {
	if before < n.calls {
		return // an event of another kind with the same call
	}
	n.upTo(before)
	n.below.Add(below)
	n.above.Add(above)
	n.count.Add(count)
	n.calls++
}

// upTo says that all calls until there were so many had no numbers.
func (n *PhaseNumbers) upTo(calls uint64) {
	if calls <= n.calls {
		return
	}
	for _, l := range n.lines() {
		l.line().none(calls - n.calls)
	}
	n.calls = calls
}

// Phases returns those of so many calls in all.
func (n *PhaseNumbers) Phases(calls uint64) (below, above, count []Phase) {
	n.upTo(calls)
	return n.below.Phases(), n.above.Phases(), n.count.Phases()
}

// Code is them as they are, read into new ones.
func (n *PhaseNumbers) Code(c *wire.Coder) {
	wire.Uints(c, &n.calls)
	for _, l := range n.lines() {
		l.line().code(c)
	}
}

// none takes in so many calls of nothing.
func (l line) none(calls uint64) {
	if fresh := l.fresh(); fresh.Calls > 0 {
		l.last = joined(l.last, fresh)
		l.settle(fresh.Sum)
	}
	if l.last.Sum == 0 {
		l.last.Calls += calls
		l.settle(0)
		return
	}
	l.begin(Phase{calls, 0})
}
