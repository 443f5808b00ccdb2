package reduce_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

const ranks, steps = 6, 40

// size is what the data wants: 1000 elements, more or less, and nothing at times.
func size(rank, step int) int64 {
	if (rank+step)%11 == 0 {
		return 0
	}
	return 980 + int64(rank*37+step*101)%41
}

// uneven sends sizes that depend on data around a ring, and to all.
func uneven(r *tracktest.Recorder) {
	r.Begin()
	left, right := (r.Rank+ranks-1)%ranks, (r.Rank+1)%ranks
	for step := range steps {
		r.Send(3, size(r.Rank, step), int64(right), int64(step%3))
		// Room for 2000, of which the status says how many came.
		r.Call("MPI_Recv", 4, 1<<8|1, 0, 2000, tracktest.IntType, int64(left), int64(step%3), tracktest.World,
			1, int64(left), int64(step%3), 4*size(left, step), 0)
		r.Allreduce(5, size(0, step))
		// One count for what goes out and what comes in, with tags of their own; one of them others have, too.
		other := int64(r.Rank ^ 1)
		out, in := 10+int64(r.Rank&1), 11-int64(r.Rank&1)
		n := 990 + int64(step%7)
		r.Call("MPI_Sendrecv_replace", 7, 5<<8|1, 0, n, tracktest.IntType, other, out, other, in, tracktest.World, 1, other, in, 4*n, 0)
		if r.Rank%2 == 0 {
			r.Send(8, 1003+n%3, other, 11)
		} else {
			r.Recv(9, 1003+n%3, other, 11)
		}
		all := []int64{3<<8 | 1, 0, ranks}
		for n := range ranks {
			all = append(all, size(r.Rank, step+n))
		}
		all = append(all, ranks, 0)
		for n := range ranks - 1 {
			all = append(all, all[len(all)-1]+size(r.Rank, step+n))
		}
		all = append(all, tracktest.IntType, 4<<8|1, 0, ranks)
		at := int64(5) // with a hole between blocks
		var displs []int64
		for n := range ranks {
			all = append(all, size(n, step+r.Rank))
			displs = append(displs, at)
			at += size(n, step+r.Rank) + 7
		}
		all = append(append(append(all, ranks), displs...), tracktest.IntType, tracktest.World)
		r.Call("MPI_Alltoallv", 6, all...)
	}
	r.End()
}

func thinned(t *testing.T, r *trace.Reader, o reduce.Options) *trace.Reader {
	t.Helper()
	x, err := reduce.ReduceTrace(r, o, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	out, b := mergetest.Written(t, x)
	if o.BudgetBytes > 0 && int64(len(b)) > o.BudgetBytes || x.FileBytes != int64(len(b)) {
		t.Fatalf("%d bytes, %d were said, at most %d asked for", len(b), x.FileBytes, o.BudgetBytes)
	}
	return out
}

func thinCalls(t *testing.T, r *trace.Reader, rank int) (list []trace.Call) {
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range k.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, *c)
	}
	return list
}

