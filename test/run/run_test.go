// Package run tests `spoor run` and `spoor recover` under the MPIs of this
// machine, as a user calls them. What the traces say of each call is tested by
// package oracle; here it is what becomes of a run as a whole.
//
// It needs the tool built (make) and an MPI. Without them it skips; in CI it
// fails.
package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

var tool = mpis.Root("bin", "spoor")

// A shell is a directory in which commands run.
type shell struct {
	t   *testing.T
	mpi *mpis.MPI
	dir string
	env []string // beyond the MPI's

	bare  bool          // see mpis.Job
	limit time.Duration // of a command, if not the usual one
}

// each runs a test with each MPI in a directory that has the named program.
func each(t *testing.T, program string, test func(s *shell)) {
	p, err := mpis.ReadProgram("../mpi/" + program + ".c")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mpis.Need(t) {
		if p.RunsOn(m) {
			under(t, m, p.Path, test)
		}
	}
}

// eachSource does so with a source file.
func eachSource(t *testing.T, source string, test func(s *shell), flags ...string) {
	for _, m := range mpis.Need(t) {
		under(t, m, source, test, flags...)
	}
}

// first runs a test with the first MPI alone: of what does not depend on which it is.
func first(t *testing.T, source string, test func(s *shell)) {
	under(t, mpis.Need(t)[0], source, test)
}

func under(t *testing.T, m *mpis.MPI, source string, test func(s *shell), flags ...string) {
	mpis.NeedSpoor(t)
	t.Run(m.Name, func(t *testing.T) {
		s := &shell{t: t, mpi: m, dir: t.TempDir()}
		if err := m.Compile(filepath.Join(s.dir, "app"), source, flags...); err != nil {
			t.Fatal(err)
		}
		test(s)
	})
}

// files that were made once, by how they are made.
var (
	files     = make(map[string][]byte)
	filesLock sync.Mutex
)

// kept makes a file in the test's folder, or takes the one that an earlier test made.
func (s *shell) kept(name, how string, make func()) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	filesLock.Lock()
	data, ok := files[how]
	filesLock.Unlock()
	if ok {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	make()
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	filesLock.Lock()
	files[how] = data
	filesLock.Unlock()
}

// run runs a command and returns its exit code and what it printed.
func (s *shell) run(args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	r := mpis.Job{MPI: s.mpi, Dir: s.dir, Temp: s.t.TempDir(), Env: s.env, Bare: s.bare, Limit: s.limit}.Run(args...)
	if exit := (*exec.ExitError)(nil); r.Err != nil && !errors.As(r.Err, &exit) {
		s.t.Fatalf("%q: %v", args, r)
	}
	return r.Code, r.Stdout, r.Stderr
}

// plain runs the program as it is.
func (s *shell) plain(ranks int) (code int, stdout, stderr string) {
	s.t.Helper()
	return s.run(s.mpi.Command(ranks, "./app")...)
}

// spoor runs the tool, which has to succeed.
func (s *shell) spoor(args ...string) (stdout, stderr string) {
	s.t.Helper()
	code, stdout, stderr := s.run(append([]string{tool}, args...)...)
	if code != 0 {
		s.t.Fatalf("spoor %q: code %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout, stderr
}

// traced runs the program under spoor.
func (s *shell) traced(flags []string, ranks int, args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	line := slices.Concat([]string{tool, "run"}, flags, s.mpi.Command(ranks, append([]string{"./app"}, args...)...))
	return s.run(line...)
}

func (s *shell) wants(text string, parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			s.t.Errorf("%q is not in:\n%s", p, text)
		}
	}
}

// files lists what is in the directory besides the program.
func (s *shell) files() string {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		if e.Name() != "app" && e.Name() != "scratch" {
			list = append(list, e.Name())
		}
	}
	return strings.Join(list, " ")
}

