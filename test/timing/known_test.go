package timing

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// A knownCall is a call of known.c: the program called between from and in, and had it back
// between out and to, in ns. How far these are apart is what another process or the recorder
// took, so that what is known of a call's times holds on a busy machine too.
type knownCall struct {
	place, name       string
	from, in, out, to float64
	gap               bound // outside MPI before it
}

func (c *knownCall) lasted() bound { return bound{c.out - c.in, c.to - c.from} }

// knownCalls are those of each rank.
type knownCalls [][]knownCall

const knownRanks = 3

// buildKnown compiles known.c with what stands below the recorder.
func buildKnown(t *testing.T, m *mpis.MPI) *app {
	t.Helper()
	mpis.NeedSpoor(t)
	a := &app{t: t, job: mpis.Job{MPI: m, Dir: t.TempDir()}, ranks: knownRanks}
	source := func(name string) string { return filepath.Join("testdata", name) }
	if err := m.Compile(filepath.Join(a.job.Dir, "libbelow.so"), source("below.c"), "-shared", "-fPIC"); err != nil {
		t.Fatal(err)
	}
	flags := []string{"-fno-inline", "-L" + a.job.Dir, "-Wl,--no-as-needed", "-lbelow", "-Wl,-rpath,$ORIGIN"}
	if err := m.Compile(filepath.Join(a.job.Dir, "app"), source("known.c"), flags...); err != nil {
		t.Fatal(err)
	}
	return a
}

// known reads what the last run wrote down.
func (a *app) known() knownCalls {
	a.t.Helper()
	list := make(knownCalls, a.ranks)
	died := math.Inf(1) // when the first rank did, at the earliest
	for rank := range list {
		text, err := os.ReadFile(filepath.Join(a.job.Dir, fmt.Sprintf("log.%d", rank)))
		if err != nil {
			a.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var c knownCall
			if _, err := fmt.Sscan(line, &c.place, &c.name, &c.from, &c.in, &c.out, &c.to); err != nil {
				a.t.Fatalf("log of rank %d: %q: %v", rank, line, err)
			}
			if c.to == 0 && c.out > 0 {
				died = min(died, c.out)
			}
			if c.name == "MPI_Finalize" { // the trace is written in there: it can't have the end
				c.out = c.in
			}
			list[rank] = append(list[rank], c)
		}
	}
	for rank := range list {
		for i := range list[rank] {
			c := &list[rank][i]
			if c.to == 0 { // open when the process died
				c.out, c.to = max(c.out, died), a.over
				if c.in == 0 {
					c.in = c.out
				}
			}
			if c.in < c.from || c.out < c.in || c.to < c.out {
				a.t.Fatalf("rank %d: call %+v", rank, *c)
			}
			if i > 0 {
				before := &list[rank][i-1]
				c.gap = bound{c.from - before.to, c.in - before.out}
			}
		}
	}
	return list
}

// A knownSum is what some of the calls come to.
type knownSum struct {
	calls         uint64
	gap, duration bound
	least, most   bound // of the durations
}

// of sums up calls, of one rank or, if that is -1, of all.
func (k knownCalls) of(rank int, wanted func(*knownCall) bool) (s knownSum) {
	s.least, s.most = bound{math.Inf(1), math.Inf(1)}, bound{}
	for r := range k {
		for i := range k[r] {
			c := &k[r][i]
			if rank >= 0 && r != rank || !wanted(c) {
				continue
			}
			d := c.lasted()
			s.calls++
			s.gap.plus(c.gap)
			s.duration.plus(d)
			s.least = bound{min(s.least.low, d.low), min(s.least.high, d.high)}
			s.most = bound{max(s.most.low, d.low), max(s.most.high, d.high)}
		}
	}
	return s
}

func (k knownCalls) all(rank int) knownSum {
	return k.of(rank, func(*knownCall) bool { return true })
}

func (k knownCalls) in(rank int, name string) knownSum {
	return k.of(rank, func(c *knownCall) bool { return c.name == name })
}

func (k knownCalls) at(rank int, place string) knownSum {
	return k.of(rank, func(c *knownCall) bool { return c.place == place })
}

// places are those between fences, in order.
var knownPlaces = []string{"first", "loop", "last", "warm-up", "main", "nested", "exchange"}

// mean is what each of so many ranks has of it.
func (s knownSum) mean(ranks int) knownSum {
	n := float64(ranks)
	s.calls /= uint64(ranks)
	s.gap, s.duration = bound{s.gap.low / n, s.gap.high / n}, bound{s.duration.low / n, s.duration.high / n}
	return s
}

// room is how far a number may be from the truth: a share of it, and so much either way.
type room struct{ share, ns float64 }

func (r room) holds(got float64, b bound) bool {
	return got >= b.low-math.Abs(b.low)*r.share-r.ns && got <= b.high+math.Abs(b.high)*r.share+r.ns
}

// now reads the clock of known.c.
func now(t *testing.T) float64 {
	t.Helper()
	var at syscall.Timespec
	const monotonic = 1
	if _, _, e := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, monotonic, uintptr(unsafe.Pointer(&at)), 0); e != 0 {
		t.Fatal(e)
	}
	return float64(at.Nano())
}
