package mergetest

import (
	"bytes"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/trace"
)

// WithoutTimes returns the trace without times of single calls, but with the analysis w of when ranks computed; nil:
// without that, too.
func WithoutTimes(t TB, file []byte, w *trace.When) *trace.Reader {
	t.Helper()
	list, err := container.ReadDirectory(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var raw [container.SectionCount][]byte
	for _, s := range list {
		if s.ID == container.SectionSeries {
			continue
		}
		if raw[s.ID], err = s.Load(bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
	}
	if raw[container.SectionWhen] = nil; w != nil {
		raw[container.SectionWhen] = sections.AppendWhen(nil, w)
	}
	r, err := trace.ReadBytes(container.Assemble(raw, container.PackSection, nil), Name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// States of a thread.
const (
	computing = iota
	inCalls
	inFiles
	other
	states
)

// tiles is the number of parts into which a run is divided.
const tiles = 512

// Unlike compares the time lines of two traces of a run. place is the share of all time in which the state differs.
// share is the largest difference of a rank's computation, as a share of the run.
func Unlike(t TB, a, b *trace.Reader) (place, share float64) {
	t.Helper()
	x, y := drawn(t, a), drawn(t, b)
	for rank := range x {
		var sums [2]float64
		for i := range x[rank] {
			for s := range states {
				place += math.Abs(x[rank][i][s]-y[rank][i][s]) / 2
			}
			sums[0], sums[1] = sums[0]+x[rank][i][computing], sums[1]+y[rank][i][computing]
		}
		share = max(share, math.Abs(sums[0]-sums[1])/tiles)
	}
	return place / float64(tiles*len(x)), share
}

// drawn returns the time of each rank in each state, by tile.
func drawn(t TB, r *trace.Reader) (out [][][states]float64) {
	t.Helper()
	first, end, err := r.TimeExtent()
	if err != nil {
		t.Fatal(err)
	}
	width := float64(end-first) / tiles
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			t.Fatal(err)
		}
		row := make([][states]float64, tiles)
		paint := func(state int, from, to int64) {
			at, until := float64(from-first)/width, min(float64(to-first)/width, tiles)
			for i := max(0, int(at)); at < until; i++ {
				next := min(until, float64(i+1))
				row[i][state] += next - at
				at = next
			}
		}
		last, err := k.StartNs()
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range k.TimedCalls(0) {
			if err != nil {
				t.Fatal(err)
			}
			for _, aside := range c.Timing.AsidesBeforeCall(c.Index, last, c.StartNs) {
				paint(computing, last, aside.StartNs)
				last = max(last, aside.StartNs+aside.Ns)
			}
			paint(computing, last, c.StartNs)
			state := inCalls
			if c.Func.Has(trace.AttrPosix) {
				state = inFiles
			}
			paint(state, max(last, c.StartNs), c.EndNs())
			last = max(last, c.EndNs())
		}
		for i := range row {
			row[i][other] = 1 - row[i][computing] - row[i][inCalls] - row[i][inFiles]
		}
		out = append(out, row)
	}
	return out
}
