package profile

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// Runs of a program with threads are equal, whoever called MPI first; a call that one thread makes otherwise is found.
func TestThreadsOfTwoRuns(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			mpis.NeedSpoor(t)
			dir := t.TempDir()
			if err := m.Compile(filepath.Join(dir, "app"), "testdata/racing.c", "-pthread"); err != nil {
				t.Fatal(err)
			}
			run := func(name string, args ...string) {
				spoor(t, dir, slices.Concat([]string{"run", "-q", "-o", name}, m.Command(2, append([]string{"./app"}, args...)...))...)
			}
			diff := func(a, b string) int {
				r := mpis.Job{MPI: m, Dir: dir, Temp: t.TempDir()}.Run(mpis.NeedSpoor(t), "diff", a, b)
				return r.Code
			}
			for i := range 4 {
				run(fmt.Sprintf("%d.spoor", i))
			}
			run("odd.spoor", "3")
			for i := range 3 {
				a, b := fmt.Sprintf("%d.spoor", i), fmt.Sprintf("%d.spoor", i+1)
				if code := diff(a, b); code != 0 {
					t.Errorf("two runs differ (%d): %s", code, spoorOutput(t, m, dir, "diff", a, b))
				}
			}
			if code := diff("0.spoor", "odd.spoor"); code != 1 {
				t.Errorf("a thread sends more, and diff ends with %d", code)
			}
		})
	}
}

// spoorOutput runs the tool, whatever it ends with.
func spoorOutput(t *testing.T, m *mpis.MPI, dir string, args ...string) string {
	t.Helper()
	r := mpis.Job{MPI: m, Dir: dir, Temp: t.TempDir()}.Run(append([]string{mpis.NeedSpoor(t)}, args...)...)
	return r.Stdout + r.Stderr
}
