// Package layers tests programs in which others wrap MPI functions, too: libraries below and
// above the recorder, and the program itself. With spoor they do and print what they do without
// it, and the trace holds what the program called, once.
package layers

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

type made struct {
	t     *testing.T
	mpi   *mpis.MPI
	dir   string
	spoor string
}

func each(t *testing.T, test func(m made)) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) { test(made{t, m, t.TempDir(), mpis.NeedSpoor(t)}) })
	}
}

func (m made) path(name string) string { return filepath.Join(m.dir, name) }

// compile makes a program, or a library if name ends in .so.
func (m made) compile(name, source string, flags ...string) string {
	m.t.Helper()
	if filepath.Ext(source) == ".f90" {
		flags = append(flags, "-cpp")
	}
	if filepath.Ext(name) == ".so" {
		flags = append(flags, "-shared", "-fPIC")
	}
	if err := m.mpi.Compile(m.path(name), filepath.Join("testdata", source), flags...); err != nil {
		m.t.Fatal(err)
	}
	return m.path(name)
}

// linked makes a program with a layer linked before the MPI.
func (m made) linked(name, source, layer string) string {
	return m.compile(name, source, "-Wl,-rpath,"+m.dir, "-L"+m.dir, "-Wl,--no-as-needed", "-l:"+filepath.Base(layer))
}

func (m made) job(env []string, line ...string) []string {
	m.t.Helper()
	r := mpis.Job{MPI: m.mpi, Dir: m.dir, Temp: m.t.TempDir(), Env: env}.Run(line...)
	if r.Err != nil {
		m.t.Fatalf("%q: %v", line, r)
	}
	for _, said := range strings.Split(r.Stderr, "\n") {
		if strings.HasPrefix(said, "spoor:") {
			m.t.Errorf("%q says %s", line, said)
		}
	}
	lines := strings.Split(r.Stdout, "\n")
	slices.Sort(lines)
	return lines
}

// An account is what a trace says it holds.
type account struct {
	Ranks  int
	Layers []string
	Calls  map[string]int `json:"-"`
}

func (m made) account(trace string) account {
	m.t.Helper()
	out, err := exec.Command(m.spoor, "info", "--json", trace).Output()
	if err != nil {
		m.t.Fatal(err)
	}
	var s struct {
		account
		Functions []struct {
			Name  string
			Calls int
		}
	}
	if err := json.Unmarshal(out, &s); err != nil {
		m.t.Fatal(err)
	}
	s.Calls = make(map[string]int)
	for _, f := range s.Functions {
		s.Calls[strings.TrimPrefix(f.Name, "MPI_")] = f.Calls
	}
	if out, err := exec.Command(m.spoor, "check", trace).CombinedOutput(); err != nil {
		m.t.Errorf("verify: %v\n%s", err, out)
	}
	return s.account
}

