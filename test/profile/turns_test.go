package profile

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/treetest"
)

// What turns.c says of a loop, and what the profile does.
type rounds struct{ entered, rounds uint64 }

// With --loop-counters it is known which of several loops went round, whatever compiled the program: loops were entered as often, and went round as
// often, as the program itself counted. Only those that pass rounds without a call may have made more.
func TestLoopCounters(t *testing.T) {
	list := mpis.Need(t)
	compilers := []string{"gcc"}
	for _, clang := range []string{"clang-19", "clang-16", "clang-14", "clang"} {
		if _, err := exec.LookPath(clang); err == nil {
			compilers = append(compilers, clang)
		}
	}
	runs := 0
	for _, compiler := range compilers {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
			m := list[runs%len(list)]
			runs++
			t.Run(compiler+level+"/"+m.Name, func(t *testing.T) { checkTurns(t, m, compiler, level) })
		}
	}
}

func checkTurns(t *testing.T, m *mpis.MPI, compiler, level string) {
	dir := t.TempDir()
	source, err := filepath.Abs("testdata/turns.c")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(m.CC, level, "-g", "-pthread", "-o", filepath.Join(dir, "app"), source)
	c.Env = append(os.Environ(), "MPICH_CC="+compiler, "OMPI_CC="+compiler)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(options ...string) (said string, marked int, found map[int]rounds) {
		said = spoor(t, dir, append(append([]string{"run", "-q", "-f", "-o", "app.spoor", "--stack", "16"}, options...), m.Command(1, "./app")...)...)
		var profiles []struct{ Threads []struct{ Body []loop } }
		if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "app.spoor")), &profiles); err != nil {
			t.Fatal(err)
		}
		found = make(map[int]rounds)
		for _, th := range profiles[0].Threads {
			each(th.Body, func(x loop) {
				if x.Kind != "loop" {
					return
				}
				if x.Unsure {
					marked++
				}
				var line int
				fmt.Sscanf(x.Place, "turns.c:%d", &line)
				r := found[line]
				found[line] = rounds{r.entered + x.Entered, r.rounds + x.Rounds}
			})
		}
		if placed, all, err := treetest.Check(filepath.Join(dir, "app.spoor")); err != nil || placed != all {
			t.Errorf("%d of %d calls placed, error %v", placed, all, err)
		}
		return said, marked, found
	}
	if _, marked, _ := run(); marked < 4 {
		t.Errorf("only %d loops are marked without counters", marked)
	}
	said, marked, found := run("--loop-counters")
	if marked > 0 {
		t.Errorf("%d loops are marked", marked)
	}
	compared := 0
	for text := range strings.Lines(said) {
		var line int
		var want rounds
		if n, _ := fmt.Sscanf(text, "loop %d %d %d", &line, &want.entered, &want.rounds); n < 3 {
			continue
		}
		got, there := found[line]
		for _, near := range []int{1, -1, 2, -2} { // an optimised loop's line may be one of its body, or of what is before it
			if !there && level != "-O0" {
				got, there = found[line+near]
			}
		}
		name := turnsLine(t, source, line)
		switch silent := strings.Contains(name, "silent"); {
		case !there && silent && level != "-O0": // it may be no loop any more
		case silent && (got.rounds == 0 || got.rounds > want.rounds || got.entered > want.entered):
			t.Errorf("line %d: %+v, it had %+v", line, got, want)
		case !silent && got != want:
			t.Errorf("line %d: %+v, not %+v", line, got, want)
		default:
			compared++
		}
	}
	if compared < 9 {
		t.Errorf("only %d loops were compared", compared)
	}
}

// turnsLine is a line of the source.
func turnsLine(t *testing.T, source string, n int) string {
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")[n-1]
}
