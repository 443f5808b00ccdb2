package trace

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
)

// A State says what a thread does at a point in time.
type State uint8

// The states of a thread.
const (
	StateOutsideMPI State = iota // in the program, outside MPI
	StateInCall                  // in a recorded call
	StateInRecorder              // in the recorder or a plugin
	StateTracingOff              // unknown, as tracing was switched off
)

func (s State) String() string { return [...]string{"outside", "inside", "spoor", "untraced"}[s] }

// A Moment is what a thread did at a point in time.
type Moment struct {
	// LastBegunCall is the last call that the thread had begun; Call.Call is nil if it had begun no call.
	LastBegunCall TimedCall
	// State is where the thread was.
	State State
	// StateStartNs is when State began, in ns on the time line.
	StateStartNs int64
	// TimeKind says how accurate the times are from which Call was determined.
	TimeKind SampleKind
}

// MomentAt returns what a stream did at a time, in nanoseconds on the time line (see TimedCall). It searches the
// structure of the stream, or decodes one block of times. The search takes time in proportion to the structure's
// depth, not to the number of calls before. MomentAt returns an error if the trace has no times.
func (k *Rank) MomentAt(stream int, ns int64) (Moment, error) {
	if err := k.r.RequireTimes(); err != nil {
		return Moment{}, err
	}
	s, err := k.openSeries()
	if err != nil {
		return Moment{}, err
	}
	var index uint64
	if s != nil {
		var l timeline.Clock
		if l, err = k.line(); err == nil {
			index, err = s.LastCallBegunBy(stream, l, ns)
		}
	} else {
		index, err = k.meanAt(stream, ns)
	}
	if err != nil || k.CallCount(stream) == 0 {
		return Moment{}, err
	}
	for c, err := range k.TimedCallsFrom(stream, index) {
		if err != nil {
			return Moment{}, err
		}
		m := Moment{LastBegunCall: c, TimeKind: c.Timing.Duration.Kind}
		if ns < c.StartNs {
			m.LastBegunCall = TimedCall{}
			return m, nil
		}
		m.State, m.StateStartNs, err = k.stateAt(stream, &m.LastBegunCall, ns)
		return m, err
	}
	return Moment{}, fmt.Errorf("trace: %s: rank %d: stream %d: no call %d", k.r.name, k.number, stream, index)
}

// meanAt returns the index of the last call that had begun at a time, in ns on the time line; 0 if none had. It is for
// traces without the time of each call.
func (k *Rank) meanAt(stream int, ns int64) (uint64, error) {
	m, err := k.means(stream)
	if err != nil || k.CallCount(stream) == 0 {
		return 0, err
	}
	index := m.LastCallBegunBy(ns)
	// By means, the call is index. With histograms, drawn times may move it, but only within its block of calls.
	from := index
	if open, err := k.samples(m, stream); err != nil {
		return 0, err
	} else if open != nil {
		from -= from % series.CallsPerBlock
	}
	line, err := k.timeline(stream, from)
	if err != nil {
		return 0, err
	}
	c := k.streams[stream].Cursor()
	c.Seek(from)
	last := max(from, 1) - 1
	for i := from; ; i++ {
		n, ok := c.Next()
		if !ok {
			return last, nil
		}
		_, w, err := line.Next(int(n))
		if err != nil || w.StartNs > ns {
			return last, err
		}
		if last = i; i == index && from == index {
			return last, nil
		}
	}
}

// stateAt returns what a stream did at a time, and since when, in ns on the time line. The time must be between the
// start of call c and that of the next call.
func (k *Rank) stateAt(stream int, c *TimedCall, ns int64) (State, int64, error) {
	own := c.Timing.Duration.Kind.OfTheCallItself()
	if ns < c.EndNs() && own {
		return StateInCall, c.StartNs, nil
	}
	list, err := k.asidesOf(stream)
	if err == nil && !own {
		var m *timeline.MeanTimes
		if m, err = k.means(stream); err == nil {
			list = m.PlacedAsidesByCall()
		}
	}
	if err != nil {
		return 0, 0, err
	}
	index := c.Index + 1
	if index >= k.CallCount(stream) {
		if ns < c.EndNs() {
			return StateInCall, c.StartNs, nil
		}
		for _, a := range list {
			if a.BeforeCall >= index && a.TracingOff {
				return StateTracingOff, c.EndNs(), nil
			}
		}
		return StateOutsideMPI, c.EndNs(), nil
	}
	if !own && !slices.ContainsFunc(list, func(a Aside) bool { return a.BeforeCall == index }) {
		if ns < c.EndNs() {
			return StateInCall, c.StartNs, nil
		}
		return StateOutsideMPI, c.EndNs(), nil
	}
	line, err := k.timeline(stream, index)
	if err != nil {
		return 0, 0, err
	}
	t, w, err := line.Next(timeline.TerminalAt(k.streams[stream], index))
	if err != nil {
		return 0, 0, err
	}
	since := c.EndNs()
	for _, x := range t.AsidesBeforeCall(index, since, w.StartNs) {
		switch {
		case ns < x.StartNs:
		case ns >= x.StartNs+x.Ns:
			since = x.StartNs + x.Ns
		case x.TracingOff:
			return StateTracingOff, x.StartNs, nil
		default:
			return StateInRecorder, x.StartNs, nil
		}
	}
	if ns < c.EndNs() && since == c.EndNs() { // none of the asides between the two calls lies before ns
		return StateInCall, c.StartNs, nil
	}
	return StateOutsideMPI, since, nil
}
