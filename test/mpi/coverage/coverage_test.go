// Package coverage holds the test programs of the folder above to their promises: headers that tools can read, no
// warnings under any installed MPI, every exported function called somewhere, and crashes that really crash. It does
// not run the other programs; test/oracle and the tracing tests do.
package coverage

import (
	"bufio"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// A program is a C file of the folder above and what its first lines say.
type program struct {
	name   string
	path   string
	shows  string
	header map[string]string
	runsOn func(m *mpis.MPI) bool
}

func (p program) crashes() bool { return strings.HasPrefix(p.name, "crash_") }

var keyLine = regexp.MustCompile(`^// ([a-z]+): (.*\S)$`)

func programs(t *testing.T) []program {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "*.c"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	var list []program
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		read, err := mpis.ReadProgram(path)
		if err != nil {
			t.Fatal(err)
		}
		p := program{name: strings.TrimSuffix(filepath.Base(path), ".c"), path: path, header: map[string]string{}, runsOn: read.RunsOn}
		for i, line := range strings.Split(string(text), "\n") {
			if !strings.HasPrefix(line, "// ") {
				break
			}
			if m := keyLine.FindStringSubmatch(line); m != nil && i > 0 {
				p.header[m[1]] = m[2]
			} else if i == 0 {
				p.shows = strings.TrimPrefix(line, "// ")
			}
		}
		list = append(list, p)
	}
	return list
}

func TestHeaders(t *testing.T) {
	ranks := regexp.MustCompile(`^[1-9]( [1-9])*$`)
	for _, p := range programs(t) {
		if p.shows == "" || !strings.HasSuffix(p.shows, ".") {
			t.Errorf("%s: the first line does not tell what it shows", p.name)
		}
		if !ranks.MatchString(p.header["ranks"]) {
			t.Errorf("%s: ranks: %q", p.name, p.header["ranks"])
		}
		for key := range p.header {
			switch key {
			case "ranks", "mpi", "args", "nondet":
			default:
				t.Errorf("%s: unknown header line %q", p.name, key)
			}
		}
	}
}

var flags = []string{"-O1", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations"}

// compile makes the program's object file and returns the MPI functions it refers to.
func compile(p program, m *mpis.MPI, dir string) ([]string, error) {
	object := filepath.Join(dir, p.name+".o")
	line := m.Compiler(append(flags[:len(flags):len(flags)], "-c", p.path, "-o", object)...)
	out, err := exec.Command(line[0], line[1:]...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w\n%s", m.CC, p.name, err, out)
	}
	f, err := elf.Open(object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", object, err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", object, err)
	}
	var names []string
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF && strings.HasPrefix(s.Name, "MPI_") {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

func TestCoverage(t *testing.T) {
	excepted := exceptions(t)
	list := programs(t)
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := t.TempDir()
			called := map[string]bool{}
			var guard sync.Mutex
			var wait sync.WaitGroup
			slots := make(chan struct{}, 2)
			for _, p := range list {
				if !p.runsOn(m) {
					continue
				}
				wait.Add(1)
				slots <- struct{}{}
				go func() {
					defer wait.Done()
					defer func() { <-slots }()
					names, err := compile(p, m, dir)
					guard.Lock()
					defer guard.Unlock()
					if err != nil {
						t.Error(err)
					}
					for _, name := range names {
						called[name] = true
					}
				}()
			}
			wait.Wait()
			exported, err := m.Exported()
			if err != nil {
				t.Fatal(err)
			}
			exported = slices.DeleteFunc(exported, func(name string) bool { return !strings.HasPrefix(name, "MPI_") })
			missing, excused := 0, 0
			flavour, _ := mpi.FlavourNamed(m.Family)
			for _, name := range exported {
				call, known := mpi.CallNamed(name)
				switch {
				case called[name], !m.Standard() && flavour.HasMacro(name), known && call.WrapperClass == mpi.WrapperAbsent:
				case excepted[m.Family+" "+name] || excepted[name]:
					excused++
				default:
					t.Errorf("%s is exported, but neither called by a program nor in exceptions.txt", name)
					missing++
				}
			}
			t.Logf("%d exported functions: %d called, %d excepted, %d missing", len(exported),
				len(exported)-excused-missing, excused, missing)
			for name := range excepted {
				if of, name, ok := strings.Cut(name, " "); ok && of == m.Name && os.Getenv("SPOOR_TEST_MPIS") == "" && !contains(exported, name) {
					t.Errorf("exceptions.txt: %s does not export %s", m.Name, name)
				}
			}
		})
	}
}

func contains(sorted []string, name string) bool {
	i := sort.SearchStrings(sorted, name)
	return i < len(sorted) && sorted[i] == name
}

// exceptions reads exceptions.txt: an MPI (optional), a name, a reason.
func exceptions(t *testing.T) map[string]bool {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "exceptions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := map[string]bool{}
	form := regexp.MustCompile(`^((?:mpich |openmpi )?MPI_\w+) \S.*$`)
	s := bufio.NewScanner(f)
	for s.Scan() {
		if s.Text() == "" || strings.HasPrefix(s.Text(), "#") {
			continue
		}
		m := form.FindStringSubmatch(s.Text())
		if m == nil || list[m[1]] {
			t.Fatalf("exceptions.txt: %q", s.Text())
		}
		list[m[1]] = true
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// How the crash_ programs end: the exit code or the signal. (An exit without MPI_Finalize is a failure for one
// launcher and none for the other.)
var endings = map[string]int{"crash_abort": 3, "crash_segv": int(syscall.SIGSEGV), "crash_kill": int(syscall.SIGKILL)}

func TestCrashes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts MPI jobs")
	}
	for _, m := range mpis.Need(t) {
		for _, p := range programs(t) {
			if !p.crashes() || !p.runsOn(m) {
				continue
			}
			t.Run(m.Name+"/"+p.name, func(t *testing.T) {
				dir := t.TempDir()
				binary := filepath.Join(dir, p.name)
				if out, err := exec.Command(m.CC, p.path, "-o", binary).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				r := mpis.Job{MPI: m, Dir: dir}.Run(m.Command(2, binary)...)
				out := r.Stdout + r.Stderr
				want, given := endings[p.name]
				// Shells' way of telling a signal adds 128; one launcher does that, the other doesn't. What was
				// printed may be lost in an abort, so a failed check shows in the code, too: it is 1.
				if given && r.Code%128 != want {
					t.Errorf("exit code %d, want %d: %v", r.Code, want, r)
				}
				if strings.Contains(out, "check failed") || (!given && !strings.Contains(out, "steps done")) {
					t.Error(r)
				}
			})
		}
	}
}
