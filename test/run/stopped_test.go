package run

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"
	"time"
)

// TestStopped: a process that a signal stopped is named as such; who waits for it in the next round of a collective is told apart.
func TestStopped(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/rounds.c", func(s *shell) {
		s.scratch()
		r := s.startTraced(s.mpi.Command(3, "./app")...)
		r.launcher(3)
		type report struct {
			Verdict string
			Awaited []struct {
				Rank int
				By   []int
			}
			States []struct {
				Held  string
				Round uint64
				Ranks []struct{ Rank, PID int }
			}
		}
		look := func() (x report) {
			out, _ := s.spoor("where", "--json", "--settle", "100ms", "--scratch", "scratch")
			if err := json.Unmarshal([]byte(out), &x); err != nil {
				s.t.Fatalf("%v: %s", err, out)
			}
			return x
		}
		pid := func(rank int) int {
			for _, state := range look().States {
				for _, k := range state.Ranks {
					if k.Rank == rank {
						return k.PID
					}
				}
			}
			return 0
		}(2)
		if pid == 0 || syscall.Kill(pid, syscall.SIGSTOP) != nil {
			s.t.Fatal("no process of rank 2")
		}
		defer syscall.Kill(pid, syscall.SIGCONT)
		said := ""
		for i := range 75 { // until the others have come to where they wait
			if i%25 == 24 { // it was stopped between two calls, or while its records were taken in: another place
				_ = syscall.Kill(pid, syscall.SIGCONT)
				time.Sleep(50 * time.Millisecond)
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
			time.Sleep(100 * time.Millisecond)
			x := look()
			said = fmt.Sprint(x)
			rounds, held := make(map[int]uint64), true
			for _, state := range x.States {
				for _, k := range state.Ranks {
					rounds[k.Rank] = state.Round
					held = held && (state.Held == "stopped") == (k.Rank == 2)
				}
			}
			if held && x.Verdict == "waiting" && len(x.Awaited) == 1 && x.Awaited[0].Rank == 2 && len(x.Awaited[0].By) == 2 && rounds[0] > 0 && rounds[1] > 0 && rounds[2] > 0 {
				out, _ := s.spoor("where", "--settle", "100ms", "--scratch", "scratch")
				s.wants(out, fmt.Sprintf("its process %d is stopped by a signal", pid))
				said = ""
				break
			}
		}
		if said != "" {
			s.t.Errorf("a stopped rank: %s", said)
		}
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			s.t.Fatal(err)
		}
		if err := syscall.Kill(r.Process.Pid, syscall.SIGTERM); err != nil {
			s.t.Fatal(err)
		}
		r.end()
	}, "-g")
}
