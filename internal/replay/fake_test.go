package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"spoor/internal/merge/mergetest"
	"spoor/internal/track/tracktest"
	"spoor/mpi"
	"spoor/trace"
)

// A fake is an MPI of one process that does nothing but hand out handles. It
// notes the calls in the order in which they come.
type fake struct {
	names     []string
	lacks     string
	on        map[string]func(c *Call)
	log       []string
	calls     []Call
	allocated int64
	now       int64
	traced    bool
	last      uint64 // handle handed out
}

func (f *fake) Function(name string) uint64 {
	if name == f.lacks {
		return 0
	}
	f.names = append(f.names, name)
	return uint64(len(f.names))
}

// Symbol puts all objects of the library side by side.
func (f *fake) Symbol(name string) (uint64, bool) {
	if i := slices.Index(mpi.HandleSymbols(mpi.OpenMPI), name); i >= 0 {
		return 0x1000 + 16*uint64(i), true
	}
	return 0, false
}

func (f *fake) StandIn(k StandIn) uint64 { return 0x900000 + uint64(k) }
func (f *fake) Traced() bool             { return f.traced }
func (f *fake) Clock() int64             { return f.now }

func (f *fake) Make(c *Call) {
	name := f.names[c.Function-1]
	c.Ready = f.now
	f.now = max(f.now, c.NotBefore)
	c.Begin = f.now
	f.now += 10
	c.End, c.Result = f.now, 0
	f.log = append(f.log, name)
	f.calls = append(f.calls, *c)
	if g := f.on[name]; g != nil {
		g(c)
	}
}

func (f *fake) Repeat(c *Call, r *Repeats) { repeat(f.Make, c, r) }

// repeat is call_repeat of replayer/call.c.
func repeat(make func(*Call), c *Call, r *Repeats) {
	for r.Next < r.N {
		x := &r.At[r.Next]
		c.NotBefore = x.Line
		byGap := int64(0)
		if x.Gap > 0 {
			caught := min(r.Late, x.Gap)
			r.Late -= caught
			byGap = r.Last + x.Gap - caught
		}
		c.NotBefore = max(x.Line, byGap)
		r.From = max(c.NotBefore, r.Last)
		make(c)
		r.Held += max(0, c.NotBefore-max(byGap, c.Ready))
		r.Late += max(0, c.Begin-max(c.NotBefore, r.Last))
		r.MPI += c.End - c.Begin
		r.Last = c.End
		r.Next++
		if c.Result != 0 {
			return
		}
	}
}

func (f *fake) Alloc(size int64) (uint64, error) {
	f.allocated += size
	b, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return 0, err
	}
	return addressOf(b), nil
}

func (f *fake) Free(addr uint64, size int64) {
	f.allocated -= size
	_ = syscall.Munmap(bytesAt(addr, int(size)))
}

// Reserve notes what is asked for and has nothing there.
func (f *fake) Reserve(addr uint64, size int64) error {
	f.log = append(f.log, fmt.Sprintf("reserve %#x %#x", addr, size))
	return nil
}

// makes writes a new handle to the place that a word points to.
func (f *fake) makes(word, width int) func(c *Call) {
	return func(c *Call) {
		f.last++
		store(c.Words[word], width, 0x5000+f.last)
	}
}

// run replays a rank under a fake.
func run(t *testing.T, r *trace.Reader, rank int, f *fake, flavour mpi.Flavour, o Options) (*Process, error) {
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(r, k, f, flavour, o)
	if err != nil {
		return nil, err
	}
	for _, s := range p.Streams() {
		if err := s.Run(); err != nil {
			return p, err
		}
	}
	return p, nil
}

const heap0 = 0<<8 | 1

func TestWordsOfTwoFlavours(t *testing.T) {
	r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("MPI_Send", 1, heap0, 16, 3, tracktest.IntType, tracktest.ProcNull, 7, tracktest.World)
		r.End()
	})
	symbol := func(name string) uint64 { a, _ := (&fake{}).Symbol(name); return a }
	for _, x := range []struct {
		flavour mpi.Flavour
		want    []uint64
	}{
		{mpi.MPICH, []uint64{3, 0x4c000405, 0xffffffff, 7, 0x44000000}},
		{mpi.OpenMPI, []uint64{3, symbol("ompi_mpi_int"), 0xfffffffe, 7, symbol("ompi_mpi_comm_world")}},
		{mpi.ABI, []uint64{3, 0x209, 0xfffffffd, 7, 0x101}},
	} {
		f := &fake{}
		if _, err := run(t, r, 1, f, x.flavour, Options{}); err != nil {
			t.Fatal(err)
		}
		w := f.calls[1].Words[1:6]
		w[2] &= 0xffffffff // an int
		if f.log[1] != "MPI_Send" || !slices.Equal(w, x.want) {
			t.Errorf("%v: %s%x, expected %x", x.flavour, f.log[1], w, x.want)
		}
		if f.calls[1].Words[0] == 0 {
			t.Errorf("%v: no buffer", x.flavour)
		}
	}
}

