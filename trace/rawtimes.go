package trace

import (
	"fmt"
	"iter"

	"github.com/spoor-hpc/spoor/internal/timing"
)

// RawTimes is the times of consecutive calls of a thread as they were recorded,
// in ticks of the rank's clock: what a codec gets to see.
type RawTimes struct {
	Kinds           []uint32 // of each call; calls of a kind may take alike
	Gaps, Durations []uint64

	Groups    []uint32 // by kind: what kinds of one function have in common
	Functions []string // by kind

	TicksPerNs float64
}

// RawTimes yields the times of a stream's calls in order, in the blocks that the
// file has. It is an error if the trace does not have them all, or not exactly.
func (k *Rank) RawTimes(stream int) iter.Seq2[*RawTimes, error] {
	return func(yield func(*RawTimes, error) bool) {
		s, err := k.openSeries()
		switch {
		case err != nil:
			yield(nil, err)
			return
		case s == nil || s.Mode != timing.Lossless:
			yield(nil, fmt.Errorf("%s: rank %d: no exact times of single calls; record them: spoor run --timing lossless …", k.r.name, k.number))
			return
		}
		functions := make([]string, len(s.Kinds.Groups))
		for t, kind := range s.Of {
			functions[kind] = k.r.byID[k.class.Terminals[t].Group.Call].Name
		}
		cursor := k.streams[stream].Cursor()
		for i := range s.Blocks(stream) {
			x, err := s.Decoded(stream, i)
			if err != nil {
				yield(nil, err)
				return
			}
			raw := &RawTimes{Groups: s.Kinds.Groups, Functions: functions, TicksPerNs: s.TicksPerNs}
			for _, e := range x.Entries {
				t, _ := cursor.Next()
				raw.Kinds = append(raw.Kinds, s.Of[t])
				raw.Gaps = append(raw.Gaps, e.Gap)
				raw.Durations = append(raw.Durations, e.Duration)
			}
			if !yield(raw, nil) {
				return
			}
		}
	}
}
