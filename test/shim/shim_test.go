// Package shim tests that a traced program doesn't notice the shim: programs
// that fork, take signals, start thousands of threads or load MPI late run with
// and without it, and must do the same. What is recorded is tested elsewhere,
// against the oracle.
package shim

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

const root = "../.."

// library makes the shim and the engine and returns the shim's path.
func library(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		need.Absent(t, "no C compiler: %v", err)
	}
	makes(t, "bin/libspoor.so", "bin/libspoor-engine.so")
	path, err := filepath.Abs(filepath.Join(root, "bin", "libspoor.so"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var targets sync.Map // of make -> func() error

// makes makes files of the project, once for all tests.
func makes(t *testing.T, names ...string) {
	t.Helper()
	once, _ := targets.LoadOrStore(strings.Join(names, " "), sync.OnceValue(func() error {
		out, err := exec.Command("make", append([]string{"-C", root}, names...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("make: %w\n%s", err, out)
		}
		return nil
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
}

// compile makes a program, or a library if name ends in .so, of testdata/source.
func compile(t *testing.T, compiler, source, name string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	args := []string{"-O1", "-g", "-w", "-pthread", "-o", out, filepath.Join("testdata", source), "-ldl"}
	args = append(args, flags...)
	if strings.HasSuffix(name, ".so") {
		args = append(args, "-shared", "-fPIC")
	}
	if strings.HasSuffix(source, ".cc") {
		args = append(args, "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", "-lstdc++")
	}
	if text, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, args, err, text)
	}
	return out
}

// run starts a job in dir, each rank with additional environment, which the launcher
// does without.
func run(t *testing.T, m *mpis.MPI, dir string, env []string, ranks int, command ...string) mpis.Result {
	t.Helper()
	env, err := m.Yielding(env)
	if err != nil {
		t.Fatal(err)
	}
	line := m.Command(ranks, append(append([]string{"env"}, env...), command...)...)
	return mpis.Job{MPI: m, Dir: dir, Temp: t.TempDir()}.Run(line...)
}

// spoorLines is what the shim and the engine said.
func spoorLines(r mpis.Result) []string {
	var list []string
	for _, line := range strings.Split(r.Stderr, "\n") {
		if strings.HasPrefix(line, "spoor: ") {
			list = append(list, line)
		}
	}
	return list
}

func TestUnnoticed(t *testing.T) {
	shim := library(t)
	tests := []struct {
		name, program string
		env           []string
		says          string // pattern of each line on stderr; "": none
		lines         int    // how many of them, at most
		trace         bool
	}{
		{name: "fork", program: "fork.c", trace: true},
		{name: "signals", program: "signals.c", env: []string{"SPOOR_RING=65536"}, trace: true},
		{name: "threads", program: "threads.c", trace: true},
		{name: "early", program: "early.c", trace: true},
		{name: "huge", program: "huge.c", env: []string{"SPOOR_RING=65536"}, trace: true},
		{name: "start off", program: "huge.c", env: []string{"SPOOR_START_OFF=1"}, trace: true},
		{name: "switched off", program: "huge.c", env: []string{"SPOOR=0"}},
		{name: "no engine", program: "huge.c", env: []string{"SPOOR_ENGINE=/nonexistent/engine.so"},
			says: "cannot open shared object file.*not tracing", lines: 2},
		{name: "no engine at all", program: "huge.c", env: []string{"SPOOR_ENGINE=/bin/true"},
			says: "not tracing", lines: 2},
		{name: "no scratch", program: "huge.c", env: []string{"SPOOR_SCRATCH=/proc/none"},
			says: "won't survive a crash", lines: 2, trace: true},
	}
	for _, m := range mpis.Need(t) {
		for _, test := range tests {
			t.Run(m.Name+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				program := compile(t, m.CC, test.program, strings.TrimSuffix(test.program, ".c"))
				dir, scratch := t.TempDir(), t.TempDir()
				plain := mpis.Job{MPI: m, Dir: dir, Temp: t.TempDir()}.Baseline(t.Logf, m.Command(2, program)...)
				if plain.Err != nil {
					t.Fatalf("without the shim: %v\n%s", plain.Err, plain.Stderr)
				}
				env := append([]string{"LD_PRELOAD=" + shim, "SPOOR_SCRATCH=" + scratch}, test.env...)
				traced := run(t, m, dir, env, 2, program)
				if traced.Err != nil {
					t.Fatalf("with the shim: %v\n%s", traced.Err, traced.Stderr)
				}
				if traced.Stdout != plain.Stdout {
					t.Errorf("output changed from\n%s\nto\n%s", plain.Stdout, traced.Stdout)
				}
				said := spoorLines(traced)
				for _, line := range said {
					if test.says == "" || !regexp.MustCompile(test.says).MatchString(line) {
						t.Errorf("unexpected: %s", line)
					}
				}
				if len(said) > test.lines || test.lines > 0 && len(said) == 0 {
					t.Errorf("%d lines on stderr, want 1 to %d", len(said), test.lines)
				}
				checkFiles(t, dir, scratch, test.trace)
			})
		}
	}
}

// checkFiles expects a trace, or none, and nothing left in the scratch space.
func checkFiles(t *testing.T, dir, scratch string, trace bool) {
	t.Helper()
	traces, _ := filepath.Glob(filepath.Join(dir, "*.spoor"))
	if trace != (len(traces) == 1) {
		t.Errorf("traces: %v, want one: %v", traces, trace)
	}
	left, err := os.ReadDir(scratch)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the scratch space: %v, %v", left, err)
	}
}

// If one rank can't trace, none does, and none waits for it.
func TestOneRankWithoutEngine(t *testing.T) {
	shim := library(t)
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			program := compile(t, m.CC, "huge.c", "huge")
			dir, scratch := t.TempDir(), t.TempDir()
			script := `if [ "${PMI_RANK-$OMPI_COMM_WORLD_RANK}" = 1 ]; then export SPOOR_ENGINE=/nonexistent; fi
LD_PRELOAD=` + shim + ` exec ` + program
			r := run(t, m, dir, []string{"SPOOR_SCRATCH=" + scratch}, 3, "sh", "-c", script)
			if r.Err != nil {
				t.Fatalf("%v\n%s", r.Err, r.Stderr)
			}
			if said := spoorLines(r); len(said) != 2 {
				t.Errorf("want a line of the rank that can't and one for all others, not %q", said)
			}
			checkFiles(t, dir, scratch, false)
		})
	}
}

