package waits

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// A RunEndInput is a rank's input for the analysis at the end of a run.
type RunEndInput struct {
	Trace       *trace.Reader  // all ranks' trace, without times of single calls; nil: it can't be read
	Log         *track.TimeLog // times of the rank's own calls; nil: none
	NoTimeLimit bool           // without a limit on the analysis's time
	Visitor     CallVisitor    // sees each call and wait; nil: none
}

// Estimated costs of the analysis, in ns: callNs for a call, talkNs for one step of the exchange after a window. freeNs
// is allowed in any run.
const (
	callNs   = 2_000
	talkNs   = 300_000
	freeNs   = 1_000_000_000
	runShare = 100 // the analysis may take 1/100 of the run time
)

// rankWindow is the approximate number of a rank's calls in a window.
const rankWindow = 1 << 13

// mostHops is the largest number of waits, over all ranks, used to find the critical path.
const mostHops = 100_000

// AnalyseRun finds out who waited for whom, over a transport that all ranks use at once. Rank 0 gets the trace's
// section of waits, other ranks nil. If the analysis is left out or fails, other ranks may get a section, too: it has
// only a Status, which says why. An error is the transport's.
func AnalyseRun(t Transport, f RunEndInput) (*trace.Waits, error) {
	w := newLocal(t, nil, nil)
	w.hops = &hops{of: make(map[int32][]hop)}
	if f.Visitor != nil {
		w.rider = f.Visitor
	}
	own := agreement{first: math.MaxInt64, last: math.MinInt64, began: math.MaxInt64, since: math.MinInt64}
	var k *trace.Rank
	w.try(func() (err error) {
		k, err = w.ready(&f, &own)
		return err
	})
	all, err := w.agree(own)
	if err != nil {
		return nil, err
	}
	if all.left != trace.WaitsKnown {
		return &trace.Waits{Status: all.left, EstimatedAnalysisNs: all.needs}, nil
	}
	w.try(func() error { return w.begin(&f, k, &all) })
	if all.torn {
		if err := w.findTorn(f.Trace); err != nil {
			return nil, err
		}
	}
	if w.part = 1; all.since != math.MinInt64 {
		w.part = max(0, float64(all.last-all.since)/float64(max(1, all.last-all.began)))
	}
	var windows []int64
	n := int64(all.calls/rankWindow) + 1
	for i := range n {
		windows = append(windows, (all.last-all.first)/n*(i+1))
	}
	err = w.run(windows)
	if errors.Is(err, errElsewhere) || err != nil && err == w.broken {
		return &trace.Waits{Status: trace.WaitsAnalysisFailed}, nil
	}
	if err != nil {
		return nil, err
	}
	path, onPath, err := w.findPath(all.last - all.first)
	if err != nil {
		return nil, err
	}
	return w.conclude(path, onPath)
}

// BroadcastFromRoot sends a message of rank 0 to all ranks.
func BroadcastFromRoot(t Transport, what []byte) ([]byte, error) {
	return Messenger{t}.Broadcast(AllRanks(t.Size()), t.Rank(), what)
}

// ready opens the rank's trace, and sets in own what the rank contributes to the agreement. It returns nil for a rank
// without a track.
func (w *rankAnalysis) ready(f *RunEndInput, own *agreement) (*trace.Rank, error) {
	if f.Trace == nil {
		return nil, errors.New("the trace can't be read")
	}
	k, err := f.Trace.Rank(w.Rank())
	if errors.Is(err, trace.ErrNoTrack) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if f.Log == nil {
		own.left = trace.WaitsTooManyCalls
		return k, nil
	}
	if len(f.Log.Streams) < k.Streams() {
		return nil, fmt.Errorf("times of %d threads, %d have calls", len(f.Log.Streams), k.Streams())
	}
	p, err := k.Process()
	if err != nil {
		return nil, err
	}
	clock, err := k.Clock()
	if err != nil {
		return nil, err
	}
	own.calls = k.TotalCallCount()
	for stream := range k.Streams() { // times from the log: the table of processes has rounded ones
		if k.CallCount(stream) > 0 {
			skipped := skippedOf(f.Log, stream).Calls
			if skipped >= k.CallCount(stream) {
				own.left = trace.WaitsTooManyCalls
				return k, nil
			}
			next := newTicker(f.Log, stream, skipped+1, clock.ToTimeLine)
			start := int64(0)
			for range skipped + 1 {
				if start, _, _, err = next.Next(); err != nil {
					return nil, err
				}
			}
			own.first = min(own.first, start)
			if skipped > 0 {
				own.since = max(own.since, start)
			}
		}
	}
	own.began = clock.ToTimeLine(p.InitWallClockNs)
	own.last = own.began + p.WallNs()
	if own.torn, err = missing(f.Trace); err != nil {
		return nil, err
	}
	own.needs = int64(own.calls)*callNs + int64(own.calls/rankWindow+1)*talkNs*int64(bits.Len(uint(w.Size())))
	if !f.NoTimeLimit && own.needs > max(freeNs, p.WallNs()/runShare) {
		own.left = trace.WaitsAnalysisTooLong
	}
	return k, nil
}

