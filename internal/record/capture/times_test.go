package capture

import (
	"bytes"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A lap is the times of one call as the clock had them.
type lap struct{ gap, duration uint64 }

// Recorded, merged, written and read: in every mode that keeps single times, each of
// them comes back within its bound, and within what the reader says is its bound.
// Zeros, ones, powers of two up to 2^63 and nearly 2^64 are among them.
func TestTimesComeBack(t *testing.T) {
	for _, mode := range timing.Modes {
		if !mode.NeedsLog() {
			continue
		}
		t.Run(string(mode), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { timesComeBack(t, mode) })
		})
	}
}

func timesComeBack(t *rapid.T, mode timing.Mode) {
	o := timing.Options{
		Mode: mode, ErrorBound: rapid.SampledFrom([]timing.Bound{
			{Relative: 1}, {Relative: 0.9}, {Relative: 0.1}, {Relative: 1e-3}, {Relative: 1e-6}, {Absolute: 1}, {Absolute: 10 * time.Microsecond}, {Absolute: time.Hour},
		}).Draw(t, "error"),
		FunctionErrorBounds: map[string]timing.Bound{"MPI_Iprobe": rapid.SampledFrom([]timing.Bound{
			{Relative: 0.5}, {Relative: 0.01}, {Relative: 1e-5}, {Absolute: time.Millisecond},
		}).Draw(t, "its error")},
	}
	const ranks = 2
	rate := rapid.SampledFrom([]float64{1, 2, 2.6}).Draw(t, "ticks per ns")
	var tracks []*track.Track
	var laps [ranks][]lap
	var names [ranks][]string
	for rank := range ranks {
		s := recorder(t)
		left := uint64(math.MaxUint64 - 1<<40) // of the clock
		if rank > 0 {
			left = 1 << 39 // all ranks together have less than 584 years
		}
		for i := range rapid.IntRange(1, 30).Draw(t, "calls") {
			l := lap{drawTicks(t, &left), drawTicks(t, &left)}
			if i == 0 {
				l.gap = 0
			}
			name := rapid.SampledFrom([]string{"MPI_Comm_rank", "MPI_Iprobe", "MPI_Comm_size"}).Draw(t, "call")
			s.w.NextTicks += l.gap
			in, out := cat(commWorld), cat(0)
			if name == "MPI_Iprobe" {
				in, out = cat(anySource, 7, commWorld), cat(0, make([]uint64, 6))
			}
			s.put(t, s.w.Enter(callID(t, name), 0, s.site, in...))
			s.w.NextTicks += l.duration
			s.put(t, s.w.Leave(callID(t, name), 0, out...))
			laps[rank], names[rank] = append(laps[rank], l), append(names[rank], name)
		}
		cfg := testConfig()
		cfg.Rank, cfg.Ranks, cfg.TicksPerNs, cfg.Timing = rank, ranks, rate, o
		c, err := New(cfg)
		if err == nil {
			err = c.AttachRing(0, s.w.Ring)
		}
		if err == nil {
			err = c.Drain()
		}
		s.put(t, err)
		tr, err := c.Track(track.EndFinished)
		s.put(t, err)
		tracks = append(tracks, tr)
	}
	r := readBack(t, tracks, o)
	for rank := range ranks {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for c, err := range k.TimedCalls(0) {
			if err != nil {
				t.Fatal(err)
			}
			var bound timing.Bound
			if mode.IsLossy() {
				bound = o.Bound(names[rank][i])
			}
			within(t, c.Timing.Gap, laps[rank][i].gap, rate, bound)
			within(t, c.Timing.Duration, laps[rank][i].duration, rate, bound)
			i++
		}
		if i != len(laps[rank]) {
			t.Fatalf("rank %d: %d calls, want %d", rank, i, len(laps[rank]))
		}
	}
}

