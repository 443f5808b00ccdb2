// Package coverage holds the test programs of the folder above to their promises: headers that tools can read, no
// warnings under any installed MPI, every exported function called somewhere, and crashes that really crash. It does
// not run the other programs; test/oracle and the tracing tests do.
package coverage

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// An installation is one MPI that programs can be built for.
type installation struct {
	name    string
	library string
	launch  []string
	env     []string
}

var installations = []installation{
	{name: "mpich", library: "libmpich.so", launch: []string{"mpiexec.mpich"}},
	{name: "openmpi", library: "libmpi.so", launch: []string{"mpiexec.openmpi", "--oversubscribe"},
		env: []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}},
}

func (m installation) compiler() string { return "mpicc." + m.name }

// installed returns the MPIs at hand; without any, the test is skipped, save in CI.
func installed(t *testing.T) []installation {
	t.Helper()
	var list []installation
	for _, m := range installations {
		if _, err := exec.LookPath(m.compiler()); err == nil {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("no MPI is installed")
		}
		t.Skip("no MPI is installed")
	}
	return list
}

// A program is a C file of the folder above and what its first lines say.
type program struct {
	name   string
	path   string
	shows  string
	header map[string]string
}

func (p program) runsOn(m installation) bool {
	for _, name := range strings.Fields(p.header["mpi"]) {
		if name == m.name {
			return true
		}
	}
	return false
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
		p := program{name: strings.TrimSuffix(filepath.Base(path), ".c"), path: path, header: map[string]string{}}
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
	mpis := regexp.MustCompile(`^(mpich|openmpi|mpich openmpi)$`)
	for _, p := range programs(t) {
		if p.shows == "" || !strings.HasSuffix(p.shows, ".") {
			t.Errorf("%s: the first line does not tell what it shows", p.name)
		}
		if !ranks.MatchString(p.header["ranks"]) {
			t.Errorf("%s: ranks: %q", p.name, p.header["ranks"])
		}
		if !mpis.MatchString(p.header["mpi"]) {
			t.Errorf("%s: mpi: %q", p.name, p.header["mpi"])
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
func compile(p program, m installation, dir string) ([]string, error) {
	object := filepath.Join(dir, p.name+".o")
	out, err := exec.Command(m.compiler(), append(flags, "-c", p.path, "-o", object)...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w\n%s", m.compiler(), p.name, err, out)
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
	for _, m := range installed(t) {
		t.Run(m.name, func(t *testing.T) {
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
			exported := exportedBy(t, m)
			missing, excused := 0, 0
			for _, name := range exported {
				switch {
				case called[name]:
				case excepted[m.name+" "+name] || excepted[name]:
					excused++
				default:
					t.Errorf("%s is exported, but neither called by a program nor in exceptions.txt", name)
					missing++
				}
			}
			t.Logf("%d exported functions: %d called, %d excepted, %d missing", len(exported),
				len(exported)-excused-missing, excused, missing)
			for name := range excepted {
				if of, name, ok := strings.Cut(name, " "); ok && of == m.name && !contains(exported, name) {
					t.Errorf("exceptions.txt: %s does not export %s", m.name, name)
				}
			}
		})
	}
}

func contains(sorted []string, name string) bool {
	i := sort.SearchStrings(sorted, name)
	return i < len(sorted) && sorted[i] == name
}

// exportedBy lists the functions MPI_* of the library that the MPI's compiler links, sorted.
func exportedBy(t *testing.T, m installation) []string {
	t.Helper()
	out, err := exec.Command(m.compiler(), "-print-file-name="+m.library).Output()
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimSpace(string(out))
	if !filepath.IsAbs(path) {
		// The wrapper finds it by an -L of its own: see what a linked program asks for.
		path = linkedLibrary(t, m)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC && strings.HasPrefix(s.Name, "MPI_") {
			names = append(names, s.Name)
		}
	}
	sort.Strings(names)
	return names
}

// linkedLibrary returns the file of the MPI library that the dynamic linker gives a program.
func linkedLibrary(t *testing.T, m installation) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "outside")
	if out, err := exec.Command(m.compiler(), filepath.Join("..", "outside.c"), "-o", binary).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command("ldd", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if words := strings.Fields(line); len(words) > 2 && strings.HasPrefix(words[0], m.library) {
			return words[2]
		}
	}
	t.Fatalf("%s: no %s among the libraries of a program", m.name, m.library)
	return ""
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
	for _, m := range installed(t) {
		for _, p := range programs(t) {
			if !p.crashes() || !p.runsOn(m) {
				continue
			}
			t.Run(m.name+"/"+p.name, func(t *testing.T) {
				dir := t.TempDir()
				binary := filepath.Join(dir, p.name)
				if out, err := exec.Command(m.compiler(), p.path, "-o", binary).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				var out bytes.Buffer
				cmd := exec.Command(m.launch[0], append(m.launch[1:len(m.launch):len(m.launch)], "-n", "2", binary)...)
				cmd.Env = append(append(os.Environ(), m.env...), "TMPDIR="+dir)
				cmd.Stdout, cmd.Stderr = &out, &out
				cmd.WaitDelay = 5 * time.Second
				err := cmd.Run()
				want, given := endings[p.name]
				// Shells' way of telling a signal adds 128; one launcher does that, the other doesn't. What was
				// printed may be lost in an abort, so a failed check shows in the code, too: it is 1.
				if code := cmd.ProcessState.ExitCode(); given && code%128 != want {
					t.Errorf("exit code %d, want %d: %v\n%s", code, want, err, out.String())
				}
				if strings.Contains(out.String(), "check failed") || (!given && !strings.Contains(out.String(), "steps done")) {
					t.Errorf("%v\n%s", err, out.String())
				}
			})
		}
	}
}
