// Phases represent how times changed over a run in few bytes: the times of equal calls, in order, as a few phases
// with a count and a sum each. A warm-up and the main part of a program are two phases, and a single long wait is
// another.
//
// Phases contain numbers only; the caller knows which calls they belong to.

package timing

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// MaxPhases is the largest number of phases of a PhaseTracker, ReducedMaxPhases the largest if there are very many
// lines. On a busy machine each wait for a processor is a phase of its own. TestInterrupted has 2,400 parts of runs in
// which one of twenty calls waited: 3 are wrong by more than 2 % with 24 phases, 699 with 8.
const (
	MaxPhases        = 24
	ReducedMaxPhases = 8
)

// A Phase is consecutive calls with similar times: their number and the sum of their times.
type Phase struct {
	Calls uint64
	Sum   uint64
}

func (p Phase) mean() uint64 { return p.Sum / max(p.Calls, 1) }

// A PhaseTracker divides a sequence of calls' times into phases. A new time is added to the last phase, unless joining
// two other neighbours costs less: then these are joined, and the time begins a new phase.
//
// The cost of joining is the time that is then assigned to wrong calls: for n calls of one mean and m of another,
// n·m/(n+m) times the difference of the means. Costs below a thousandth of all time, or a microsecond, are ignored,
// so that noise begins no phase.
type PhaseTracker struct {
	now
	rest
}

// now has the fields of a PhaseTracker that nearly every added time needs. Fresh times are those that follow the phase
// last but are not joined to it yet.
type now struct {
	mean  uint64 // mean time of phase last
	slack uint64 // largest time that may be assigned to wrong calls, in ns: see fineness
	drift int64  // sum over the fresh times of their difference from mean
	left  uint64 // number of calls until the fresh times are joined to phase last
}

// rest has the fields of a PhaseTracker that are needed only if a time differs from those before it, or at intervals.
type rest struct {
	due   uint64 // number of fresh times after which they are joined to phase last
	last  Phase
	total uint64 // sum of all times except the fresh ones
	few   bool
	fine  bool // values have no noise: finest is not added to slack
	past  []Phase
	// By index in past: the cost of joining that phase to its successor. The successor of the last phase in past is
	// phase last.
	cost []uint64
}

// full reports whether the line has its largest number of phases, so that a new one requires joining two others.
func (l *rest) full() bool {
	if l.few {
		return len(l.past) >= ReducedMaxPhases-1
	}
	return len(l.past) >= MaxPhases-1
}

// A PhaseTrackerPair is a line of the gaps and a line of the durations of the same calls. A call that continues both
// last phases touches only the first 64 bytes.
type PhaseTrackerPair struct {
	now  [2]now
	rest [2]rest
}

// Add adds the gap a and the duration b of a call.
func (p *PhaseTrackerPair) Add(a, b uint64) {
	if !p.now[0].add(a) {
		p.line(0).look(a)
	}
	if !p.now[1].add(b) {
		p.line(1).look(b)
	}
}

// AddEach adds gaps and durations of calls: every step-th element of a and of b, from the first on.
func (p *PhaseTrackerPair) AddEach(a, b []uint64, step int) {
	p.line(0).addEach(a, step)
	p.line(1).addEach(b, step)
}

// UseReducedMaxPhases limits each line to ReducedMaxPhases phases from now on.
func (p *PhaseTrackerPair) UseReducedMaxPhases() { p.rest[0].few, p.rest[1].few = true, true }

// Phases returns the phases of the gaps (i = 0) or of the durations (i = 1).
func (p *PhaseTrackerPair) Phases(i int) []Phase { return p.line(i).phases() }

// Calls returns how many calls were added.
func (p *PhaseTrackerPair) Calls() uint64 { return p.line(0).calls() }

// Code writes the exact state of both lines, or reads it into a new pair.
func (p *PhaseTrackerPair) Code(c *wire.Coder) {
	for i := range p.now {
		p.line(i).code(c)
	}
}

func (p *PhaseTrackerPair) line(i int) phaseLine { return phaseLine{&p.now[i], &p.rest[i]} }

