package handles

import (
	"testing"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

const (
	local  = trace.FirstCreatedHandle
	double = 0x214
)

// reused gives a number to types of two sizes in turn, and sends each.
func reused(rounds int) func(r *tracktest.Recorder) {
	return func(r *tracktest.Recorder) {
		r.Begin()
		for i := range rounds {
			n := int64(1 + i%2)
			r.Call("MPI_Type_contiguous", 41, n, double, local, 8*n, 0, 8*n, 0, 8*n)
			r.Call("MPI_Send", 40, 1, 0, 1, local, 0, 1, tracktest.World)
			r.Call("MPI_Type_free", 42, local)
		}
		r.End()
	}
}

// sizes counts the sends of a rank by the size of what they send, -1 if unknown.
func sizes(t *testing.T, r *trace.Reader) map[int64]uint64 {
	t.Helper()
	table := TableOf(r)
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := table.Rank(k)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[int64]uint64)
	for n := range k.Terminals() {
		c, err := k.Terminal(n)
		if err != nil {
			t.Fatal(err)
		}
		if c.Name() != "MPI_Send" {
			continue
		}
		for _, p := range x.GroupOccurrences(0, c) {
			size, ok := x.TypeSize(c.Param("datatype").In.Num, 0, p.ExampleIndex)
			if !ok {
				size = -1
			}
			got[size] += p.Count
		}
	}
	return got
}

func TestReusedNumber(t *testing.T) {
	if got := sizes(t, mergetest.Run(t, 1, reused(101))); got[8] != 51 || got[16] != 50 || len(got) != 2 {
		t.Errorf("sends by size: %v", got)
	}
}

// A number that means too many things is not known, which is no error.
func TestTooManyMeanings(t *testing.T) {
	defer func(n uint64) { maxBindings = n }(maxBindings)
	maxBindings = 100
	if got := sizes(t, mergetest.Run(t, 1, reused(101))); got[-1] != 101 || len(got) != 1 {
		t.Errorf("sends by size: %v", got)
	}
	if got := sizes(t, mergetest.Run(t, 1, reused(100))); got[8] != 50 || got[16] != 50 {
		t.Errorf("sends by size: %v", got)
	}
}

// What is made anew in each round, but each time the same, splits no calls.
func TestMadeAlike(t *testing.T) {
	r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		for range 9 {
			split(r, 10, tracktest.World, 0, local, 0, []int{0, 1})
			r.Call("MPI_Type_contiguous", 41, 2, double, local, 16, 0, 16, 0, 16)
			r.Call("MPI_Send", 40, 1, 0, 1, local, 0, 1, local)
			r.Call("MPI_Comm_free", 12, local)
		}
		for i := range int64(2) {
			r.Call("MPI_Type_contiguous", 41, 1+i, double, local+1, 8+8*i, 0, 8+8*i, 0, 8+8*i)
		}
		r.End()
	})
	k, err := r.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := TableOf(r).Rank(k)
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.Call(0, 3)
	if err != nil {
		t.Fatal(err)
	}
	if list := x.GroupOccurrences(0, c); len(list) != 1 || list[0].Count != 9 {
		t.Errorf("%s in pieces %v", c.Text(), list)
	}
	if comm := x.CommOf(c, 0, 3); comm == nil || comm.MadeBy != "MPI_Comm_split" || comm.Size != 2 {
		t.Errorf("sent on %v", comm)
	}
	for handle, size := range map[int64]int64{double: 8, local: 16, local + 1: 0, local + 2: 0} {
		if got := x.FixedTypeSize(handle); got != size {
			t.Errorf("datatype %d always has %d bytes, expected %d", handle, got, size)
		}
	}
}

// Finding where objects were made takes one pass, however many numbers mean several things.
func BenchmarkReusedNumbers(b *testing.B) {
	r := mergetest.Run(b, 1, func(r *tracktest.Recorder) {
		r.Begin()
		for i := range 300 {
			for h := range int64(200) {
				n := int64(1 + i%2 + i%3)
				r.Call("MPI_Type_contiguous", 41, n, double, local+h, 8*n, 0, 8*n, 0, 8*n)
				if (i*i)%(7+int(h)) == 1 {
					r.Call("MPI_Send", 40, 1, 0, 1, local, 0, 1, tracktest.World)
				}
			}
			for h := range int64(200) {
				r.Call("MPI_Type_free", 42, local+h)
			}
		}
		r.End()
	})
	k, err := r.Rank(0)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		x, err := newTable(r).Rank(k)
		if err != nil {
			b.Fatal(err)
		}
		x.TypeSize(local, 0, 1)
	}
}
