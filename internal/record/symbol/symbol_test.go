package symbol

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/test/need"
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// A handle that the MPI hands out twice has to be given back twice.
func TestHandleReferences(t *testing.T) {
	var h Handles
	h.Predefine(7, 33)
	name := func(raw uint64) int64 { n, _ := h.NameNew(raw); return n }
	equal(t, "predefined", name(7), 33)
	equal(t, "first", name(100), 1024)
	equal(t, "second", name(200), 1025)
	equal(t, "first again", name(100), 1024)
	release := func(raw uint64, want int64, wantLast bool) {
		t.Helper()
		n, last := h.Release(raw)
		equal(t, "released", n, want)
		equal(t, "last", last, wantLast)
	}
	release(100, 1024, false)
	equal(t, "still there", h.NameOf(100), 1024)
	release(100, 1024, true)
	equal(t, "gone", h.NameOf(100), UnknownHandle)
	release(100, UnknownHandle, false)
	release(7, 33, false)
	equal(t, "predefined stays", h.NameOf(7), 33)
	equal(t, "reused", name(300), 1024)
}

// The names of the requests of a thread, seen from itself and from another.
func TestRequestNames(t *testing.T) {
	var q Requests
	q.Init(5)
	equal(t, "new", q.Make(0, 10, 0x100, RequestReceive, signature.UnknownEnvelope), 2)
	equal(t, "new", q.Make(0, 11, 0x104, RequestSend, signature.UnknownEnvelope), 2)
	equal(t, "null", q.Make(0, 5, 0x108, RequestSend, signature.UnknownEnvelope), 0)
	name := func(handle, place uint64, thread int) int64 {
		q.BeginSearch()
		return q.Name(q.FindIndex(handle, place), handle, thread)
	}
	equal(t, "older", name(10, 0x100, 0), 4)
	equal(t, "newer", name(11, 0x104, 0), 2)
	equal(t, "moved", name(11, 0x999, 0), 2)
	equal(t, "null", name(5, 0x104, 0), 0)
	equal(t, "unknown", name(12, 0x104, 0), UnknownHandle)
	equal(t, "other thread", name(10, 0x100, 1), -2-1<<threadBits)
}

// Thousands of copied requests with one handle are found in order of age, in
// a time that is in proportion.
func TestRequestsCopied(t *testing.T) {
	var q Requests
	const n = 50000
	for range n {
		q.Make(0, 9, 0x100, RequestSend, signature.UnknownEnvelope)
	}
	q.BeginSearch()
	var found []int
	for i := range n {
		k := q.FindIndex(9, uint64(0x9000+4*i))
		if want := int64(2 * (n - i)); q.Name(k, 9, 0) != want {
			t.Fatalf("request %d has name %d, want %d", i, q.Name(k, 9, 0), want)
		}
		found = append(found, k)
	}
	equal(t, "one too many", q.FindIndex(9, 1), NoRequestIndex)
	for _, k := range found {
		q.CompleteOneShot(k)
	}
	equal(t, "left", q.FindIndex(9, 0x100), NoRequestIndex)
}

const mapping = `00400000-00401000 r--p 00000000 08:01 1 /bin/none
00401000-00402000 r-xp 00001000 08:01 1 /bin/none
00402000-00403000 rw-p 00002000 08:01 1 /bin/none
00403000-00404000 rw-p 00000000 00:00 0 
00405000-00406000 rw-p 00000000 00:00 0 [heap]
7f0000000000-7f0000001000 r--p 00003000 08:01 2 /lib/no ne.so (deleted)
7f0000001000-7f0000002000 rw-p 00000000 00:00 0 
`

