package replay

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
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

func (f *fake) FunctionAddress(name string) uint64 {
	if name == f.lacks {
		return 0
	}
	f.names = append(f.names, name)
	return uint64(len(f.names))
}

// SymbolAddress puts all objects of the library side by side.
func (f *fake) SymbolAddress(name string) (uint64, bool) {
	if i := slices.Index(mpi.HandleSymbols(mpi.FlavourOpenMPI), name); i >= 0 {
		return 0x1000 + 16*uint64(i), true
	}
	return 0, false
}

func (f *fake) StandInAddress(k reissue.StandIn) uint64 { return 0x900000 + uint64(k) }
func (f *fake) HasTool() bool                           { return f.traced }
func (f *fake) ClockNs() int64                          { return f.now }

func (f *fake) MakeCall(c *Call) {
	name := f.names[c.FunctionAddress-1]
	c.ReadyNs = f.now
	f.now = max(f.now, c.NotBeforeNs)
	c.BeginNs = f.now
	f.now += 10
	c.EndNs, c.Result = f.now, 0
	f.log = append(f.log, name)
	f.calls = append(f.calls, *c)
	if g := f.on[name]; g != nil {
		g(c)
	}
}

func (f *fake) RepeatCall(c *Call, r *RepeatedCall) { repeat(f.MakeCall, c, r) }

// repeat is call_repeat of replayer/call.c.
func repeat(make func(*Call), c *Call, r *RepeatedCall) {
	for r.NextIndex < r.Count {
		x := &r.DueTimes[r.NextIndex]
		c.NotBeforeNs = x.Line
		byGap := int64(0)
		if x.Gap > 0 {
			caught := min(r.LateNs, x.Gap)
			r.LateNs -= caught
			byGap = r.PreviousEndNs + x.Gap - caught
		}
		c.NotBeforeNs = max(x.Line, byGap)
		r.CurrentDueNs = max(c.NotBeforeNs, r.PreviousEndNs)
		make(c)
		r.HeldNs += max(0, c.NotBeforeNs-max(byGap, c.ReadyNs))
		r.LateNs += max(0, c.BeginNs-max(c.NotBeforeNs, r.PreviousEndNs))
		r.MPINs += c.EndNs - c.BeginNs
		r.PreviousEndNs = c.EndNs
		r.NextIndex++
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

// ReserveAddress notes what is asked for and has nothing there.
func (f *fake) ReserveAddress(addr uint64, size int64) error {
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
	p, err := NewProcess(r, k, f, flavour, o)
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

func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
