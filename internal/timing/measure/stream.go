package measure

import (
	"iter"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/trace"
)

// A Block is what codecs get to see at once, as when recording.
type Block struct {
	Calls      series.Calls
	Batch      series.Batch
	TicksPerNs float64
}

// Blocks yields the times of one thread of a rank, in ticks. It is an error if
// the trace doesn't have them exactly.
func Blocks(k *trace.Rank, stream int, o *timing.Options) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		for raw, err := range k.RawTimes(stream) {
			if err != nil {
				yield(Block{}, err)
				return
			}
			b := Block{
				Calls:      series.Calls{Keys: raw.Kinds, Groups: raw.Groups, Bins: o.Bins, Sample: o.Sample},
				Batch:      series.Batch{Gaps: raw.Gaps, Durations: raw.Durations},
				TicksPerNs: raw.TicksPerNs,
			}
			for _, name := range raw.Functions {
				b.Calls.Bounds = append(b.Calls.Bounds, series.Ticks(o.Bound(name), raw.TicksPerNs))
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}
