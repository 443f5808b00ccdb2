package run

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/need"
)

// Programs that need little stack run with as little.
func TestSmallStack(t *testing.T) {
	t.Parallel()
	each(t, "stencil", func(s *shell) {
		ranks := s.mpi.Command(2, "sh", "-c", "'ulimit -s 128; exec ./app'")
		line := func(before ...string) []string {
			return []string{"sh", "-c", strings.Join(append(before, ranks...), " ")}
		}
		if code, _, stderr := s.run(line()...); code != 0 {
			s.t.Skipf("the MPI itself doesn't: %s", stderr)
		}
		code, _, stderr := s.run(line(tool, "run")...)
		if code != 0 {
			s.t.Fatalf("code %d: %s", code, stderr)
		}
		s.wants(stderr, "spoor: app.spoor: 2 ranks, ")
	})
}

// Where no folder for temporary files can be written to, the job runs and is recorded.
func TestNoTemporaryFolders(t *testing.T) {
	t.Parallel()
	each(t, "stencil", func(s *shell) {
		where := "mount -t tmpfs -o ro none /dev/shm && mount -t tmpfs -o ro none /tmp && export TMPDIR=/dev/shm/none"
		if strings.HasPrefix(s.dir, "/tmp/") {
			where = strings.Replace(where, "mount -t tmpfs -o ro none /tmp && ", "", 1)
		}
		if out, err := exec.Command("unshare", "-m", "sh", "-c", where).CombinedOutput(); err != nil {
			need.Absent(s.t, "no name space of its own for mounts: %s", out)
		}
		line := func(before ...string) []string {
			return []string{"unshare", "-m", "sh", "-c", where + "; " + strings.Join(append(before, s.mpi.Command(2, "./app")...), " ")}
		}
		if code, _, stderr := s.run(line()...); code != 0 {
			s.t.Skipf("the MPI itself doesn't: %s", stderr)
		}
		code, _, stderr := s.run(line(tool, "run")...)
		if code != 0 {
			s.t.Fatalf("code %d: %s", code, stderr)
		}
		s.wants(stderr, "spoor: app.spoor: 2 ranks, ")
	})
}

// Ranks with users, mounts and process numbers of their own, as in containers, are known to be dead when they are.
func TestOwnProcessNumbers(t *testing.T) {
	t.Parallel()
	each(t, "crash_segv", func(s *shell) {
		if out, err := exec.Command("unshare", "-Urmpf", "--mount-proc", "true").CombinedOutput(); err != nil {
			need.Absent(s.t, "no name spaces of their own for users, mounts and processes: %s", out)
		}
		if s.mpi.Family == "openmpi" {
			return // its ranks tell each other apart by their numbers, and crash in MPI_Init
		}
		line := slices.Concat([]string{tool, "run", "-o", "app.spoor"}, s.scratch(), s.mpi.Command(2, "unshare", "-Urmpf", "--mount-proc", "./app"))
		code, _, stderr := s.run(line...)
		if code == 0 || strings.Contains(stderr, "still run") {
			s.t.Errorf("code %d: %s", code, stderr)
		}
		s.wants(stderr, "spoor recover app.spoor.partial")
		s.scratchIsEmpty()
		out, _ := s.spoor("recover", "app.spoor.partial")
		s.wants(out, "app.spoor: 2 ranks, ")
		if strings.Contains(out, "still running") {
			s.t.Error(fmt.Sprint("they have ended: ", out))
		}
	})
}
