package trace

import (
	"testing"

	"pgregory.net/rapid"

	"spoor/internal/column"
	"spoor/internal/wire"
)

// Durations keep the precision that the number of ranks allows, and the end of
// a process stays where it was.
func TestCoarseProcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 1<<20).Draw(t, "ranks")
		x := Process{
			PID: 42, End: "finished", StartNs: rapid.Int64Range(1e18, 2e18).Draw(t, "start"),
			SpanNs: rapid.Int64Range(0, 1e15).Draw(t, "span"), MPINs: rapid.Int64Range(0, 1e15).Draw(t, "mpi"),
		}
		y := x.Coarse(ranks)
		within := func(what string, a, b int64, part float64) {
			if d := float64(max(a-b, b-a)); d > part*float64(a) {
				t.Fatalf("%s: %d became %d", what, a, b)
			}
		}
		part := 1.0 / 32
		if ranks <= 64 {
			part = 1.0 / 1024
		}
		within("span", x.SpanNs, y.SpanNs, part)
		within("MPI time", x.MPINs, y.MPINs, part)
		if d := x.StartNs + x.SpanNs - y.StartNs - y.SpanNs; max(d, -d) > 5e5 && (ranks <= 256 || max(d, -d) > x.SpanNs/32) {
			t.Fatalf("the end moved by %d", d)
		}
		if (y.PID == 0) != (ranks > 1024) {
			t.Fatalf("process id %d on %d ranks", y.PID, ranks)
		}
	})
}

// The table comes back from a file, whichever form its columns have.
func TestProcessSection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 100).Draw(t, "ranks")
		unit := rapid.Int64Range(1, 1<<40).Draw(t, "unit")
		var p Processes
		var calls column.Column
		for range n {
			x := Process{
				Host: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "host"), PID: rapid.IntRange(0, 1<<22).Draw(t, "pid"), End: "finished",
				StartNs: rapid.Int64Range(-100, 100).Draw(t, "start") * unit, SpanNs: rapid.Int64Range(0, 100).Draw(t, "span") * unit,
				MPINs: rapid.Int64().Draw(t, "mpi"), Calls: rapid.Int64().Draw(t, "calls"),
			}
			p.Append(x)
			calls.Append(x.Calls)
		}
		r := wire.NewReader(p.append(nil), "process")
		q := decodeProcessSection(r, n, calls)
		if err := r.Done(); err != nil {
			t.Fatal(err)
		}
		for i, x := range p.All() {
			if y := q.At(i); x != y {
				t.Fatalf("rank %d: %+v became %+v", i, x, y)
			}
		}
	})
}
