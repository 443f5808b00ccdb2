package diff_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/analyse/diff"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

type fataler interface{ Fatalf(string, ...any) }

func compare(t fataler, a, b *trace.Reader, o diff.Options) []*diff.Difference {
	var list []*diff.Difference
	for d, err := range diff.CompareTraces(a, b, o) {
		if err != nil {
			t.Fatalf("%v", err)
		}
		list = append(list, d)
	}
	return list
}

// The same calls from one place or from two have other signatures and other
// grammars, and are equal all the same.
func TestStructureIsNotCompared(t *testing.T) {
	program := func(places int) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			for i := range 20 {
				r.Isend(i%places, 4, 0, 1)
				r.Waitall(9, 1)
			}
		}
	}
	a, b := mergetest.Run(t, 3, program(1)), mergetest.Run(t, 3, program(2))
	if list := compare(t, a, b, diff.Options{}); len(list) > 0 {
		t.Errorf("differ: %+v", list[0])
	}
	list := compare(t, a, b, diff.Options{CompareSites: true})
	if len(list) != 3 || list[0].CallIndex != 2 {
		t.Errorf("with sites: %+v", list)
	}
}

// A trace with stacks and one without have the same places.
func TestStacksAreLeftOut(t *testing.T) {
	program := func(from int) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			for i := range 20 {
				r.From(from * (1 + i%2))
				r.Isend(20, 4, 0, 1)
				r.Waitall(21, 1)
			}
		}
	}
	stacked, plain := mergetest.Run(t, 2, program(5)), mergetest.Run(t, 2, program(0))
	for r, want := range map[*trace.Reader]bool{stacked: true, plain: false} {
		if got, err := diff.HasStacks(r); got != want || err != nil {
			t.Errorf("stacks: %v, %v", got, err)
		}
	}
	if list := compare(t, stacked, plain, diff.Options{CompareSites: true, IgnoreCallers: true}); len(list) != 0 {
		t.Errorf("differ: %+v", list[0])
	}
	if list := compare(t, stacked, plain, diff.Options{CompareSites: true}); len(list) != 2 {
		t.Errorf("with stacks: %+v", list)
	}
}

func TestAddressesMayBeLeftOut(t *testing.T) {
	program := func(offset int64) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			r.Call("MPI_Send", 1, 1, offset, 4, tracktest.IntType, 0, 1, tracktest.World)
		}
	}
	a, b := mergetest.Run(t, 1, program(0)), mergetest.Run(t, 1, program(64))
	if list := compare(t, a, b, diff.Options{}); len(list) != 1 {
		t.Errorf("%d differences", len(list))
	}
	if list := compare(t, a, b, diff.Options{IgnoreAddresses: true}); len(list) != 0 {
		t.Errorf("differ but for addresses: %+v", list[0])
	}
}

// Displacements that are addresses are addresses.
func TestAddressesAmongDisplacements(t *testing.T) {
	program := func(disp int64) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			r.Call("MPI_Put", 1, 1, 0, 1, tracktest.IntType, 0, disp, 1, tracktest.IntType, 1024)
		}
	}
	here, there, near := mergetest.Run(t, 1, program(0x5555_0000_1000)), mergetest.Run(t, 1, program(0x7fff_0000_2000)), mergetest.Run(t, 1, program(8))
	if list := compare(t, here, there, diff.Options{IgnoreAddresses: true}); len(list) != 0 {
		t.Errorf("differ but for addresses: %+v", list[0])
	}
	if list := compare(t, here, there, diff.Options{AllowRenamedValues: true}); len(list) != 0 {
		t.Errorf("differ but for what addresses are called: %+v", list[0])
	}
	if len(compare(t, here, there, diff.Options{})) == 0 || len(compare(t, here, near, diff.Options{IgnoreAddresses: true})) == 0 {
		t.Error("other displacements are the same")
	}
	two := func(a, b int64) *trace.Reader {
		return mergetest.Run(t, 1, func(r *tracktest.Recorder) { program(a)(r); program(b)(r) })
	}
	if len(compare(t, two(0x5555_0000_1000, 0x5555_0000_2000), two(0x7fff_0000_1000, 0x7fff_0000_1000), diff.Options{AllowRenamedValues: true})) == 0 {
		t.Error("one address stands for two")
	}
}

