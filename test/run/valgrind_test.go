package run

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

// Under memcheck a program is traced whole, and with the suppressions no report is of spoor: but the one error of the
// program itself stands there on each rank.
func TestValgrind(t *testing.T) {
	t.Parallel()
	valgrind := need.Command(t, "valgrind")
	supp, err := filepath.Abs(mpis.Root("packaging", "valgrind.supp"))
	if err != nil {
		t.Fatal(err)
	}
	eachSource(t, "testdata/memory.c", func(s *shell) {
		const ranks = 2
		t := s.t
		line := append([]string{tool, "run", "-o", "app.spoor", "--stack", "4"}, s.mpi.Command(ranks, valgrind, "--suppressions="+supp, "--log-file=said.%p", "./app")...)
		code, stdout, stderr := s.run(line...)
		if code != 0 || strings.Count(stdout, "done") != ranks {
			logs, _ := filepath.Glob(filepath.Join(s.dir, "said.*"))
			for _, file := range logs {
				data, _ := os.ReadFile(file)
				if i := strings.Index(string(data), "unhandled instruction"); i >= 0 {
					t.Skipf("valgrind lacks an instruction that somebody uses on this machine's processor: %s", data[i:])
				}
				t.Logf("%s", data)
			}
			if alone, _, _ := s.run(s.mpi.Command(ranks, valgrind, "--log-file=alone.%p", "./app")...); alone == code {
				t.Skipf("valgrind can't run this MPI on this machine's processor: code %d without spoor, too", alone)
			}
			t.Fatalf("code %d, %q\n%s", code, stdout, stderr)
		}
		s.wants(stderr, "spoor: app.spoor: 2 ranks, 206 calls")
		said, err := filepath.Glob(filepath.Join(s.dir, "said.*"))
		if err != nil || len(said) != ranks {
			t.Fatalf("%d processes reported, %v", len(said), err)
		}
		for _, file := range said {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			if !regexp.MustCompile(`Invalid write of size 1\n.* at .*: (spill|main) `).MatchString(text) {
				t.Errorf("the program's own error isn't reported:\n%s", text)
			}
			if strings.Contains(text, "libspoor") {
				t.Errorf("reported of spoor:\n%s", text)
			}
		}
	})
}
