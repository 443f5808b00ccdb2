// Package timing tests what `spoor run --timing` keeps of the times of a real MPI
// program. It needs the tool built (make) and an MPI. Without them it skips; in CI it
// fails.
package timing

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// An app is a program ready to be traced.
type app struct {
	t       *testing.T
	job     mpis.Job
	ranks   int
	args    []string
	printed string  // by the last run
	over    float64 // when a run that died was, by the clock of known.c
}

// build compiles a program for the first MPI that is there.
func build(t *testing.T, source string, ranks int) *app {
	t.Helper()
	return buildWith(t, mpis.Need(t)[0], source, ranks)
}

// onEach calls test with the program compiled for each MPI that is there.
func onEach(t *testing.T, source string, ranks int, test func(t *testing.T, a *app)) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) { test(t, buildWith(t, m, source, ranks)) })
	}
}

func buildWith(t *testing.T, m *mpis.MPI, source string, ranks int) *app {
	t.Helper()
	mpis.NeedSpoor(t)
	a := &app{t: t, job: mpis.Job{MPI: m, Dir: t.TempDir()}, ranks: ranks}
	if err := m.Compile(filepath.Join(a.job.Dir, "app"), filepath.Join("testdata", source)); err != nil {
		t.Fatal(err)
	}
	return a
}

// beside is the program in a folder of its own, for a subtest that runs beside others.
func (a *app) beside(t *testing.T) *app {
	t.Helper()
	t.Parallel()
	b := *a
	b.t, b.job.Dir = t, t.TempDir()
	entries, err := os.ReadDir(a.job.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Link(filepath.Join(a.job.Dir, e.Name()), filepath.Join(b.job.Dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return &b
}

// trace runs the program with flags and opens what comes of it.
func (a *app) trace(flags ...string) *trace.Reader {
	a.t.Helper()
	codec := -1 // of flags
	for i, f := range flags {
		if m := timing.Mode(f); i > 0 && flags[i-1] == "--timing" && !slices.Contains(timing.RecordableModes, m) && slices.Contains(timing.Modes, m) {
			codec = i
		}
	}
	file, run := "t.spoor", flags
	if codec > 0 { // the times are coded after the run
		file, run = "exact.spoor", []string{"--timing", "lossless"}
	}
	args := slices.Concat([]string{mpis.Root("bin", "spoor"), "run", "-q", "-f", "-o", file}, run, a.job.MPI.Command(a.ranks, "./app"), a.args)
	out := a.job.Run(args...)
	if out.Err != nil {
		a.t.Fatalf("%v: %v", args, out)
	}
	a.printed = out.Stdout + out.Stderr
	if codec > 0 {
		a.spoor(slices.Concat([]string{"papers", "codecs", "-f", "-o", "t.spoor", "--codec", flags[codec]}, flags[:codec-1], flags[codec+1:], []string{file})...)
	}
	return a.open()
}

// open opens the trace, checked.
func (a *app) open() *trace.Reader {
	a.t.Helper()
	r, err := trace.Open(filepath.Join(a.job.Dir, "t.spoor"))
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
	for c, err := range k.TimedCalls(0) {
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

// Means and histograms tell a loop's entry from its iterations, by path, or as the trace has what was computed before
// loops. Lossless and bounded times say what is true.
func TestLoopEntry(t *testing.T) {
	a := build(t, "wavefront.c", 2)
	for _, c := range []struct {
		flags []string
		kind  trace.SampleKind
	}{
		{nil, trace.MeanSample},
		{[]string{"--timing", "hist"}, trace.HistogramSample},
		{[]string{"--timing", "hist", "--bins", "3"}, trace.HistogramSample},
		{[]string{"--timing", "lossless"}, trace.ExactSample},
		{[]string{"--timing", "place", "--error", "0.1", "--error", "MPI_Recv=0.01"}, trace.BoundedSample},
		{[]string{"--timing", "sz-sig"}, trace.BoundedSample},
		{[]string{"--timing", "hist-sig", "--bins", "16", "--error", "10us", "--error", "MPI_Send=0.1"}, trace.BoundedSample},
	} {
		r := a.trace(c.flags...)
		entry, iteration, kind := gaps(t, r)
		t.Logf("%v: %d ns before the first receive, %d before the others", c.flags, entry, iteration)
		if kind != c.kind {
			t.Errorf("%v: times are %v, want %v", c.flags, kind, c.kind)
		}
		if entry < 2_000_000 || iteration > 500_000 {
			t.Errorf("%v: %d ns before the first receive, %d before the others", c.flags, entry, iteration)
		}
	}
}

// A time found by searching is within the call that is said to be under way.
func TestAt(t *testing.T) {
	a := build(t, "wavefront.c", 2)
	for _, mode := range []string{"stats", "lossless", "place"} {
		r := a.trace("--timing", mode)
		for rank := range 2 {
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			start, err := k.StartNs()
			if err != nil {
				t.Fatal(err)
			}
			end, err := k.EndNs()
			if err != nil {
				t.Fatal(err)
			}
			last := uint64(0)
			for i := range int64(101) {
				ns := start + (end-start)*i/100
				m, err := k.MomentAt(0, ns)
				if err != nil {
					t.Fatal(err)
				}
				if m.LastBegunCall.Call == nil || m.LastBegunCall.Index < last || m.LastBegunCall.StartNs > ns || (m.State == trace.StateInCall) != (ns < m.LastBegunCall.EndNs()) {
					t.Fatalf("%s: rank %d at %d: %+v, before it call %d", mode, rank, ns, m, last)
				}
				last = m.LastBegunCall.Index
			}
			if last != k.CallCount(0)-1 {
				t.Errorf("%s: rank %d: call %d of %d after the end", mode, rank, last, k.CallCount(0))
			}
		}
	}
}
