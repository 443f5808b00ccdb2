package diff_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/diff"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A wait of each of two requests, in one order or the other. Values are the
// request and the status of a receive.
func waits(order ...int64) func(r *tracktest.Recorder) {
	return func(r *tracktest.Recorder) {
		r.Irecv(1, 4, 0, 10)
		r.Irecv(2, 4, 0, 11)
		for _, d := range order {
			r.Call("MPI_Wait", 3, 2*d, 1, 0, 12-d, 16, 0)
		}
		r.Allreduce(4, 1)
	}
}

func TestAnyOrder(t *testing.T) {
	a, b := mergetest.Run(t, 1, waits(1, 2)), mergetest.Run(t, 1, waits(2, 1))
	if list := compare(t, a, b, diff.Options{}); len(list) != 1 {
		t.Errorf("another order is no difference: %v", list)
	}
	if list := compare(t, a, b, diff.Options{AllowAnyCompletionOrder: true}); len(list) != 0 {
		t.Errorf("another order is a difference: %+v", list[0])
	}
	once := mergetest.Run(t, 1, waits(1))
	list := compare(t, a, once, diff.Options{AllowAnyCompletionOrder: true})
	if len(list) != 1 || list[0].NonCallText != "only the first trace finished request0" {
		t.Errorf("a request that isn't finished: %+v", list)
	}
	other := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Irecv(1, 4, 0, 10)
		r.Irecv(2, 4, 0, 11)
		r.Call("MPI_Wait", 3, 2, 1, 0, 11, 16, 0)
		r.Call("MPI_Wait", 3, 4, 1, 0, 10, 12, 0)
		r.Allreduce(4, 1)
	})
	list = compare(t, a, other, diff.Options{AllowAnyCompletionOrder: true})
	if len(list) != 1 || !strings.HasPrefix(list[0].NonCallText, "a request finished with another status: ") {
		t.Errorf("another status: %+v", list)
	}
}

func TestVainTests(t *testing.T) {
	polls := func(n int) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			r.Irecv(1, 4, 0, 10)
			for range n {
				r.Call("MPI_Test", 2, 2, 0, 0) // no
			}
			r.Call("MPI_Test", 2, 2, 1, 1, 0, 10, 16, 0)
		}
	}
	a, b := mergetest.Run(t, 1, polls(3)), mergetest.Run(t, 1, polls(8))
	if len(compare(t, a, b, diff.Options{})) != 1 || len(compare(t, a, b, diff.Options{AllowAnyCompletionOrder: true})) != 0 {
		t.Error("how often a test fails counts, or it doesn't though asked for")
	}
}

// A loop of probes that asks for the size of what it found and receives that takes the same messages in another order, but no others.
func TestProbedOrder(t *testing.T) {
	loop := func(take int64, messages ...[3]int64) func(r *tracktest.Recorder) { // source, tag, elements
		return func(r *tracktest.Recorder) {
			for _, m := range messages {
				status := []int64{1, m[0], m[1], 4 * m[2], 0}
				r.Call("MPI_Iprobe", 1, slices.Concat([]int64{mpi.AnySource, mpi.AnyTag, tracktest.World, 1}, status)...)
				r.Call("MPI_Get_count", 2, append(status, tracktest.IntType, m[2])...)
				r.Recv(3, m[2]*take, m[0], m[1])
			}
			r.Allreduce(4, 1)
		}
	}
	x, y, z := [3]int64{0, 10, 3}, [3]int64{2, 11, 5}, [3]int64{2, 11, 6}
	a := mergetest.Run(t, 1, loop(1, x, y, x))
	for _, c := range []struct {
		name  string
		b     func(r *tracktest.Recorder)
		equal bool
	}{
		{"another order", loop(1, y, x, x), true},
		{"another message", loop(1, x, z, x), false},
		{"another one more often", loop(1, x, y, y), false},
		{"other sizes of receives", loop(2, y, x, x), false},
	} {
		b := mergetest.Run(t, 1, c.b)
		if list := compare(t, a, b, diff.Options{AllowAnyCompletionOrder: true}); (len(list) == 0) != c.equal {
			t.Errorf("%s: %+v", c.name, list)
		}
	}
}