// Histograms have the summaries of calls as well, and those are the ones that there are
// without histograms, to the last bit.
func TestSummariesOfHistograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, left := recorder(t), uint64(1<<62)
		for range rapid.IntRange(1, 200).Draw(t, "calls") {
			s.w.NextTicks += drawTicks(t, &left)
			name := rapid.SampledFrom([]string{"MPI_Comm_rank", "MPI_Comm_size"}).Draw(t, "call")
			s.put(t, s.w.Enter(callID(t, name), 0, s.site, cat(commWorld)...))
			s.w.NextTicks += drawTicks(t, &left)
			s.put(t, s.w.Leave(callID(t, name), 0, 0))
		}
		var want []track.Times
		for _, mode := range []timing.Mode{timing.ModeStats, timing.ModeHist} {
			cfg := testConfig()
			cfg.TicksPerNs, cfg.Timing = 2.6, timing.Options{Mode: mode, Bins: rapid.IntRange(4, 6).Draw(t, "bins")}
			c, err := New(cfg)
			s.put(t, err)
			s.w.Ring.SetReleased(0)
			s.put(t, c.AttachRing(0, s.w.Ring))
			s.put(t, c.Drain())
			tr, err := c.Track(track.EndFinished)
			s.put(t, err)
			if want == nil {
				want = tr.Times
			}
			if d := cmp.Diff(want, tr.Times); d != "" {
				t.Fatalf("%s: %s", mode, d)
			}
			if mode == timing.ModeStats {
				continue
			}
			counts := make([]uint64, len(want))
			for _, h := range tr.Hists {
				if h.Duration.Count() != h.Gap.Count() {
					t.Fatalf("%d durations, %d gaps", h.Duration.Count(), h.Gap.Count())
				}
				counts[h.Terminal] += h.Gap.Count()
			}
			for i, w := range want {
				if counts[i] != w.Duration.Count {
					t.Fatalf("histograms of %d calls, want %d", counts[i], w.Duration.Count)
				}
			}
		}
	})
}

// within holds a time that was read against the ticks that passed.
func within(t *rapid.T, got trace.Sample, ticks uint64, rate float64, bound timing.Bound) {
	t.Helper()
	want := new(big.Float).Quo(new(big.Float).SetUint64(ticks), big.NewFloat(rate))
	off := new(big.Float).Sub(new(big.Float).SetUint64(got.Ns), want)
	off.Abs(off)
	// Rounding to a nanosecond; ticks of 2^53 and more are floating point numbers then.
	room := new(big.Float).Mul(want, big.NewFloat(bound.Relative+1e-15))
	room.Add(room, big.NewFloat(float64(bound.Absolute)))
	room.Add(room, big.NewFloat(0.5000001))
	if off.Cmp(room) > 0 {
		t.Fatalf("%d ticks came back as %+v, bound %v", ticks, got, bound)
	}
	said := new(big.Float).SetUint64(got.ErrorBoundNs)
	if said.Add(said, big.NewFloat(0.5000001)).Add(said, new(big.Float).Mul(want, big.NewFloat(1e-15))); off.Cmp(said) > 0 {
		t.Fatalf("%d ticks came back as %+v", ticks, got)
	}
	none := timing.Bound{}
	if kind := got.Kind; bound != none && kind != trace.BoundedSample || bound == none && kind != trace.ExactSample || !kind.OfTheCallItself() {
		t.Fatalf("a time of kind %v, bound %v", kind, bound)
	}
}

// drawTicks draws a time, as far as the clock still goes.
func drawTicks(t *rapid.T, left *uint64) uint64 {
	v := rapid.OneOf(
		rapid.SampledFrom([]uint64{0, 0, 1, 2, 3, 1<<32 - 1, 1 << 32, 1 << 53, 1<<63 - 1, 1 << 63, 1<<63 + 1, math.MaxUint64}),
		rapid.Uint64Range(0, 5000), rapid.Uint64Range(1e6, 1e6+1000), rapid.Uint64(),
	).Draw(t, "ticks")
	v = min(v, *left)
	*left -= v
	return v
}

// A ticker is a synth for a property, whose clock goes only as it is told.
type ticker struct{ synth }

func recorder(t *rapid.T) *ticker {
	w, err := event.NewWriter(0, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	w.NextTicks, w.TicksPerRecord = 1000, 0
	return &ticker{synth{w: w, site: 0x401000}}
}

func (s *ticker) put(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func callID(t *rapid.T, name string) uint16 {
	c, ok := mpi.CallNamed(name)
	if !ok {
		t.Fatalf("no call %s", name)
	}
	return c.ID
}

// readBack merges tracks, writes the file and opens it, checked.
func readBack(t *rapid.T, tracks []*track.Track, o timing.Options) *trace.Reader {
	s, err := merge.MergeAll(tracks, len(tracks))
	if err != nil || len(s.Problems) > 0 {
		t.Fatalf("%v, problems %v", err, s.Problems)
	}
	meta := map[string]string{}
	for _, v := range o.Environment() {
		if v[0] == timing.ErrorsVariable {
			meta[trace.MetaTimingError] = v[1]
		}
	}
	content, err := s.Content(meta)
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	content.Series = &sections.Series{Sizes: make([]int64, len(tracks))}
	for rank, tr := range tracks {
		if content.Series.Sizes[rank], err = merge.WriteCallTimes(tr, &all); err != nil {
			t.Fatal(err)
		}
	}
	content.Series.Data = bytes.NewReader(all.Bytes())
	b, err := sections.EncodeFile(content)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.ReadBytes(b, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Check(r); err != nil {
		t.Fatal(err)
	}
	return r
}