// TestThin: at every precision, what was equal is, sizes are within it, what is sent is what is
// received, blocks don't overlap, and the rest is as it was.
func TestThin(t *testing.T) {
	r := mergetest.Run(t, ranks, uneven)
	for _, precision := range []int{100, 98, 97, 90, 0} {
		t.Run(fmt.Sprint(precision), func(t *testing.T) {
			out := thinned(t, r, reduce.Options{PrecisionPercent: precision})
			list, err := out.MergedSizes()
			if err != nil {
				t.Fatal(err)
			}
			if want := precision < 100; (list != nil) != want {
				t.Fatalf("merged: %v", list)
			}
			sent := make(map[[2]int][]int64) // by receiver and tag
			got := make(map[[2]int][]int64)
			distinct := make(map[int64]bool)
			var all [ranks][]trace.Call
			for rank := range ranks {
				all[rank] = thinCalls(t, out, rank)
			}
			num := func(c *trace.Call, p string) int64 { return c.Param(p).In.Num }
			for rank := range ranks {
				before, after := thinCalls(t, r, rank), all[rank]
				if len(before) != len(after) {
					t.Fatalf("rank %d: %d calls of %d", rank, len(after), len(before))
				}
				near := func(a, b int64) {
					t.Helper()
					if d := max(a, b) - min(a, b); float64(d)*100 > float64(100-precision)*float64(max(a, b)) || a == 0 && b != 0 {
						t.Fatalf("%d became %d", a, b)
					}
				}
				for i := range before {
					a, b := &before[i], &after[i]
					if a.Name() != b.Name() || a.Site != b.Site {
						t.Fatalf("rank %d: call %d is %s", rank, i, b.AppendText(nil))
					}
					switch a.Name() {
					case "MPI_Send":
						if num(b, "tag") == 11 {
							continue
						}
						near(num(a, "count"), num(b, "count"))
						distinct[num(b, "count")] = true
						at := [2]int{int(num(b, "dest")), int(num(b, "tag"))}
						if num(a, "dest") != num(b, "dest") || num(a, "tag") != num(b, "tag") {
							t.Fatalf("rank %d: %s", rank, b.AppendText(nil))
						}
						sent[at] = append(sent[at], 4*num(b, "count"))
					case "MPI_Recv":
						s := b.Param("status").Out.Status
						if s.Tag == 11 {
							continue
						}
						if s.ReceivedBytes > 4*num(b, "count") {
							t.Fatalf("rank %d: %s", rank, b.AppendText(nil))
						}
						got[[2]int{rank, int(s.Tag)}] = append(got[[2]int{rank, int(s.Tag)}], s.ReceivedBytes)
					case "MPI_Sendrecv_replace":
						if other := num(&all[rank^1][i], "count"); num(b, "count") != other || b.Param("status").Out.Status.ReceivedBytes != 4*other {
							t.Fatalf("rank %d: %s, the other has %d", rank, b.AppendText(nil), other)
						}
					case "MPI_Alltoallv":
						for _, p := range [][2]string{{"sendcounts", "sdispls"}, {"recvcounts", "rdispls"}} {
							hole := int64(0)
							if p[0] == "recvcounts" {
								hole = 7
							}
							counts, displs := b.Param(p[0]).In.Elems, b.Param(p[1]).In.Elems
							for n := range counts {
								near(a.Param(p[0]).In.Elems[n].Num, counts[n].Num)
								if n > 0 && displs[n].Num != displs[n-1].Num+counts[n-1].Num+hole {
									t.Fatalf("rank %d: %s", rank, b.AppendText(nil))
								}
							}
							// What one sends is what the other has room for.
							if p[0] == "sendcounts" {
								for n := range counts {
									other := all[n][i].Param("recvcounts").In.Elems[rank].Num
									if other != counts[n].Num {
										t.Fatalf("rank %d sends %d, rank %d takes %d", rank, counts[n].Num, n, other)
									}
								}
							}
						}
					}
				}
			}
			for at, list := range sent {
				if fmt.Sprint(list) != fmt.Sprint(got[at]) {
					t.Errorf("to rank %d, tag %d: %v, received %v", at[0], at[1], list, got[at])
				}
			}
			if precision == 0 && len(distinct) != 2 {
				t.Errorf("sizes %v: nothing, and one that stands for all", distinct)
			}
		})
	}
}

// TestDatatypes: sizes are merged of messages whose elements have a type that the program made, unless its
// number stands for another one later.
func TestDatatypes(t *testing.T) {
	for _, later := range []int64{12, 16} {
		r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
			const own = trace.FirstCreatedHandle
			other := int64(1 - r.Rank)
			r.Begin()
			for half := range 2 {
				bytes := []int64{12, later}[half]
				r.Call("MPI_Type_contiguous", 3, bytes/4, tracktest.IntType, own, bytes, 0, bytes, 0, bytes)
				for step := range steps {
					r.Call("MPI_Send", 4, 1<<8|1, 0, size(r.Rank, step), own, other, 5, tracktest.World)
					r.Call("MPI_Recv", 5, 1<<8|1, 0, 2000, own, other, 5, tracktest.World, 1, other, 5, bytes*size(1-r.Rank, step), 0)
				}
				r.Call("MPI_Type_free", 6, own)
			}
			r.End()
		})
		list, err := thinned(t, r, reduce.Options{PrecisionPercent: 90}).MergedSizes()
		if err != nil {
			t.Fatal(err)
		}
		if want := later == 12; (list != nil) != want {
			t.Errorf("with another type of %d bytes: merged %+v", later, list)
		}
	}
}

