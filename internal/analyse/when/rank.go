package when

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// A RankAnalysis is one rank's part of the analysis. All ranks call BeginRankAnalysis, process their own calls, then
// call Conclude.
type RankAnalysis struct {
	waits.Messenger
	all    []int // the ranks of the run, from 0
	r      *trace.Reader
	places *waits.Places
	clock  ops.StreamCallTimes
	broken error

	k      *trace.Rank // nil: the rank left no track
	order  *siteOrder
	loop   *Loop
	rounds *RankIterations // the rank's iterations; nil: it doesn't run the loop
	shapes []int           // by slot: slots with the same number have calls from the same sites, on all ranks
	// means has the times, in ns, at which the run begins, each slot begins, the last slot ends and the run ends. They
	// are means over the ranks that run the loop, or over all ranks without a loop.
	means  []int64
	gaps   []float64 // by terminal: the mean gap in ns; 0 for a terminal that is called too rarely
	files  []bool    // by terminal: its function works on files, not MPI
	canvas *canvas   // nil: the rank's times are not known
	origin int64     // the zero of reported times, on the rank's clock
	zero   int64     // the clock's zero, on the run's time line
	last   int64     // end of the latest call
	size   int64     // largest size of the picture in bytes; 0: the default
	most   []excess  // by slot: the call before which the rank's gap exceeded its mean most

	calls  uint64                  // number of calls so far
	delays []track.SchedulingDelay // scheduling delays of calls still to come; nil: the kernel reported none
	within []int64                 // by slot: ns without a processor in calls
	before []int64                 // by slot: ns without a processor outside of calls
}

// An excess is the time by which a rank's computation before a call exceeded its mean, and the number of the call's
// site in siteOrder.
type excess struct {
	ns   float64
	site int
}

// ErrNoSingleTimes is returned if a rank has calls, but not all their times.
var ErrNoSingleTimes = errors.New("the times of single calls were not kept")

var errElsewhere = errors.New("another rank has failed")

// try calls f unless this rank has failed before. It keeps an error or panic of f in x.broken.
func (x *RankAnalysis) try(f func() error) {
	if x.broken != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			x.broken = fmt.Errorf("when: rank %d: %v\n%s", x.Rank(), p, debug.Stack())
		}
	}()
	if err := f(); err != nil {
		x.broken = fmt.Errorf("when: rank %d: %w", x.Rank(), err)
	}
}

// message encodes a byte that reports whether the rank has failed, and then what code writes.
func (x *RankAnalysis) message(code func(c *wire.Coder)) []byte {
	b := []byte{0}
	x.try(func() error {
		b = wire.AppendEncoded(b, code)
		return nil
	})
	if x.broken != nil {
		return []byte{1}
	}
	return b
}

// read decodes another rank's message. If that rank has failed, this rank fails, too.
func (x *RankAnalysis) read(b []byte, code func(c *wire.Coder)) {
	x.try(func() error {
		if len(b) == 0 || b[0] != 0 {
			return errElsewhere
		}
		return wire.DecodeAll(b[1:], "message between ranks", code)
	})
}

// A joiner is a rank's result that can be merged with those of other ranks.
type joiner[T any] interface {
	*T
	code(c *wire.Coder)
	join(o *T) // o is the result of ranks with higher numbers
}

// joined combines the values of a group's members; all get the result, or only the first. If a member has failed,
// every member that gets the result counts as failed. It still takes part in later exchanges, so that nobody waits
// for it. The returned error is the transport's.
func joined[T any, P joiner[T]](x *RankAnalysis, members []int, self int, own P, toAll bool) error {
	join := func(a, b []byte) []byte {
		var p, q T
		x.read(a, P(&p).code)
		x.read(b, P(&q).code)
		x.try(func() error {
			P(&p).join(&q)
			return nil
		})
		return x.message(P(&p).code)
	}
	do := x.Gather
	if toAll {
		do = x.Reduce
	}
	b, err := do(members, self, x.message(own.code), join)
	if err != nil || !toAll && self > 0 {
		return err
	}
	var whole T
	x.read(b, P(&whole).code)
	*(*T)(own) = whole
	return nil
}

