package shim

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// plugin makes a plugin of a source file.
func plugin(t *testing.T, m *mpis.MPI, source string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	header, err := filepath.Abs("../../shim/spoor_plugin.h")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ln", "-s", header, filepath.Join(dir, "spoor.h")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	so := filepath.Join(dir, "plugin.so")
	args := append([]string{"-O1", "-shared", "-fPIC", "-I", dir, "-o", so, source}, flags...)
	if out, err := exec.Command(m.CC, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return so
}

// attached sums up what a run of hooked.c attached to the calls of rank 0: by
// function and name.
func attached(t *testing.T, m *mpis.MPI, env ...string) (sums map[string]trace.AttachedStat, said []string) {
	t.Helper()
	return attachedIn(t, m, compile(t, m.CC, "hooked.c", "hooked"), env...)
}

func attachedIn(t *testing.T, m *mpis.MPI, program string, env ...string) (sums map[string]trace.AttachedStat, said []string) {
	t.Helper()
	shim := library(t)
	dir, scratch := t.TempDir(), t.TempDir()
	r := run(t, m, dir, append([]string{"LD_PRELOAD=" + shim, "SPOOR_SCRATCH=" + scratch}, env...), 2, program)
	if r.Err != nil || strings.Count(r.Stdout, "rank done") != 2 {
		t.Fatalf("%v\n%s%s", r.Err, r.Stdout, r.Stderr)
	}
	checkFiles(t, dir, scratch, true)
	read, err := trace.Open(filepath.Join(dir, "hooked.spoor"))
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if err := trace.Check(read); err != nil {
		t.Fatal(err)
	}
	sums = make(map[string]trace.AttachedStat)
	k, err := read.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	all, err := k.ClassAttachedStats()
	if err != nil {
		t.Fatal(err)
	}
	members := uint64(len(read.Members(k.Class())))
	for i := range k.Terminals() {
		c, err := k.Terminal(i)
		if err != nil {
			t.Fatal(err)
		}
		for stream := range k.Streams() {
			s := sums[c.Name()]
			s.Count += k.TerminalCounts(stream)[i] * members
			sums[c.Name()] = s
		}
		for name, list := range all {
			s := sums[c.Name()+" "+name]
			s.Merge(list[i])
			sums[c.Name()+" "+name] = s
		}
	}
	if read.Classes() == 1 {
		checkProfile(t, read, sums)
	}
	return sums, spoorLines(r)
}

// checkProfile holds what the flat profile says of attached values against sums
// by function and name.
func checkProfile(t *testing.T, r *trace.Reader, want map[string]trace.AttachedStat) {
	t.Helper()
	flat, err := profile.CallSiteTableOf(r, sites.NamingByAddress(func(string, trace.Site) symbolise.Place { return symbolise.Place{} }), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]trace.AttachedStat)
	for i := range flat.Rows {
		for _, v := range flat.Rows[i].AttachedValues {
			key := flat.Rows[i].FunctionSite.Function + " " + v.Name
			s := got[key]
			s.Merge(trace.AttachedStat{Count: v.Count, Sum: v.Sum, Min: v.Min, Max: v.Max})
			got[key] = s
		}
	}
	for key, w := range want {
		if strings.Contains(key, " ") && w.Count > 0 && got[key] != w {
			t.Errorf("the profile has %s %+v, want %+v", key, got[key], w)
		}
	}
}

// A plugin sees every call once, with its parameters, and what it attaches to a
// call stays with it; its own calls leave no trace.
func TestPlugin(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			got, said := attached(t, m, "SPOOR_PLUGIN="+plugin(t, m, "testdata/watch.c"))
			if len(said) > 0 {
				t.Errorf("says %q", said)
			}
			n := got["MPI_Barrier"].Count
			each := n / 50 // ranks in the class
			want := func(name string, count uint64, sum, least, greatest int64) {
				t.Helper()
				if w := (trace.AttachedStat{Count: count, Sum: sum, Min: least, Max: greatest}); got[name] != w {
					t.Errorf("%s: %+v, want %+v", name, got[name], w)
				}
			}
			want("MPI_Barrier calls", n, int64(n), 1, 1)
			want("MPI_Barrier result", n, 0, 0, 0)
			want("MPI_Sendrecv received", n, int64(n), 1, 1)
			want("MPI_Sendrecv calls", n, int64(n), 1, 1)
			want("MPI_Sendrecv bytes", n, int64(4*n), 4, 4)
			if got["MPI_Barrier bytes"].Count != 0 || got["MPI_Comm_rank took"].Count != each {
				t.Errorf("bytes of barriers: %+v; durations: %+v", got["MPI_Barrier bytes"], got["MPI_Comm_rank took"])
			}
			// there is work before the one and none before the other
			if work, none := got["MPI_Sendrecv gap"], got["MPI_Barrier gap"]; work.Count != n || none.Count != n || work.Min <= 4*none.Min {
				t.Errorf("gaps with work %+v, without %+v", work, none)
			}
			want("MPI_Comm_size depth", 2*each, int64(each), 0, 1)
			want("MPI_Comm_dup depth", 2*each, 0, 0, 0)
			want("MPI_Finalize calls", each, int64(each), 1, 1)
			want("MPI_Init_thread result", each, 0, 0, 0)
			if p := got["MPI_Iprobe"]; p.Count > 0 { // if there are threads
				want("MPI_Iprobe tag", 20*each, int64(100*each), 5, 5)
			}
			for name, s := range got {
				if c := got[name+" calls"]; !strings.Contains(name, " ") && c.Count != s.Count && !strings.HasPrefix(name, "MPI_Init") && name != "MPI_Pcontrol" {
					t.Errorf("%s: %d calls, the plugin saw %d", name, s.Count, c.Count)
				}
			}
		})
	}
}