// same runs a program without and with spoor, and returns what the trace holds.
func (m made) same(env []string, ranks int, program ...string) account {
	m.t.Helper()
	file := m.path("t.spoor")
	command := m.mpi.Command(ranks, append(append([]string{"env"}, env...), program...)...)
	want := m.job(nil, command...)
	// spoor puts itself before what the environment that it gets has preloaded.
	got := m.job(env, append([]string{m.spoor, "run", "--force", "-q", "-o", file}, m.mpi.Command(ranks, program...)...)...)
	if !slices.Equal(got, want) {
		m.t.Errorf("%v %q prints\n%s\nand without spoor\n%s", env, program, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return m.account(file)
}

func (m made) wants(got account, ranks int, calls map[string]int) {
	m.t.Helper()
	if got.Ranks != ranks || !maps.Equal(got.Calls, calls) {
		m.t.Errorf("the trace has %d ranks with %v, want %d with %v", got.Ranks, got.Calls, ranks, calls)
	}
}

func (m made) layer(got account, want ...string) {
	m.t.Helper()
	var names []string
	for _, l := range got.Layers {
		names = append(names, filepath.Base(l))
	}
	if !slices.Equal(names, want) {
		m.t.Errorf("layers are %q, want %q", names, want)
	}
}

// calls are those of app.c.
func calls(ranks int) map[string]int {
	return map[string]int{"Init": ranks, "Comm_rank": ranks, "Comm_size": ranks, "Comm_dup": ranks, "Sendrecv": 10 * ranks,
		"Allreduce": 10 * ranks, "Alltoall": ranks, "Pcontrol": ranks, "Barrier": ranks, "Comm_free": ranks, "Finalize": ranks}
}

// A profiler that is linked or preloaded counts what it counts without spoor.
func TestProfiler(t *testing.T) {
	each(t, func(m made) {
		plain, lib := m.compile("app", "app.c"), m.compile("libcount.so", "count.c")
		linked := m.linked("linked", "app.c", lib)
		for name, got := range map[string]account{"linked": m.same(nil, 2, linked), "preloaded": m.same([]string{"LD_PRELOAD=" + lib}, 2, plain)} {
			m.t.Log(name)
			m.wants(got, 2, calls(2))
			m.layer(got, "libcount.so")
		}
		out, err := exec.Command(m.spoor, "doctor", linked).Output()
		if err != nil || !strings.Contains(string(out), "libcount.so wraps 7 MPI functions") {
			m.t.Errorf("doctor: %v\n%s", err, out)
		}
		m.layer(m.same(nil, 2, plain))
	})
}

// EZTrace, a tracer that Debian has, works below spoor.
func TestEZTrace(t *testing.T) {
	each(t, func(m made) {
		eztrace, app := need.Command(m.t, "eztrace"), m.compile("app", "app.c")
		traced := func(name string, line ...string) []string {
			lines := m.job(nil, m.mpi.Command(2, append([]string{eztrace, "-t", m.mpi.Family, "-o", m.path(name)}, line...)...)...)
			if logs, err := filepath.Glob(m.path(name + "/*/eztrace_log.*")); err != nil || len(logs) == 0 {
				m.t.Errorf("%s: EZTrace leaves no log, %v", name, err)
			}
			return lines
		}
		want := traced("alone", app)
		if got := traced("below", m.spoor, "run", "-q", "-o", m.path("t.spoor"), app); !slices.Equal(got, want) {
			m.t.Errorf("prints %q, alone %q", got, want)
		}
		got := m.account(m.path("t.spoor"))
		m.layer(got, "libeztrace-"+m.mpi.Family+".so")
		delete(got.Calls, "Wtime") // it asks for the time outside of calls, too
		m.wants(got, 2, calls(2))
	})
}

// Of two layers the first is called, and the second if the first calls it.
func TestTwoLayers(t *testing.T) {
	each(t, func(m made) {
		plain, count, chain := m.compile("app", "app.c"), m.compile("libcount.so", "count.c"), m.compile("libchain.so", "chain.c")
		for _, both := range [][]string{{chain, count}, {count, chain}} {
			got := m.same([]string{"LD_PRELOAD=" + strings.Join(both, ":")}, 2, plain)
			m.wants(got, 2, calls(2))
			slices.Sort(got.Layers)
			m.layer(got, "libchain.so", "libcount.so")
		}
	})
}

// What a layer above spoor doctor --functions by PMPI_ names is recorded in place of what the program called.
func TestLayerAbove(t *testing.T) {
	each(t, func(m made) {
		plain, lib := m.compile("app", "app.c"), m.compile("libcount.so", "count.c")
		file := m.path("above.spoor")
		want := m.job(nil, m.mpi.Command(2, "env", "LD_PRELOAD="+lib, plain)...)
		got := m.job(nil, m.mpi.Command(2, "env", "LD_PRELOAD="+lib+":"+mpis.Root("bin", "libspoor.so"), "SPOOR_OUT="+file, plain)...)
		if !slices.Equal(got, want) {
			m.t.Errorf("prints\n%s\nand without spoor\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		made := calls(2)
		delete(made, "Pcontrol") // the layer's calls nothing
		made["Barrier"] += made["Allreduce"]
		made["Comm_rank"] += 2 * 2
		made["Reduce"] = 2
		m.wants(m.account(file), 2, made)
	})
}

// A layer may keep ranks for itself, or number them anew.
func TestOtherWorld(t *testing.T) {
	each(t, func(m made) {
		plain, server := m.compile("app", "app.c"), m.compile("libserver.so", "server.c")
		m.wants(m.same([]string{"LD_PRELOAD=" + server}, 4, plain), 3, calls(3))
		m.wants(m.same(nil, 4, m.linked("linked", "app.c", server)), 3, calls(3))
		turned := m.compile("libturned.so", "server.c", "-DTURNED")
		m.wants(m.same([]string{"LD_PRELOAD=" + turned}, 3, plain), 3, calls(3))
		file := m.path("t.csv")
		if out, err := exec.Command(m.spoor, "matrix", "-o", file, m.path("t.spoor")).CombinedOutput(); err != nil {
			m.t.Fatalf("matrix: %v\n%s", err, out)
		}
		text, err := os.ReadFile(file)
		for _, line := range []string{"\n0,1,10,40", "\n1,2,10,40", "\n2,0,10,40"} {
			if err != nil || !strings.Contains(string(text), line) {
				m.t.Errorf("matrix: %v\n%s\nwants %s", err, text, line)
			}
		}
	})
}

// A program may define functions of MPI itself, or call PMPI_ names.
func TestOwnFunctions(t *testing.T) {
	each(t, func(m made) {
		want := map[string]int{"Init": 2, "Comm_rank": 2, "Send": 10, "Recv": 10, "Barrier": 2, "Finalize": 2}
		for _, kind := range []string{"SEND", "INIT", "CALL"} {
			calls := maps.Clone(want)
			if kind == "INIT" {
				calls["Wtime"] = 2
			}
			m.wants(m.same(nil, 2, m.compile("own-"+kind, "own.c", "-D"+kind)), 2, calls)
		}
		reductions := map[string]int{"Init": 2, "Comm_rank": 2, "Comm_size": 2, "Allreduce": 20, "Finalize": 2}
		for _, flags := range [][]string{nil, {"-DOWN"}, {"-DCALL"}} {
			m.wants(m.same(nil, 2, m.compile("fortran"+strings.Join(flags, ""), "app.f90", flags...)), 2, reductions)
		}
		delete(reductions, "Comm_size")
		m.wants(m.same(nil, 2, m.compile("f08", "f08.f90")), 2, reductions)
	})
}

// Layers below a Fortran program: one in Fortran, one in C that the MPI's binding may lead to.
func TestFortranLayers(t *testing.T) {
	each(t, func(m made) {
		plain, fortran, c := m.compile("app", "app.f90"), m.compile("libfortran.so", "count.f90"), m.compile("libcount.so", "count.c")
		want := map[string]int{"Init": 2, "Comm_rank": 2, "Comm_size": 2, "Allreduce": 20, "Finalize": 2}
		got := m.same([]string{"LD_PRELOAD=" + fortran}, 2, plain)
		m.wants(got, 2, want)
		m.layer(got, "libfortran.so")
		m.wants(m.same([]string{"LD_PRELOAD=" + c}, 2, plain), 2, want)
	})
}

// Python's MPI calls go through a layer that is preloaded.
func TestPython(t *testing.T) {
	each(t, func(m made) {
		if exec.Command("/usr/bin/python3", "-c", "import mpi4py").Run() != nil {
			need.Absent(m.t, "no mpi4py")
		}
		out, err := exec.Command("/usr/bin/python3", "-c", "import mpi4py.MPI as m; print(m.Get_library_version())").Output()
		if err != nil || strings.Contains(string(out), "Open MPI") != (m.mpi.Name == "openmpi") {
			m.t.Skip("Debian's mpi4py is for the other MPI")
		}
		program := "from mpi4py import MPI\nfrom array import array\nc = MPI.COMM_WORLD\na = array('i', [0])\n" +
			"for i in range(10): c.Allreduce(array('i', [1]), a)\nimport sys; sys.stdout.write('%d %d\\n' % (c.rank, a[0]))"
		got := m.same([]string{"LD_PRELOAD=" + m.compile("libcount.so", "count.c")}, 2, "/usr/bin/python3", "-c", program)
		m.layer(got, "libcount.so")
		if got.Ranks != 2 || got.Calls["Allreduce"] != 20 || got.Calls["Init_thread"] != 2 || got.Calls["Barrier"] != 0 {
			m.t.Errorf("the trace has %v", got)
		}
	})
}

// MPI was initialised by a call that no wrapper saw: what follows is recorded.
func TestInitNotSeen(t *testing.T) {
	each(t, func(m made) {
		library := map[bool]string{true: "libmpi.so.40", false: "libmpich.so.12"}[strings.HasPrefix(m.mpi.Name, "openmpi")]
		program := m.compile("late", "late.c", `-DLIBRARY="`+library+`"`)
		m.wants(m.same(nil, 2, program), 2, map[string]int{"Comm_rank": 2, "Allreduce": 20, "Finalize": 2})
		if out, err := exec.Command(m.spoor, "replay", "--launcher", strings.Join(m.mpi.Launcher, " ")+" -n {n}", m.path("t.spoor")).CombinedOutput(); err != nil { // which initialises MPI itself
			m.t.Errorf("replay: %v\n%s", err, out)
		}
		if out, err := exec.Command(m.spoor, "dump", "--times", m.path("t.spoor")).Output(); err != nil || regexp.MustCompile(`mean [0-9]{3,} s`).Match(out) {
			m.t.Errorf("%v\n%s", err, out) // since the machine was started
		}
	})
}

// A layer may keep ranks that never return from MPI_Init, and show the program the same MPI_COMM_WORLD. Recording starts and ends
// where these pass as well. One that finds the MPI by dlsym can't be seen to do so: then ranks are recorded alone after a while.
func TestKeptRank(t *testing.T) {
	each(t, func(m made) {
		program := m.linked("kept", "kept.c", m.compile("libkeeps.so", "keeps.c"))
		for _, args := range [][]string{{program}, {program, "thread"}} {
			init := map[bool]string{true: "Init_thread", false: "Init"}[len(args) > 1]
			m.wants(m.same(nil, 3, args...), 3, map[string]int{init: 3, "Comm_rank": 2, "Comm_size": 2, "Allreduce": 20, "Finalize": 2})
		}
		fortran := m.linked("kept_f", "kept.f90", m.compile("libkeepsf.so", "keeps.c", "-DFORTRAN"))
		m.wants(m.same(nil, 3, fortran), 3, map[string]int{"Init": 3, "Comm_rank": 2, "Comm_size": 20, "Finalize": 2})

		file := m.path("hidden.spoor")
		hidden := m.linked("hidden", "kept.c", m.compile("libhidden.so", "keeps.c", "-DBY_DLSYM"))
		want := m.job(nil, m.mpi.Command(3, hidden)...)
		r := mpis.Job{MPI: m.mpi, Dir: m.dir, Temp: m.t.TempDir(), Env: []string{"SPOOR_PATIENCE=1"}}.Run(
			append([]string{m.spoor, "run", "-o", file}, m.mpi.Command(3, hidden)...)...)
		for _, line := range want { // UCX says that an operation stays open
			if r.Err != nil || !strings.Contains(r.Stdout, line) || !strings.Contains(r.Stderr, "other ranks did not come out of MPI_Init") {
				m.t.Fatalf("%v", r)
			}
		}
		if out, err := exec.Command(m.spoor, "recover", "-o", file, file+".partial").CombinedOutput(); err != nil {
			m.t.Fatalf("recover: %v\n%s", err, out)
		}
		if got := m.account(file); got.Calls["Allreduce"] != 20 {
			m.t.Errorf("the trace has %v", got.Calls)
		}
	})
}
