package ops_test

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/test/opstest"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

const (
	local  = int64(trace.FirstCreatedHandle)
	double = 0x214
	world  = tracktest.World
	heap   = 1
	null   = tracktest.ProcNull
)

// moved adds up what Member says of each call, and of what made the requests that one starts.
func moved(t *testing.T, r *trace.Reader, c *ops.ClassAmounts, k *trace.Rank) map[int]ops.Amount {
	t.Helper()
	x, err := handles.TableOf(r).Rank(k)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Member(k, x)
	if err != nil {
		t.Fatal(err)
	}
	sums := make(map[int]ops.Amount)
	for stream := range k.Streams() {
		for c, err := range k.Calls(stream) {
			if err != nil {
				t.Fatal(err)
			}
			list := []handles.Creation{{Call: c, Stream: stream, Index: c.Index}}
			if c.Func.Has(trace.AttrPersistent) {
				continue
			}
			if c.Func.Has(trace.AttrStarts) {
				list = list[:0]
				for _, v := range append(c.Params[0].In.Elems, c.Params[len(c.Params)-1].In.Elems...) {
					if made, ok := x.PersistentRequestCreation(v.RequestID, stream, c.Index); ok {
						list = append(list, made)
					}
				}
				if made, ok := x.PersistentRequestCreation(c.Params[0].In.RequestID, stream, c.Index); ok && c.Name() == "MPI_Start" {
					list = append(list, made)
				}
			}
			for _, of := range list {
				s := m.Amounts(of.Call.Terminal, of.Stream, of.Index, false)
				if a := (ops.Amount{BytesOut: s.Out.TotalBytes, BytesIn: s.In.TotalBytes}); a != (ops.Amount{}) {
					sum := sums[c.Terminal]
					sum.AddMultiple(a, 1)
					sums[c.Terminal] = sum
				}
			}
		}
	}
	return sums
}

// rooted uses calls that differ between the root and others, in place too.
func rooted(r *tracktest.Recorder) {
	me, n := int64(r.Rank), int64(r.Size)
	r.Begin()
	for root := range int64(2) {
		r.Call("MPI_Bcast", 3, heap, 0, 10, double, root%n, world)
		r.Call("MPI_Gather", 4, heap, 0, 3, double, heap, 0, 3, double, root%n, world)
		if me == root {
			r.Call("MPI_Gather", 5, 0, 1, 0, double, heap, 0, 7, double, root, world)
		} else {
			r.Call("MPI_Gather", 5, heap, 0, 7, double, 0, 0, 0, double, root%n, world)
		}
		if me == root {
			r.Call("MPI_Scatter", 16, heap, 0, 7, double, 0, 1, 0, double, root%n, world)
		} else {
			r.Call("MPI_Scatter", 16, 0, 0, 0, double, heap, 0, 7, double, root%n, world)
		}
		r.Call("MPI_Reduce", 6, heap, 0, heap, 0, 5, double, 0x23, root%n, world)
	}
	r.Call("MPI_Alltoall", 17, 0, 1, 0, double, heap, 0, 5, double, world)
	r.Call("MPI_Allgather", 7, heap, 0, me+1, double, heap, 0, 2, double, world)
	r.Call("MPI_Recv", 8, heap, 0, 100, double, 0, 0, world, 1, 0, 0, 8*me, 0)
	r.Call("MPI_Recv", 8, heap, 0, 100, double, null, 0, world, 2, null, 0, 0, 0)
	r.CallOn(0, "MPI_Recv", 9, 15, heap, 0, 100, double, 0, 0, world)
	r.End()
}

// reusing makes types of many sizes under one number, in loops within loops, and
// persistent requests of them.
func reusing(r *tracktest.Recorder) {
	r.Begin()
	for i := range int64(5) {
		for size := range int64(3) {
			bytes := 8 * (size + 1) * int64(1+r.Rank%2)
			r.Call("MPI_Type_contiguous", 10, size+1, double, local, bytes, 0, bytes, 0, bytes)
			for range 4 {
				r.Call("MPI_Send", 11, heap, 0, 6, local, int64((r.Rank+1)%r.Size), 0, world)
			}
			if size != 1 {
				r.Call("MPI_Send_init", 12, heap, 0, i%2+1, local, 0, 0, world, 3)
				r.Call("MPI_Start", 13, 3)
			}
			if size == 1 {
				r.Call("MPI_Barrier_init", 18, world, 0, 3)
				r.Call("MPI_Start", 13, 3)
			}
			r.Call("MPI_Type_free", 14, local)
		}
		r.Call("MPI_Send", 15, heap, 0, 6, double, 0, 0, world)
	}
	// Here the number means what it meant last, there what it means first.
	r.Call("MPI_Send", 16, heap, 0, 1, local, 0, 0, world)
	r.CallOn(1, "MPI_Send", 17, 0, heap, 0, 1, local, 0, 0, world)
	r.End()
}

// own communicators have sizes and ranks of their own.
func own(r *tracktest.Recorder) {
	r.Begin()
	half := int64(r.Rank % 2)
	size := int64(r.Size+1-r.Rank%2) / 2
	r.Call("MPI_Comm_split", 10, world, half, 0, local, 0, half, int64(r.Rank/2), size, -1, 0, 0)
	r.Call("MPI_Alltoall", 11, heap, 0, 4, double, heap, 0, 4, double, local)
	r.Call("MPI_Bcast", 12, heap, 0, 4, double, 1, local)
	r.Call("MPI_Cart_create", 13, local, 2, 2, 2, 1, 2, 1, 1, 0, local+1, 0, half, int64(r.Rank/2), size, -1, 0, 0)
	r.Call("MPI_Neighbor_alltoall", 14, heap, 0, 4, double, heap, 0, 4, double, local+1)
	r.End()
}