// phaseLine combines the two parts of a PhaseTracker, which a PhaseTrackerPair stores separately.
type phaseLine struct {
	*now
	*rest
}

// A line ignores differences until 2^-fineness of all its time would be assigned to wrong calls, plus finest ns. The
// constant is for the first calls, whose differences may be noise of the clock.
const (
	fineness = 11
	finest   = 1000
)

// Add adds the time of a call.
func (l *PhaseTracker) Add(v uint64) {
	if !l.add(v) {
		l.line().look(v)
	}
}

func (l *PhaseTracker) line() phaseLine { return phaseLine{&l.now, &l.rest} }

// Phases returns the phases, in order.
func (l *PhaseTracker) Phases() []Phase { return l.line().phases() }

// add adds a time that is similar to those of phase last. It returns false without adding it if the time differs, or
// if the fresh times are to be joined to phase last.
func (l *now) add(v uint64) bool {
	off := int64(v - l.mean)
	drift := l.drift + off
	slack := l.slack // no overflow: each number added to slack below is at most slack away from 0, or the time differs
	if uint64(off)+slack > 2*slack || uint64(drift)+slack > 2*slack || l.left == 0 {
		return false
	}
	l.drift = drift
	l.left--
	return true
}

// addEach adds every step-th of the times, from the first on.
func (l phaseLine) addEach(times []uint64, step int) {
	for i := 0; i < len(times); i += step {
		mean, slack, drift, left := l.mean, l.slack, l.drift, l.left
		for ; i < len(times) && left > 0; i += step {
			off := int64(times[i] - mean)
			d := drift + off
			if uint64(off)+slack > 2*slack || uint64(d)+slack > 2*slack {
				break
			}
			drift = d
			left--
		}
		if l.drift, l.left = drift, left; i < len(times) {
			l.look(times[i])
		}
	}
}

// fresh returns the fresh times as a phase.
func (l phaseLine) fresh() Phase {
	calls := l.due - l.left
	return Phase{calls, l.mean*calls + uint64(l.drift)}
}

func magnitude(v int64) uint64 { return uint64(max(v, -v)) }

// look adds a time for which add returned false.
func (l phaseLine) look(v uint64) {
	fresh := l.fresh()
	if off := magnitude(int64(v - l.mean)); off <= l.slack && fresh.Calls > 0 {
		// The fresh times and this one together are a new phase, or part of phase last.
		fresh = joined(fresh, Phase{1, v})
		if magnitude(l.drift+int64(v-l.mean)) > l.slack {
			l.begin(fresh)
		} else {
			l.last = joined(l.last, fresh)
			l.settle(fresh.Sum)
		}
		return
	}
	if fresh.Calls > 0 {
		l.last = joined(l.last, fresh)
		l.settle(fresh.Sum)
	}
	l.begin(Phase{1, v})
}

// begin ends phase last, and makes p the new phase last.
func (l phaseLine) begin(p Phase) {
	if l.full() {
		l.join()
	} else if l.last.Calls > 0 {
		l.past, l.cost = append(l.past, l.last), append(l.cost, 0)
	}
	l.last = p
	l.settle(p.Sum)
}

// settle updates costs and limits after phase last has changed. more is the sum of the times that were added to it.
func (l phaseLine) settle(more uint64) {
	l.total += more
	l.due = l.last.Calls>>3 + 1
	l.mean, l.drift, l.left = l.last.mean(), 0, l.due
	if l.slack = l.total >> fineness; !l.fine {
		l.slack += finest
	}
	if n := len(l.past); n > 0 {
		l.cost[n-1] = PhaseJoinCost(l.past[n-1], l.last)
	}
	if l.full() {
		l.slack = max(l.slack, l.cost[l.cheapest()])
	}
	l.slack = min(l.slack, 1<<62)
}