// votes are the candidate loops of ranks.
type votes map[key]vote

func (v *votes) code(c *wire.Coder) {
	var list []key
	if *v == nil {
		*v = make(votes)
	} else {
		list = sortedVotes(*v)
	}
	wire.CodeList(c, &list, 6, func(_ int, k *key) {
		wire.CodeNaturals(c, &k.at.FunctionIndex, &k.at.SiteNumber)
		wire.CodeUints(c, &k.rounds)
		x := (*v)[*k]
		wire.CodeNaturals(c, &x.ranks, &x.first)
		bits := math.Float64bits(x.share)
		c.Uint64(&bits)
		x.share = math.Float64frombits(bits)
		(*v)[*k] = x
	})
}

func (v *votes) join(o *votes) { join(*v, *o) }

// spans are sums over the ranks that run the loop, or over all ranks without a loop. They sum the times at which the
// run begins, each slot begins, the last slot ends, and the run ends. Shapes of slots are equal if all ranks agree.
type spans struct {
	ranks  int
	times  []int64
	shapes []int
}

func (s *spans) code(c *wire.Coder) {
	wire.CodeNaturals(c, &s.ranks)
	before := int64(0)
	wire.CodeList(c, &s.times, 1, func(_ int, ns *int64) {
		wire.CodeRelative(c, ns, before)
		before = *ns
	})
	type run struct{ shape, n int }
	var runs []run
	for _, shape := range s.shapes {
		if n := len(runs); n > 0 && runs[n-1].shape == shape {
			runs[n-1].n++
		} else {
			runs = append(runs, run{shape, 1})
		}
	}
	if c.Reader != nil {
		s.shapes = nil
	}
	wire.CodeList(c, &runs, 2, func(_ int, r *run) {
		wire.CodeBounded(c, &r.shape, mostSlots)
		wire.CodeBounded(c, &r.n, mostSlots)
		for i := 0; c.Reader != nil && i < r.n && len(s.shapes) < mostSlots; i++ {
			s.shapes = append(s.shapes, r.shape)
		}
	})
}

func (s *spans) join(o *spans) {
	switch {
	case o.ranks == 0:
		return
	case s.ranks == 0:
		*s = *o
		return
	}
	s.ranks += o.ranks
	for i := range s.times {
		s.times[i] += o.times[i]
	}
	both := make(map[[2]int]int)
	for i := range s.shapes {
		s.shapes[i], _ = once.NumberOf(both, [2]int{s.shapes[i], o.shapes[i]})
	}
}

// BeginRankAnalysis finds the loop of the run, and when this rank's iterations begin. r is the trace, whose times of
// single calls are not needed. clock has the times of the rank's calls; nil: they are not known. All ranks begin
// together. An error means that ranks can't communicate; Conclude reports all other errors.
func BeginRankAnalysis(t waits.Transport, r *trace.Reader, clock ops.StreamCallTimes) (*RankAnalysis, error) {
	return begin(t, r, clock, nil)
}

