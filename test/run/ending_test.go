package run

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/need"
)

// rounds is how often each of so many ranks makes a thousand calls and one: times of 260,000 calls need more than 80 kB.
func rounds(ranks int) int { return 260 / ranks }

func calls(ranks int) string { return strconv.Itoa(rounds(ranks)) }

// ending runs a test on both MPIs with 2 and 7 ranks; the whole trace of a good run is good.spoor.
func ending(t *testing.T, flags []string, test func(s *shell, ranks int)) {
	for _, ranks := range []int{2, 7} {
		t.Run(fmt.Sprintf("%d ranks", ranks), func(t *testing.T) {
			eachSource(t, "testdata/meanwhile.c", func(s *shell) {
				s.kept("good.spoor", fmt.Sprint("good ", s.mpi.Name, ranks, flags), func() {
					good := slices.Concat([]string{"-q", "-o", "good.spoor"}, flags)
					if code, _, stderr := s.traced(good, ranks, calls(ranks)); code != 0 || stderr != "" {
						s.t.Fatalf("code %d: %s", code, stderr)
					}
				})
				test(s, ranks)
			})
		})
	}
}

// same fails unless a trace has the calls of the good one, to the last.
func (s *shell) same(trace string, ranks int) {
	s.t.Helper()
	s.spoor("check", trace)
	s.spoor("diff", "good.spoor", trace)
	const others = 5 // from MPI_Init to MPI_Finalize
	if o := s.info(trace); o.Ranks != ranks || o.Calls != int64(ranks*(1001*rounds(ranks)+others)) || o.Ends["finished"] != ranks {
		s.t.Errorf("%s: %+v", trace, o)
	}
}

// home runs the command that the tool says brings the trace home.
func (s *shell) home(stderr string) {
	s.t.Helper()
	m := regexp.MustCompile(`(?m)^spoor: bring it home: (.*)$`).FindStringSubmatch(stderr)
	if m == nil {
		s.t.Fatalf("no command to bring the trace home:\n%s", stderr)
	}
	if code, _, text := s.run("sh", "-c", m[1]); code != 0 {
		s.t.Fatalf("%s: %s", m[1], text)
	}
}

// mount makes a small file system below the directory.
func (s *shell) mount(name string, options string) (dir string) {
	s.t.Helper()
	dir = filepath.Join(s.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "none", dir).CombinedOutput(); err != nil {
		need.Absent(s.t, "no file systems can be mounted: %s", out)
	}
	s.t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	return dir
}

// behind is the command line of ranks that spoor runs in.
func (s *shell) behind(flags []string, ranks int, args ...string) (code int, stderr string) {
	line := slices.Concat([]string{tool, "run"}, flags, []string{"./app"}, args)
	code, _, stderr = s.run(s.mpi.Command(ranks, line...)...)
	return code, stderr
}

// A place that can't be written to is found out before the program starts, or, where the
// tool isn't there, at its start; then the trace goes elsewhere.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	ending(t, nil, func(s *shell, ranks int) {
		dir := s.mount("readonly", "ro")
		out := filepath.Join(dir, "a.spoor")
		code, _, stderr := s.traced([]string{"-o", out}, ranks, calls(ranks), "touch started")
		if code == 0 {
			s.t.Error("ran all the same")
		}
		s.wants(stderr, "can't write "+out+": read-only file system")
		if _, err := os.Stat(filepath.Join(s.dir, "started")); err == nil {
			s.t.Error("the program was started")
		}
		code, stderr = s.behind(append(s.scratch(), "-o", out), ranks, calls(ranks))
		if code != 0 {
			s.t.Errorf("code %d", code)
		}
		s.wants(stderr, "can't write "+out+": read-only file system; the trace will be ", "read-only file system; the trace is ")
		if out, err := exec.Command("mount", "-o", "remount,rw", dir).CombinedOutput(); err != nil {
			s.t.Fatalf("%s", out)
		}
		s.home(stderr)
		s.same(out, ranks)
		s.scratchIsEmpty()
	})
}

