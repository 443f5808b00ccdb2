package replay

import "github.com/spoor-hpc/spoor/trace"

// Again is a test that found nothing, and so changed nothing: its words still hold, and
// it is made as often as the program made it without anything to be done in between.
// A program that has nothing else to do may do so millions of times.
type again struct {
	r      *Repeats // outside of Go's memory
	first  uint64   // index of its first call
	wanted int64    // ns that the program was outside of MPI before them
	spared int64    // and of these those that are left out
}

// idle is the longest time, in ns, outside of MPI between two tests during which a program still counts as only
// testing. A replay that is late leaves such gaps out.
const idle = 10_000

// add takes note of a call that is that before once more, and makes those that there
// is no room for.
func (a *again) add(s *Stream, t *trace.TimedCall) {
	r := a.r
	if r.N == int64(len(r.At)) {
		a.make(s)
	}
	if r.N == 0 {
		a.first = t.Index
	}
	x := &r.At[r.N]
	r.N++
	x.Line, x.Gap = 0, 0
	if s.last == 0 {
		return
	}
	gap := s.pace.gap(t.Timing.Gap)
	a.wanted += gap
	line, ok := s.line(t)
	x.Line = line
	if ok && gap <= idle && t.Timing.Gap.Kind != trace.HistogramSample {
		a.spared += gap
	} else {
		x.Gap = gap
	}
}

// make makes the calls, if there are any.
func (a *again) make(s *Stream) {
	r := a.r
	if r.N == 0 {
		return
	}
	line := r.At[r.N-1].Line
	r.Next, r.Held, r.MPINs, r.Last, r.Late, r.From = 0, 0, 0, s.last, s.late, s.call.End
	s.now.Store(a.first + 1)
	s.repeats.Store(r)
	s.since(StateInCall, s.call.End)
	for r.Next < r.N {
		s.p.host.Repeat(s.call, r)
		if s.call.Result != 0 {
			c, _ := s.p.rank.Call(s.number, a.first+uint64(r.Next)-1) // it was read before
			s.compare(c)
		}
	}
	s.since(StateIdle, s.call.End)
	s.repeats.Store(nil)
	s.now.Store(a.first + uint64(r.N))
	s.Calls += r.N
	s.MPI += r.MPINs
	s.RecordedCompute += a.wanted
	s.End = s.call.End
	if s.last != 0 {
		between := max(0, s.call.End-s.last-r.MPINs)
		held := min(between, max(0, r.Held-a.spared))
		s.last = s.call.End
		s.Held += held
		s.Compute += between - held
		s.late = max(0, r.Late-a.spared)
	}
	if line != 0 {
		s.late = min(s.late, max(0, s.call.Begin-line)) // before the line it is not late
	}
	r.N, a.wanted, a.spared = 0, 0, 0
}