// An agreement is what all ranks agree upon before the analysis.
type agreement struct {
	left        trace.WaitsStatus
	needs       int64
	calls       uint64
	first, last int64 // beginning of the first call and end of the run, in ns on rank 0's clock
	began       int64 // beginning of the run, in ns on rank 0's clock
	since       int64 // the time from which all ranks have times; math.MinInt64: they have all times
	torn        bool
}

func (p *agreement) code(c *wire.Coder) {
	wire.CodeByte(c, &p.left)
	c.Bool(&p.torn)
	wire.CodeNaturals(c, &p.needs)
	wire.CodeUints(c, &p.calls)
	for _, v := range []*int64{&p.first, &p.last, &p.began, &p.since} {
		wire.CodeRelative(c, v, 0)
	}
}

// agree combines the agreements of all ranks.
func (w *rankAnalysis) agree(own agreement) (agreement, error) {
	if w.broken != nil {
		own.left = trace.WaitsAnalysisFailed
	}
	b, err := w.Reduce(w.world, w.Rank(), wire.AppendEncoded(nil, own.code), func(a, b []byte) []byte {
		x, err := readPlan(a)
		y, err2 := readPlan(b)
		if err != nil || err2 != nil {
			x.left = trace.WaitsAnalysisFailed
		}
		x.left, x.torn = max(x.left, y.left), x.torn || y.torn
		x.needs, x.calls, x.first, x.last = max(x.needs, y.needs), max(x.calls, y.calls), min(x.first, y.first), max(x.last, y.last)
		x.began, x.since = min(x.began, y.began), max(x.since, y.since)
		return wire.AppendEncoded(nil, x.code)
	})
	if err != nil {
		return agreement{}, err
	}
	return readPlan(b)
}

func readPlan(b []byte) (p agreement, err error) { return p, wire.DecodeAll(b, "plan", p.code) }

// begin prepares the pass over the rank's calls.
func (w *rankAnalysis) begin(f *RunEndInput, k *trace.Rank, all *agreement) (err error) {
	if w.places, err = NewPlaces(f.Trace); err != nil {
		return err
	}
	o := ops.Options{Ranks: []int{w.Rank()}, FromNs: ops.MinTime, ToNs: ops.MaxTime, NumberMessages: true, PassFineSync: true, RunExtentNs: &[2]int64{all.first, all.last}}
	if k != nil {
		clock, err := k.Clock()
		if err != nil {
			return err
		}
		o.CallTimes = func(stream int) ops.CallTimeIterator {
			return newTicker(f.Log, stream, k.CallCount(stream), func(ns int64) int64 { return clock.ToTimeLine(ns) - all.first })
		}
	} else {
		o.IgnoreTimes = true
	}
	w.rider.SetZero(all.first)
	if w.clock = o.CallTimes; all.since != math.MinInt64 {
		w.since = all.since - all.first
	}
	if w.s, err = ops.NewSource(f.Trace, o); err != nil {
		return err
	}
	w.enterGroups(w.s.Comms)
	w.follow, err = w.s.Follow(w.Rank(), w)
	return err
}

// Clock returns the times of a rank's calls on the run's time line, counted from zero; nil if some times are missing.
// zero is about the begin of the run, and the same on all ranks.
func (f *RunEndInput) Clock(rank int) (clock ops.StreamCallTimes, zero int64, err error) {
	if f.Trace == nil || f.Log == nil {
		return nil, 0, nil
	}
	k, err := f.Trace.Rank(rank)
	if err != nil {
		return nil, 0, err
	}
	for stream := range k.Streams() {
		if len(f.Log.Streams) <= stream || skippedOf(f.Log, stream).Calls > 0 {
			return nil, 0, nil
		}
	}
	own, err := k.Clock()
	if err != nil {
		return nil, 0, err
	}
	for first, err := range f.Trace.RanksWithTrack() {
		if err != nil {
			return nil, 0, err
		}
		p, err := first.Process()
		if err != nil {
			return nil, 0, err
		}
		c, err := first.Clock()
		if err != nil {
			return nil, 0, err
		}
		zero = c.ToTimeLine(p.InitWallClockNs)
		break
	}
	return func(stream int) ops.CallTimeIterator {
		return newTicker(f.Log, stream, k.CallCount(stream), func(ns int64) int64 { return own.ToTimeLine(ns) - zero })
	}, zero, nil
}

