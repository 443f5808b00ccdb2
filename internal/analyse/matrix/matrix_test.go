package matrix

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

var everything = Options{PointToPoint: true, Collectives: true, RMA: true}

func reader(t testing.TB, tracks []*track.Track) *trace.Reader {
	t.Helper()
	return mergetest.Open(t, tracks, map[string]string{trace.MetaMPIFlavour: "mpich"})
}

func run(t testing.TB, ranks int, program func(r *tracktest.Recorder)) *trace.Reader {
	return reader(t, tracktest.RunAll(ranks, program))
}

func compute(t testing.TB, r *trace.Reader, o Options) *Matrix {
	t.Helper()
	m, err := Compute(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// same compares what the compressed form says with what every call says.
func same(t testing.TB, r *trace.Reader, bins ...int) {
	t.Helper()
	for _, bin := range bins {
		o := everything
		o.RanksPerRow = bin
		got := compute(t, r, o)
		want, err := ComputeCallByCall(r, o)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmp.AllowUnexported(Matrix{}, fan{})); d != "" {
			t.Errorf("bins of %d: expanded and compressed differ (-expanded +compressed):\n%s", bin, d)
		}
		var sum Cell
		for _, row := range got.Rows() {
			for _, e := range row {
				sum.add(e.Cell)
			}
		}
		if sum != got.Total {
			t.Errorf("bins of %d: cells add up to %+v, the total is %+v", bin, sum, got.Total)
		}
	}
}

func TestPrograms(t *testing.T) {
	for name, program := range map[string]func(r *tracktest.Recorder){
		"stencil": tracktest.Stencil(10), "butterfly": tracktest.Butterfly(3), "transpose": tracktest.Transpose(4),
		"workers": tracktest.Workers(40), "types": reusedTypes, "persistent": persistent, "windows": windows,
		"counting": tracktest.Counting(1200),
		"comms":    comms, "threads": threads, "neighbours": neighbourhood, "graph": distributed, "collectives": collectives,
	} {
		t.Run(name, func(t *testing.T) { same(t, run(t, 9, program), 1, 3) })
	}
}

// Tags and offsets of the program are in lanes, so that the test above is one of these.
func TestLanes(t *testing.T) {
	r := run(t, 3, tracktest.Counting(2400))
	if !slices.ContainsFunc(r.Sections(), func(s trace.Section) bool { return s.Name == "lanes" }) {
		t.Fatal("no lanes")
	}
	m := compute(t, r, everything)
	// 2400 + 1200 sends of 40, 44 and 48 bytes in turn by each of three ranks.
	if want := (Cell{Messages: 3 * 3600, Bytes: 3 * 3600 * 44}); m.Total.Messages < want.Messages || m.Total.Bytes < want.Bytes {
		t.Errorf("%+v, at least %+v were sent", m.Total, want)
	}
}

func TestSkeletons(t *testing.T) {
	for _, p := range skeleton.All {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			var tracks []*track.Track
			for rank := range 16 {
				tracks = append(tracks, vmpi.Run(p.Name, rank, 16, p.Run).Track())
			}
			same(t, reader(t, tracks), 1)
		})
	}
}

const (
	own    = trace.FirstCreatedHandle
	double = 0x214
	heap   = 1
)

// sendOf sends with a datatype and communicator of choice.
func sendOf(r *tracktest.Recorder, count, datatype, dest, comm int64) {
	r.Call("MPI_Send", 40, heap, 0, count, datatype, dest, 1, comm)
}

// newType makes a datatype under the first own number.
func newType(r *tracktest.Recorder, count int64) {
	r.Call("MPI_Type_contiguous", 41, count, double, own, 8*count, 0, 8*count, 0, 8*count)
}

func freeType(r *tracktest.Recorder) { r.Call("MPI_Type_free", 42, own) }

// reusedTypes gives the same name to types of several sizes, in a loop.
func reusedTypes(r *tracktest.Recorder) {
	next := int64((r.Rank + 1) % r.Size)
	r.Begin()
	for i := range 20 {
		newType(r, int64(1+i%3))
		for range i%4 + 1 {
			sendOf(r, 2, own, next, tracktest.World)
		}
		freeType(r)
	}
	r.End()
}

func TestReusedTypes(t *testing.T) {
	m := compute(t, run(t, 4, reusedTypes), everything)
	var want Cell
	for i := range 20 {
		want.add(Cell{1, uint64(2 * 8 * (1 + i%3))}.times(uint64(i%4 + 1)))
	}
	for i := range 4 {
		got := m.Row(i)
		if len(got) != 1 || got[0] != (RowEntry{(i + 1) % 4, want}) {
			t.Errorf("row %d is %v, want %v", i, got, want)
		}
	}
}

