package reissue

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

func integer(v int64) trace.Value     { return trace.Value{Type: trace.TypeInt, Num: v} }
func handleValue(v int64) trace.Value { return trace.Value{Type: trace.TypeHandle, Num: v} }
func heap(id, off int64) trace.Value {
	return trace.Value{Type: trace.TypeAddress, Addr: trace.SymbolicAddress{Class: trace.AddressHeap, ID: id, Offset: off}}
}

func array(v ...int64) trace.Value {
	a := trace.Value{Type: trace.TypeArray, Num: int64(len(v))}
	for _, x := range v {
		a.Elems = append(a.Elems, integer(x))
	}
	return a
}

// call makes a call with values for the parameters that go in, in order.
func call(t *testing.T, name string, in ...trace.Value) *trace.Call {
	t.Helper()
	def, ok := mpi.CallNamed(name)
	if !ok {
		t.Fatalf("no function %s", name)
	}
	f := sections.FunctionOf(def)
	c := &trace.Call{Func: &f, Params: make([]trace.Param, len(f.Params))}
	for i := range f.Params {
		c.Params[i].Def = &f.Params[i]
		if f.Params[i].HasIn && len(in) > 0 {
			c.Params[i].In, in = in[0], in[1:]
		}
	}
	return c
}

func TestReach(t *testing.T) {
	const integers, world = 0x209, 0x101
	tests := []struct {
		name, param string
		in          []trace.Value
		low, high   int64
	}{
		{"MPI_Send", "buf", []trace.Value{heap(0, 0), integer(10), handleValue(integers), integer(1), integer(0), handleValue(world)}, 0, 40},
		{"MPI_Allgather", "recvbuf", []trace.Value{heap(0, 0), integer(2), handleValue(integers), heap(1, 0), integer(3), handleValue(integers), handleValue(world)}, 0, 4 * 3 * 4},
		{"MPI_Allgather", "sendbuf", []trace.Value{heap(0, 0), integer(2), handleValue(integers), heap(1, 0), integer(3), handleValue(integers), handleValue(world)}, 0, 8},
		{"MPI_Ialltoall", "sendbuf", []trace.Value{heap(0, 0), integer(2), handleValue(integers), heap(1, 0), integer(3), handleValue(integers), handleValue(world)}, 0, 4 * 2 * 4},
		{"MPI_Reduce", "sendbuf", []trace.Value{heap(0, 0), heap(1, 0), integer(5), handleValue(integers), handleValue(0x21), integer(0), handleValue(world)}, 0, 20},
		{"MPI_Allgatherv", "recvbuf", []trace.Value{
			heap(0, 0), integer(2), handleValue(integers), heap(1, 0), array(1, 2, 0, 4), array(10, 0, -90, 20), handleValue(integers), handleValue(world),
		}, 0, 4 * 24},
		{"MPI_Reduce_scatter", "sendbuf", []trace.Value{heap(0, 0), heap(1, 0), array(1, 2, 3, 4), handleValue(integers), handleValue(0x21), handleValue(world)}, 0, 40},
		{"MPI_Alltoallw", "recvbuf", []trace.Value{
			heap(0, 0), array(1), array(0), {Type: trace.TypeArray, Num: 1, Elems: []trace.Value{handleValue(integers)}},
			heap(1, 0), array(2), array(-100), {Type: trace.TypeArray, Num: 1, Elems: []trace.Value{handleValue(integers)}}, handleValue(world),
		}, -100, 0},
		{"MPI_Win_create", "base", []trace.Value{heap(0, 0), integer(4096), integer(8), handleValue(0x130), handleValue(world)}, 0, 4096},
		{"MPI_Fetch_and_op", "result_addr", []trace.Value{heap(0, 0), heap(1, 0), handleValue(integers), integer(0), integer(0), handleValue(0x21), handleValue(1024)}, 0, 4},
		{"MPI_Pack", "outbuf", []trace.Value{heap(0, 0), integer(3), handleValue(integers), heap(1, 0), integer(99), integer(7), handleValue(world)}, 0, 99},
		{"MPI_Psend_init", "buf", []trace.Value{heap(0, 0), integer(3), integer(10), handleValue(integers), integer(1), integer(0), handleValue(world), handleValue(0x130)}, 0, 120},
	}
	for _, x := range tests {
		c := call(t, x.name, x.in...)
		p := planner{plan: &ResourcePlan{}, segments: make(map[MemorySegment]*TouchedSegment), bounds: handles.NewHandleBounds(4)}
		def, _ := mpi.CallNamed(x.name)
		if low, high := p.reach(c, &def.Params[def.Index(x.param)].BufferContent); low != x.low || high != x.high {
			t.Errorf("%s, %s: from %d to %d, expected %d to %d", x.name, x.param, low, high, x.low, x.high)
		}
	}
}

