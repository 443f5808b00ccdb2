package measure

import (
	"fmt"

	"spoor/internal/timing"
	"spoor/internal/timing/codec"
	"spoor/trace"
)

// Stream returns the times of one thread of a rank, with terminals as keys and
// functions as groups. It is an error if the trace doesn't have them exactly.
func Stream(k *trace.Rank, stream int, o *timing.Options) (calls codec.Calls, b codec.Batch, err error) {
	for t := range k.Terminals() {
		c, err := k.Terminal(t)
		if err != nil {
			return calls, b, err
		}
		calls.Groups = append(calls.Groups, uint32(c.Func.ID))
		calls.Bounds = append(calls.Bounds, o.Bound(c.Name()))
	}
	n := k.Len(stream)
	calls.Keys = make([]uint32, 0, n)
	b.Gaps, b.Durations = make([]uint64, 0, n), make([]uint64, 0, n)
	for t, err := range k.Timings(stream) {
		if err != nil {
			return calls, b, err
		}
		if s := t.Timing.Duration; s.Kind != trace.ExactSample {
			return calls, b, fmt.Errorf("the trace has no exact times of single calls (%s); record them: spoor run --timing lossless …", s.Kind)
		}
		calls.Keys = append(calls.Keys, uint32(t.Terminal))
		b.Gaps = append(b.Gaps, t.Timing.Gap.Ns)
		b.Durations = append(b.Durations, t.Timing.Duration.Ns)
	}
	return calls, b, nil
}
