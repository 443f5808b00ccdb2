package recover

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/test/recovertest"
)

// TestJobs: a job runs if a process of it does; this one is taken for such a process.
func TestJobs(t *testing.T) {
	parent := t.TempDir()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UnixNano()
	for dir, p := range map[string]recovertest.Process{
		"spoor-live": {Ranks: 2, PID: os.Getpid(), Host: host, StartNs: now},
		"spoor-far":  {Ranks: 2, PID: os.Getpid(), Host: "another", StartNs: now},
		"spoor-dead": {Ranks: 2, PID: os.Getpid(), Host: host, StartNs: 1}, // another process had this number then
		"other":      {Ranks: 2, PID: os.Getpid(), Host: host, StartNs: now},
	} {
		p.End = recovertest.Inside
		if _, err := recovertest.Write(filepath.Join(parent, dir), p); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(parent, "spoor-live"), filepath.Join(parent, "spoor-link")); err != nil {
		t.Fatal(err)
	}
	found := FindJobs([]string{parent, parent, filepath.Join(parent, "none")})
	if len(found) != 3 {
		t.Fatalf("found %+v", found)
	}
	list := slices.DeleteFunc(found, func(j Job) bool { return len(j.RunningContexts) == 0 })
	if len(list) != 1 || len(list[0].RunningContexts) != 1 {
		t.Fatalf("%+v live", list)
	}
	for pid, want := range map[int]bool{os.Getpid(): true, os.Getppid(): true, 1: false, 0: false, 1 << 30: false} {
		if got := list[0].HasProcess(pid); got != want {
			t.Errorf("process %d: %t", pid, got)
		}
	}
}