func TestWhy(t *testing.T) {
	world, integers := handleValue(0x101), handleValue(0x209)
	tests := []struct {
		c      *trace.Call
		target TargetMPI
		can    bool
	}{
		{call(t, "MPI_Barrier", world), TargetMPI{}, true},
		{call(t, "MPI_Barrier", handleValue(-1)), TargetMPI{}, false},
		{call(t, "MPI_Barrier", world), TargetMPI{HasFunction: func(name string) bool { return name != "MPI_Barrier" }}, false},
		{call(t, "MPI_Abort", world, integer(1)), TargetMPI{}, false},
		{call(t, "MPI_Wait", trace.Value{Type: trace.TypeRequest, RequestForm: trace.RequestOfOtherThread}), TargetMPI{}, false},
		{call(t, "MPI_Wait", trace.Value{Type: trace.TypeRequest, RequestForm: trace.RequestOneShot, RequestID: 1}), TargetMPI{}, true},
		{call(t, "MPI_T_cvar_get_num"), TargetMPI{Flavour: "mpich"}, false},
		{call(t, "MPI_Add_error_code", integer(93)), TargetMPI{Flavour: "mpich"}, true},
		{call(t, "MPI_Add_error_code", integer(93)), TargetMPI{Flavour: "mpich", KeepMPIChosenNumbers: true}, false},
		{call(t, "MPI_Add_error_code", integer(93)), TargetMPI{Flavour: "openmpi", KeepMPIChosenNumbers: true}, true},
		// Of an import, whose format has no displacements.
		{call(t, "MPI_Alltoallv", heap(0, 0), array(1, 2), trace.Value{}, integers, heap(1, 0), array(1, 2), trace.Value{}, integers, world), TargetMPI{}, false},
		{call(t, "MPI_Alltoallv", heap(0, 0), array(1, 2), array(0, 1), integers, heap(1, 0), array(1, 2), array(0, 1), integers, world), TargetMPI{}, true},
	}
	for _, x := range tests {
		if why := ObstacleOf(x.c, "openmpi", x.target); (why == "") != x.can {
			t.Errorf("%s: %q", x.c.Name(), why)
		}
	}
}

// Displacements that are addresses stand in the way of those who have no memory for them;
// what goes from one piece of memory to another stands in everyone's.
func TestAddressesAmongDisplacements(t *testing.T) {
	const low, high = 0x5555_0000_1000, 0x7fff_8000_0010
	ints := trace.Value{Type: trace.TypeArray, Num: 2, Elems: []trace.Value{handleValue(0x209), handleValue(0x209)}}
	structOf := func(lowest int64, displs ...int64) *trace.Call {
		c := call(t, "MPI_Type_create_struct", integer(2), array(1, 1), array(displs...), ints)
		c.NewType = &trace.NewType{Size: 8, TrueLowerBound: lowest, TrueExtent: displs[1] + 4 - lowest}
		return c
	}
	put := call(t, "MPI_Put", heap(0, 0), integer(1), handleValue(0x209), integer(1), integer(low), integer(1), handleValue(0x209), handleValue(1024))
	for _, x := range []struct {
		what      string
		c         *trace.Call
		why       bool
		byAddress bool
		windows   int
	}{
		{"struct from MPI_BOTTOM", structOf(low, low, high), true, true, 2},
		{"struct within a block", structOf(0, 0, 64), false, false, 0},
		{"struct over two blocks", structOf(0, 0, high-low), true, false, 0},
		{"dynamic window", put, true, true, 1},
	} {
		why := ObstacleOf(x.c, "", TargetMPI{})
		if got := (Obstacle{Reason: why}).IsAddressObstacle(); (why != "") != x.why || got != x.byAddress {
			t.Errorf("%s: %q, by address %v", x.what, why, got)
		}
		found := make(map[AddressWindow]bool)
		for i := range x.c.Params {
			noteWindows(found, x.c, &x.c.Params[i])
		}
		if len(found) != x.windows {
			t.Errorf("%s: windows %v, expected %d", x.what, found, x.windows)
		}
	}
	p := planner{bounds: handles.NewHandleBounds(1)}
	for _, n := range []trace.NewType{{Size: 8, Extent: high - low, TrueLowerBound: low, TrueExtent: high - low}, {Size: 8, Extent: 8, TrueExtent: 8}} {
		c := call(t, "MPI_Type_commit", handleValue(1024))
		c.Params[0].Out, c.NewType = handleValue(1024), &n
		p.note(c)
	}
	if from, to := p.bounds.BufferSpan(1024, 3); from != 0 || to != 24 {
		t.Errorf("a number that once held addresses reaches from %d to %d", from, to)
	}
}

