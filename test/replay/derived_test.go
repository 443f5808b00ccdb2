package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/inputs"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/traffic"
)

// Replays whose receives follow from sends come to their end, with the messages of the trace and no others. SPOOR_TEST_REPLAY=all takes
// ten seeds of what is drawn, 16 ranks, and the programs of bench/scale whose calls depend on data.
func TestReplayOfDerived(t *testing.T) {
	everything := os.Getenv("SPOOR_TEST_REPLAY") == "all"
	for _, m := range installed(t) {
		for _, name := range []string{"ocean", "sort", "cg", "heat2d", "lu"} {
			app, ok := compile.ByName(name)
			if !ok {
				t.Fatalf("no app %s", name)
			}
			if !app.RunsOn(m) {
				continue
			}
			for _, ranks := range []int{4, 16} {
				if ranks > 4 && !everything {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", m.Name, name, ranks), func(t *testing.T) {
					dir := t.TempDir()
					binary, err := app.Build(m, dir)
					if err != nil {
						t.Fatal(err)
					}
					args := app.Quick
					if name == "ocean" {
						args = []string{"-n", "32", "-i", "6"}
					}
					if err := record(m, dir, ranks, append([]string{binary}, args...)...); err != nil {
						t.Fatal(err)
					}
					derived(t, m, dir, "a.spoor")
					derivedOfDrawn(t, m, dir, everything && name == "ocean")
				})
			}
		}
		if !everything {
			continue
		}
		for _, program := range []string{"ocean", "amr", "is", "wany", "tsome", "mw", "random"} {
			for _, ranks := range []int{4, 16} {
				t.Run(fmt.Sprintf("%s/skeleton %s/%d", m.Name, program, ranks), func(t *testing.T) {
					dir := t.TempDir()
					c := exec.Command("go", "run", "./bench/scale", "-programs", program, "-ranks", strconv.Itoa(ranks), "-baseline=false", "-keep", dir)
					c.Dir = mpis.Root()
					if out, err := c.CombinedOutput(); err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
					if err := os.Rename(filepath.Join(dir, fmt.Sprintf("%s-%d.spoor", program, ranks)), filepath.Join(dir, "a.spoor")); err != nil {
						t.Fatal(err)
					}
					derived(t, m, dir, "a.spoor")
					derivedOfDrawn(t, m, dir, program == "ocean")
				})
			}
		}
	}
}

// What a replay says that it left out and received is what the program counted.
func TestReplayOfDerivedCounts(t *testing.T) {
	const ranks = 3
	for _, m := range installed(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			binary, err := build(m, "testdata/counted.c")
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			out, err := spoor(m, dir, append([]string{"run", "-q", "-o", "a.spoor"}, m.Command(ranks, binary)...)...)
			if err != nil {
				t.Fatalf("%v\n%s", err, mpis.Tail(out))
			}
			report, err := spoor(m, dir, "papers", "replay", "--json", "--no-compute", "--mpi", m.Name, "--timeout", "40s", "a.spoor")
			if err != nil {
				t.Fatalf("%v\n%s", err, mpis.Tail(report))
			}
			var got struct {
				Ranks []struct{ Rank, Dropped, Receives int64 }
			}
			if err := json.Unmarshal([]byte(report[strings.Index(report, "{"):]), &got); err != nil {
				t.Fatalf("%v\n%s", err, mpis.Tail(report))
			}
			if len(got.Ranks) != ranks {
				t.Fatalf("%d ranks in\n%s", len(got.Ranks), mpis.Tail(report))
			}
			for _, x := range got.Ranks {
				if want := fmt.Sprintf("rank %d: %d left out, %d received\n", x.Rank, x.Dropped, x.Receives); !strings.Contains(out, want) {
					t.Errorf("the replay has %sthe program counted\n%s", want, out)
				}
			}
		})
	}
}