// join moves phase last into past, which is full. For this it joins the two neighbouring phases that cost least to
// join.
func (l phaseLine) join() {
	i := l.cheapest()
	end := len(l.past) - 1
	if i == end {
		l.past[end] = joined(l.past[end], l.last)
	} else {
		l.past[i] = joined(l.past[i], l.past[i+1])
		copy(l.past[i+1:], l.past[i+2:])
		copy(l.cost[i:], l.cost[i+1:])
		l.past[end] = l.last
		l.cost[i] = PhaseJoinCost(l.past[i], l.past[i+1])
	}
	if i > 0 {
		l.cost[i-1] = PhaseJoinCost(l.past[i-1], l.past[i])
	}
}

// cheapest returns the index in past of the phase that can be joined to its successor at least cost.
func (l *rest) cheapest() (at int) {
	for i, c := range l.cost {
		if c < l.cost[at] {
			at = i
		}
	}
	return at
}

func (l phaseLine) phases() []Phase {
	if l.last.Calls == 0 {
		return nil
	}
	return append(append(make([]Phase, 0, len(l.past)+1), l.past...), joined(l.last, l.fresh()))
}

func (l phaseLine) calls() uint64 {
	n := l.last.Calls + l.due - l.left
	for _, p := range l.past {
		n += p.Calls
	}
	return n
}

func joined(a, b Phase) Phase { return Phase{a.Calls + b.Calls, a.Sum + b.Sum} }

// PhaseJoinCost returns how much time is assigned to wrong calls if phases a and b are joined. It is 0 only if their
// means are equal.
func PhaseJoinCost(a, b Phase) uint64 {
	n, m := float64(a.Calls), float64(b.Calls)
	cost := math.Abs(float64(float64(a.Sum)*m)-float64(float64(b.Sum)*n)) / max(n+m, 1)
	return uint64(math.Ceil(min(cost, 1<<63)))
}

// ReducePhases joins neighbouring phases, those with the least cost first. It ends when at most most phases are left,
// and joining any two of them would cost more than limit.
func ReducePhases(list []Phase, most int, limit uint64) []Phase {
	for len(list) > 1 {
		at, cost := 0, ^uint64(0)
		for i := range len(list) - 1 {
			if c := PhaseJoinCost(list[i], list[i+1]); c < cost {
				at, cost = i, c
			}
		}
		if len(list) <= most && cost > limit {
			break
		}
		list[at] = joined(list[at], list[at+1])
		list = append(list[:at+1], list[at+2:]...)
	}
	return list
}

// MergePhases merges the phases of two sets of ranks that made the same calls, perhaps with other repetition counts.
// Calls at the same fraction of a set's calls are put into the same phase.
func MergePhases(a, b []Phase) []Phase {
	all, other := SumPhases(a), SumPhases(b)
	if all.Calls == 0 || other.Calls == 0 {
		return append(a, b...)
	}
	// Ends of the phases. The unit is such that both lists have the same length: all.Calls × other.Calls.
	ends := make([]bits128, 0, len(a)+len(b))
	for _, x := range []struct {
		list []Phase
		unit uint64
	}{{a, other.Calls}, {b, all.Calls}} {
		sum := uint64(0)
		for _, p := range x.list {
			sum += p.Calls
			ends = append(ends, times(sum, x.unit))
		}
	}
	slices.SortFunc(ends, func(a, b bits128) int { return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo)) })
	out := make([]Phase, 0, len(ends))
	var before [2]Phase
	for i, e := range ends {
		if i > 0 && e == ends[i-1] {
			continue
		}
		x, y := upTo(a, e, other.Calls), upTo(b, e, all.Calls)
		p := Phase{x.Calls - before[0].Calls + y.Calls - before[1].Calls, x.Sum - before[0].Sum + y.Sum - before[1].Sum}
		before = [2]Phase{x, y}
		if p.Calls == 0 && len(out) > 0 {
			out[len(out)-1].Sum += p.Sum
			continue
		}
		out = append(out, p)
	}
	return ReducePhases(out, max(len(a), len(b), ReducedMaxPhases), 0)
}

// SumPhases returns the number of calls of all phases, and the sum of their times.
func SumPhases(list []Phase) (sum Phase) {
	for _, p := range list {
		sum = joined(sum, p)
	}
	return sum
}

