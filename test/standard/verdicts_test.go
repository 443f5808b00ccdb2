package standard

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/test/oracle/gen"
)

// The programs of test/mpi are a conformance suite: each checks what the MPI gives it. spoor changes no verdict, by
// itself, below another library that wraps every function, and above one, nor does it change what is printed. A sample, each
// program with one MPI, unless SPOOR_TEST_VERDICTS is all.
func TestVerdicts(t *testing.T) {
	spoor := mpis.NeedSpoor(t)
	list := mpis.NeedPrograms(t)
	all := os.Getenv("SPOOR_TEST_VERDICTS") == "all"
	installed := mpis.Need(t)
	for i, m := range installed {
		layers := sync.OnceValues(func() (map[string]string, error) { return buildLayers(t, m) })
		for k, p := range list {
			if !p.RunsOn(m) || !all && (k%len(installed) != i || crc32.ChecksumIEEE([]byte(p.Name))%8 != 0) {
				continue
			}
			t.Run(m.Name+"/"+p.Name, func(t *testing.T) {
				t.Parallel()
				binary := filepath.Join(t.TempDir(), "app")
				if err := m.Compile(binary, p.Path); err != nil {
					t.Fatal(err)
				}
				s := &suite{m: m, spoor: spoor, program: p, ranks: p.Few(), nondet: p.Nondet, command: append([]string{binary}, p.Args...)}
				above, below := s.compare(t, layers)
				// A Fortran binding calls PMPI_ names. spoor itself may ask the layer below something.
				if !p.Fortran() && (above == 0 || below < above && !p.Nondet) {
					t.Errorf("a library above spoor saw %d calls, one below %d", above, below)
				}
			})
		}
		if tour := mpis.Root("test", "real", "mpi4py_tour.py"); m.Name == "openmpi" {
			t.Run(m.Name+"/mpi4py", func(t *testing.T) {
				t.Parallel()
				if _, err := os.Stat("/usr/lib/python3/dist-packages/mpi4py"); err != nil {
					need.Absent(t, "%v", err)
				}
				s := &suite{m: m, spoor: spoor, ranks: 4, command: []string{"/usr/bin/python3", tour}}
				if above, below := s.compare(t, layers); above == 0 || below < above {
					t.Errorf("a library above spoor saw %d calls, one below %d", above, below)
				}
			})
		}
	}
}

// buildLayers makes a library for above spoor and one for below.
func buildLayers(t *testing.T, m *mpis.MPI) (map[string]string, error) {
	dir, err := os.MkdirTemp("", "layers")
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	exported, err := m.Exported()
	if err != nil {
		return nil, err
	}
	list := make(map[string]string)
	for _, name := range []string{"above", "below"} {
		if list[name], err = gen.BuildLayer(m.CC, dir, name, exported); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// A suite is one program that gives a verdict.
type suite struct {
	m       *mpis.MPI
	spoor   string
	program *mpis.Program // nil: none of test/mpi
	ranks   int
	nondet  bool // what it prints differs from run to run
	command []string
}

// compare runs it alone, under spoor run, and with a layer before spoor or after it in LD_PRELOAD, whose numbers of
// calls it returns.
func (s *suite) compare(t *testing.T, layers func() (map[string]string, error)) (above, below int64) {
	dir := t.TempDir()
	run := func(env []string, line ...string) mpis.Result {
		return mpis.Job{MPI: s.m, Dir: dir, Temp: t.TempDir(), Env: env}.RunOf(s.program, t.Logf, line...)
	}
	job := s.m.Command(s.ranks, s.command...)
	plain := mpis.Job{MPI: s.m, Dir: dir, Temp: t.TempDir()}.Baseline(t.Logf, job...)
	if plain.Err != nil {
		t.Fatalf("without spoor: %v", plain)
	}
	file := filepath.Join(dir, "a.spoor")
	s.same(t, "under spoor run", plain, run(nil, append([]string{s.spoor, "run", "-o", file, "--"}, job...)...))
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	libs, err := layers()
	if err != nil {
		t.Fatal(err)
	}
	layered := func(name, preload string) int64 {
		calls := filepath.Join(dir, name)
		env := []string{"env", "LD_PRELOAD=" + preload, "SPOOR_OUT=" + filepath.Join(dir, name+".spoor"), "LAYER_" + name + "=" + calls}
		s.same(t, "with a layer "+name, plain, run(nil, s.m.Command(s.ranks, append(env, s.command...)...)...))
		return sum(t, calls)
	}
	shim := mpis.Root("bin", "libspoor.so")
	return layered("above", libs["above"]+":"+shim), layered("below", shim+":"+libs["below"])
}

// same wants what the program did when it was alone.
func (s *suite) same(t *testing.T, how string, plain, got mpis.Result) {
	t.Helper()
	var rest []string
	for line := range strings.Lines(got.Stderr) {
		if !strings.HasPrefix(line, "spoor: ") {
			rest = append(rest, line)
		}
	}
	switch {
	case got.Code != plain.Code || got.Err != nil:
		t.Errorf("%s: %v", how, got)
	case s.nondet:
	case got.Stdout != plain.Stdout:
		t.Errorf("%s the output changed from\n%s\nto\n%s", how, plain.Stdout, got.Stdout)
	case strings.Join(rest, "") != plain.Stderr:
		t.Errorf("%s standard error changed from\n%s\nto\n%s", how, plain.Stderr, got.Stderr)
	}
}

// sum adds the numbers in a file, one a process.
func sum(t *testing.T, path string) (n int64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(text)) {
		var one int64
		if _, err := fmt.Sscan(word, &one); err != nil {
			t.Fatal(err)
		}
		n += one
	}
	return n
}
