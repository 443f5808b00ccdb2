package capture

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// Without times, a file is the same to the last byte whenever calls are made, however long
// they take and whenever the recorder comes; and its calls are those of a file with times.
func TestTimeless(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 1<<10), 0, 200).Draw(r, "steps")
		record := func(mode timing.Mode, pace uint64, start int64) []byte {
			var tracks []*track.Track
			for rank := range 2 {
				p := newProgram(t, 1, 1<<20)
				s := p.threads[0]
				cfg := testConfig()
				cfg.Rank, cfg.Ranks, cfg.StartNs, cfg.Timing.Mode = rank, 2, start, mode
				c := attach(t, cfg, s)
				for i, v := range steps {
					s.w.NextTicks += pace * uint64(v)
					p.step(v>>5, v&31)
					if v&31 == 3 {
						s.w.NextTicks += pace
						for on := range uint64(2) {
							if err := s.w.Write(0, event.KindTracingSwitch, 0, []uint64{on}); err != nil {
								r.Fatal(err)
							}
							s.w.NextTicks += pace
						}
					}
					if pace > 0 && i%7 == 0 {
						if err := c.Drain(); err != nil {
							r.Fatal(err)
						}
					}
				}
				s.enter("MPI_Barrier", commWorld)
				if err := c.Drain(); err != nil {
					r.Fatal(err)
				}
				tr, err := c.Track(track.EndCrashed)
				if err != nil {
					r.Fatal(err)
				}
				if tr.Timeless != (mode == timing.ModeNone) {
					r.Fatalf("%s: timeless %t", mode, tr.Timeless)
				}
				if mode == timing.ModeNone {
					kept := len(tr.Hists) + len(c.asides.list)
					for _, x := range tr.Courses {
						if x.Name == "" {
							kept++
						}
					}
					for _, x := range tr.Times {
						kept += int(x.Duration.Count + x.Gap.Count)
					}
					if p := tr.Process; kept > 0 || tr.TimeLog != nil || p.StartNs != 0 || p.SpanNs != 0 {
						r.Fatalf("%d times were kept, log %v, process %+v", kept, tr.TimeLog, p)
					}
				}
				tracks = append(tracks, tr)
			}
			m, err := merge.MergeAll(tracks, 2)
			if err != nil || len(m.Problems) > 0 {
				r.Fatalf("%v, problems %v", err, m.Problems)
			}
			c, err := m.Content(nil)
			if err != nil {
				r.Fatal(err)
			}
			c.NoTimes = mode == timing.ModeNone
			b, err := sections.EncodeFile(c)
			if err != nil {
				r.Fatal(err)
			}
			return b
		}
		fast, slow := record(timing.ModeNone, 0, 5e9), record(timing.ModeNone, 12345, 7e18)
		if !bytes.Equal(fast, slow) {
			r.Fatalf("%d bytes of the fast run, %d of the slow one differ", len(fast), len(slow))
		}
		none, stats := checked(r, fast), checked(r, record(timing.ModeStats, 12345, 5e9))
		if none.HasTimes() || !stats.HasTimes() {
			r.Fatalf("times: %t, %t", none.HasTimes(), stats.HasTimes())
		}
		for rank := range 2 {
			a, b := texts(r, none, rank), texts(r, stats, rank)
			if len(a) != len(b) {
				r.Fatalf("rank %d: %d calls without times, %d with", rank, len(a), len(b))
			}
			for i := range a {
				if a[i] != b[i] {
					r.Fatalf("rank %d: %q without times, %q with", rank, a[i], b[i])
				}
			}
		}
	})
}

func checked(t *rapid.T, b []byte) *trace.Reader {
	r, err := trace.ReadBytes(b, "test")
	if err == nil {
		err = trace.Check(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func texts(t *rapid.T, r *trace.Reader, rank int) (list []string) {
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range k.TimedCalls(0) {
		if err != nil {
			t.Fatal(err)
		}
		if !r.HasTimes() && (c.Timing != trace.Timing{} || c.StartNs != 0 || c.EndNs() != 0) {
			t.Fatalf("call %d: %+v from %d to %d", c.Index, c.Timing, c.StartNs, c.EndNs())
		}
		list = append(list, c.Text())
	}
	return list
}