// begin does what BeginRankAnalysis does; failed is an earlier error.
func begin(t waits.Transport, r *trace.Reader, clock ops.StreamCallTimes, failed error) (*RankAnalysis, error) {
	x := &RankAnalysis{Messenger: waits.Messenger{Transport: t}, all: waits.AllRanks(t.Size()), r: r, clock: clock}
	own := make(votes)
	x.try(func() (err error) {
		if failed != nil || r == nil {
			return cmp.Or(failed, ErrNoSingleTimes)
		}
		if x.places, err = waits.NewPlaces(r); err != nil {
			return err
		}
		k, err := r.Rank(x.Rank())
		switch {
		case errors.Is(err, trace.ErrNoTrack) || err == nil && k.CallCount(0) == 0:
			return nil
		case err == nil && clock == nil:
			err = ErrNoSingleTimes
		}
		if err != nil {
			return err
		}
		x.k = k
		x.order = orderOf(x.k, 0, x.places)
		times, err := x.k.ClassTimes()
		if err != nil {
			return err
		}
		counts := x.k.TerminalCounts(0)
		x.gaps, x.files = make([]float64, len(times)), make([]bool, len(times))
		for i := range times {
			x.files[i] = x.k.CallWithoutParams(i).Func.Has(trace.AttrPosix)
			if counts[i] >= leastShape {
				x.gaps[i] = times[i].Gap.Mean()
			}
		}
		mean, err := means(r, x.k.Class())
		own = x.order.propose(mean)
		return err
	})
	if err := joined(x, x.all, x.Rank(), &own, true); err != nil {
		return nil, err
	}
	x.loop = choose(own, t.Size())
	var s spans
	var start, end int64
	var slots []int64
	x.try(func() (err error) {
		if x.k == nil {
			return nil
		}
		rounds, err := roundsOf(x.r, x.order, x.loop)
		if x.rounds = rounds; err != nil {
			return err
		}
		if start, slots, end, err = x.times(rounds); err != nil || x.loop != nil && rounds == nil {
			return err
		}
		s = spans{1, append(append([]int64{start}, slots...), end), x.shapesOf(rounds)}
		return nil
	})
	if err := joined(x, x.all, x.Rank(), &s, true); err != nil {
		return nil, err
	}
	x.try(func() error {
		if x.shapes = s.shapes; s.ranks == 0 {
			return nil
		}
		for i := range s.times {
			s.times[i] /= int64(s.ranks)
		}
		x.means = s.times
		n := len(x.means)
		before, loop, after := float64(x.means[n-1]-x.means[0]), 0.0, 0.0
		if x.loop != nil {
			before, loop, after = float64(x.means[1]-x.means[0]), float64(x.means[n-2]-x.means[1]), float64(x.means[n-1]-x.means[n-2])
		}
		g := newGrid(x.loop, before, loop, after)
		if x.k == nil {
			return nil
		}
		if slots == nil && x.loop != nil { // a rank that doesn't run the loop takes the mean iterations of the others
			for _, at := range x.means[1 : n-1] {
				slots = append(slots, max(start, min(end, at)))
			}
		}
		x.canvas = newCanvas(g, g.edges(start, slots, end))
		x.last, x.most, x.before, x.within = start, make([]excess, g.slots), make([]int64, g.slots), make([]int64, g.slots)
		return nil
	})
	return x, nil
}

// roundsOf returns the iterations of a loop on a rank; nil if it has none, or there is no loop.
func roundsOf(r *trace.Reader, o *siteOrder, l *Loop) (*RankIterations, error) {
	if l == nil {
		return nil, nil
	}
	if list := o.rounds(l); list != nil || o.k.Number() == l.FirstRank {
		return list, nil
	}
	of, err := r.Rank(l.FirstRank)
	if err != nil {
		return nil, err
	}
	theirs := orderOf(of, o.stream, o.x).rounds(l)
	if theirs == nil {
		return nil, nil
	}
	return o.AlignLoopIterations(of, theirs)
}

// times reads when the thread begins and ends, when its slots begin, and when the last one ends.
func (x *RankAnalysis) times(rounds *RankIterations) (start int64, slots []int64, end int64, err error) {
	var at []uint64
	if rounds != nil {
		g := newGrid(x.loop, 0, 0, 0)
		for i := range g.slots {
			at = append(at, rounds.BeginPosition(uint64(i)*g.each))
		}
		at = append(at, rounds.EndPosition)
	}
	next, n, passed := x.clock(0), x.k.CallCount(0), uint64(0)
	pass := func(to uint64) error { // advances to a call
		if to = min(to, n); to <= passed {
			return nil
		}
		until, err := next.Skip(to - passed)
		passed, end = to, max(end, until)
		return err
	}
	one := func() (int64, error) {
		begin, until, _, err := next.Next()
		passed++
		end = max(end, until)
		return begin, err
	}
	end = math.MinInt64
	if start, err = one(); err != nil {
		return 0, nil, 0, err
	}
	for i, call := range at {
		begin := start
		if err = pass(call); err == nil && i == 0 && 0 < call && call < n { // the computation before the loop isn't the first iteration's
			begin, err = one()
		}
		if err != nil {
			return 0, nil, 0, err
		}
		if i > 0 || call >= n {
			begin = end
		}
		slots = append(slots, begin)
	}
	err = pass(n)
	return start, slots, end, err
}