func TestModules(t *testing.T) {
	var m Modules
	m.Init(nil, func() []byte { return []byte(mapping) })
	a := Addresses{Modules: &m, Stacks: []StackRange{{0x7fff0000, 0x7fff9000, 0x7fff8000}, {0x6fff0000, 0x6fff9000, 0x6fff8000}}}
	for _, c := range []struct {
		addr     uint64
		thread   int
		seg, off int64
	}{
		{0x402010, 0, signature.PackSegName(0, 0, signature.SegClassStatic), 0x2010},
		{0x403010, 0, signature.PackSegName(0, 0, signature.SegClassStatic), 0x3010}, // zeroed data after the part from the file
		{0x7f0000000010, 0, signature.PackSegName(1, 0, signature.SegClassStatic), 0x3010},
		{0x405010, 0, signature.PackSegName(0, 0, signature.SegClassUnknown), 0},
		{0x404010, 0, signature.PackSegName(1, 0, signature.SegClassUnknown), 0},
		{0x405010, 1, signature.PackSegName(0, 0, signature.SegClassUnknown), 0},
		{0x7fff7ff0, 0, signature.PackSegName(0, 0, signature.SegClassStack), -16},
		{0x6fff8010, 1, signature.PackSegName(1, 0, signature.SegClassStack), 16},
		{0x6fff8010, 0, signature.PackSegName(1, 0, signature.SegClassStack), 16}, // of another thread
	} {
		seg, off := a.Name(event.AddressClassRaw<<56, c.addr, c.thread)
		if seg != c.seg || off != c.off {
			t.Errorf("%#x is %#x+%#x, want %#x+%#x", c.addr, seg, off, c.seg, c.off)
		}
	}
}

// What was written of the address space is asked first, and the kernel only where that doesn't know an address.
func TestModulesWritten(t *testing.T) {
	var m Modules
	asked := 0
	m.Init(func() []byte { return []byte(mapping) }, func() []byte {
		asked++
		return []byte(mapping + "7f0000003000-7f0000004000 r--p 00000000 08:01 2 /lib/later.so\n")
	})
	if n, at := m.find(0x402010); n != 0 || at != 0x2010 || asked != 0 {
		t.Errorf("module %d+%#x, the kernel was asked %d times", n, at, asked)
	}
	for range 2 {
		if n, at := m.find(0x7f0000003010); n != 2 || at != 0x10 || asked != 1 {
			t.Errorf("module %d+%#x, the kernel was asked %d times", n, at, asked)
		}
		m.find(0x7f0000005000)
	}
}

