package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/need"
)

// A build is a sanitizer of a compiler.
type build struct{ compiler, sanitizer string }

// builds lists gcc's; SPOOR_TEST_SANITIZERS=1 adds clang's.
func builds(t *testing.T) []build {
	if _, err := exec.LookPath("gcc"); err != nil {
		need.Absent(t, "no gcc")
	}
	list := []build{{"gcc", "address"}, {"gcc", "thread"}, {"gcc", "undefined"}}
	if os.Getenv("SPOOR_TEST_SANITIZERS") == "" {
		return list
	}
	return append(list, build{"gcc", "leak"}, build{"clang", "address"}, build{"clang", "thread"}, build{"clang", "undefined"}, build{"clang", "leak"})
}

// Programs with sanitizers end as they do without spoor, and are traced with their
// heap blocks. What fails without spoor, as gcc's ThreadSanitizer does in MPICH,
// fails in the same way.
func TestSanitizers(t *testing.T) {
	for _, b := range builds(t) {
		t.Run(b.compiler+"-"+b.sanitizer, func(t *testing.T) {
			t.Setenv("MPICH_CC", b.compiler)
			t.Setenv("OMPI_CC", b.compiler)
			// The MPIs' own leaks are not what this is about.
			t.Setenv("ASAN_OPTIONS", "detect_leaks=0")
			t.Setenv("LSAN_OPTIONS", "exitcode=0")
			eachSource(t, "testdata/sanitized.c", func(s *shell) {
				s.bare = true // AddressSanitizer wants to be the first library
				plain, done, _ := s.plain(2)
				code, stdout, stderr := s.traced(nil, 2)
				if code == plain && strings.Count(done, "done") < 2 {
					need.Absent(s.t, "%s does not run under a sanitizer: code %d with spoor and without", s.mpi.Name, plain)
				}
				if code != plain || strings.Count(stdout, "done") != 2 {
					s.t.Errorf("code %d, without spoor %d, %q\n%s", code, plain, stdout, stderr)
				}
				s.wants(stderr, "spoor: app.spoor: 2 ranks, 18 calls")
				out, _ := s.spoor("dump", "app.spoor", "--rank", "0")
				s.wants(out, "sendbuf=heap0, ", "recvbuf=heap1+8, ")
				if strings.Contains(out, "heap2") {
					s.t.Errorf("blocks are not freed:\n%s", out)
				}
				_, out, _ = s.run(tool, "doctor", "./app")
				s.wants(out, map[string]string{"address": "AddressSanitizer", "thread": "ThreadSanitizer", "leak": "LeakSanitizer",
					"undefined": "UndefinedBehaviorSanitizer"}[b.sanitizer])
			}, "-fsanitize="+b.sanitizer)
		})
	}
}

// What AddressSanitizer reports is the same, down to the stacks; the program's own
// options don't matter, nor does a script in front of the program.
func TestSanitizerReport(t *testing.T) {
	for _, own := range []string{"", "-DOWN_OPTIONS"} {
		t.Run(own, func(t *testing.T) {
			t.Setenv("MPICH_CC", "gcc")
			t.Setenv("OMPI_CC", "gcc")
			if own == "" {
				t.Setenv("ASAN_OPTIONS", "detect_leaks=0")
			}
			flags := slices.DeleteFunc([]string{"-fsanitize=address", own}, func(f string) bool { return f == "" })
			eachSource(t, "testdata/sanitized.c", func(s *shell) {
				s.bare = true
				line := s.mpi.Command(1, "./app", "overflow")
				plain, _, want := s.run(line...)
				code, _, got := s.run(append([]string{tool, "run"}, line...)...)
				if code == plain && reported(got) == "" && reported(want) == "" {
					need.Absent(s.t, "%s does not run under a sanitizer: code %d with spoor and without", s.mpi.Name, plain)
				}
				if code != plain || reported(got) != reported(want) || !strings.Contains(want, "heap-buffer-overflow") {
					s.t.Errorf("code %d, without spoor %d:\n%s\nwithout spoor:\n%s", code, plain, reported(got), reported(want))
				}
				if own == "" {
					code, stdout, stderr := s.run(append([]string{tool, "run", "-o", "sh.spoor"}, s.mpi.Command(2, "sh", "-c", "./app")...)...)
					if code != 0 || strings.Count(stdout, "done") != 2 {
						s.t.Errorf("behind a shell: code %d, %s", code, stderr)
					}
					s.wants(stderr, "spoor: sh.spoor: 2 ranks")
				}
			}, flags...)
		})
	}
}

var frames = regexp.MustCompile(`(?m)^ *#\d+ .* in (\w+)|^ *#\d+ .*/([\w.+-]+)\+0x`)

// reported lists the functions in the stacks of a report.
func reported(stderr string) string {
	var list []string
	for _, m := range frames.FindAllStringSubmatch(stderr, -1) {
		list = append(list, m[1]+filepath.Base(m[2]))
	}
	return strings.Join(list, " ")
}
