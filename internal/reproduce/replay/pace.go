package replay

import (
	"fmt"

	"github.com/spoor-hpc/spoor/trace"
)

// A Pace is what a call waits for before it is made.
type Pace string

// The paces. With PaceGaps, a call waits only for the gap before it, and the waiting in calls depends on the replay.
// That waiting is less than the program's if the trace lacks single times, or if the program waited for a core. With
// PaceOriginalTimes, a call also waits for the time at which the program made it.
const (
	PaceOriginalTimes Pace = "original"
	PaceGaps          Pace = "gaps"
)

// PaceNamed returns the pace of a name.
func PaceNamed(name string) (Pace, error) {
	switch p := Pace(name); p {
	case PaceOriginalTimes, PaceGaps:
		return p, nil
	}
	return "", fmt.Errorf("pace %q: must be original or gaps", name)
}

// A pacer decides when the calls of a stream are due.
type pacer struct {
	o    Options
	line bool
}

// gap returns the ns to compute before a call, at the replay's speed.
func (p *pacer) gap(g trace.Sample) int64 {
	if p.o.NoCompute {
		return 0
	}
	return int64(float64(g.Ns) / p.o.Speed)
}

// due returns when a call is due on the host's clock, 0 for at once, and when it is due by its gap alone. The
// lateness of earlier calls is subtracted from the gap, so that the replayer's own work and late wake-ups don't add
// up.
func (s *Stream) due(t *trace.TimedCall, gap int64) (due, byGap int64) {
	if s.last == 0 {
		return 0, 0
	}
	caught := min(s.late, gap)
	s.late -= caught
	if gap > 0 {
		byGap = s.last + gap - caught
	}
	line, ok := s.line(t)
	if !ok {
		return byGap, byGap
	}
	if gap > 0 && line < byGap && t.Timing.Gap.Kind != trace.HistogramSample {
		byGap -= min(byGap-line, gap/catchUp)
	}
	return max(byGap, line), byGap
}

// line returns when the program made a call, on the host's clock; false if calls don't wait for that.
func (s *Stream) line(t *trace.TimedCall) (int64, bool) {
	own := t.Timing.Gap.Kind > trace.HistogramSample
	if !s.pace.line || s.p.origin == 0 || s.number > 0 && !own {
		return 0, false // without times of its own, it isn't known when a thread began
	}
	return s.p.origin + t.StartNs - s.p.began, true
}

// catchUp: a late replay may leave out 1/catchUp of a gap. The lateness of one rank delays all that wait for it, and
// sleeping threads wake up late. Computation stays within 2 % of the program's.
const catchUp = 64

// lag records how much later than due a call was made.
func (s *Stream) lag(due int64) {
	if s.last == 0 || s.p.o.NoCompute || len(s.p.streams) > 1 {
		return // a thread may have waited for another thread
	}
	s.late += max(0, s.call.BeginNs-max(due, s.last))
}