// Sites of this very program: module, build id and offset.
func TestSites(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	var base uint64
	for line := range strings.Lines(string(text)) {
		if strings.HasSuffix(strings.TrimSpace(line), filepath.Base(self)) {
			low, _, _ := strings.Cut(line, "-")
			if base, err = strconv.ParseUint(low, 16, 64); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	var m Modules
	m.Init(nil, func() []byte { return text })
	var s Sites
	s.Init(&m)
	h := s.NameCode(base + 0x123)
	places, _, _ := s.Table()
	where := places[h]
	equal(t, "offset", where.Offset, 0x123)
	equal(t, "module", filepath.Base(where.Module), filepath.Base(self))
	equal(t, "again", s.NameCode(base+0x123), h)
	equal(t, "none", s.NameCode(0), 0)
	if s.NameCode(base+0x124) == h {
		t.Error("two places have the same hash")
	}
	if h>>63 != 0 {
		t.Error("hash has 64 bits")
	}
	// What a checkpoint restores is the same.
	saved := wire.AppendEncoded(nil, func(c *wire.Coder) {
		m.Code(c)
		s.Code(c)
	})
	var m2 Modules
	m2.Init(nil, func() []byte { return nil })
	var s2 Sites
	s2.Init(&m2)
	err = wire.DecodeAll(saved, "sites", func(c *wire.Coder) {
		m2.Code(c)
		s2.Code(c)
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "restored", s2.NameCode(base+0x123), h)
	places, _, _ = s2.Table()
	equal(t, "restored place", places[h], where)
}

// The build id is what the linker wrote.
func TestBuildID(t *testing.T) {
	cc := need.Command(t, "cc")
	dir := t.TempDir()
	src, lib := filepath.Join(dir, "x.c"), filepath.Join(dir, "x.so")
	if err := os.WriteFile(src, []byte("int x[1000] = {1}; int y[100000];"), 0o600); err != nil {
		t.Fatal(err)
	}
	const id = "0123456789abcdef0123456789abcdef01234567"
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-Wl,--build-id=0x"+id, "-o", lib, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mod := module{path: lib}
	mod.open()
	equal(t, "build id", mod.buildID, id)
	if mod.end < 400000 {
		t.Errorf("memory ends at %d, without the zeroed data", mod.end)
	}
}

func TestSegments(t *testing.T) {
	var s Segments
	s.NameNew(5, 0, signature.SegClassHeap)
	s.NameNew(6, 1, signature.SegClassDevice)
	s.NameNew(7, 0, signature.SegClassHeap)
	name := func(serial uint64) int64 { n, _ := s.Name(serial); return n }
	equal(t, "first heap segment", name(5), signature.PackSegName(0, 0, signature.SegClassHeap))
	equal(t, "first device segment", name(6), signature.PackSegName(0, 1, signature.SegClassDevice))
	equal(t, "second heap segment", name(7), signature.PackSegName(1, 0, signature.SegClassHeap))
	s.FreeName(5)
	if _, ok := s.Name(5); ok {
		t.Error("a freed segment has a name")
	}
	s.NameNew(8, 0, signature.SegClassHeap)
	equal(t, "reused", name(8), signature.PackSegName(0, 0, signature.SegClassHeap))
}

// Creations that only some members of the parent take part in are counted by
// who takes part.
func TestOrdinals(t *testing.T) {
	var c Comms
	c.Init(0, 8)
	const world, split, group = 0x101, 1, 2
	equal(t, "first split", c.CountCreation(world, split, CommDescription{0, 0, 4, -1}), 0)
	equal(t, "second split, other leader", c.CountCreation(world, split, CommDescription{3, 0, 4, -1}), 1)
	equal(t, "first of a group", c.CountCreation(world, group, CommDescription{0, 0, 4, -1, 0, 77}), 0)
	equal(t, "first of another", c.CountCreation(world, group, CommDescription{0, 0, 4, -1, 0, 78}), 0)
	equal(t, "second of the first", c.CountCreation(world, group, CommDescription{0, 0, 4, -1, 0, 77}), 1)
	equal(t, "first between two groups", c.CountCreation(world, split, CommDescription{0, 0, 4, 4, 4}), 0)
	c.ForgetChildren(world)
	equal(t, "first split after the parent is gone", c.CountCreation(world, split, CommDescription{0, 0, 4, -1}), 0)
}

// Stacks: keys for what shares outer frames, and what is saved of them.
func TestStacks(t *testing.T) {
	const mapping = "1000-9000 r-xp 00000000 08:01 1 /bin/none\n"
	var m Modules
	m.Init(nil, func() []byte { return []byte(mapping) })
	var s Sites
	s.Init(&m)
	s.AddStack(1<<63|1, []uint64{0x1100, 0x1200, 0x1300})
	s.AddStack(1<<63|2, []uint64{0x1108, 0x1200, 0x1300})
	s.AddStack(1<<63|3, []uint64{0x1100, 0x1208, 0x1300})
	s.AddStack(1<<63|4, []uint64{0x1300, 0x1300, 0x1300})
	s.AddStack(1<<63|1<<32|1, []uint64{0x1100, 0x1200, 0x1300})
	equal(t, "another thread", s.NameCode(1<<63|1<<32|1), s.NameCode(1<<63|1))
	equal(t, "a turn in another thread", s.NameCode(event.TurnKey(1<<63|1<<32|1, 2)), s.NameCode(event.TurnKey(1<<63|1, 2)))
	if s.NameCode(event.TurnKey(1<<63|1, 2)) == s.NameCode(1<<63|1) || s.NameCode(event.TurnKey(1<<63|1, 2)) == s.NameCode(event.TurnKey(1<<63|1, 3)) {
		t.Error("a turn makes no difference")
	}
	var restored Sites
	restored.Init(&m)
	if err := wire.DecodeAll(wire.AppendEncoded(nil, s.Code), "sites", restored.Code); err != nil {
		t.Fatal(err)
	}
	for _, sites := range []*Sites{&s, &restored} {
		places, outer, _ := sites.Table()
		offsets := func(key uint64) (list []uint64) {
			for h, ok := sites.NameCode(key), true; ok; h, ok = outer[h] {
				list = append(list, places[h].Offset)
			}
			return list
		}
		for key, want := range map[uint64][]uint64{
			1: {0x100, 0x200, 0x300}, 2: {0x108, 0x200, 0x300}, 3: {0x100, 0x208, 0x300}, 4: {0x300, 0x300, 0x300},
		} {
			if got := offsets(1<<63 | key); !slices.Equal(got, want) {
				t.Errorf("stack %d: %#x, want %#x", key, got, want)
			}
		}
		if got := offsets(event.TurnKey(1<<63|1, 2)); !slices.Equal(got, []uint64{0x100, 0x200, 0x300, 2}) {
			t.Errorf("a turn: %#x", got)
		}
		// 0x1300; 1200<1300, 1208<1300, 1300<1300; and the four; two turns with three frames each
		equal(t, "sites", len(places), 16)
		sites.AddStack(1<<63|9, []uint64{0x1100, 0x1200, 0x1300})
		equal(t, "again", sites.NameCode(1<<63|9), sites.NameCode(1<<63|1))
	}
	equal(t, "plain", s.NameCode(0x1300), restored.NameCode(0x1300))
}

// Lines of source code are sites, alone and in stacks, in this process and in others, whatever the folder; they come back from a saved state.
func TestSources(t *testing.T) {
	var m Modules
	m.Init(nil, func() []byte { return nil })
	key := func(n uint64) uint64 { return 1<<63 | 1<<31 | n }
	fill := func(s *Sites, folder string) {
		s.Init(&m)
		s.AddSourceLine(key(1), folder+"app.py", 12, "Solver.step")
		s.AddSourceLine(key(2), folder+"app.py", 20, "main")
		s.AddSourceLine(key(3), folder+"app.py", 13, "Solver.step")
		s.AddStack(key(9), []uint64{key(1), key(2)})
		s.AddStack(key(10), []uint64{key(3), key(2)})
	}
	var s, elsewhere, restored Sites
	fill(&s, "/home/me/")
	fill(&elsewhere, "")
	restored.Init(&m)
	if err := wire.DecodeAll(wire.AppendEncoded(nil, s.Code), "sites", restored.Code); err != nil {
		t.Fatal(err)
	}
	for n := range uint64(11) {
		equal(t, "elsewhere", elsewhere.NameCode(key(n)), s.NameCode(key(n)))
	}
	for _, sites := range []*Sites{&s, &restored} {
		places, outer, inner := sites.Table()
		step := places[sites.NameCode(key(9))]
		equal(t, "file", step.Module, "/home/me/app.py")
		equal(t, "function", step.BuildID, "source Solver.step")
		equal(t, "line", step.Offset, 12)
		equal(t, "caller's line", places[outer[sites.NameCode(key(9))]].Offset, 20)
		equal(t, "alone", inner[sites.NameCode(key(9))], sites.NameCode(key(1)))
		equal(t, "other line", places[sites.NameCode(key(10))].Offset, 13)
		sites.AddStack(key(12), []uint64{key(1), key(2)})
		equal(t, "again", sites.NameCode(key(12)), sites.NameCode(key(9)))
	}
}