// derivedOfDrawn does so with numbers of rounds that are drawn of a.spoor, with one seed or ten.
func derivedOfDrawn(t *testing.T, m *mpis.MPI, dir string, ten bool) {
	t.Helper()
	seeds := 1
	if ten {
		seeds = 10
	}
	for seed := range seeds {
		if out, err := spoor(m, dir, "papers", "thin", "--trip-counts", "--tolerance", "10%", "--seed", strconv.Itoa(seed), "--force", "-o", "drawn.spoor", "a.spoor"); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, mpis.Tail(out))
		}
		derived(t, m, dir, "drawn.spoor")
	}
}

// derived replays a trace and compares what ranks send each other, and what is received.
func derived(t *testing.T, m *mpis.MPI, dir, name string) {
	t.Helper()
	for _, args := range [][]string{
		{"papers", "replay", "--mpi", m.Name, "--no-compute", "-o", "b.spoor", "--timeout", "100s", name},
		{"check", "b.spoor"},
	} {
		if out, err := spoor(m, dir, args...); err != nil {
			t.Fatalf("spoor %s: %v\n%s", strings.Join(args, " "), err, mpis.Tail(out))
		}
	}
	sameSent(t, dir, name)
}

// sameSent compares what is sent in a trace with b.spoor, and there with what is received, and removes it.
func sameSent(t *testing.T, dir, name string) {
	t.Helper()
	defer os.Remove(filepath.Join(dir, "b.spoor"))
	now, err := traffic.Read(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	again, err := traffic.Read(filepath.Join(dir, "b.spoor"))
	if err != nil {
		t.Fatal(err)
	}
	var messages uint64
	for p, c := range now.Pairs {
		messages += c.Messages
		if again.Pairs[p] != c {
			t.Errorf("rank %d to %d: %+v, in the trace %+v", p.From, p.To, again.Pairs[p], c)
		}
	}
	if !maps.Equal(now.Pairs, again.Pairs) || !slices.Equal(now.Out, again.Out) {
		t.Errorf("ranks send %v, in the trace %v", again.Out, now.Out)
	}
	if again.Wild > 0 { // messages of persistent requests, which it counts as made and not as started
		maps.DeleteFunc(again.Left, func(_ traffic.Channel, l traffic.Left) bool { return l.Messages < 0 && l.Bytes <= 0 })
	}
	if len(again.Left) > 0 {
		t.Errorf("not all that is sent is received: %v", again.Left)
	}
	t.Logf("%s: %d messages, %d receives from any source", name, messages, now.Wild)
}

// Programs of test/mpi have what few programs do: each is refused, with a reason, or comes to its end with the messages it had.
func TestReplayOfDerivedCalls(t *testing.T) {
	count := make(map[string]int)
	for k, p := range mpis.NeedPrograms(t) {
		runsOn := slices.DeleteFunc(installed(t), func(m *mpis.MPI) bool { return !p.RunsOn(m) })
		for i, m := range runsOn {
			if os.Getenv("SPOOR_TEST_REPLAY") != "all" && (!sampled(p.Name, 8) || k%len(runsOn) != i) {
				continue
			}
			t.Run(m.Name+"/"+p.Name, func(t *testing.T) {
				binary, err := build(m, p.Path)
				if err != nil {
					t.Fatal(err)
				}
				dir := t.TempDir()
				if err := inputs.Write(dir, p.Few()); err != nil {
					t.Fatal(err)
				}
				if err := record(m, dir, p.Few(), append([]string{binary}, p.Args...)...); err != nil {
					t.Fatal(err)
				}
				out, err := spoor(m, dir, "papers", "replay", "--mpi", m.Name, "-o", "b.spoor", "--no-compute", "--timeout", "40s", "a.spoor")
				switch {
				case err != nil && strings.Contains(out, "nothing was started"):
					count["refused"]++
					t.Logf("%s", mpis.Tail(out))
				case err != nil && strings.Contains(out, "receives can't be derived: "):
					count["no order"]++
					t.Logf("%s", mpis.Tail(out))
				case err != nil:
					t.Errorf("%v\n%s", err, mpis.Tail(out))
				default:
					count["replayed"]++
					sameSent(t, dir, "a.spoor")
				}
			})
		}
	}
	t.Logf("%v", count)
}