// The status of a persistent send is the same whether it was active or not: only
// what was started can be finished.
func TestInactive(t *testing.T) {
	polls := func(n int) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			r.Call("MPI_Send_init", 1, 0<<8|1, 0, 4, 0x209, 0, 5, 0x101, 1)
			for range 2 {
				r.Call("MPI_Start", 2, 1)
				for range n {
					r.Call("MPI_Test", 3, 1, 1, 4, 0)
				}
			}
			r.Allreduce(4, 1)
		}
	}
	a, b, none := mergetest.Run(t, 1, polls(1)), mergetest.Run(t, 1, polls(3)), mergetest.Run(t, 1, polls(0))
	if list := compare(t, a, b, diff.Options{AllowAnyCompletionOrder: true}); len(list) != 0 {
		t.Errorf("tests of what is over: %+v", list[0])
	}
	if list := compare(t, a, none, diff.Options{AllowAnyCompletionOrder: true}); len(list) != 1 {
		t.Errorf("never finished: %+v", list)
	}
}

// What an MPI says in attributes of its own is a pointer in C and a number in
// Fortran; other attributes have to be the same.
func TestAttributesOfMPI(t *testing.T) {
	const tagUB, own = 501, 2000
	ask := func(key int64, value ...int64) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) { r.Call("MPI_Comm_get_attr", 1, 0x101, key, value[0], value[1], 1) }
	}
	for _, x := range []struct {
		key   int64
		equal bool
	}{{tagUB, true}, {own, false}} {
		a, b := mergetest.Run(t, 1, ask(x.key, 3<<8|5, 0)), mergetest.Run(t, 1, ask(x.key, 0, 0))
		if got := len(compare(t, a, b, diff.Options{AllowRenamedValues: true})) == 0; got != x.equal {
			t.Errorf("key %d, equal: %t, expected %t", x.key, got, x.equal)
		}
	}
}

// Buffers elsewhere, at the same distances.
func TestRenamed(t *testing.T) {
	const heap = 1
	at := func(seg, shift int64, tie bool) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			next := seg + 1
			if tie {
				next = seg
			}
			for i, s := range []int64{seg, next, seg} {
				r.Call("MPI_Send", i, s<<8|heap, shift+8*int64(i), 4, 0x209, 0, 5, 0x101)
			}
		}
	}
	a := mergetest.Run(t, 1, at(0, 0, false))
	for _, x := range []struct {
		b     func(r *tracktest.Recorder)
		equal bool
	}{{at(0, 0, false), true}, {at(7, 64, false), true}, {at(7, 64, true), false}} {
		b := mergetest.Run(t, 1, x.b)
		if got := len(compare(t, a, b, diff.Options{AllowRenamedValues: true})) == 0; got != x.equal {
			t.Errorf("equal: %t, expected %t", got, x.equal)
		}
		if got := len(compare(t, b, a, diff.Options{AllowRenamedValues: true})) == 0; got != x.equal {
			t.Errorf("the other way, equal: %t, expected %t", got, x.equal)
		}
	}
}

// Memory that a recorder doesn't follow may be any block, others stand for one another, and what isn't a block stays.
func TestMemory(t *testing.T) {
	const heap, static, unknown = 1, 3, 5
	at := func(segments ...int64) *trace.Reader {
		return mergetest.Run(t, 1, func(r *tracktest.Recorder) {
			for i, s := range segments {
				r.Call("MPI_Send", i, s, 0, 4, 0x209, 0, 5, 0x101)
			}
		})
	}
	big := at(heap, 1<<8|heap, heap, 1<<8|heap)
	for _, x := range []struct {
		other *trace.Reader
		equal bool
	}{
		{at(unknown, 1<<8|unknown, 1<<8|unknown, unknown), true},
		{at(5<<8|heap, 6<<8|heap, 5<<8|heap, 6<<8|heap), true},
		{at(heap, 1<<8|heap, 1<<8|heap, heap), false},
		{at(heap, 1<<8|heap, heap, 1<<8|unknown), true},
		{at(unknown, unknown, unknown, static), false},
	} {
		if got := len(compare(t, big, x.other, diff.Options{AllowMovedBlocks: true})) == 0; got != x.equal {
			t.Errorf("equal: %t, expected %t", got, x.equal)
		}
		if len(compare(t, big, x.other, diff.Options{})) == 0 {
			t.Error("equal without the option")
		}
	}
}

