package tracktest

import (
	"iter"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
)

// LogOf makes up the times of a track's calls; a rank's calls take as long as its
// number says.
func LogOf(tr *track.Track) *track.Log {
	l := &track.Log{Options: timing.Options{Mode: timing.Lossless}, TicksPerNs: 1, StartNs: tr.Process.StartNs}
	for i := range tr.Streams {
		n := tr.Streams[i].Grammar.Len()
		l.Streams = append(l.Streams, iter.Seq2[[]timing.Entry, error](func(yield func([]timing.Entry, error) bool) {
			for k := range n {
				if !yield([]timing.Entry{{Duration: uint64(100 + tr.Rank), Gap: k}}, nil) {
					return
				}
			}
		}))
	}
	return l
}
