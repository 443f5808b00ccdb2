package replay

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/traffic"
)

// What is drawn is replayed, and comes to its end: ranks draw the same numbers of rounds where they send each other messages.
// SPOOR_TEST_REPLAY=all takes ten seeds, and the programs of bench/scale whose calls depend on data.
func TestReplayOfDrawn(t *testing.T) {
	everything := os.Getenv("SPOOR_TEST_REPLAY") == "all"
	for _, m := range installed(t) {
		for _, app := range compile.All {
			args := app.Quick
			if app.Name == "ocean" {
				args = []string{"-n", "32", "-i", "6"}
			} else if app.Name != "sort" && !everything || !app.RunsOn(m) {
				continue
			}
			t.Run(m.Name+"/"+app.Name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				binary, err := app.Build(m, dir)
				if err != nil {
					t.Fatal(err)
				}
				if err := record(m, dir, 4, append([]string{binary}, args...)...); err != nil {
					t.Fatal(err)
				}
				drawn(t, m, dir, "--trip-counts", everything, app.Name == "ocean", true)
			})
		}
		if !everything {
			continue
		}
		for _, ranks := range []int{4, 16} {
			for _, program := range []string{"ocean", "amr", "is", "wany", "tsome", "mw", "random"} {
				if program == "tsome" && ranks == 4 {
					continue // it sends to itself before it receives
				}
				t.Run(fmt.Sprintf("%s/skeleton %s/%d", m.Name, program, ranks), func(t *testing.T) {
					dir := t.TempDir()
					skeleton(t, dir, program, ranks)
					drawn(t, m, dir, "--trip-counts", true, program == "ocean", false)
				})
			}
		}
	}
}

// Messages whose partners are drawn are replayed, and come to their end: whoever sends, and whoever receives. SPOOR_TEST_REPLAY=all takes ten seeds, also on
// 16 ranks, and programs of bench/scale.
func TestReplayOfPartners(t *testing.T) {
	everything := os.Getenv("SPOOR_TEST_REPLAY") == "all"
	for _, m := range installed(t) {
		for _, ranks := range []int{4, 16} {
			if ranks > 4 && !everything {
				continue
			}
			t.Run(fmt.Sprintf("%s/table/%d", m.Name, ranks), func(t *testing.T) {
				dir := t.TempDir()
				binary, err := build(m, mpis.Root("test", "replay", "testdata", "table.c"))
				if err != nil {
					t.Fatal(err)
				}
				if err := record(m, dir, ranks, binary); err != nil {
					t.Fatal(err)
				}
				drawn(t, m, dir, "--partners", everything, true, true)
			})
			for _, program := range []string{"random", "amr"} {
				if !everything || ranks == 4 && program == "amr" {
					continue // whose ranks have few partners
				}
				t.Run(fmt.Sprintf("%s/skeleton %s/%d", m.Name, program, ranks), func(t *testing.T) {
					dir := t.TempDir()
					skeleton(t, dir, program, ranks)
					drawn(t, m, dir, "--partners", true, true, true)
				})
			}
		}
	}
}

// skeleton makes the trace of a program of bench/scale.
func skeleton(t *testing.T, dir, program string, ranks int) {
	t.Helper()
	c := exec.Command("go", "run", "./bench/scale", "-programs", program, "-ranks", strconv.Itoa(ranks), "-baseline=false", "-keep", dir)
	c.Dir = mpis.Root()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Rename(filepath.Join(dir, fmt.Sprintf("%s-%d.spoor", program, ranks)), filepath.Join(dir, "a.spoor")); err != nil {
		t.Fatal(err)
	}
}

// drawn draws and replays a.spoor, with one seed or ten. some tells whether there has to be something to draw. What no MPI
// recorded has statuses that an MPI doesn't give: of that the number of calls is compared.
func drawn(t *testing.T, m *mpis.MPI, dir, what string, everything, some, recorded bool) {
	seeds := 1
	if everything && some {
		seeds = 10
	}
	for seed := range seeds {
		var counts []string
		for _, args := range [][]string{
			{"papers", "thin", what, "--tolerance", "10%", "--seed", strconv.Itoa(seed), "--force", "-o", "drawn.spoor", "a.spoor"},
			{"check", "drawn.spoor"},
			{"replay", "--mpi", m.Name, "--no-compute", "-o", "b.spoor", "--timeout", "100s", "drawn.spoor"},
			{"check", "b.spoor"},
			{"diff", "--any-address", "drawn.spoor", "b.spoor"},
			{"info", "drawn.spoor"},
		} {
			if args[0] == "diff" && !recorded {
				continue
			}
			out, err := spoor(m, dir, args...)
			if err != nil {
				t.Fatalf("seed %d: spoor %s: %v\n%s", seed, args[0], err, mpis.Tail(out))
			}
			if args[0] == "check" { // FILE: ok, N ranks, N calls
				_, said, _ := strings.Cut(strings.TrimSpace(out), ": ")
				if counts = append(counts, said); counts[0] != said {
					t.Errorf("seed %d: %s, replayed: %s", seed, counts[0], said)
				}
			}
			if args[0] == "info" && strings.Contains(out, "\nsynthetic ") != some {
				t.Errorf("seed %d: something is synthetic: %t\n%s", seed, !some, out)
			}
		}
		off := sameTraffic(t, dir, fmt.Sprintf("seed %d", seed), "drawn.spoor", "b.spoor")
		if what == "--trip-counts" && (off.MeanRank > 0.1 || off.Rank > 0.2) || off.Total > 0.1 || off.Total < -0.1 {
			t.Errorf("seed %d: bytes of ranks are off: %+v", seed, off)
		}
		if err := os.Remove(filepath.Join(dir, "b.spoor")); err != nil {
			t.Fatal(err)
		}
	}
}

// sameTraffic compares what ranks send each other as drawn and as replayed: each pair's messages and bytes MUST be the same, what is
// sent received. It returns how far that is from the run.
func sameTraffic(t *testing.T, dir, what, drawn, again string) traffic.Off {
	t.Helper()
	of := func(name string) *traffic.Traffic {
		x, err := traffic.Read(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	truth, now, replayed := of("a.spoor"), of(drawn), of(again)
	if !now.Equal(replayed) {
		t.Errorf("%s: replayed other messages than are drawn: %v, drawn %v", what, replayed, now)
	}
	for ch, l := range now.Left {
		if l.Messages != 0 || l.Bytes > 0 {
			t.Errorf("%s: %+v of %+v are not received", what, l, ch)
		}
	}
	off := now.Off(truth)
	t.Logf("%s: %+v, %d messages from any source", what, off, now.Wild)
	return off
}