// Two messages come to receives of any in one order or the other, by every function that receives: only with AllowAnyCompletionOrder
// is that no difference, and another message is one all the same, the same one each time.
func TestWildcards(t *testing.T) {
	const anySource, anyTag, procNull = mpi.AnySource, mpi.AnyTag, mpi.ProcNull
	const made = trace.FirstCreatedHandle
	status := func(from int64) []int64 { return []int64{1, from, 7, 16, 0} }
	with := func(vals []int64, more ...int64) []int64 { return append(slices.Clone(vals), more...) }
	send := []int64{0, 0, 4, 0x209, procNull, 3}
	buffer := []int64{1<<8 | 1, 0, 4, 0x209}
	for name, receive := range map[string]func(r *tracktest.Recorder, from int64){
		"Recv": func(r *tracktest.Recorder, from int64) {
			r.Call("MPI_Recv", 1, with(buffer, with([]int64{anySource, 7, 0x101}, status(from)...)...)...)
		},
		"Recv of any tag": func(r *tracktest.Recorder, from int64) {
			r.Call("MPI_Recv", 1, with(buffer, 1, anyTag, 0x101, 1, 1, from, 16, 0)...)
		},
		"Sendrecv": func(r *tracktest.Recorder, from int64) {
			r.Call("MPI_Sendrecv", 1, with(send, with(buffer, with([]int64{anySource, 7, 0x101}, status(from)...)...)...)...)
		},
		"Sendrecv_replace": func(r *tracktest.Recorder, from int64) {
			r.Call("MPI_Sendrecv_replace", 1, with(buffer, with([]int64{procNull, 3, anySource, 7, 0x101}, status(from)...)...)...)
		},
		"Irecv": func(r *tracktest.Recorder, from int64) {
			r.Call("MPI_Irecv", 1, with(buffer, anySource, 7, 0x101, 2)...)
			r.Call("MPI_Wait", 2, with([]int64{2}, status(from)...)...)
		},
		"Isendrecv": func(r *tracktest.Recorder, from int64) {
			r.Call("MPI_Isendrecv", 1, with(send, with(buffer, anySource, 7, 0x101, 2)...)...)
			r.Call("MPI_Wait", 2, with([]int64{2}, status(from)...)...)
		},
		"Recv_init": func(r *tracktest.Recorder, from int64) {
			r.Call("MPI_Recv_init", 1, with(buffer, anySource, 7, 0x101, 1)...)
			r.Call("MPI_Start", 2, 1)
			r.Call("MPI_Wait", 3, with([]int64{1}, status(from)...)...)
			r.Call("MPI_Request_free", 4, 1)
		},
		"Probe": func(r *tracktest.Recorder, from int64) {
			r.Call("MPI_Probe", 1, with([]int64{anySource, 7, 0x101}, status(from)...)...)
		},
		"Mrecv": func(r *tracktest.Recorder, from int64) {
			r.Call("MPI_Mprobe", 1, with([]int64{anySource, 7, 0x101, made}, status(from)...)...)
			r.Call("MPI_Mrecv", 2, with(buffer, with([]int64{made}, status(from)...)...)...)
		},
		"Imrecv": func(r *tracktest.Recorder, from int64) {
			r.Call("MPI_Improbe", 1, with([]int64{anySource, 7, 0x101, 1, made}, status(from)...)...)
			r.Call("MPI_Imrecv", 2, with(buffer, made, 2)...)
			r.Call("MPI_Wait", 3, with([]int64{2}, status(from)...)...)
		},
	} {
		run := func(order ...int64) *trace.Reader {
			return mergetest.Run(t, 1, func(r *tracktest.Recorder) {
				for _, from := range order {
					receive(r, from)
				}
			})
		}
		a, b := run(1, 2, 3), run(3, 1, 2)
		if list := compare(t, a, b, diff.Options{}); len(list) != 1 {
			t.Errorf("%s: another order is no difference: %v", name, list)
		}
		if list := compare(t, a, b, diff.Options{AllowAnyCompletionOrder: true}); len(list) != 0 {
			t.Errorf("%s: another order is a difference: %+v", name, list[0])
		}
		said := make(map[string]bool)
		for range 20 {
			for _, d := range compare(t, a, run(6, 4, 5), diff.Options{AllowAnyCompletionOrder: true}) {
				said[d.NonCallText] = true
			}
		}
		if len(said) != 1 {
			t.Errorf("%s: of other messages is said: %q", name, slices.Collect(maps.Keys(said)))
		}
	}
}