// Requests are found again whatever order they end in, and their places are
// used again: memory does not grow with the number of calls.
func TestRequestsAndMemory(t *testing.T) {
	program := func(loops int) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			r.Begin()
			for range loops {
				r.Isend(1, 4, 0, 1)
				r.Isend(2, 4, 0, 2)
				r.Isend(3, 4, 0, 3)
				r.Call("MPI_Wait", 4, 4, 4, 0) // the middle one, sent
				r.Call("MPI_Waitall", 5, 2, 2, 6, 2, 2, 4, 0, 4, 0)
			}
			r.End()
		}
	}
	used := func(loops int, traced bool) int64 {
		f := &fake{traced: traced}
		var live []uint64
		made := f.makes(6, 4)
		f.on = map[string]func(c *Call){
			"MPI_Isend": func(c *Call) {
				made(c)
				live = append(live, load(c.Words[6], 4))
			},
			"MPI_Wait": func(c *Call) {
				if got := load(c.Words[0], 4); got != live[1] {
					t.Errorf("waits for %x, expected %x", got, live[1])
				}
				store(c.Words[0], 4, 0x2c000000)
			},
			"MPI_Waitall": func(c *Call) {
				if a, b := load(c.Words[1], 4), load(c.Words[1]+4, 4); a != live[0] || b != live[2] {
					t.Errorf("waits for %x and %x, expected %x and %x", a, b, live[0], live[2])
				}
				store(c.Words[1], 4, 0x2c000000)
				store(c.Words[1]+4, 4, 0x2c000000)
				live = nil
			},
		}
		p, err := run(t, mergetest.Run(t, 1, program(loops)), 0, f, mpi.MPICH, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(p.Streams()[0].requests); n != 0 {
			t.Errorf("%d requests left", n)
		}
		return f.allocated
	}
	for _, traced := range []bool{false, true} {
		if few, many := used(10, traced), used(500, traced); few != many {
			t.Errorf("traced %v: %d bytes for 10 rounds, %d for 500", traced, few, many)
		}
	}
}

// A tracer that tells requests apart by where they are finds them in the array
// in which the program had them.
func TestRequestsLieWhereTheProgramHadThem(t *testing.T) {
	f := &fake{traced: true}
	var places []uint64
	made := f.makes(6, 8)
	f.on = map[string]func(c *Call){
		"MPI_Isend": func(c *Call) { made(c); places = append(places, c.Words[6]) },
		"MPI_Waitall": func(c *Call) {
			if at := c.Words[1]; places[0] != at+8 || places[1] != at {
				t.Errorf("requests at %x, the array is at %x", places, at)
			}
		},
	}
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		r.Isend(1, 4, 0, 1)
		r.Isend(2, 4, 0, 2)
		r.Call("MPI_Waitall", 3, 2, 2, 2, 4, -5) // the newer one first
		r.End()
	})
	if _, err := run(t, r, 0, f, mpi.OpenMPI, Options{}); err != nil {
		t.Fatal(err)
	}
}