// scratch makes a directory for records and returns the flags to use it.
func (s *shell) scratch() []string {
	if err := os.Mkdir(filepath.Join(s.dir, "scratch"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	return []string{"--scratch", "scratch"}
}

// scratchIsEmpty wants no file there. The empty folder of a job may be left once its trace
// was brought home.
func (s *shell) scratchIsEmpty() {
	s.t.Helper()
	scratch := filepath.Join(s.dir, "scratch")
	entries, err := os.ReadDir(scratch)
	for _, e := range entries {
		if err := os.Remove(filepath.Join(scratch, e.Name())); err != nil {
			s.t.Errorf("left in scratch: %v", err)
		}
	}
	if err != nil {
		s.t.Error(err)
	}
}

type overview struct {
	Ranks   int            `json:"ranks"`
	Calls   int64          `json:"calls"`
	Command string         `json:"command"`
	Ends    map[string]int `json:"ends"`
}

func (s *shell) info(trace string) overview {
	s.t.Helper()
	out, _ := s.spoor("info", "--json", trace)
	var o overview
	if err := json.Unmarshal([]byte(out), &o); err != nil {
		s.t.Fatal(err)
	}
	return o
}

// A run has one trace, prints what it would without spoor, and leaves nothing else.
func TestRun(t *testing.T) {
	t.Parallel()
	each(t, "stencil", func(s *shell) {
		_, plain, _ := s.plain(3)
		code, stdout, stderr := s.traced(s.scratch(), 3)
		if code != 0 || stdout != plain {
			s.t.Errorf("code %d, output %q, without spoor %q", code, stdout, plain)
		}
		s.wants(stderr, "spoor: app.spoor: 3 ranks, ", "see: spoor info app.spoor")
		if got := s.files(); got != "app.spoor" {
			s.t.Errorf("files %s", got)
		}
		s.scratchIsEmpty()
		s.spoor("check", "app.spoor")
		if o := s.info("app.spoor"); o.Ranks != 3 || o.Command != "./app" || o.Ends["finished"] != 3 {
			s.t.Errorf("info %+v", o)
		}
		// Once more: the same calls, in a trace of another name.
		s.traced(nil, 3)
		s.spoor("diff", "app.spoor", "app-2.spoor")
	})
}

// What is said of a run gets through launchers into its trace, whatever is in it, and adds nothing else.
func TestTags(t *testing.T) {
	t.Parallel()
	each(t, "stencil", func(s *shell) {
		const note = `a b, "c" $HOME 5 % = ü`
		s.traced([]string{"-q", "-o", "tagged.spoor", "--tag", "commit=abc", "--tag", "note=" + note}, 2)
		out, _ := s.spoor("info", "tagged.spoor")
		s.wants(out, "tag        commit=abc\n", "tag        note="+note+"\n")
		s.traced([]string{"-q", "-o", "plain.spoor"}, 2)
		s.spoor("diff", "tagged.spoor", "plain.spoor")
	})
}

// spoor may also stand behind the launcher.
func TestRunAsRank(t *testing.T) {
	t.Parallel()
	each(t, "stencil", func(s *shell) {
		s.scratch()
		code, _, stderr := s.run(s.mpi.Command(2, tool, "run", "--scratch", "scratch", "./app")...)
		if said := spoorLines(stderr); code != 0 || len(said) != 1 || !strings.Contains(said[0], "app.spoor: 2 ranks, ") {
			s.t.Fatalf("code %d: %s", code, stderr)
		}
		if got := s.files(); got != "app.spoor" {
			s.t.Errorf("files %s", got)
		}
		s.scratchIsEmpty()
		if o := s.info("app.spoor"); o.Ranks != 2 {
			s.t.Errorf("info %+v", o)
		}
		s.spoor("check", "app.spoor")
		code, _, stderr = s.run(s.mpi.Command(2, tool, "run", "-q", "./app")...)
		if said := spoorLines(stderr); code != 0 || len(said) != 1 || !strings.Contains(said[0], "app.spoor exists, the trace is ") {
			s.t.Errorf("quiet: code %d: %s", code, stderr)
		}
	})
}

// What such ranks leave when they crash, recover finds by the trace's name.
func TestCrashAsRank(t *testing.T) {
	t.Parallel()
	each(t, "crash_segv", func(s *shell) {
		s.scratch()
		plain, _, _ := s.plain(3)
		code, _, _ := s.run(s.mpi.Command(3, tool, "run", "--scratch", "scratch", "./app")...)
		if code != plain {
			s.t.Errorf("code %d, without spoor %d", code, plain)
		}
		if got := s.files(); got != "app.spoor.partial" {
			s.t.Fatalf("files %s", got)
		}
		out, _ := s.spoor("recover", "app.spoor.partial")
		s.wants(out, "app.spoor: 3 ranks, ", "rank 0: ", "rank 2: ", "ended without MPI_Finalize")
		if err := os.RemoveAll(filepath.Join(s.dir, "scratch")); err != nil {
			s.t.Fatal(err)
		}
		code, _, stderr := s.run(tool, "recover", "-f", "app.spoor.partial")
		if code != 1 {
			s.t.Errorf("code %d", code)
		}
		s.wants(stderr, "which is gone", "no process directories")
	})
}

func TestSessionsAsRank(t *testing.T) {
	t.Parallel()
	each(t, "sessions", func(s *shell) {
		s.scratch()
		code, _, stderr := s.run(s.mpi.Command(2, tool, "run", "--scratch", "scratch", "./app")...)
		if said := spoorLines(stderr); code != 0 || len(said) != 1 || !strings.Contains(said[0], "spoor recover ") {
			s.t.Fatalf("code %d: %s", code, stderr)
		}
		out, _ := s.spoor("recover", "app.spoor.partial")
		s.wants(out, "app.spoor: 2 ranks")
	})
}

// Whatever kills ranks, what they did until then can be had.
func TestCrashes(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"crash_segv", "crash_kill", "crash_abort", "crash_exit"} {
		t.Run(program, func(t *testing.T) {
			each(t, program, func(s *shell) {
				plain, _, _ := s.plain(3)
				code, _, stderr := s.traced(s.scratch(), 3)
				// What Hydra says of ranks that left without MPI_Finalize depends on
				// which of them it sees first: 0, 1 or 9, without spoor too.
				if code != plain && !(program == "crash_exit" && s.mpi.Family == "mpich") {
					s.t.Errorf("code %d, without spoor %d", code, plain)
				}
				s.wants(stderr, "spoor recover app.spoor.partial")
				if got := s.files(); got != "app.spoor.partial" {
					s.t.Fatalf("files %s", got)
				}
				s.scratchIsEmpty()
				out, _ := s.spoor("recover", "app.spoor.partial")
				s.wants(out, "app.spoor: 3 ranks, ", "rank 0: ", "rank 2: ", "ended without MPI_Finalize")
				s.spoor("check", "app.spoor")
				o := s.info("app.spoor")
				if o.Ranks != 3 || o.Calls == 0 || o.Ends["unfinished"]+o.Ends["finished"] != 3 || o.Ends["unfinished"] == 0 {
					s.t.Errorf("info %+v", o)
				}
				out, _ = s.spoor("dump", "app.spoor", "--rank", "0", "--range", ":1")
				s.wants(out, "MPI_Init")
			})
		})
	}
}

// Programs with sessions only have no common end; their records are merged
// afterwards.
func TestSessions(t *testing.T) {
	t.Parallel()
	each(t, "sessions", func(s *shell) {
		code, _, stderr := s.traced(s.scratch(), 2)
		if code != 0 {
			s.t.Fatalf("code %d: %s", code, stderr)
		}
		s.wants(stderr, "spoor: app.spoor: 2 ranks")
		s.scratchIsEmpty()
		s.spoor("check", "app.spoor")
	})
}

// A spawned world has a trace beside that of its parents.
func TestSpawn(t *testing.T) {
	t.Parallel()
	each(t, "spawn", func(s *shell) {
		code, _, stderr := s.traced(s.scratch(), 1)
		if code != 0 {
			s.t.Fatalf("code %d: %s", code, stderr)
		}
		if got := s.files(); got != "app-2.spoor app.spoor" {
			s.t.Errorf("files %s", got)
		}
		s.wants(stderr, "spoor: app.spoor: ", "spoor: app-2.spoor: ")
		if a, b := s.info("app.spoor"), s.info("app-2.spoor"); a.Ranks+b.Ranks != 3 {
			s.t.Errorf("worlds %+v and %+v", a, b)
		}
		s.spoor("check", "app.spoor", "app-2.spoor")
		s.scratchIsEmpty()
	})
}

// Ranks that don't find each other are told apart from a parallel run.
func TestForeignLauncher(t *testing.T) {
	t.Parallel()
	if list := mpis.Need(t); len(list) < 2 {
		need.Absent(t, "only one MPI is installed")
	}
	each(t, "stencil", func(s *shell) {
		if s.mpi.Name != "mpich" {
			s.t.Skip("Open MPI's ranks don't start under MPICH's launcher everywhere")
		}
		other, err := mpis.Find("openmpi")
		if err != nil {
			s.t.Fatal(err)
		}
		s.mpi = other
		_, _, stderr := s.traced(nil, 2)
		s.wants(stderr, "every process was a world of one rank", "another MPI (MPICH family) than its launcher (Open MPI)")
	})
}

// What is no MPI program is run all the same, and the lack of a trace explained.
func TestNoMPI(t *testing.T) {
	t.Parallel()
	each(t, "stencil", func(s *shell) {
		if err := os.WriteFile(filepath.Join(s.dir, "app"), []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
			s.t.Fatal(err)
		}
		code, _, stderr := s.run(tool, "run", "./app")
		if code != 3 {
			s.t.Errorf("code %d", code)
		}
		s.wants(stderr, "nothing was recorded of ./app", "did not call MPI_Init")
		code, _, stderr = s.run(append([]string{tool, "run"}, s.mpi.Command(2, "./app")...)...)
		s.wants(stderr, fmt.Sprintf("the launcher failed: it ended with code %d", code), "hand the environment to the ranks")
	})
}
