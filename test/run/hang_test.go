package run

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// What the tool says of a program on three ranks, where its source hangs.
var hangs = []struct{ mode, verdict, cycles, says string }{
	{"receives", "deadlock", "[[0 2 1]]", "cycle 0 → 2 → 1 → 0\n  rank 0 waits for a message from rank 2, tag 7: MPI_Recv at main hangs.c:"},
	{"sends", "deadlock", "[[0 1 2]]", "rank 0 waits for rank 1 to receive tag 7: MPI_Send at main hangs.c:"},
	{"waitall", "deadlock", "[[0 1 2]]", "rank 0 waits for a message from rank 1, tag 2: MPI_Waitall at main hangs.c:"},
	{"waitany", "deadlock", "[[0 2]]", "waits for a message from rank 2, tag 1 or a message from rank 1, tag 2"},
	{"wildcard", "deadlock", "[[0 1]]", "waiting for a message from any rank, any tag"},
	{"probe", "deadlock", "[[0 2 1]]", "rank 0 waits for a message from rank 2, tag 5: MPI_Probe at main hangs.c:"},
	{"barrier", "deadlock", "[[0 2]]", "waiting for rank 2 to call MPI_Barrier on MPI_COMM_WORLD"},
	{"function", "deadlock", "[[0 1]]", "collective calls that don't match\n  call 6 on communicator 1 of MPI_Comm_dup\n"},
	{"order", "deadlock", "[[0 1]]", "rank 0 waits for ranks 1-2 to call MPI_Barrier on communicator 2 of MPI_Comm_dup"},
	{"finalized", "stuck", "[]", "rank 1: at the end: MPI_Finalize at main hangs.c:"},
	{"livelock", "livelock", "[[0 2 1]]", "asks in vain, "},
	{"slow", "waiting", "[]", "rank 1: outside of MPI for "},
}

// TestHangs: each kind of hanging is told for what it is, of the running job and of what is left
// of it when it was killed.
func TestHangs(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/hangs.c", func(all *shell) {
		all.scratch()
		for _, x := range hangs {
			all.t.Run(x.mode, func(t *testing.T) {
				s := *all
				s.t = t
				r := s.startTraced(s.mpi.Command(3, "./app", x.mode)...)
				r.launcher(3)
				var live string
				for range 50 { // until all ranks have come to where they hang; on the way there they wait for each other, too
					if live = s.where("--scratch", "scratch"); live == x.verdict+" "+x.cycles {
						if out, _ := s.spoor("where", "--scratch", "scratch"); x.verdict != "waiting" || strings.Contains(out, x.says) {
							break
						}
					}
					time.Sleep(200 * time.Millisecond)
				}
				if live != x.verdict+" "+x.cycles {
					s.t.Errorf("running: %s", live)
				}
				if err := syscall.Kill(r.Process.Pid, syscall.SIGTERM); err != nil {
					s.t.Fatal(err)
				}
				r.end()
				if dead := s.where("app.spoor.partial"); dead != x.verdict+" "+x.cycles {
					s.t.Errorf("killed: %s", dead)
				}
				out, _ := s.spoor("where", "app.spoor.partial")
				s.wants(out, x.says)
				if err := os.RemoveAll(filepath.Join(s.dir, "app.spoor.partial")); err != nil {
					s.t.Fatal(err)
				}
			})
		}
	}, "-g")
}

// where returns verdict and cycles.
func (s *shell) where(args ...string) string {
	s.t.Helper()
	out, _ := s.spoor(append([]string{"where", "--json", "--settle", "100ms"}, args...)...)
	var x struct {
		Verdict string
		Cycles  []struct{ Ranks []int }
	}
	if err := json.Unmarshal([]byte(out), &x); err != nil {
		s.t.Fatal(err)
	}
	cycles := [][]int{}
	for _, c := range x.Cycles {
		cycles = append(cycles, c.Ranks)
	}
	return fmt.Sprint(x.Verdict, " ", cycles)
}

// TestWorks: a program that works is never said to hang, whenever one looks.
func TestWorks(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/hangs.c", func(s *shell) {
		s.scratch()
		r := s.startTraced(s.mpi.Command(3, "./app", "works")...)
		r.launcher(3)
		for range 10 {
			if out := s.where("--scratch", "scratch"); out != "waiting []" && out != "progressing []" {
				s.t.Error(out)
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err := syscall.Kill(r.Process.Pid, syscall.SIGTERM); err != nil {
			s.t.Fatal(err)
		}
		r.end()
		if out := s.where("app.spoor.partial"); out != "waiting []" && out != "progressing []" {
			s.t.Error(out)
		}
	})
}

// When who reads what is printed has ended, the job goes on, and what was recorded is found.
func TestReaderIsGone(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/hangs.c", func(s *shell) {
		s.scratch()
		line := append([]string{mpis.NeedSpoor(s.t), "run", "--hang", "1s", "-o", "app.spoor", "timeout", "10"}, s.mpi.Command(3, "./app", "receives")...)
		_, out, stderr := s.run(append([]string{"sh", "-c", `"$@" 2>&1 | head -n 1`, "sh"}, line...)...)
		s.wants(out+stderr, "no rank here has begun or ended an MPI call")
		out, _ = s.spoor("recover", "app.spoor.partial")
		s.wants(out, "app.spoor: 3 ranks")
	})
}
