package timing

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// What a program is known to do in time is what its trace says, recorded by default. A busy machine may add what is not the program's, or
// hide it: one of a few runs must say it.
func TestCourse(t *testing.T) {
	const ranks, rounds, tries = 4, 100, 4
	every := func(f trace.WhenFinding, n uint64) bool { return f.Period == n && f.FirstIteration == n-1 }
	one := func(f trace.WhenFinding, rank int) bool {
		return f.RankCount == 1 && slices.Equal(f.Ranks, []int{rank})
	}
	late := func(f trace.WhenFinding) bool {
		return f.Kind == int(when.KindSlow) && f.FirstIteration == rounds*7/10 && one(f, ranks-1)
	}
	shifts := func(f trace.WhenFinding) bool {
		return f.Kind == int(when.KindStep) && f.FirstIteration >= rounds/2-3 && f.FirstIteration <= rounds/2+3 && one(f, 1)
	}
	for mode, wanted := range map[string][]func(f trace.WhenFinding) bool{
		"slow":   {late},
		"step":   {shifts},
		"both":   {late, shifts},
		"period": {func(f trace.WhenFinding) bool { return every(f, 20) }},
		"adapt":  {func(f trace.WhenFinding) bool { return every(f, 5) }},
		"nest":   {func(f trace.WhenFinding) bool { return every(f, 20) }},
	} {
		t.Run(mode, func(t *testing.T) {
			for _, m := range mpis.Need(t) {
				t.Run(m.Name, func(t *testing.T) {
					a := &app{t: t, job: mpis.Job{MPI: m, Dir: t.TempDir()}, ranks: ranks, args: []string{mode, fmt.Sprint(rounds), "10"}}
					if err := m.Compile(filepath.Join(a.job.Dir, "app"), "testdata/course.c"); err != nil {
						t.Fatal(err)
					}
					var seen []trace.WhenFinding
					for range tries {
						w, err := a.trace().When()
						if err != nil || w == nil || w.Loop == nil || w.Loop.Iterations != rounds {
							t.Fatalf("%v: not %d iterations", err, rounds)
						}
						if !slices.ContainsFunc(wanted, func(is func(trace.WhenFinding) bool) bool { return !slices.ContainsFunc(w.Findings, is) }) {
							return
						}
						seen = append(seen, w.Findings...)
					}
					t.Errorf("%d runs: %+v", tries, seen)
				})
			}
		})
	}
}

// Beside processes that take all processors, what happens to a program with a steady course is told of the machine.
func TestBesideLoad(t *testing.T) {
	const ranks, rounds, tries = 4, 60, 4
	if _, err := os.Stat("/proc/thread-self/schedstat"); err != nil {
		t.Skipf("the kernel does not say how long threads wait for a processor: %v", err)
	}
	var load []*exec.Cmd
	for range 2 * runtime.NumCPU() {
		c := exec.Command("sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		load = append(load, c)
	}
	defer func() {
		for _, c := range load {
			c.Process.Kill()
			c.Wait()
		}
	}()
	m := mpis.Need(t)[0]
	a := &app{t: t, job: mpis.Job{MPI: m, Dir: t.TempDir()}, ranks: ranks, args: []string{"none", fmt.Sprint(rounds), "5"}}
	if err := m.Compile(filepath.Join(a.job.Dir, "app"), "testdata/course.c"); err != nil {
		t.Fatal(err)
	}
	mpis.Steady(t, func(complain func(string, ...any)) {
		machine, program := 0, 0
		var seen []trace.WhenFinding
		for range tries {
			w, err := a.trace().When()
			if err != nil || w == nil || w.Loop == nil {
				t.Fatalf("%v: no iterations", err)
			}
			for _, f := range w.Findings {
				if seen = append(seen, f); f.Kind == int(when.KindWaitingForCPU) {
					machine++
				}
			}
			if slices.ContainsFunc(w.Findings, func(f trace.WhenFinding) bool { return f.Kind != int(when.KindWaitingForCPU) }) {
				program++
			}
		}
		if machine < tries/2 || program > tries/2 {
			complain("%d runs, %d of them with findings of the machine, %d of the program: %+v", tries, machine, program, seen)
		}
	})
}