// The folder may be gone at the end.
func TestFolderRemoved(t *testing.T) {
	t.Parallel()
	for name, timing := range map[string][]string{"stats": nil, "lossless": {"--timing", "lossless"}} {
		t.Run(name, func(t *testing.T) {
			ending(t, timing, func(s *shell, ranks int) {
				if err := os.Mkdir(filepath.Join(s.dir, "out"), 0o755); err != nil {
					s.t.Fatal(err)
				}
				code, _, stderr := s.traced(slices.Concat(timing, s.scratch(), []string{"-o", "out/a.spoor"}), ranks, calls(ranks), "rmdir out")
				if code != 0 {
					s.t.Errorf("code %d", code)
				}
				s.wants(stderr, "no such file or directory; the trace is ", "mkdir -p ")
				if strings.Count(stderr, "\n") != 3 {
					s.t.Errorf("not three lines: %s", stderr)
				}
				s.home(stderr)
				s.same("out/a.spoor", ranks)
			})
		})
	}
}

// The disk may be full, or become so while the ranks write.
func TestFull(t *testing.T) {
	t.Parallel()
	lossless := []string{"--timing", "lossless"}
	ending(t, lossless, func(s *shell, ranks int) {
		dir := s.mount("full", "size=80k")
		out := filepath.Join(dir, "a.spoor")
		for _, command := range []string{"true", "dd if=/dev/zero of=full/filler bs=1k count=78 2>/dev/null"} {
			code, _, stderr := s.traced(slices.Concat(lossless, []string{"-o", out}), ranks, calls(ranks), command)
			if code != 0 {
				s.t.Errorf("code %d", code)
			}
			s.wants(stderr, "can't write "+out+": ", "no space left on device; the trace is ")
			os.Remove(filepath.Join(dir, "filler"))
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				s.t.Errorf("left in the full folder: %v, %v", entries, err)
			}
			if out, err := exec.Command("mount", "-o", "remount,size=100m", dir).CombinedOutput(); err != nil {
				s.t.Fatalf("%s", out)
			}
			s.home(stderr)
			s.same(out, ranks)
			os.Remove(out)
			if out, err := exec.Command("mount", "-o", "remount,size=80k", dir).CombinedOutput(); err != nil {
				s.t.Fatalf("%s", out)
			}
		}
	})
}

// Where no place takes the trace, every rank's records stay, and a trace can be made of
// them. No place takes a file whose name is longer than names may be.
func TestNoPlace(t *testing.T) {
	t.Parallel()
	for name, timing := range map[string][]string{"stats": nil, "lossless": {"--timing", "lossless"}} {
		t.Run(name, func(t *testing.T) {
			ending(t, timing, func(s *shell, ranks int) {
				scratch := s.scratch()
				out := strings.Repeat("x", 247) + ".spoor"
				code, stderr := s.behind(slices.Concat(timing, scratch, []string{"-o", out}), ranks, calls(ranks))
				if code != 0 {
					s.t.Errorf("code %d", code)
				}
				s.wants(stderr, "no trace: ", "file name too long", "spoor recover -o ")
				if strings.Count(stderr, "recover") != 1 {
					s.t.Errorf("said more than once: %s", stderr)
				}
				s.spoor("recover", "-o", "recovered.spoor", "scratch")
				s.same("recovered.spoor", ranks)
			})
		})
	}
}

// Records for which there is no room beside the trace stay where they are, which is said
// with a command.
func TestNoRoomForRecords(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/meanwhile.c", func(s *shell) {
		dir := s.mount("full", "size=96k")
		s.scratch()
		s.env = append(s.env, "OMPI_MCA_orte_abort_print_stack=0")
		code, _, stderr := s.traced([]string{"--scratch", "scratch", "-o", "full/a.spoor"}, 3, "100", "false")
		if code == 0 {
			s.t.Error("code 0 of a program that aborts")
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			s.t.Errorf("left in the full folder: %v, %v", entries, err)
		}
		m := regexp.MustCompile(`(?m)^spoor: make a trace of it, where there is room: (.*)$`).FindStringSubmatch(stderr)
		if m == nil {
			s.t.Fatalf("no command: %s", stderr)
		}
		if code, _, text := s.run("sh", "-c", strings.NewReplacer("spoor recover", tool+" recover", "full/a.spoor", "a.spoor").Replace(m[1])); code != 0 {
			s.t.Fatalf("%s: %s", m[1], text)
		}
		if o := s.info("a.spoor"); o.Ranks != 3 || o.Ends["unfinished"] != 3 || o.Calls < 2*50_000 {
			s.t.Errorf("info %+v", o)
		}
		s.scratchIsEmpty()
	})
}