// upTo returns the phases before an end as one phase. The end is in units of 1/unit of a call. A phase that crosses
// it counts in proportion.
func upTo(list []Phase, end bits128, unit uint64) (sum Phase) {
	calls := end.over(unit)
	for _, p := range list {
		if sum.Calls+p.Calls > calls {
			n := calls - sum.Calls
			hi, lo := bits.Mul64(p.Sum, n)
			part, _ := bits.Div64(hi, lo, p.Calls)
			return joined(sum, Phase{n, part})
		}
		sum = joined(sum, p)
	}
	return sum
}

func (l phaseLine) code(c *wire.Coder) {
	n := len(l.past)
	if wire.CodeIndex(c, &n, MaxPhases); c.Reader != nil {
		l.past = append(l.past, make([]Phase, n)...)
	}
	for i := range l.past {
		wire.CodeUints(c, &l.past[i].Calls, &l.past[i].Sum)
	}
	wire.CodeUints(c, &l.last.Calls, &l.last.Sum, &l.mean, &l.slack, &l.due, &l.left, &l.total)
	wire.CodeIntegers(c, &l.drift)
	if c.Reader == nil {
		return
	}
	c.RefuseIf(l.left > l.due, "%d of %d calls to come", l.left, l.due)
	for i, p := range l.past {
		next := l.last
		if i+1 < n {
			next = l.past[i+1]
		}
		l.cost = append(l.cost, PhaseJoinCost(p, next))
	}
}

// NumberPhases is how the numbers attached to some calls of a line changed over the run. It has three lines: of a
// call's sum of negative numbers, of its sum of positive ones, and of how many numbers it has. Unlike times, numbers
// have no noise of the clock.
type NumberPhases struct {
	below, above, count PhaseTracker
	calls               uint64
}

// NewNumberPhases returns an empty NumberPhases. few limits its lines to ReducedMaxPhases phases, for callers that
// need very many.
func NewNumberPhases(few bool) *NumberPhases {
	n := new(NumberPhases)
	for _, l := range n.lines() {
		l.few, l.fine = few, true
	}
	return n
}

func (n *NumberPhases) lines() [3]*PhaseTracker {
	return [3]*PhaseTracker{&n.below, &n.above, &n.count}
}

// Add adds the numbers of one call: their negative and positive sum without sign, and how many they are. before is
// the number of calls before it. Calls since the previous Add have no numbers.
func (n *NumberPhases) Add(before, below, above, count uint64) {
	if before < n.calls {
		return // this call's numbers were added already, for an event of another kind
	}
	n.upTo(before)
	n.below.Add(below)
	n.above.Add(above)
	n.count.Add(count)
	n.calls++
}

// upTo adds calls without numbers until the lines have this many calls.
func (n *NumberPhases) upTo(calls uint64) {
	if calls <= n.calls {
		return
	}
	for _, l := range n.lines() {
		l.line().none(calls - n.calls)
	}
	n.calls = calls
}

// Phases returns the phases of the three lines, after calls without numbers were added up to the given total.
func (n *NumberPhases) Phases(calls uint64) (below, above, count []Phase) {
	n.upTo(calls)
	return n.below.Phases(), n.above.Phases(), n.count.Phases()
}

// Code writes the exact state of n, or reads it into a new NumberPhases.
func (n *NumberPhases) Code(c *wire.Coder) {
	wire.CodeUints(c, &n.calls)
	for _, l := range n.lines() {
		l.line().code(c)
	}
}

// none adds this many calls without numbers: their value is 0.
func (l phaseLine) none(calls uint64) {
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

// A bits128 is a product of two counts.
type bits128 struct{ hi, lo uint64 }

func times(a, b uint64) bits128 {
	hi, lo := bits.Mul64(a, b)
	return bits128{hi, lo}
}

// over returns x/n, rounded to the nearest integer, which must fit into 64 bits.
func (x bits128) over(n uint64) uint64 {
	lo, carry := bits.Add64(x.lo, n/2, 0)
	q, _ := bits.Div64(x.hi+carry, lo, n)
	return q
}
