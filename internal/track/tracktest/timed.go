package tracktest

import (
	"iter"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
)

// Timed has the calls of a track's first thread take times, by position, as a recorder
// in a mode would have kept them.
func Timed(t *track.Track, mode timing.Mode, times func(i int) (gap, duration uint64)) {
	clear(t.Times)
	paths, i := track.PathsOf(t, true, mode == timing.Hist), 0
	t.Process.SpanNs = 0
	for n := range t.Streams[0].Grammar.All() {
		gap, duration := times(i)
		i++
		t.Times[n].Add(gap, duration)
		t.Process.SpanNs += int64(gap + duration)
		paths.Add(n, gap, duration)
	}
	t.Log = nil
	if mode.Log() {
		t.Log = &track.Log{Options: timing.Options{Mode: mode}, TicksPerNs: 1, StartNs: t.Process.StartNs}
		t.Log.Streams = []iter.Seq2[[]timing.Entry, error]{func(yield func([]timing.Entry, error) bool) {
			for k := range i {
				gap, duration := times(k)
				if !yield([]timing.Entry{{Duration: duration, Gap: gap}}, nil) {
					return
				}
			}
		}}
	}
	t.Courses, t.Hists = paths.Track(nil)
}