// What the calls are told about how to end.
func TestOutcomes(t *testing.T) {
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		// A receive from any source, tag any, of a message from 5 with tag 9.
		r.Call("MPI_Recv", 1, heap0, 0, 4, tracktest.IntType, -1, -2, tracktest.World, 2, 5, 9, 16, 0)
		// One that ends in a later Waitany as the second of two.
		r.Irecv(2, 4, -1, -2)
		r.Irecv(3, 4, 1, 1)
		r.Call("MPI_Waitany", 4, 2, 2, 2, 4, 1, 2, 6, 8, 16, 0)
		r.Call("MPI_Test", 5, 2, 0, 0)
		r.Call("MPI_Test", 6, 2, 1, 1, 1, 1, 16, 0)
		r.Call("MPI_Iprobe", 7, -1, -2, tracktest.World, 1, 1, 3, 4, 16, 0)
		r.Call("MPI_Iprobe", 8, -1, -2, tracktest.World, 0, 0)
		r.End()
	})
	type outcome struct {
		kind, flag, source, tag int32
		index                   []int32
	}
	f := &fake{}
	var got []outcome
	made := f.makes(6, 4)
	note := func(c *Call) {
		if c.Outcome == 0 {
			got = append(got, outcome{})
			return
		}
		at := func(off uint64) int32 { return int32(load(c.Outcome+off, 4)) }
		o := outcome{kind: at(0), flag: at(4), source: at(8), tag: at(12)}
		for i := range at(16) {
			o.index = append(o.index, at(32+4*uint64(i)))
		}
		got = append(got, o)
	}
	f.on = map[string]func(c *Call){
		"MPI_Recv": note, "MPI_Waitany": note, "MPI_Test": note, "MPI_Iprobe": note,
		"MPI_Irecv": func(c *Call) { made(c); note(c) },
	}
	if _, err := run(t, r, 0, f, mpi.MPICH, Options{}); err != nil {
		t.Fatal(err)
	}
	want := []outcome{
		{int32(outcomeRecv), 0, 5, 9, nil},
		{int32(outcomeIrecv), 0, 6, 8, nil},
		{},
		{int32(outcomeWaitany), 0, 0, 0, []int32{1}},
		{int32(outcomeTest), 0, 0, 0, nil},
		{int32(outcomeTest), 1, 0, 0, nil},
		{int32(outcomeIprobe), 1, 3, 4, nil},
		{int32(outcomeIprobe), 0, 0, 0, nil},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("outcomes\n%v, expected\n%v", got, want)
	}
}

func TestHandlesThatTheProgramMade(t *testing.T) {
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		for range 3 {
			r.Call("MPI_Comm_dup", 1, tracktest.World, 1024, 0, 0, 0, 1, -1, 0, 0)
			r.Call("MPI_Barrier", 2, 1024)
			r.Call("MPI_Comm_free", 3, 1024)
		}
		r.End()
	})
	f := &fake{}
	f.on = map[string]func(c *Call){
		"MPI_Comm_dup": f.makes(1, 4),
		"MPI_Barrier": func(c *Call) {
			if c.Words[0] != 0x5000+f.last {
				t.Errorf("barrier on %x, expected %x", c.Words[0], 0x5000+f.last)
			}
		},
		"MPI_Comm_free": func(c *Call) {
			if got := load(c.Words[0], 4); got != 0x5000+f.last {
				t.Errorf("frees %x, expected %x", got, 0x5000+f.last)
			}
		},
	}
	if _, err := run(t, r, 0, f, mpi.MPICH, Options{}); err != nil {
		t.Fatal(err)
	}
	f = &fake{lacks: "MPI_Barrier"}
	f.on = map[string]func(c *Call){"MPI_Comm_dup": f.makes(1, 4)}
	if _, err := run(t, r, 0, f, mpi.MPICH, Options{}); err == nil || !strings.Contains(err.Error(), "call 2 of thread 0, MPI_Barrier: this MPI has no MPI_Barrier") {
		t.Errorf("error %v", err)
	}
}

// A handle that nobody made ends the replay with a message, not with a hang.
// Two handles of one number, as the trace's MPI gave the same one twice: freeing the
// number once leaves the first.
func TestHandlesOfOneNumber(t *testing.T) {
	const group = 1024
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("MPI_Comm_group", 1, tracktest.World, group)
		r.Call("MPI_Comm_group", 1, tracktest.World, group)
		r.Call("MPI_Group_size", 2, group, 1)
		r.Call("MPI_Group_free", 3, group)
		r.Call("MPI_Group_size", 2, group, 1)
		r.Call("MPI_Group_free", 3, group)
		r.Call("MPI_Comm_group", 1, tracktest.World, group)
		r.Call("MPI_Group_free", 3, group)
		r.End()
	})
	f := &fake{}
	var used []uint64
	f.on = map[string]func(c *Call){
		"MPI_Comm_group": f.makes(1, 4),
		"MPI_Group_size": func(c *Call) { used = append(used, c.Words[0]) },
		"MPI_Group_free": func(c *Call) {
			used = append(used, load(c.Words[0], 4))
			store(c.Words[0], 4, 0x08000000)
		},
	}
	p, err := run(t, r, 0, f, mpi.MPICH, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []uint64{0x5002, 0x5002, 0x5001, 0x5001, 0x5003}; !slices.Equal(used, want) {
		t.Errorf("handles %#x, expected %#x", used, want)
	}
	if h := p.handles[mpi.KindGroup]; len(h.alive) != 0 || len(h.beneath) != 0 {
		t.Errorf("%d and %d handles are left", len(h.alive), len(h.beneath))
	}
}

