package replay

import "github.com/spoor-hpc/spoor/trace"

// An again is a test that found nothing and so changed nothing. The arguments laid out for it remain valid, so the
// replay repeats the call as often as the program did. A program with nothing else to do may test millions of times.
type again struct {
	r      *RepeatedCall // the buffered repetitions, in memory outside of Go's heap
	first  uint64        // index in the stream of the first buffered call
	wanted int64         // ns that the program was outside of MPI before the buffered calls
	spared int64         // ns of their gaps that a late replay may leave out
}

// idle is the longest time, in ns, outside of MPI between two tests during which a program still counts as only
// testing. A replay that is late leaves such gaps out.
const idle = 10_000

// add adds t, a repetition of the stream's latest call, to the buffer. If the buffer is full, it first makes the
// calls in it.
func (a *again) add(s *Stream, t *trace.TimedCall) {
	r := a.r
	if r.Count == int64(len(r.DueTimes)) {
		a.make(s)
	}
	if r.Count == 0 {
		a.first = t.Index
	}
	x := &r.DueTimes[r.Count]
	r.Count++
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

// make makes the buffered calls, if there are any.
func (a *again) make(s *Stream) {
	r := a.r
	if r.Count == 0 {
		return
	}
	line := r.DueTimes[r.Count-1].Line
	r.NextIndex, r.HeldNs, r.MPINs, r.PreviousEndNs, r.LateNs, r.CurrentDueNs = 0, 0, 0, s.last, s.late, s.call.EndNs
	s.now.Store(a.first + 1)
	s.repeats.Store(r)
	s.since(StateInCall, s.call.EndNs)
	for r.NextIndex < r.Count {
		s.p.host.RepeatCall(s.call, r)
		if s.call.Result != 0 {
			c, _ := s.p.rank.Call(s.number, a.first+uint64(r.NextIndex)-1) // err was checked when the call was read before
			s.compare(c)
		}
	}
	s.since(StateBetweenCalls, s.call.EndNs)
	s.repeats.Store(nil)
	s.now.Store(a.first + uint64(r.Count))
	s.Calls += r.Count
	s.MPINs += r.MPINs
	s.RecordedComputeNs += a.wanted
	s.LastCallEndNs = s.call.EndNs
	if s.last != 0 {
		between := max(0, s.call.EndNs-s.last-r.MPINs)
		held := min(between, max(0, r.HeldNs-a.spared))
		s.last = s.call.EndNs
		s.HeldNs += held
		s.ComputeNs += between - held
		s.late = max(0, r.LateNs-a.spared)
	}
	if line != 0 {
		// While the replay makes the call earlier than the program did, it isn't late.
		s.late = min(s.late, max(0, s.call.BeginNs-line))
	}
	r.Count, a.wanted, a.spared = 0, 0, 0
}
