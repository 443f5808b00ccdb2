package tracktest

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/internal/timing/phase"
	"github.com/spoor-hpc/spoor/internal/track"
)

// Timed has the calls of a track's first thread take times, by position, as a recorder
// in a mode would have kept them.
func Timed(t *track.Track, mode timing.Mode, times func(i int) (gap, duration uint64)) {
	type course struct {
		gap, duration   phase.Line
		gaps, durations *hist.Hist
	}
	type key struct{ terminal, from int }
	courses := make(map[key]*course)
	for i := range t.Times {
		t.Times[i] = track.Times{}
	}
	at := func(k key) *course {
		if courses[k] == nil {
			courses[k] = &course{gaps: hist.New(hist.DefaultBins, int32(t.Rank)), durations: hist.New(hist.DefaultBins, int32(t.Rank))}
		}
		return courses[k]
	}
	from, i := track.First, 0
	t.Process.SpanNs = 0
	for n := range t.Streams[0].Grammar.All() {
		gap, duration := times(i)
		i++
		t.Times[n].Gap.Add(gap)
		t.Times[n].Duration.Add(duration)
		t.Process.SpanNs += int64(gap + duration)
		c := at(key{int(n), from})
		c.gap.Add(gap)
		c.duration.Add(duration)
		c.gaps.Add(gap)
		c.durations.Add(duration)
		from = slices.IndexFunc(t.Sigs, func(s signature.Signature) bool { return s.Call == t.Sigs[n].Call && s.Site == t.Sigs[n].Site })
	}
	t.Courses, t.Hists, t.Log = nil, nil, nil
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
	for _, k := range slices.SortedFunc(maps.Keys(courses), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.terminal, b.terminal), cmp.Compare(a.from, b.from))
	}) {
		c := courses[k]
		t.Courses = append(t.Courses, track.Course{Terminal: k.terminal, From: k.from, Gap: c.gap.Phases(), Duration: c.duration.Phases()})
		if mode == timing.Hist {
			t.Hists = append(t.Hists, track.Hist{Terminal: k.terminal, From: k.from, Duration: c.durations, Gap: c.gaps})
		}
	}
}