// A stream that goes on where the other ends, and a thread that only one has.
func TestLengthsAndThreads(t *testing.T) {
	short := mergetest.Run(t, 1, func(r *tracktest.Recorder) { r.Begin(); r.End() })
	long := mergetest.Run(t, 1, func(r *tracktest.Recorder) { r.Begin(); r.End(); r.Send(1, 1, 0, 1) })
	list := compare(t, short, long, diff.Options{PrecedingCallCount: 1})
	if len(list) != 1 || list[0].CallIndex != 2 || list[0].CallA != nil || list[0].CallB.Name() != "MPI_Send" || len(list[0].PrecedingCallsA) != 1 {
		t.Errorf("longer stream: %+v", list)
	}
	threads := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		r.End()
		r.CallOn(1, "MPI_Barrier", 3, 0, tracktest.World)
	})
	list = compare(t, threads, short, diff.Options{PrecedingCallCount: 1})
	if len(list) != 1 || list[0].Stream != 1 || list[0].CallIndex != 0 || list[0].CallB != nil {
		t.Errorf("another thread: %+v", list)
	}
}

// The first difference of each rank is where the calls first differ.
func TestFirstDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []int {
			return rapid.SliceOfN(rapid.IntRange(0, 2), 0, 12).Draw(t, name)
		}
		lists := [2][2][]int{{draw("a0"), draw("a1")}, {draw("b0"), draw("b1")}}
		if rapid.Bool().Draw(t, "same") {
			lists[1][0] = lists[0][0]
		}
		var traces [2]*trace.Reader
		for i := range traces {
			traces[i] = mergetest.Run(t, 2, func(r *tracktest.Recorder) {
				for _, n := range lists[i][r.Rank] {
					r.Send(1, int64(n), 0, 1)
				}
			})
		}
		got := map[int]uint64{}
		for _, d := range compare(t, traces[0], traces[1], diff.Options{}) {
			got[d.Rank] = d.CallIndex
		}
		for rank := range 2 {
			a, b := lists[0][rank], lists[1][rank]
			index, differ := got[rank]
			if differ == slices.Equal(a, b) {
				t.Fatalf("rank %d: differ is %v", rank, differ)
			}
			if differ && (!slices.Equal(a[:index], b[:index]) || int(index) < min(len(a), len(b)) && a[index] == b[index]) {
				t.Fatalf("rank %d: %d is not the first difference of %v and %v", rank, index, a, b)
			}
		}
	})
}

// Buffers that MPI does not look at may be any where blocks of memory may have moved; those of the root may not.
func TestUnreadBuffers(t *testing.T) {
	program := func(buffer, root int64) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			const stack = 3
			own := buffer
			if r.Rank == 0 {
				own = root
			}
			r.Call("MPI_Scatter", 1, stack, own, 2, tracktest.IntType, stack, 64, 2, tracktest.IntType, 0, tracktest.World)
		}
	}
	run := mergetest.Run(t, 3, program(8, 16))
	moved := diff.Options{AllowMovedBlocks: true}
	if list := compare(t, run, mergetest.Run(t, 3, program(24, 16)), moved); len(list) > 0 {
		t.Errorf("buffers of others than the root: %+v", list[0])
	}
	if list := compare(t, run, mergetest.Run(t, 3, program(24, 16)), diff.Options{}); len(list) != 2 {
		t.Errorf("without that: %d ranks differ, want 2", len(list))
	}
	if list := compare(t, run, mergetest.Run(t, 3, program(8, 32)), moved); len(list) != 1 || list[0].Rank != 0 {
		t.Errorf("the root's buffer: %+v", list)
	}
}