// shapesOf numbers the slots. Slots have equal numbers if equally many calls from each call site are in them.
func (x *RankAnalysis) shapesOf(rounds *RankIterations) []int {
	if rounds == nil {
		return nil
	}
	sum := x.k.PrefixWeights(0, func(t int) int64 { return int64(grammar.DrawHash(0, uint64(x.order.number[t]))) })
	g := newGrid(x.loop, 0, 0, 0)
	list, known := make([]int, g.slots), make(map[int64]int)
	for i := range list {
		list[i], _ = once.NumberOf(known, sum(rounds.BeginPosition(uint64(i+1)*g.each))-sum(rounds.BeginPosition(uint64(i)*g.each)))
	}
	return list
}

// SetZero sets the zero of the times that are reported from now on.
func (x *RankAnalysis) SetZero(from int64) { x.origin = from - x.zero }

// AddCall processes a call of the rank; calls of a thread come in order. Only the first thread counts. gap is the
// computation before the call.
func (x *RankAnalysis) AddCall(stream, terminal int, start, end, gap int64) {
	c := x.canvas
	if stream > 0 || c == nil {
		return
	}
	start, end = start+x.origin, end+x.origin
	var without int64
	if x.calls++; len(x.delays) > 0 && x.delays[0].CallIndex < x.calls {
		without = x.delayed(start, end, gap)
	}
	if start > x.last {
		begin := max(x.last, start-gap)
		c.paint(other, x.last, begin)
		c.paint(computing, begin, start-without)
		c.paint(ready, max(begin, start-without), start)
	}
	if over := float64(gap-without) - x.gaps[terminal]; over > 0 && len(x.most) > 0 {
		if s := c.slot(max(start-1, x.last)); s >= 0 && over > x.most[s].ns {
			x.most[s] = excess{over, x.order.number[terminal]}
		}
	}
	if x.files[terminal] {
		c.paint(inFiles, start, end)
	}
	x.last = max(x.last, end)
	c.goes(x.last)
}

// delayed returns how long the thread had no processor before a call.
func (x *RankAnalysis) delayed(start, end, gap int64) int64 {
	d := x.delays[0]
	if x.delays = x.delays[1:]; d.CallIndex+1 < x.calls {
		return 0
	}
	ns := min(gap, d.BeforeCallNs)
	if s := x.canvas.slot(max(start-1, x.last)); s >= 0 {
		x.before[s] += ns
	}
	if s := x.canvas.slot(start); s >= 0 {
		x.within[s] += min(d.InCallNs, end-start)
	}
	return ns
}

// AddWait processes the time that a call waited, from its beginning on.
func (x *RankAnalysis) AddWait(stream int, from, ns int64) {
	if c := x.canvas; stream == 0 && c != nil {
		c.paint(waiting, from+x.origin, from+x.origin+ns)
	}
}

// WalkCalls processes the rank's calls itself, if no wait analysis does. No waiting time is known then.
func (x *RankAnalysis) WalkCalls() {
	x.try(func() error {
		if x.canvas == nil {
			return nil
		}
		x.origin = 0
		next := x.clock(0)
		for terminal := range x.k.Sequence(0) {
			start, end, gap, err := next.Next()
			if err != nil {
				return err
			}
			x.AddCall(0, terminal, start, end, gap)
		}
		return nil
	})
}

// whole is the sum of times.
func whole(list []int64) (sum int64) {
	for _, v := range list {
		sum += v
	}
	return sum
}

func floats(list []int64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = float64(v)
	}
	return out
}

// median returns the median of a list, 0 if it is empty.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	s := slices.Clone(list)
	slices.Sort(s)
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