func TestHandleThatWasNeverMade(t *testing.T) {
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("MPI_Barrier", 2, 1030)
	})
	_, err := run(t, r, 0, &fake{}, mpi.OpenMPI, Options{})
	if err == nil || !strings.Contains(err.Error(), "comm 1030 was never made") {
		t.Errorf("error %v", err)
	}
}

func TestStatusLayouts(t *testing.T) {
	for _, flavour := range mpi.Flavours() {
		f := &fake{}
		s := &Stream{p: &Process{host: f, flavour: flavour, layout: mpi.LayoutOf(flavour)}}
		at, err := f.Alloc(256)
		if err != nil {
			t.Fatal(err)
		}
		s.fillStatus(at, &trace.StatusValue{Form: trace.StatusFilled, Source: -3, Tag: 11, Count: 5<<32 + 7, Cancelled: true})
		l := mpi.LayoutOf(flavour).Status
		source := mpi.Translation(flavour, mpi.KindRank).ABI(int64(int32(load(at+uint64(l.Source), 4))))
		if tag := load(at+uint64(l.Tag), 4); source != -3 || tag != 11 {
			t.Errorf("%v: source %d, tag %d", flavour, source, tag)
		}
		switch l.Count {
		case mpi.CountSplit:
			if low, high := load(at, 4), load(at+4, 4); low != 7 || high != 5<<1|1 {
				t.Errorf("%v: count in %x and %x", flavour, low, high)
			}
		case mpi.CountWord:
			if n, c := load(at+16, 8), load(at+12, 4); n != 5<<32+7 || c != 1 {
				t.Errorf("%v: count %x, cancelled %d", flavour, n, c)
			}
		}
	}
}

func TestFilesStayInTheirDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"out.dat", "/etc/passwd", "../../x", "ufs:/data/big", "a:b/c"} {
		path := scratchPath(dir, name)
		if filepath.Dir(path) != dir {
			t.Errorf("%s goes to %s", name, path)
		}
	}
	if a, b := scratchPath(dir, "/a/x"), scratchPath(dir, "/b/x"); a == b {
		t.Errorf("two files share %s", a)
	}
	input := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(input, make([]byte, 1234), 0o666); err != nil {
		t.Fatal(err)
	}
	path := scratchPath(dir, input)
	for range 2 {
		if err := provide(path, input); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := os.Stat(path); err != nil || st.Size() != 1234 {
		t.Errorf("a file to read: %v, %v", st, err)
	}
}

// The watch says where each thread is, and leaves a mark for the other ranks.
func TestWatch(t *testing.T) {
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		r.Recv(1, 4, 0, 1)
		r.End()
	})
	dir := t.TempDir()
	f := &fake{}
	var w Watch
	var p *Process
	exits := 0
	w = Watch{Timeout: time.Second, Dir: dir, Exit: func(code int) { exits += code }}
	f.on = map[string]func(c *Call){"MPI_Recv": func(c *Call) {
		if w.look(p, f.now) {
			t.Error("gave up at once")
		}
		lines := p.Where(f.now + int64(2*time.Second))
		if len(lines) != 1 || !strings.Contains(lines[0], "rank 0: waits for 2s in call 1, MPI_Recv(") {
			t.Errorf("where: %q", lines)
		}
		if !w.look(p, f.now+int64(2*time.Second)) || exits != ExitStuck {
			t.Errorf("did not give up; exit codes sum to %d", exits)
		}
	}}
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = New(r, k, f, mpi.MPICH, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := p.Streams()[0].Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, mark)); err != nil {
		t.Errorf("no mark for the other ranks: %v", err)
	}
	if err := p.WriteReport(dir); err != nil {
		t.Fatal(err)
	}
	if got := p.Report(); got.Calls != 3 || got.Different != 0 || got.MPI != 30 {
		t.Errorf("report %+v", got)
	}
}

// Random content never holds a double that is slow or overflows.
func TestFill(t *testing.T) {
	g := segments{seed: 3}
	b := make([]byte, 8*1000+5)
	g.fill(b)
	seen := map[string]bool{}
	for i := 0; i+8 <= len(b); i += 8 {
		if b[i+7] != 0x3f || b[i+6]>>4 != 0xf {
			t.Fatalf("word %x", b[i:i+8])
		}
		seen[string(b[i:i+6])] = true
	}
	if len(seen) < 990 {
		t.Errorf("only %d distinct words of 1000", len(seen))
	}
}

func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
