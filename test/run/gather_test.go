package run

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A hang in MPI_Init, MPI_Finalize or MPI_Comm_spawn: which ranks are in it, since when, how many of the expected came, from where. The
// running job is asked, then `spoor run` says it when the job ends, and --hang by itself.
func TestGatherings(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/gather.c", func(all *shell) {
		all.scratch()
		for _, x := range []struct {
			mode, function string
			come, expected int
			missing        []int
			says           string
		}{
			{"init", "MPI_Init", 2, 3, []int{1}, "MPI_Init: 2 of 3 processes have come, from "},
			{"finalize", "MPI_Finalize", 2, 3, []int{1}, "MPI_Finalize: 2 of 3 processes have come, from "},
			{"spawn", "MPI_Init", 2, 3, []int{1}, "MPI_Init of what is spawned: 2 of 3 processes have come, from "},
		} {
			if x.mode == "spawn" && all.mpi.Name != "openmpi" { // the others here can't
				continue
			}
			all.t.Run(x.mode, func(t *testing.T) {
				s := *all
				s.t = t
				r := s.start(append([]string{tool, "run", "--hang", "1s", "--scratch", "scratch", "-o", "app.spoor"}, s.mpi.Command(3, "./app", x.mode)...)...)
				var out string
				var got []struct {
					Gatherings []struct {
						Function string
						Come     int
						Expected int
						Missing  []int
						Hosts    []struct{ Come, Expected int }
						Ranks    []struct {
							Rank  int
							Since int64 `json:"since_ns"`
						}
					}
				}
				there := func() bool {
					return len(got) == 1 && len(got[0].Gatherings) == 1 && got[0].Gatherings[0].Come == x.come && got[0].Gatherings[0].Ranks[0].Since > 1e9
				}
				for range 300 { // until all have come who will
					var code int
					if code, out, _ = s.run(tool, "where", "--json", "--settle", "100ms", "--scratch", "scratch"); code == 0 {
						if !strings.HasPrefix(out, "[") {
							out = "[" + out + "]"
						}
						got = nil
						if err := json.Unmarshal([]byte(out), &got); err != nil {
							s.t.Fatalf("%v in %s", err, out)
						}
						if there() {
							break
						}
					}
					time.Sleep(100 * time.Millisecond)
				}
				if !there() {
					s.t.Fatalf("where says %s", out)
				}
				g := got[0].Gatherings[0]
				if g.Function != x.function || g.Expected != x.expected || !slices.Equal(g.Missing, x.missing) || len(g.Ranks) != x.come ||
					g.Ranks[0].Rank != 0 || g.Ranks[1].Rank != 2 || len(g.Hosts) != 1 || g.Hosts[0].Come != x.come {
					s.t.Errorf("where says %s", out)
				}
				text, _ := s.spoor("where", "--settle", "100ms", "--scratch", "scratch")
				s.wants(text, x.says, "; not rank 1\n", fmt.Sprintf("  rank 2: in %s for ", x.function))
				for range 600 { // until --hang has said it
					if said, _ := os.ReadFile(r.stderr); strings.Contains(string(said), x.says) {
						break
					}
					time.Sleep(100 * time.Millisecond)
				}
				if err := syscall.Kill(r.Process.Pid, syscall.SIGTERM); err != nil {
					s.t.Fatal(err)
				}
				_, said := r.end()
				s.wants(said, "no rank here has begun or ended an MPI call for", x.says, "when the job ended: "+x.function+": 2 of 3 processes have come, from ")
				if _, _, err := s.run("rm", "-rf", "app.spoor.partial"); err != "" {
					s.t.Fatal(err)
				}
				s.scratchIsEmpty()
			})
		}
	})
}

// Marks of processes in such calls don't outlive them.
func TestNoMarksAreLeft(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/gather.c", func(s *shell) {
		s.scratch()
		for _, mode := range []string{"-", "thread"} {
			if code, _, stderr := s.traced([]string{"--scratch", "scratch", "-f", "-o", "app.spoor"}, 3, mode); code != 0 || strings.Contains(stderr, "when the job ended") {
				s.t.Errorf("code %d, %s", code, stderr)
			}
			s.scratchIsEmpty()
		}
	})
}