// In Fortran it is the same, through each of the bindings: once for each call,
// with parameters as in C.
func TestPluginInFortran(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "hooked")
			if out, err := exec.Command(m.Fort, "-w", "-o", program, "testdata/hooked.f90").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got, said := attachedIn(t, m, program, "SPOOR_PLUGIN="+plugin(t, m, "testdata/watch.c"))
			if len(said) > 0 {
				t.Errorf("says %q", said)
			}
			n := got["MPI_Barrier"].Count
			each := n / 50 // ranks in the class
			for name, want := range map[string]trace.AttachedStat{
				"MPI_Barrier calls":     {Count: n, Sum: int64(n), Min: 1, Max: 1},
				"MPI_Sendrecv received": {Count: n, Sum: int64(n), Min: 1, Max: 1},
				"MPI_Sendrecv depth":    {Count: n},
				"MPI_Iprobe tag":        {Count: 20 * each, Sum: int64(100 * each), Min: 5, Max: 5},
				"MPI_Init result":       {Count: each},
				"MPI_Finalize calls":    {Count: each, Sum: int64(each), Min: 1, Max: 1},
				"MPI_Finalize result":   {Count: each},
				"MPI_Comm_size calls":   {Count: each, Sum: int64(each), Min: 1, Max: 1},
			} {
				if n == 0 || got[name] != want {
					t.Errorf("%s: %+v, want %+v", name, got[name], want)
				}
			}
		})
	}
}

// A plugin that can't work is left out, with one line for all ranks.
func TestBadPlugins(t *testing.T) {
	m := mpis.Need(t)[0]
	good := plugin(t, m, "testdata/watch.c")
	for name, c := range map[string]struct {
		path, env, says string
	}{
		"missing": {"/nowhere/plugin.so", "", "cannot open shared object file"},
		"no-hook": {plugin(t, m, "testdata/watch.c", "-DNO_PRE"), "", "has no spoor_pre and no spoor_post"},
		"no-init": {plugin(t, m, "testdata/huge.c"), "", "has no spoor_init"},
		"crashes": {good, "crash", "spoor_init died of signal 11"},
		"aborts":  {good, "abort", "spoor_init died of signal 6"},
		"refuses": {good, "refuse", "spoor_init returned 3"},
	} {
		t.Run(name, func(t *testing.T) {
			got, said := attached(t, m, "SPOOR_PLUGIN="+c.path, "WRONG="+c.env)
			if len(said) != 1 || !strings.Contains(said[0], c.says) || !strings.HasSuffix(said[0], "recording without the plugin") {
				t.Errorf("says %q, want one line with %q", said, c.says)
			}
			if got["MPI_Barrier"].Count == 0 {
				t.Error("nothing recorded")
			}
		})
	}
}

// Counters of the kernel are there on every machine; of the processor's, one that
// is missing is told.
func TestCounters(t *testing.T) {
	m := mpis.Need(t)[len(mpis.Need(t))-1]
	got, said := attached(t, m, "SPOOR_COUNTERS=task-clock,page-faults,context-switches")
	if len(said) > 0 && strings.Contains(said[0], "can't count") {
		t.Skipf("no perf events here: %s", said[0])
	}
	if len(said) > 0 {
		t.Errorf("says %q", said)
	}
	work, idle := got["MPI_Sendrecv task-clock"], got["MPI_Barrier task-clock"]
	if work.Count == 0 || work.Count != idle.Count || work.Mean() < 2*idle.Mean() || work.Min <= 0 {
		t.Errorf("task-clock before MPI_Sendrecv %+v, before MPI_Barrier %+v", work, idle)
	}
	if first := got["MPI_Comm_rank task-clock"]; first.Count == 0 || first.Sum <= 0 {
		t.Errorf("the first call after MPI_Init has task-clock %+v", first)
	}
	if s := got["MPI_Sendrecv page-faults"]; s.Count != work.Count {
		t.Errorf("page-faults %+v", s)
	}
	_, said = attached(t, m, "SPOOR_COUNTERS=instructions,cycles,cache-misses")
	if len(said) > 1 || len(said) == 1 && !strings.Contains(said[0], "can't count instructions") {
		t.Errorf("says %q", said)
	}
}

// The example is made as its head says, and attaches something to every call.
func TestExamplePlugin(t *testing.T) {
	m := mpis.Need(t)[0]
	got, said := attached(t, m, "SPOOR_PLUGIN="+plugin(t, m, "../../examples/plugin/burst.c", "-Wall", "-Wextra", "-Werror"))
	if len(said) > 0 {
		t.Errorf("says %q", said)
	}
	burst := got["MPI_Sendrecv burst-ns"]
	burst.Merge(got["MPI_Sendrecv burst-instructions"])
	n := got["MPI_Sendrecv"].Count
	if burst.Count != n || n == 0 || burst.Min <= 0 {
		t.Errorf("%d calls, bursts %+v", n, burst)
	}
	if b := got["MPI_Sendrecv bytes"]; b.Count != n || b.Min != 4 || b.Max != 4 {
		t.Errorf("%d calls, bytes %+v", n, b)
	}
}
