// Package timing tests what `spoor run --timing` keeps of the times of a real MPI
// program. It needs the tool built (make) and an MPI. Without them it skips; in CI it
// fails.
package timing

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"spoor/trace"
)

// An app is a program ready to be traced.
type app struct {
	t       *testing.T
	mpiexec []string
	dir     string
	printed string // by the last run
}

// mpis are those that are looked for, with what their launchers need.
var mpis = [][]string{{"openmpi", "--oversubscribe"}, {"mpich"}}

// build compiles a program for the first MPI that is there.
func build(t *testing.T, source, ranks string) *app {
	t.Helper()
	for _, m := range mpis {
		if a := buildWith(t, m, source, ranks); a != nil {
			return a
		}
	}
	skip(t, "no MPI is installed")
	return nil
}

// onEach calls test with the program compiled for each MPI that is there.
func onEach(t *testing.T, source, ranks string, test func(t *testing.T, a *app)) {
	for _, m := range mpis {
		t.Run(m[0], func(t *testing.T) {
			a := buildWith(t, m, source, ranks)
			if a == nil {
				skip(t, m[0]+" is not installed")
			}
			test(t, a)
		})
	}
}

func skip(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// buildWith returns nil if the MPI is not installed.
func buildWith(t *testing.T, m []string, source, ranks string) *app {
	t.Helper()
	if _, err := os.Stat("../../bin/spoor"); err != nil {
		skip(t, "the tool is not built")
	}
	a := &app{t: t, dir: t.TempDir(), mpiexec: append([]string{"mpiexec." + m[0], "-n", ranks}, m[1:]...)}
	cc := "mpicc." + m[0]
	for _, tool := range []string{cc, a.mpiexec[0]} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil
		}
	}
	if out, err := exec.Command(cc, "-O1", "-o", filepath.Join(a.dir, "app"), filepath.Join("testdata", source)).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cc, err, out)
	}
	return a
}

// trace runs the program with flags and opens what comes of it, checked.
func (a *app) trace(flags ...string) *trace.Reader {
	a.t.Helper()
	file := filepath.Join(a.dir, "t.spoor")
	args := slices.Concat([]string{"run", "-q", "-f", "-o", file}, flags, a.mpiexec, []string{filepath.Join(a.dir, "app")})
	c := exec.Command("../../bin/spoor", args...)
	c.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	out, err := c.CombinedOutput()
	if err != nil {
		a.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	a.printed = string(out)
	r, err := trace.Open(file)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { r.Close() })
	if err := trace.Check(r); err != nil {
		a.t.Fatal(err)
	}
	return r
}

// gaps returns the medians of what lies before a step's first receive of a plane,
// and before the others, in ns, and the kind of these times.
func gaps(t *testing.T, r *trace.Reader) (entry, iteration uint64, kind trace.SampleKind) {
	t.Helper()
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	var lists [2][]uint64
	before := ""
	for c, err := range k.Timed(0) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Name() == "MPI_Recv" {
			i := 0
			if before == "MPI_Send" {
				i = 1
			}
			lists[i] = append(lists[i], c.Timing.Gap.Ns)
			kind = c.Timing.Gap.Kind
		}
		before = c.Name()
	}
	if len(lists[0]) != 40 || len(lists[1]) != 360 {
		t.Fatalf("%d entries and %d iterations", len(lists[0]), len(lists[1]))
	}
	for _, l := range lists {
		slices.Sort(l)
	}
	return lists[0][20], lists[1][180], kind
}

// Histograms by path tell a loop's entry from its iterations; plain ones and means
// give both the same. Lossless and bounded times say what is true.
func TestLoopEntry(t *testing.T) {
	a := build(t, "wavefront.c", "2")
	for _, c := range []struct {
		flags []string
		kind  trace.SampleKind
		apart bool
	}{
		{nil, trace.MeanSample, false},
		{[]string{"--timing", "hist"}, trace.HistogramSample, false},
		{[]string{"--timing", "path"}, trace.HistogramSample, true},
		{[]string{"--timing", "path", "--bins", "3"}, trace.HistogramSample, true},
		{[]string{"--timing", "lossless"}, trace.ExactSample, true},
		{[]string{"--timing", "place", "--error", "0.1", "--error", "MPI_Recv=0.01"}, trace.BoundedSample, true},
		{[]string{"--timing", "sz-sig"}, trace.BoundedSample, true},
	} {
		r := a.trace(c.flags...)
		entry, iteration, kind := gaps(t, r)
		t.Logf("%v: %d ns before the first receive, %d before the others", c.flags, entry, iteration)
		if kind != c.kind {
			t.Errorf("%v: times are %v, want %v", c.flags, kind, c.kind)
		}
		if apart := entry > 2_000_000 && iteration < 500_000; apart != c.apart {
			t.Errorf("%v: %d ns before the first receive, %d before the others; want them apart: %v", c.flags, entry, iteration, c.apart)
		}
	}
}

// A time found by searching is within the call that is said to be under way.
func TestAt(t *testing.T) {
	a := build(t, "wavefront.c", "2")
	for _, mode := range []string{"stats", "lossless", "place"} {
		r := a.trace("--timing", mode)
		for rank := range 2 {
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			p, err := k.Process()
			if err != nil {
				t.Fatal(err)
			}
			start, err := k.Start()
			if err != nil {
				t.Fatal(err)
			}
			last := uint64(0)
			for i := range int64(100) {
				ns := start + 2_000_000 + p.SpanNs*i/101
				m, err := k.At(0, ns)
				if err != nil {
					t.Fatal(err)
				}
				if m.Call.Call == nil || m.Call.Index < last || m.Call.Start > ns || m.Inside != (ns < m.Call.End()) {
					t.Fatalf("%s: rank %d at %d: %+v, before it call %d", mode, rank, ns, m, last)
				}
				last = m.Call.Index
			}
			if last < k.Len(0)/2 {
				t.Errorf("%s: rank %d: call %d of %d at the end", mode, rank, last, k.Len(0))
			}
		}
	}
}