// findPath finds the critical path of the run, and the rank's sums along it. If there were too many waits, the path
// covers only the last part of the run. Only rank 0 gets the path.
func (w *rankAnalysis) findPath(span int64) (*CriticalPath, *pathSums, error) {
	since, err := w.pathSince(span)
	if err != nil {
		return nil, nil, err
	}
	var own []byte
	w.try(func() error {
		own = w.way(since).append(nil)
		return nil
	})
	all, err := w.Gather(w.world, w.Rank(), own, func(a, b []byte) []byte { return append(a, b...) })
	if err != nil {
		return nil, nil, err
	}
	p := &CriticalPath{}
	var told []byte
	if w.Rank() == 0 {
		w.try(func() error {
			y, err := readWay(all, since)
			if err != nil {
				return err
			}
			told = appendStretches(nil, y.stretches(p))
			return nil
		})
	}
	if told, err = w.Broadcast(w.world, w.Rank(), told); err != nil {
		return nil, nil, err
	}
	x := newPathSums()
	w.try(func() error {
		on, err := readStretches(told)
		if err != nil || w.k == nil {
			return err
		}
		for stream := range w.Threads {
			t := thread{int32(w.Rank()), int32(stream)}
			if len(on[t]) > 0 {
				if err := x.thread(w, t, on[t], nil); err != nil {
					return err
				}
			}
		}
		w.addOwn(x)
		return nil
	})
	return p, x, nil
}

// pathSince returns the earliest time from which the ranks have at most mostHops waits; math.MinInt64 for the whole
// run.
func (w *rankAnalysis) pathSince(span int64) (int64, error) {
	if w.waits <= mostHops {
		return math.MinInt64, nil
	}
	const parts = 256
	var own [parts]uint64
	w.try(func() error {
		for _, list := range w.hops.of {
			for _, h := range list {
				own[max(0, min(parts-1, h.at*parts/max(1, span)))]++
			}
		}
		if w.hops.many {
			own[parts-1] = mostHops + 1
		}
		return nil
	})
	encode := func(n *[parts]uint64) (b []byte) {
		for _, v := range n {
			b = wire.AppendUvarint(b, v)
		}
		return b
	}
	decode := func(b []byte) (n [parts]uint64) {
		r := wire.NewReader(b, "numbers of waits")
		for i := range n {
			n[i] = r.Uvarint()
		}
		return n
	}
	all, err := w.Reduce(w.world, w.Rank(), encode(&own), func(a, b []byte) []byte {
		x, y := decode(a), decode(b)
		for i := range x {
			x[i] += y[i]
		}
		return encode(&x)
	})
	if err != nil {
		return 0, err
	}
	n, sum := decode(all), uint64(0)
	for i := parts - 1; i >= 0; i-- {
		if sum += n[i]; sum > mostHops {
			return span/parts*int64(i+1) + 1, nil
		}
	}
	return math.MinInt64, nil
}

// conclude combines the results of all ranks and their sums along the path. Only rank 0 gets the trace's section.
func (w *rankAnalysis) conclude(path *CriticalPath, onPath *pathSums) (*trace.Waits, error) {
	join := func(a, b []byte) (both []byte) {
		w.try(func() error {
			x, err := readFound(a)
			if err != nil {
				return err
			}
			y, err := readFound(b)
			if err != nil {
				return err
			}
			x.join(y.sums, keep)
			x.path.join(y.path)
			both = x.append(nil)
			return nil
		})
		return both // empty if a rank has failed
	}
	var own []byte
	w.try(func() error {
		own = found{w.own(), onPath}.append(nil)
		return nil
	})
	if w.broken != nil {
		own = nil
	}
	all, err := w.Gather(w.world, w.Rank(), own, join)
	if err != nil || w.Rank() > 0 {
		return nil, err
	}
	out := &trace.Waits{Status: trace.WaitsAnalysisFailed}
	w.try(func() error {
		x, err := readFound(all)
		if err == nil {
			out = x.kept(w.places, path, x.path)
			out.AnalysedShare = w.part
		}
		return err
	})
	return out, nil
}