func TestMPILoadedLocally(t *testing.T) {
	shim := library(t)
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			plugin := compile(t, m.CC, "plugin.c", "plugin.so")
			program := compile(t, "cc", "local.c", "local")
			dir, scratch := t.TempDir(), t.TempDir()
			r := run(t, m, dir, []string{"LD_PRELOAD=" + shim, "SPOOR_SCRATCH=" + scratch}, 2, program, plugin)
			if r.Err != nil || r.Stdout != "max 9\n" || len(spoorLines(r)) > 0 {
				t.Fatalf("%v\n%s%s", r.Err, r.Stdout, r.Stderr)
			}
			checkFiles(t, dir, scratch, true)
		})
	}
}

// There is no MPI with the standard ABI on most machines; a toy one shows that
// its handles, constants and statuses are understood.
func TestStandardABI(t *testing.T) {
	shim := library(t)
	makes(t, "bin/spoor")
	toy := compile(t, "cc", "abi_mpi.c", "libmpi_abi.so")
	dir, scratch := t.TempDir(), t.TempDir()
	program := filepath.Join(dir, "abi_app")
	cc := exec.Command("cc", "-o", program, "testdata/abi_app.c", toy)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(program)
	run.Dir = dir
	run.Env = append(os.Environ(), "LD_PRELOAD="+shim, "SPOOR_SCRATCH="+scratch)
	if out, err := run.CombinedOutput(); err != nil || string(out) != "got 42\n" {
		t.Fatalf("%v\n%s", err, out)
	}
	checkFiles(t, dir, scratch, true)
	dump, err := exec.Command(filepath.Join(root, "bin", "spoor"), "dump", filepath.Join(dir, "abi_app.spoor")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, dump)
	}
	for _, want := range []string{
		"MPI_Comm_dup(comm=MPI_COMM_WORLD, newcomm=comm0)",
		"datatype=MPI_INT, dest=0, tag=7, comm=comm0",
		"source=MPI_ANY_SOURCE, tag=MPI_ANY_TAG, comm=comm0, status=ignored{source=0, tag=7, bytes=4}",
	} {
		if !bytes.Contains(dump, []byte(want)) {
			t.Errorf("no %q in\n%s", want, dump)
		}
	}
}

// What has no MPI in it, such as every helper of a launcher, gets no engine.
func TestNoMPI(t *testing.T) {
	cmd := exec.Command("cat", "/proc/self/maps")
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+library(t))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("libspoor.so")) || bytes.Contains(out, []byte("libspoor-engine")) {
		t.Errorf("want the shim without the engine in\n%s", out)
	}
}

// exported is every name the program may see: MPI's own, in C and Fortran, and
// those of the allocators whose blocks are followed; how it is looked up; and what a
// sanitizer asks.
var exported = regexp.MustCompile(`^(P?MPI_\w+|mpi_\w+|pmpir?_\w+|spoor_\w+` +
	`|malloc|calloc|realloc|reallocarray|free|memalign|posix_memalign|aligned_alloc|valloc|pvalloc` +
	`|dlsym|dlvsym|dlopen|__asan_default_options` +
	`|(cuda|hip)(Host|Ext)?(Malloc|Alloc|Free)\w*|cuMem(Host)?(Alloc|Free)\w*)$`)

func TestExports(t *testing.T) {
	f, err := elf.Open(library(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF {
			if strings.Contains(s.Name, "MPI_") {
				t.Errorf("%s is needed at load time: programs without MPI couldn't start", s.Name)
			}
			continue
		}
		if strings.HasPrefix(s.Name, "MPI_") {
			calls++
		}
		if !exported.MatchString(s.Name) {
			t.Errorf("%s is exported", s.Name)
		}
	}
	if calls < 600 {
		t.Errorf("only %d MPI functions are exported", calls)
	}
}