// A distributed graph has the edges that all ranks gave; here rank 0 gives them
// all, to each rank from all before it.
func TestDistributedGraph(t *testing.T) {
	const n = 4
	r := mergetest.Run(t, n, func(r *tracktest.Recorder) {
		r.Begin()
		give := []int64{world, 0, 0, 0, 0}
		if r.Rank == 0 {
			give = []int64{world, n, n, 0, 1, 2, 3, n, 3, 2, 1, 0, 6, 1, 2, 3, 2, 3, 3}
		}
		r.Call("MPI_Dist_graph_create", 10, append(give, -2, 0, 0, local, 0, 0, int64(r.Rank), n, -1, 0, 0)...)
		r.Call("MPI_Neighbor_alltoall", 11, heap, 0, 1, double, heap, 0, 1, double, local)
		r.End()
	})
	for class := range r.Classes() {
		c, err := ops.NewClassAmounts(r, class)
		if err != nil {
			t.Fatal(err)
		}
		members := r.Members(class)
		if err := c.EachRank(func(member int, _ []uint64, totals []ops.Amount) error {
			var sum ops.Amount
			for _, a := range totals {
				sum.AddMultiple(a, 1)
			}
			rank := uint64(members[member])
			if want := (ops.Amount{BytesOut: 8 * (n - 1 - rank), BytesIn: 8 * rank}); sum != want {
				t.Errorf("rank %d: %+v, want %+v", rank, sum, want)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// Sums over the compressed form are those over all calls, one by one.
func TestAgainstExpansion(t *testing.T) {
	for name, program := range map[string]func(r *tracktest.Recorder){
		"stencil": tracktest.Stencil(3), "butterfly": tracktest.Butterfly(2), "transpose": tracktest.Transpose(2),
		"workers": tracktest.Workers(40), "counting": tracktest.Counting(120), "rooted": rooted, "reusing": reusing, "own": own,
		"uneven": func(r *tracktest.Recorder) {
			r.Begin()
			for range 3 + r.Rank {
				r.Send(1, 4, 0, 1)
				r.Call("MPI_Bcast", 2, heap, 0, 10, double, 1, world)
			}
			r.End()
		},
	} {
		for _, ranks := range []int{2, 5, 16} {
			r := mergetest.Run(t, ranks, program)
			for class := range r.Classes() {
				c, err := ops.NewClassAmounts(r, class)
				if err != nil {
					t.Fatal(err)
				}
				members := r.Members(class)
				seen := 0
				err = c.EachRank(func(member int, counts []uint64, totals []ops.Amount) error {
					seen++
					k, err := r.Rank(members[member])
					if err != nil {
						return err
					}
					want, err := opstest.Expand(r, k)
					if err != nil {
						return err
					}
					got := make(map[int]ops.Amount)
					calls := uint64(0)
					for i, a := range totals {
						if calls += counts[i]; a != (ops.Amount{}) {
							got[i] = a
						}
					}
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("%s on %d, rank %d (-expanded +compressed):\n%s", name, ranks, k.Number(), d)
					}
					if d := cmp.Diff(want, moved(t, r, c, k)); d != "" {
						t.Errorf("%s on %d, rank %d (-expanded +call by call):\n%s", name, ranks, k.Number(), d)
					}
					length := uint64(0)
					for stream := range k.Streams() {
						length += k.CallCount(stream)
					}
					if calls != length {
						t.Errorf("%s: %d calls, want %d", name, calls, length)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if seen != len(members) {
					t.Errorf("%d of %d ranks", seen, len(members))
				}
			}
		}
	}
}

// What it comes to, by hand.
func TestAmounts(t *testing.T) {
	r := mergetest.Run(t, 4, rooted)
	sum := make(map[string]ops.Amount)
	for class := range r.Classes() {
		c, err := ops.NewClassAmounts(r, class)
		if err != nil {
			t.Fatal(err)
		}
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			t.Fatal(err)
		}
		err = c.EachRank(func(_ int, _ []uint64, totals []ops.Amount) error {
			for i, a := range totals {
				call, err := k.Terminal(i)
				if err != nil {
					return err
				}
				s := sum[call.Name()]
				s.AddMultiple(a, 1)
				if sum[call.Name()] = s; s == (ops.Amount{}) {
					delete(sum, call.Name())
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]ops.Amount{
		"MPI_Bcast":     {BytesOut: 2 * 80, BytesIn: 2 * 3 * 80},
		"MPI_Gather":    {BytesOut: 2*4*24 + 2*4*56, BytesIn: 2*4*24 + 2*4*56},
		"MPI_Scatter":   {BytesOut: 2 * 4 * 56, BytesIn: 2 * 4 * 56},
		"MPI_Reduce":    {BytesOut: 2 * 4 * 40, BytesIn: 2 * 40},
		"MPI_Alltoall":  {BytesOut: 4 * 4 * 40, BytesIn: 4 * 4 * 40},
		"MPI_Allgather": {BytesOut: 8 * (1 + 2 + 3 + 4), BytesIn: 4 * 4 * 16},
		"MPI_Recv":      {BytesIn: 8 * (0 + 1 + 2 + 3)},
	}
	if d := cmp.Diff(want, sum); d != "" {
		t.Error(d)
	}
}