// found is the result of one or more ranks.
type found struct {
	*sums
	path *pathSums
}

func (f found) append(b []byte) []byte {
	path := wire.AppendEncoded(nil, f.path.code)
	b = wire.AppendUvarint(b, uint64(len(path)))
	return wire.AppendEncoded(append(b, path...), f.sums.code)
}

func readFound(b []byte) (f found, err error) {
	r := wire.NewReader(b, "what ranks found out")
	path := r.Blob()
	if err := r.Err(); err != nil {
		return f, err
	}
	if f.path, err = readPathSums(path); err != nil {
		return f, err
	}
	f.sums, err = readSums(r.Remaining())
	return f, err
}

// append and readWay encode and decode a way, the input of the search for the critical path.
//
//	way = (rank, stream, start, end, hops, (time - previous time, rank, stream)…)…
func (y *way) append(b []byte) []byte {
	return wire.AppendEncoded(b, func(c *wire.Coder) {
		for _, t := range slices.SortedFunc(maps.Keys(y.spans), compareThreads) {
			y.code(c, t)
		}
	})
}

func readWay(b []byte, since int64) (*way, error) {
	y := &way{make(map[thread]span), make(map[thread][]hop), since}
	return y, wire.DecodeEach(b, "waits of all ranks", func(c *wire.Coder) { y.code(c, thread{}) })
}

func (y *way) code(c *wire.Coder, t thread) {
	wire.CodeBounded(c, &t.rank, math.MaxInt32)
	wire.CodeBounded(c, &t.stream, math.MaxInt32)
	s, list, at := y.spans[t], y.hops[t], int64(0)
	wire.CodeRelative(c, &s.start, 0)
	wire.CodeRelative(c, &s.end, 0)
	wire.CodeList(c, &list, 3, func(_ int, h *hop) {
		wire.CodeRelative(c, &h.at, at)
		wire.CodeBounded(c, &h.rank, math.MaxInt32)
		wire.CodeBounded(c, &h.stream, math.MaxInt32)
		at = h.at
	})
	if y.spans[t] = s; len(list) > 0 {
		y.hops[t] = list
	}
}

// appendStretches and readStretches encode and decode the intervals of the critical path on each thread.
func appendStretches(b []byte, on map[thread][]pathInterval) []byte {
	return wire.AppendEncoded(b, func(c *wire.Coder) {
		for _, t := range slices.SortedFunc(maps.Keys(on), compareThreads) {
			codeStretches(c, on, t)
		}
	})
}

func readStretches(b []byte) (map[thread][]pathInterval, error) {
	on := make(map[thread][]pathInterval)
	return on, wire.DecodeEach(b, "critical path", func(c *wire.Coder) { codeStretches(c, on, thread{}) })
}

func codeStretches(c *wire.Coder, on map[thread][]pathInterval, t thread) {
	wire.CodeBounded(c, &t.rank, math.MaxInt32)
	wire.CodeBounded(c, &t.stream, math.MaxInt32)
	list, at := on[t], int64(0)
	wire.CodeList(c, &list, 2, func(_ int, s *pathInterval) {
		wire.CodeRelative(c, &s.from, at)
		wire.CodeRelative(c, &s.to, s.from)
		at = s.to
	})
	on[t] = list
}

func readPathSums(b []byte) (*pathSums, error) {
	x := newPathSums()
	return x, wire.DecodeAll(b, "sums of the critical path", x.code)
}

// code encodes or decodes a rank's sums along the path.
func (x *pathSums) code(c *wire.Coder) {
	wire.CodeNaturals(c, &x.spoor)
	sites := sorted(x.sites)
	wire.CodeList(c, &sites, 6, func(_ int, at *callSite) {
		wire.CodeUints(c, at)
		s := x.site(*at)
		wire.CodeNaturals(c, &s.compute, &s.mpi, &s.all)
		wire.CodeAbove(c, &s.rank, -1, math.MaxInt32)
		wire.CodeNaturals(c, &s.most)
	})
	for i := 0; c.Reader == nil && i < len(x.ranks) || c.Reader != nil && c.Reader.RemainingLen() > 0 && !c.Failed(); i++ {
		if c.Reader != nil {
			x.ranks = append(x.ranks, PathRank{})
		}
		r := &x.ranks[i]
		wire.CodeNaturals(c, &r.Rank)
		wire.CodeNaturals(c, &r.ComputeNs, &r.MPINs)
	}
}