// A program that was not linked to lie anywhere has its variables where displacements
// could be too: only MPI_BOTTOM tells.
func TestLowAddresses(t *testing.T) {
	made := func(number, lowest int64) *trace.Call {
		c := call(t, "MPI_Type_commit", handleValue(number))
		c.Params[0].Out = handleValue(number)
		c.NewType = &trace.NewType{Size: 8, TrueLowerBound: lowest, TrueExtent: 8}
		return c
	}
	low := lowTypesOf([]*trace.Call{made(1024, 0x404060), made(1025, 0x5555_0000_1000), made(1026, 0), made(1026, 0x5555_0000_1000)})
	null := trace.Value{Type: trace.TypeAddress, Addr: trace.SymbolicAddress{Class: trace.AddressSpecial}}
	for number, want := range map[int64]bool{1024: true, 1025: false, 1026: false, 0x209: false} {
		c := call(t, "MPI_Bcast", null, integer(1), handleValue(number), integer(0), handleValue(0x101))
		if why := low.why(c); (why != "") != want {
			t.Errorf("datatype %d: %q", number, why)
		}
	}
	if why := low.why(call(t, "MPI_Bcast", null, integer(0), handleValue(1024), integer(0), handleValue(0x101))); why != "" {
		t.Errorf("nothing from MPI_BOTTOM: %q", why)
	}
	if why := low.why(call(t, "MPI_Bcast", heap(0, 0), integer(1), handleValue(1024), integer(0), handleValue(0x101))); why != "" {
		t.Errorf("from memory: %q", why)
	}
}

// Under another MPI, an integer for a handle can be had from the handle: if there is one that
// was made otherwise.
func TestIntegersForHandles(t *testing.T) {
	const world, own, unseen = 0x101, trace.FirstCreatedHandle, trace.FirstCreatedHandle + 1
	made := call(t, "MPI_Comm_dup", handleValue(world))
	made.Params[1].Out = handleValue(own)
	gives := func(n int64) *trace.Call {
		c := call(t, "MPI_Comm_f2c", integer(4))
		c.Result = handleValue(n)
		return c
	}
	h := MadeHandles([]*trace.Call{made, gives(own), gives(unseen)})
	for _, x := range []struct {
		handle      int64
		here, there bool
	}{{world, true, true}, {own, true, true}, {unseen, true, false}, {trace.UnknownHandle, true, false}} {
		for foreign, can := range map[bool]bool{false: x.here, true: x.there} {
			if why := h.ObstacleText(gives(x.handle), foreign); (why == "") != can {
				t.Errorf("handle %d, foreign MPI %v: %q", x.handle, foreign, why)
			}
		}
	}
	if name := InverseConversion("MPI_Comm_f2c"); name != "MPI_Comm_c2f" {
		t.Error(name)
	}
	if name := InverseConversion("MPI_Comm_fromint"); name != "MPI_Comm_toint" {
		t.Error(name)
	}
}
