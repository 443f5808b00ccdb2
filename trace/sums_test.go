package trace_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// counted is an array behind its length.
func counted(list ...int64) []int64 { return append([]int64{int64(len(list))}, list...) }

// running are displacements of pieces that lie side by side.
func running(from int64, counts []int64) []int64 {
	list := []int64{int64(len(counts))}
	for _, c := range counts {
		list = append(list, from)
		from += c
	}
	return list
}

// without leaves displacements out where they are sums.
func without(counts, displs []int64) []int64 {
	displs = slices.Clone(displs)
	signature.OmitSummedDispls(counts, displs)
	return displs
}

// exchange makes calls whose displacements are left out on all, on some and on no ranks,
// as recorded and as they are.
func exchange(rank, size int) (recorded, plain [][]int64) {
	const typeInt, world = 0x209, 257
	var counts []int64
	for i := range size {
		counts = append(counts, int64(rank*rank*7+i*13%5))
	}
	all := counted(counts...)
	sums := running(int64(3*rank), counts)
	almost := slices.Clone(sums)
	almost[size]++
	some := sums
	if rank%3 == 1 {
		some = almost
	}
	for _, displs := range [][2][]int64{{sums, sums}, {sums, almost}, {almost, sums}, {some, sums}, {counted(make([]int64, size)...), some}, {some, {-4}}} {
		call := func(send, recv []int64) (vals []int64) {
			for _, part := range [][]int64{{1<<8 | 1, 0}, all, send, {typeInt, 2<<8 | 1, 0}, all, recv, {typeInt, world}} {
				vals = append(vals, part...)
			}
			return vals
		}
		recorded = append(recorded, call(without(all, displs[0]), without(all, displs[1])))
		plain = append(plain, call(displs[0], displs[1]))
	}
	// Neighbours: as many in all on each rank, but other numbers of sources and destinations.
	out, in := counts[:1+rank%(size-1)], counts[:size-1-rank%(size-1)]
	call := func(f func(counts, displs []int64) []int64) (vals []int64) {
		for _, part := range [][]int64{
			{1<<8 | 1, 0}, counted(out...), f(counted(out...), running(0, out)),
			{typeInt, 2<<8 | 1, 0}, counted(in...), f(counted(in...), running(5, in)), {typeInt, world},
		} {
			vals = append(vals, part...)
		}
		return vals
	}
	recorded = append(recorded, call(without))
	plain = append(plain, call(func(_, displs []int64) []int64 { return displs }))
	return recorded, plain
}

// Displacements that a trace leaves out are there for whoever reads it.
func TestSums(t *testing.T) {
	for _, ranks := range []int{2, 4, 9, 16} {
		r := mergetest.Run(t, ranks, func(r *tracktest.Recorder) {
			recorded, _ := exchange(r.Rank, r.Size)
			for i, vals := range recorded {
				name := "MPI_Alltoallv"
				if i == len(recorded)-1 {
					name = "MPI_Neighbor_alltoallv"
				}
				r.Call(name, i, vals...)
			}
		})
		if r.Classes() != 1 {
			t.Fatalf("%d classes", r.Classes())
		}
		x, err := r.Columns(0)
		if err != nil {
			t.Fatal(err)
		}
		for rank := range ranks {
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			_, plain := exchange(rank, ranks)
			for terminal, want := range plain {
				want = append([]int64{0}, want...)
				if got := k.Signature(terminal); !slices.Equal(got, want) {
					t.Fatalf("rank %d of %d: call %d has values %d, want %d", rank, ranks, terminal, got, want)
				}
				params(t, k, terminal, want)
				c, err := k.Terminal(terminal)
				if err != nil {
					t.Fatal(err)
				}
				for i, p := range c.Params {
					if p.Name() != "sdispls" && p.Name() != "rdispls" {
						continue
					}
					at, err := k.Positions(terminal)
					if err != nil {
						t.Fatal(err)
					}
					for e := range p.In.Elems {
						if got := p.In.Elems[e].Num; got != want[at.Params[i].In+1+e] {
							t.Errorf("rank %d: call %d: %s[%d] is %d", rank, terminal, p.Name(), e, got)
						}
					}
				}
				for v := range want {
					if got := x.At(terminal, v, rank); got != want[v] {
						t.Errorf("rank %d: call %d: column %d is %d, want %d", rank, terminal, v, got, want[v])
					}
					if got, ok := x.Uniform(terminal, v); ok && got != want[v] {
						t.Errorf("rank %d: call %d: value %d is not always %d", rank, terminal, v, got)
					}
				}
			}
		}
		for terminal := range 7 {
			for v := range x.ValueCount(terminal) {
				x.Each(terminal, v, func(member int, got int64) {
					if want := x.At(terminal, v, member); got != want {
						t.Errorf("call %d: value %d of member %d is %d, want %d", terminal, v, member, got, want)
					}
				})
			}
		}
		var text strings.Builder
		if _, err := r.StorageCosts(); err != nil {
			t.Error(err)
		}
		k, _ := r.Rank(1)
		for c := range k.Calls(0) {
			text.WriteString(c.Text())
		}
		if strings.Contains(text.String(), "[]") || !strings.Contains(text.String(), "sdispls=[3, ") {
			t.Errorf("calls read %s", text.String())
		}
	}
}

// A file that leaves out what can't be filled in is refused, not misread.
func TestBadSums(t *testing.T) {
	good := []int64{0, 1<<8 | 1, 0, 2, 5, 6, -8, 1, 0, 0x209, 2<<8 | 1, 0, 2, 5, 6, 2, 0, 5, 0x209, 257}
	for _, x := range []struct {
		what string
		at   int
		v    int64
	}{
		{"a sum that is there", 8, 6}, {"as long as counts of one", 3, 1}, {"longer than the counts", 6, -9},
		{"shorter", 6, -7}, {"endless", 6, -1 << 63}, {"counts left out", 3, -8},
	} {
		vals := slices.Clone(good)
		vals[x.at] = x.v
		content := func(vals []int64) *sections.Content {
			s, err := merge.MergeAll(tracktest.RunAll(1, func(r *tracktest.Recorder) { r.CallOn(0, "MPI_Alltoallv", 1, vals...) }), 1)
			if err != nil {
				t.Fatal(err)
			}
			c, err := s.Content(nil)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		if _, err := sections.EncodeFile(content(good)); err != nil {
			t.Fatal(err)
		}
		if b, err := sections.EncodeFile(content(vals)); err == nil {
			r, err := trace.ReadBytes(b, "bad")
			if err == nil {
				err = trace.Check(r)
			}
			if err == nil {
				t.Errorf("%s: no error", x.what)
			}
		}
	}
}
