package trace

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/wire"
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
		q := decodeProcessSection(r, n, calls, container.Version)
		if err := r.Done(); err != nil {
			t.Fatal(err)
		}
		for i, x := range p.All() {
			if y := q.At(i); !reflect.DeepEqual(x, y) {
				t.Fatalf("rank %d: %+v became %+v", i, x, y)
			}
		}
	})
}

// Names of hosts come back, and those that are numbered take a few bytes however many
// they are.
func TestNumberedHosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-c]?[0-9]{0,3}(-[0-9]{1,17})?[x.]?`)
		var list []string
		for range rapid.IntRange(0, 5).Draw(t, "parts") {
			if rapid.Bool().Draw(t, "run") {
				from, step := rapid.IntRange(0, 200).Draw(t, "from"), rapid.IntRange(-3, 3).Draw(t, "step")
				form := rapid.SampledFrom([]string{"node%04d", "n%d.rack7", "r1-n%02d-ib0", "%d"}).Draw(t, "form")
				for i := range rapid.IntRange(1, 20).Draw(t, "length") {
					list = append(list, fmt.Sprintf(form, max(from+i*step, 0)))
				}
			} else {
				list = append(list, name.Draw(t, "name"))
			}
		}
		r := wire.NewReader(appendNumbered(nil, list), "names")
		got := decodeNumbered(r, len(list))
		if err := r.Done(); err != nil || !slices.Equal(got, list) {
			t.Fatalf("%q became %q: %v", list, got, err)
		}
	})
	for _, form := range []string{"node%04d", "r2-n%d.site.org", "c%03d-07"} {
		var list []string
		for i := range 256 {
			list = append(list, fmt.Sprintf(form, i))
		}
		if b := appendNumbered(nil, list); len(b) > 25 {
			t.Errorf("%s: %d bytes", form, len(b))
		}
	}
}

// What says that there are more names than ranks is refused before they are made.
func TestNumberedHostsBounds(t *testing.T) {
	b := wire.AppendString([]byte{1}, "node0")
	b = wire.AppendVarint(wire.AppendUvarint(wire.AppendUvarint(b, 1<<22), 4), 1)
	for _, limit := range []int{100, MaxRanks} {
		r := wire.NewReader(b, "names")
		if list := decodeNumbered(r, limit); r.Err() == nil || len(list) > 1 {
			t.Errorf("%d names", len(list))
		}
	}
	var many []string
	for i := range 20_000 {
		many = append(many, fmt.Sprintf("node%05d", i))
	}
	r := wire.NewReader(appendNumbered(nil, many), "names")
	if got := decodeNumbered(r, MaxRanks); r.Done() != nil || !slices.Equal(got, many) {
		t.Errorf("%d names became %d: %v", len(many), len(got), r.Err())
	}
}

// The table of many ranks is small where launchers number hosts and start them one
// after the other.
func TestManyProcesses(t *testing.T) {
	const ranks = 16384
	var p Processes
	for i := range ranks {
		start := int64(1_700_000_000_000_000_000) + int64(i/64)*20_000_000 + int64(i%64)*300_000
		end := int64(1_700_000_090_000_000_000) + int64(i*7919%1000)*1000
		x := Process{Host: fmt.Sprintf("node%04d", i/64), PID: 4000 + i%64, End: "finished", Threads: 1, StartNs: start, SpanNs: end - start, MPINs: (end - start) / 8}
		p.Append(x.Coarse(ranks))
	}
	stored, _ := container.Pack(container.Process, p.append(nil))
	if len(stored) > 1024 {
		t.Errorf("%d bytes", len(stored))
	}
}