// persistent starts requests whose number means two things in turn, one of
// them with a datatype that changes, too.
func persistent(r *tracktest.Recorder) {
	next, last := int64((r.Rank+1)%r.Size), int64((r.Rank+r.Size-1)%r.Size)
	r.Begin()
	for i := range 6 {
		newType(r, int64(1+i%2))
		r.Call("MPI_Send_init", 43, heap, 0, 3, own, next, 1, tracktest.World, 2*0+1)
		for range 5 {
			r.Call("MPI_Start", 44, 1)
			r.Call("MPI_Wait", 45, 1, 4, 0)
		}
		r.Call("MPI_Request_free", 46, 1)
		r.Call("MPI_Psend_init", 47, heap, 0, 4, 10, double, last, 1, tracktest.World, 0x130, 1)
		r.Call("MPI_Startall", 48, 1, 1, 1)
		r.Call("MPI_Request_free", 46, 1)
		freeType(r)
	}
	r.End()
}

func TestPersistent(t *testing.T) {
	m := compute(t, run(t, 4, persistent), everything)
	for i := range 4 {
		row := make(map[int]Cell)
		for _, e := range m.Row(i) {
			row[e.Column] = e.Cell
		}
		want := map[int]Cell{(i + 1) % 4: {30, 5 * 3 * (3*8 + 3*16)}, (i + 3) % 4: {6, 6 * 4 * 10 * 8}}
		if d := cmp.Diff(want, row); d != "" {
			t.Errorf("row %d: %s", i, d)
		}
	}
}

func windows(r *tracktest.Recorder) {
	next := int64((r.Rank + 1) % r.Size)
	r.Begin()
	r.Call("MPI_Win_allocate", 50, 800, 8, 0x130, tracktest.World, 6, 0, own)
	for range 3 {
		r.Call("MPI_Put", 51, heap, 0, 10, double, next, 0, 10, double, own)
		r.Call("MPI_Get", 52, heap, 0, 5, double, next, 0, 5, double, own)
		r.Call("MPI_Fetch_and_op", 53, heap, 0, heap, 8, double, next, 0, 0x21, own)
	}
	r.End()
}

func TestWindows(t *testing.T) {
	m := compute(t, run(t, 4, windows), everything)
	for i := range 4 {
		row := make(map[int]Cell)
		for _, e := range m.Row(i) {
			row[e.Column] = e.Cell
		}
		want := map[int]Cell{(i + 1) % 4: {6, 3 * 88}, (i + 3) % 4: {6, 3 * 48}}
		if d := cmp.Diff(want, row); d != "" {
			t.Errorf("row %d: %s", i, d)
		}
	}
}

// A table that is wider than the terminal takes more ranks into a row.
func TestFit(t *testing.T) {
	m := compute(t, run(t, 9, tracktest.Stencil(10)), everything)
	for width, bin := range map[int]int{200: 1, 80: 2, 60: 4, 20: 8} {
		f := m.FitTextWidth(MeasureBytes, width)
		if f.RanksPerRow != bin || f.Total != m.Total {
			t.Errorf("%d columns: bins of %d, want %d", width, f.RanksPerRow, bin)
		}
	}
}

func subset(a, b []int) bool {
	for _, x := range a {
		found := false
		for _, y := range b {
			found = found || x == y
		}
		if !found {
			return false
		}
	}
	return true
}

func collectives(r *tracktest.Recorder) {
	n := int64(r.Size)
	counts := []int64{n}
	for i := range r.Size {
		counts = append(counts, int64(i))
	}
	r.Begin()
	r.Call("MPI_Reduce", 80, heap, 0, heap, 0, 1, double, 0x21, 1, tracktest.World)
	r.Call("MPI_Scan", 81, heap, 0, heap, 0, 2, double, 0x21, tracktest.World)
	vals := append([]int64{heap, 0, heap, 0}, counts...)
	r.Call("MPI_Reduce_scatter", 82, append(vals, double, 0x21, tracktest.World)...)
	r.Call("MPI_Barrier", 83, tracktest.World)
	r.Call("MPI_Ibarrier", 84, tracktest.World, 2)
	r.Call("MPI_Iallreduce", 85, heap, 0, heap, 0, 1, double, 0x21, tracktest.World, 2)
	r.End()
}

func TestCollectives(t *testing.T) {
	m := compute(t, run(t, 4, collectives), everything)
	got := m.Dense()
	for i := range 4 {
		for j := range 4 {
			var want Cell
			if i != j {
				want.add(Cell{2, uint64(8*j) + 8}) // Reduce_scatter, Iallreduce
				if j == 1 {
					want.add(Cell{1, 8})
				}
				if j == i+1 {
					want.add(Cell{1, 16})
				}
			}
			if got[i][j] != want {
				t.Errorf("%d to %d: %+v, want %+v", i, j, got[i][j], want)
			}
		}
	}
	if m := compute(t, run(t, 4, collectives), Options{PointToPoint: true}); m.Total != (Cell{}) {
		t.Errorf("point to point: %+v", m.Total)
	}
}

func BenchmarkCompute(b *testing.B) {
	for _, ranks := range []int{64, 1024} {
		r := run(b, ranks, tracktest.Stencil(10))
		b.Run(fmt.Sprint(ranks), func(b *testing.B) {
			for b.Loop() {
				compute(b, r, everything)
			}
		})
	}
}
