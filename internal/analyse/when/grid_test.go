package when

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace"
)

// What cells have is what they have if each call is painted where it is.
func TestCellsBySlowPainting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks, rounds := rapid.IntRange(2, 5).Draw(t, "ranks"), rapid.IntRange(1, 30).Draw(t, "rounds")
		r := noisyRun(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), ranks, rounds, 2).trace(t)
		var list []*RankAnalysis
		clocks, err := clocksOf(r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = every(r, clocks, func(riders []waits.CallVisitor) error {
			slow := make([][states][]int64, ranks)
			for i, x := range riders {
				list = append(list, x.(*RankAnalysis))
				c := list[i].canvas
				paint := func(state int, from, to int64) {
					for cell := range c.cells() {
						begin, end := c.at[cell], c.at[cell+1]
						slow[i][state][cell] += max(0, min(end, to)-max(begin, from))
					}
				}
				for s := range slow[i] {
					slow[i][s] = make([]int64, c.cells())
				}
				k, err := r.Rank(i)
				if err != nil {
					return err
				}
				for call, err := range k.TimedCalls(0) {
					if err != nil {
						return err
					}
					paint(computing, call.StartNs-int64(call.Timing.Gap.Ns), call.StartNs)
				}
			}
			_, err := waits.Analyse(r, waits.Options{
				Visitor: func(rank int) waits.CallVisitor { return riders[rank] },
				EachWait: func(w waits.Wait) {
					c, sign := list[w.Rank].canvas, int64(1)
					if w.Ns < 0 {
						w.Ns, sign = -w.Ns, -1
					}
					for cell := range c.cells() {
						slow[w.Rank][waiting][cell] += sign * max(0, min(c.at[cell+1], w.BeginNs+w.Ns)-max(c.at[cell], w.BeginNs))
					}
				},
			})
			for i, x := range list {
				if d := cmp.Diff(slow[i], x.canvas.states); d != "" {
					t.Fatalf("rank %d of %d, %d rounds: %s", i, ranks, rounds, d)
				}
				for cell := range x.canvas.at[1:] {
					if x.canvas.at[cell+1] < x.canvas.at[cell] {
						t.Fatalf("rank %d: cells run back: %v", i, x.canvas.at)
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A picture is of all of the run: sums of a row are right to a level, also where a rank changes, and where few columns have room.
func TestPicture(t *testing.T) {
	for _, x := range []struct{ ranks, rounds, noise, bytes int }{{4, 5, 0, 1 << 10}, {4, 200, 0, 1 << 10}, {4, 200, 2, 1 << 10}, {16, 700, 1, 1100}, {70, 40, 1, 2200}} {
		m := noisyRun(rand.New(rand.NewPCG(3, 4)), x.ranks, x.rounds, x.noise)
		truths[1].plant(m)
		r := m.trace(t)
		w, err := AnalyseUnlessStored(r)
		if err != nil {
			t.Fatal(err)
		}
		size := wire.EstimatePackedSize(sections.AppendWhen(nil, w))
		t.Logf("%d ranks, %d rounds, noise %d: %d columns, %d rows, %d bytes, %d findings", x.ranks, x.rounds, x.noise, len(w.ColumnWidthNs), len(w.Rows), size, len(w.Findings))
		if size > x.bytes {
			t.Errorf("%d bytes", size)
		}
		first, end, err := r.TimeExtent()
		if err != nil {
			t.Fatal(err)
		}
		if d := w.RunNs() - (end - first); d > (end-first)/100 || d < -(end-first)/100 {
			t.Errorf("a run of %d ns, not %d", w.RunNs(), end-first)
		}
		for i, row := range w.Rows {
			want, got := 0.0, int64(0)
			for _, v := range m[row.FirstRank : row.FirstRank+row.RankCount] {
				for _, ns := range v {
					want += ns / float64(row.RankCount)
				}
			}
			for column := range w.ColumnWidthNs {
				got += w.StateNs(i, trace.WhenStateComputing, column)
			}
			// What comes before the first call of the loop is no iteration's, but it is computed all the same.
			if d := float64(got) - want; d > float64(w.LevelNs) || d < -float64(w.LevelNs)-0.002*want {
				t.Errorf("%d ranks from %d on compute %d ns, want %.0f within %d", row.RankCount, row.FirstRank, got, want, w.LevelNs)
			}
		}
	}
}