// TestMarks: calls say what their sizes were.
func TestMarks(t *testing.T) {
	r := mergetest.Run(t, ranks, uneven)
	out := thinned(t, r, reduce.Options{PrecisionPercent: 0})
	k, err := out.Rank(2)
	if err != nil {
		t.Fatal(err)
	}
	m, err := reduce.CallReductionsOf(out, k)
	if err != nil {
		t.Fatal(err)
	}
	marked := make(map[string]bool)
	for _, c := range thinCalls(t, out, 2) {
		for _, x := range m.MergedSizesOf(&c) {
			marked[c.Name()+" "+x.Param] = true
			if x.Low < 980 || x.High > 8000 || x.Low >= x.High {
				t.Errorf("%s: %+v", c.AppendText(nil), x)
			}
		}
	}
	for _, want := range []string{"MPI_Send count", "MPI_Recv count", "MPI_Recv status", "MPI_Allreduce count", "MPI_Alltoallv sendcounts", "MPI_Alltoallv recvcounts"} {
		if !marked[want] {
			t.Errorf("%s isn't marked", want)
		}
	}
	if m, err := reduce.CallReductionsOf(r, k); m != nil || err != nil {
		t.Errorf("marks %v of a whole trace, error %v", m, err)
	}
}

// TestNoLarger: a trace that thinning makes larger, or that is within the budget, stays as it was.
func TestNoLarger(t *testing.T) {
	const ranks = 8
	r := mergetest.Run(t, ranks, func(r *tracktest.Recorder) {
		r.Begin()
		for step := range 20 {
			to := func(rank, k int) int { return (rank*rank*7 + step*step*(k+3) + rank*step*k + k) % ranks }
			come := int64(0)
			for from := range ranks * 3 {
				if to(from/3, from%3) == r.Rank {
					r.Irecv(3, 100, int64(from/3), 1)
					come++
				}
			}
			for k := range 3 {
				r.Isend(4, int64(10+(r.Rank*5+step*k)%90), int64(to(r.Rank, k)), 1)
			}
			r.Waitall(5, come+3)
			r.Allreduce(6, 1)
		}
		r.End()
	})
	for _, o := range []reduce.Options{{PrecisionPercent: 100}, {PrecisionPercent: 99}, {BudgetBytes: r.Size()}, {BudgetBytes: 1 << 20}} {
		x, err := reduce.ReduceTrace(r, o, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		out, b := mergetest.Written(t, x)
		if x.Unchanged != r || x.FileBytes != r.Size() || int64(len(b)) != r.Size() || len(thinCalls(t, r, 5)) != len(thinCalls(t, out, 5)) {
			t.Errorf("%+v: %d bytes, %d before", o, x.FileBytes, r.Size())
		}
		x.Close()
	}
}

// TestBudget: no more is merged than has to be, and what can't be is said.
func TestBudget(t *testing.T) {
	r := mergetest.Run(t, ranks, uneven)
	whole, err := reduce.ReduceTrace(r, reduce.Options{PrecisionPercent: 100}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	whole.Close()
	least, err := reduce.ReduceTrace(r, reduce.Options{PrecisionPercent: 0}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	least.Close()
	if list, _ := thinned(t, r, reduce.Options{BudgetBytes: whole.FileBytes}).MergedSizes(); list != nil {
		t.Errorf("merged %v without need", list)
	}
	some, _ := thinned(t, r, reduce.Options{BudgetBytes: (whole.FileBytes + least.FileBytes) / 2}).MergedSizes()
	all, _ := thinned(t, r, reduce.Options{}).MergedSizes()
	if len(some) == 0 || len(some) > len(all) || some[0].PrecisionPercent == 0 {
		t.Errorf("merged %+v, all would be %+v", some, all)
	}
	if _, err := reduce.ReduceTrace(r, reduce.Options{BudgetBytes: least.FileBytes / 2}, func(int) {}); !errors.Is(err, reduce.ErrOverBudget) {
		t.Errorf("half of the least: error %v", err)
	}
	if _, err := reduce.ReduceTrace(thinned(t, r, reduce.Options{}), reduce.Options{}, func(int) {}); err == nil {
		t.Error("thinned twice")
	}
}
