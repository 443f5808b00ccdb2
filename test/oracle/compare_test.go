package oracle

import (
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A miniature MPI: raw values unlike the standard ABI's.
var constants = map[string]int64{
	"MPI_COMM_WORLD": 0x44000000, "MPI_COMM_NULL": 0x04000000, "MPI_INT": 0x4c000405,
	"MPI_REQUEST_NULL": 0x2c000000, "MPI_ANY_SOURCE": -2, "MPI_PROC_NULL": -1, "MPI_ANY_TAG": -1,
	"MPI_UNDEFINED": -32766, "MPI_SUCCESS": 0, "MPI_STATUS_IGNORE": 1, "MPIX_ERR_PROC_FAILED": 101,
	"MPI_IN_PLACE": -1, "MPI_BOTTOM": 0, "MPI_ERR_RANK": 6,
}

func intv(n int64) Value    { return Value{Form: Int, Int: n} }
func handle(h uint64) Value { return Value{Form: Handle, Raw: h} }
func pointer(p uint64) Value {
	return Value{Form: Pointer, Raw: p}
}
func req(h, at uint64) Value { return Value{Form: Request, Raw: h, Addr: at} }

func num(t trace.Type, n int64) trace.Value { return trace.Value{Type: t, Num: n} }
func heap(id, off int64) trace.Value {
	return trace.Value{Type: trace.TypeAddress, Addr: trace.SymbolicAddress{Class: trace.AddressHeap, ID: id, Offset: off}}
}
func once(n int64) trace.Value {
	return trace.Value{Type: trace.TypeRequest, RequestForm: trace.RequestOneShot, RequestID: n}
}

type both struct {
	log   *Call
	trace trace.Call
}

// pairing makes both sides of one call. Sides are given as [in, out] values by
// parameter position; missing ones are Nothing and None.
func pairing(t *testing.T, name string, in, out []Value, tin, tout []trace.Value) both {
	t.Helper()
	entry, ok := mpi.CallNamed(name)
	if !ok {
		t.Fatalf("no function %s", name)
	}
	f := sections.FunctionOf(entry)
	b := both{log: &Call{Name: name, Done: true, Ret: intv(0), In: in}, trace: trace.Call{Func: &f}}
	b.log.Out = append(out, make([]Value, len(f.Params)-len(out))...)
	for i := range f.Params {
		p := trace.Param{Def: &f.Params[i]}
		if i < len(tin) {
			p.In = tin[i]
		}
		if i < len(tout) {
			p.Out = tout[i]
		}
		b.trace.Params = append(b.trace.Params, p)
	}
	return b
}

// sample is a run: two receives with one request handle, a duplicate of the
// world, a wait for the requests the other way round.
func sample(t *testing.T) []both {
	none := trace.Value{}
	anySource, comm := num(trace.TypeInt, abi("MPI_ANY_SOURCE")), num(trace.TypeHandle, abi("MPI_COMM_WORLD"))
	integer := num(trace.TypeHandle, abi("MPI_INT"))
	status := trace.Value{Type: trace.TypeStatus, Status: &trace.StatusValue{Form: trace.StatusFormFilled, Source: 3, Tag: 7, ReceivedBytes: 4}}
	logged := Value{Form: Status, Status: StatusValue{Source: 3, Tag: 7, Bytes: 4}}
	irecv := func(buf uint64, at uint64, tag int64, off, n int64) both {
		return pairing(t, "MPI_Irecv",
			[]Value{pointer(buf), intv(1), handle(0x4c000405), intv(-2), intv(tag), handle(0x44000000), req(0, at)},
			[]Value{{}, {}, {}, {}, {}, {}, req(0xac000000, at)},
			[]trace.Value{heap(0, off), num(trace.TypeInt, 1), integer, anySource, num(trace.TypeInt, 7), comm, none},
			[]trace.Value{none, none, none, none, none, none, once(n)})
	}
	wait := func(at uint64, n int64) both {
		return pairing(t, "MPI_Wait",
			[]Value{req(0xac000000, at), pointer(0x7000)}, []Value{req(0x2c000000, at), logged},
			[]trace.Value{once(n), none}, []trace.Value{none, status})
	}
	list := []both{
		pairing(t, "MPI_Comm_dup", []Value{handle(0x44000000), handle(0)}, []Value{{}, handle(0x84000001)},
			[]trace.Value{comm, none}, []trace.Value{none, num(trace.TypeHandle, 1024)}),
		irecv(0x5000, 0x9000, 7, 0, 0),
		irecv(0x5004, 0x9004, 7, 4, 1),
		wait(0x9004, 1),
		wait(0x9000, 0),
		pairing(t, "MPI_Comm_free", []Value{handle(0x84000001)}, []Value{handle(0x04000000)},
			[]trace.Value{num(trace.TypeHandle, 1024)}, nil),
	}
	list[0].log.Comm = &CommValue{Rank: 1, Members: []int{0, 1}}
	list[0].trace.NewComm = &trace.NewComm{Rank: 1, Size: 2}
	return list
}

func judge(list []both, freed ...Free) *Report {
	p := &Process{Constants: constants, Freed: freed}
	var calls []*Call
	var stream []trace.Call
	for i := range list {
		c := list[i].log
		c.Entered, c.Left = uint64(3*i), uint64(3*i+2)
		calls, stream = append(calls, c), append(stream, list[i].trace)
	}
	p.Threads = [][]*Call{calls}
	return Compare(p, [][]trace.Call{stream}, nil)
}

func TestCompareAgrees(t *testing.T) {
	r := judge(sample(t))
	if len(r.Wrong) > 0 || r.Calls != 6 {
		t.Errorf("%d calls, wrong: %q", r.Calls, r.Wrong)
	}
}

// Every kind of lie has to be found out.
func TestCompareFindsErrors(t *testing.T) {
	param := func(b *both, name string) *trace.Param { return b.trace.Param(name) }
	for _, test := range []struct {
		name string
		lie  func(list []both) []both
		want string
	}{
		{"count", func(l []both) []both { param(&l[1], "count").In.Num = 2; return l }, "MPI_Irecv: count in"},
		{"untranslated constant", func(l []both) []both { param(&l[1], "source").In.Num = -2; return l }, "source in"},
		{"wrong constant", func(l []both) []both { param(&l[1], "source").In.Num = abi("MPI_PROC_NULL"); return l }, "source in"},
		{"datatype", func(l []both) []both { param(&l[1], "datatype").In.Num = abi("MPI_BYTE"); return l }, "datatype in"},
		{"offset", func(l []both) []both { param(&l[2], "buf").In.Addr.Offset = 8; return l }, "buf in"},
		{"segment", func(l []both) []both { param(&l[2], "buf").In = heap(1, 4); return l }, "buf in"},
		{"special address", func(l []both) []both { param(&l[2], "buf").In.Addr = trace.SymbolicAddress{}; return l }, "buf in"},
		{"request number", func(l []both) []both { param(&l[2], "request").Out = once(0); return l }, "request out"},
		{"requests swapped", func(l []both) []both {
			param(&l[3], "request").In, param(&l[4], "request").In = once(0), once(1)
			return l
		}, "request in"},
		{"status source", func(l []both) []both { changeStatus(&l[3]).Source = 2; return l }, "status out"},
		{"status count", func(l []both) []both { changeStatus(&l[3]).ReceivedBytes = 8; return l }, "status out"},
		{"empty status", func(l []both) []both { changeStatus(&l[3]).Form = trace.StatusFormEmpty; return l }, "status out"},
		{"absent status", func(l []both) []both { changeStatus(&l[3]).Form = trace.StatusFormAbsent; return l }, "status out"},
		{"handle", func(l []both) []both { param(&l[5], "comm").In.Num = 1025; return l }, "comm in"},
		{"predefined handle", func(l []both) []both { param(&l[0], "newcomm").Out.Num = abi("MPI_COMM_SELF"); return l }, "newcomm out"},
		{"communicator's rank", func(l []both) []both { l[0].trace.NewComm = &trace.NewComm{Rank: 0, Size: 2}; return l }, "logged rank 1 of 2"},
		{"communicator's size", func(l []both) []both { l[0].trace.NewComm = &trace.NewComm{Rank: 1, Size: 3}; return l }, "logged rank 1 of 2"},
		{"nothing recorded", func(l []both) []both { param(&l[1], "tag").In = trace.Value{}; return l }, "not in the trace"},
		{"return code", func(l []both) []both { l[4].log.Ret = intv(0x3a06); return l }, "MPI_Wait: returned"},
		{"call missing", func(l []both) []both { l[4].trace = l[5].trace; return l }, "logged MPI_Wait, trace has MPI_Comm_free"},
		{"never returned", func(l []both) []both { l[5].log.Done = false; return l }, "never returned"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := judge(test.lie(sample(t)))
			if !strings.Contains(strings.Join(r.Wrong, "\n"), test.want) {
				t.Errorf("want an error with %q, got %q", test.want, r.Wrong)
			}
		})
	}
}

func changeStatus(b *both) *trace.StatusValue {
	p := b.trace.Param("status")
	s := *p.Out.Status
	p.Out.Status = &s
	return &s
}

// A block's name is free for another block once the program freed it.
func TestCompareFreedBlock(t *testing.T) {
	move := func(freed bool) *Report {
		l := sample(t)
		l[2].log.In[0] = pointer(0x6000)
		l[2].trace.Param("buf").In = heap(0, 0)
		if freed {
			return judge(l, Free{0x5000, 4})
		}
		return judge(l)
	}
	if r := move(true); len(r.Wrong) > 0 {
		t.Errorf("freed: %q", r.Wrong)
	}
	if r := move(false); len(r.Wrong) == 0 {
		t.Error("not freed: no error")
	}
}
