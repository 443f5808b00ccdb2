package traced

import (
	"encoding/binary"
	"iter"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

// visits returns the calls of rank k with their times.
func (s *ProgramSource) visits(k *trace.Rank, calls []compiledCall) (dataflow.CallVisits, error) {
	own, err := k.HasTimeOfEachCall()
	if err != nil {
		return nil, err
	}
	if own && !s.o.UseMeanGaps && !s.o.UseMedianGaps {
		return s.single(k, calls), nil
	}
	of, leaves, err := s.placesOf(k, 0)
	if err != nil {
		return nil, err
	}
	// Calls without a model are counted here, by leaf: the engine may skip iterations, and so doesn't see each call.
	for i := range leaves {
		x := &leaves[i]
		if c := &calls[of.Terminal(i)]; x.Calls > 0 && c.timed && c.role != local {
			s.leave(c.name, x.Calls, float64(x.Calls)*x.MeanDurationNs, true)
		}
	}
	same := k.ClassHasEqualCounts()
	if len(s.placed) == 0 {
		s.placed = make([]placed, 256)
	}
	v := &s.placed[0]
	s.placed = s.placed[1:]
	*v = placed{placedTimes: s.times(of, leaves, calls, same, s.factor(k.Number())), sequence: s.sequenceOf(k, of, same)}
	v.at = v.start()
	if by, err := s.byIteration(); err != nil || !by {
		return v, err
	}
	p := &iterated{placed: v, s: s, factor: s.factor(k.Number())}
	p.gap, p.stop = iter.Pull2(k.TimedTerminals(0))
	s.stops = append(s.stops, p.stop)
	return p, nil
}

// mostByIteration is the largest number of calls in a run for which byIteration returns true: each call's own gap
// must be read.
const mostByIteration = 1 << 20

// byIteration reports whether computation gets the gap that it had in its iteration of the main loop, instead of the
// mean at its place. That needs section when with a main loop, ranks with one thread, and at most mostByIteration
// calls.
func (s *ProgramSource) byIteration() (bool, error) {
	if s.iterated != nil {
		return *s.iterated, nil
	}
	by := false
	w, err := s.r.When()
	if err == nil && w != nil && w.Loop != nil && !s.o.UseMeanGaps && !s.o.UseMedianGaps {
		calls := uint64(0)
		by = true
		for k, err := range s.r.RanksWithTrack() {
			if err != nil {
				return false, err
			}
			calls += k.TotalCallCount()
			by = by && k.Streams() == 1
		}
		by = by && calls <= mostByIteration
	}
	s.iterated = &by
	return by, err
}

// iterated is a rank's calls with the recorded gap of each call. The calls themselves take the mean time at their
// place, as the recorded time of a call includes waiting.
type iterated struct {
	*placed
	s      *ProgramSource
	factor float64
	gap    func() (trace.TimedTerminal, error, bool)
	stop   func()
	began  bool
	end    int64 // latest end of a call so far, on the time line in ns
}

func (p *iterated) Next() (call int, gap, took int64, ok bool, err error) {
	if call, gap, took, ok, err = p.placed.Next(); !ok || err != nil {
		return call, gap, took, ok, err
	}
	t, err, ok := p.gap()
	if !ok || err != nil {
		return call, gap, took, ok, err
	}
	before := max(0, t.StartNs-p.end-int64(t.Timing.TracingOffNs+t.Timing.RecorderNs))
	if p.end = max(p.end, t.EndNs()); !p.began {
		p.began, before = true, int64(t.Timing.Gap.Ns)
	}
	return call, p.s.computed((float64(before) - p.s.gap) * p.factor), took, ok, err
}

func (p *iterated) EqualityKey() any           { return nil }
func (p *iterated) MainLoopRounds() uint64     { return 0 }
func (p *iterated) RoundsLeft() (uint64, bool) { return 0, false }
func (p *iterated) SkipRounds(uint64)          {}

// medians replaces the mean gaps in list, which is by leaf, by medians.
func medians(k *trace.Rank, of *trace.Leaves, list []reissue.LeafGaps, stream int) error {
	samples, entries := make([][]uint64, len(list)), make([][]uint64, len(list))
	cursor := of.Cursor(k)
	for t, err := range k.TimedTerminals(stream) {
		if err != nil {
			return err
		}
		i, loops, ok := cursor.Next()
		if !ok {
			break
		}
		to := &samples[i]
		if loops > 0 && list[i].Entries > 0 {
			to = &entries[i]
		}
		*to = append(*to, t.Timing.Gap.Ns)
	}
	for i := range list {
		list[i].MeanGapNs, list[i].MeanEntryGapNs = stats.Median(samples[i]), stats.Median(entries[i])
	}
	return nil
}

// A placedTime is the times of a call at one place of the program, in ps: the gap before it, the gap if a loop is
// entered there, and its own time.
type placedTime struct{ gap, entry, took int64 }

// A placedTimes is the times at all leaves of a rank.
type placedTimes struct {
	list     []placedTime
	terminal []int32
	alike    bool // all ranks of the rank's class have the same trip counts
}

// times returns the times of leaves in ps of the simulated machine. Ranks whose times are equal get the same
// placedTimes.
func (s *ProgramSource) times(of *trace.Leaves, leaves []reissue.LeafGaps, calls []compiledCall, alike bool, factor float64) *placedTimes {
	list := make([]placedTime, len(leaves))
	// Leaves with equal times share a placedTimes only if the Leaves are the same; the number identifies these.
	number, _ := once.NumberOf(s.structures, of)
	text := binary.AppendUvarint(nil, uint64(number))
	for i := range leaves {
		x, c := &leaves[i], &calls[of.Terminal(i)]
		list[i].gap = s.computed((x.MeanGapNs - s.gap) * factor)
		if list[i].entry = list[i].gap; x.Entries > 0 {
			list[i].entry = s.computed((x.MeanEntryGapNs - s.gap) * factor)
		}
		switch {
		case c.timed && c.role == local:
			list[i].took = s.computed(x.MeanDurationNs - s.call)
		case c.timed:
			list[i].took = recorded(x.MeanDurationNs)
		}
		for _, n := range []int64{list[i].gap, list[i].entry, list[i].took} {
			text = binary.AppendVarint(text, n)
		}
	}
	if known := s.known[string(text)]; known != nil {
		return known
	}
	t := &placedTimes{list: list, terminal: make([]int32, len(leaves)), alike: alike}
	for i := range t.terminal {
		t.terminal[i] = int32(of.Terminal(i))
	}
	s.known[string(text)] = t
	return t
}

// A placed is a rank's calls, with the times that its leaves have.
type placed struct {
	*placedTimes
	*sequence
	at   *chunk
	next int
}

// here returns the visit that Next will return, without advancing.
func (p *placed) here() *visited {
	if p.next == len(p.at.visits) {
		p.at, p.next = p.after(p.at), 0
	}
	return &p.at.visits[p.next]
}

func (p *placed) Next() (call int, gap, took int64, ok bool, err error) {
	v := p.here()
	if v.leaf < 0 {
		return 0, 0, 0, false, nil
	}
	p.next++
	x := &p.list[v.leaf]
	if gap = x.gap; v.enters {
		gap = x.entry
	}
	return int(p.terminal[v.leaf]), gap, x.took, true, nil
}

func (p *placed) EqualityKey() any {
	if p.alike {
		return p.placedTimes
	}
	return nil
}

func (p *placed) MainLoopRounds() uint64 { return p.main.Iterations }

func (p *placed) RoundsLeft() (rounds uint64, between bool) {
	v := p.here()
	return v.left, v.between
}

func (p *placed) SkipRounds(rounds uint64) {
	p.sequence = p.from(p.at.from + uint64(p.next) + rounds*p.main.CallsPerIteration)
	p.at, p.next = p.start(), 0
}

// A single is a rank's calls, each with its own recorded times.
type single struct {
	s      *ProgramSource
	factor float64
	calls  []compiledCall
	list   []timed
	more   func() ([]timed, error, bool)
	stop   func()
}

type timed struct {
	terminal      int
	gap, duration uint64
}

func (s *ProgramSource) single(k *trace.Rank, calls []compiledCall) *single {
	p := &single{s: s, calls: calls, factor: s.factor(k.Number())}
	p.more, p.stop = iter.Pull2(func(yield func([]timed, error) bool) {
		list := make([]timed, 0, batch)
		for t, err := range k.TimedTerminals(0) {
			if err != nil {
				yield(nil, err)
				return
			}
			list = append(list, timed{t.Terminal, t.Timing.Gap.Ns, t.Timing.Duration.Ns})
			if len(list) == batch {
				if !yield(list, nil) {
					return
				}
				list = list[:0]
			}
		}
		if len(list) > 0 {
			yield(list, nil)
		}
	})
	s.stops = append(s.stops, p.stop)
	return p
}

func (p *single) Next() (call int, gap, took int64, ok bool, err error) {
	if len(p.list) == 0 {
		if p.list, err, ok = p.more(); !ok || err != nil {
			return 0, 0, 0, false, err
		}
	}
	t := p.list[0]
	p.list = p.list[1:]
	c := &p.calls[t.terminal]
	before, duration := float64(t.gap), float64(t.duration)
	p.s.ns += before + duration
	switch {
	case c.timed && c.role == local:
		took = p.s.computed(duration - p.s.call)
	case c.timed:
		p.s.leave(c.name, 1, duration, true)
		took = recorded(duration)
	}
	return t.terminal, p.s.computed((before - p.s.gap) * p.factor), took, true, nil
}

func (p *single) EqualityKey() any           { return nil }
func (p *single) MainLoopRounds() uint64     { return 0 }
func (p *single) RoundsLeft() (uint64, bool) { return 0, false }
func (p *single) SkipRounds(uint64)          {}
