// Package extrapolate compares extrapolated traces of real programs with real runs.
package extrapolate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// Pipelined wavefronts on a Cartesian grid, in Fortran: the extrapolated trace on 20 ranks is equal to that of a run, and a replay of it makes the same calls.
func TestWavefronts(t *testing.T) {
	spoor := mpis.NeedSpoor(t)
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := t.TempDir()
			app, ok := compile.ByName("lu")
			if !ok {
				t.Fatal("there is no lu")
			}
			binary, err := app.Build(m, dir)
			if err != nil {
				t.Fatal(err)
			}
			run := func(line ...string) {
				t.Helper()
				c := exec.Command(line[0], line[1:]...)
				c.Dir, c.Env = dir, m.Environ("OMPI_MCA_rmaps_base_oversubscribe=1")
				log, err := os.Create(filepath.Join(dir, "log"))
				if err != nil {
					t.Fatal(err)
				}
				defer log.Close()
				c.Stdout, c.Stderr = log, log
				if err := mpis.RunWithin(5*time.Minute, c); err != nil {
					text, _ := os.ReadFile(log.Name())
					t.Fatalf("%v: %v\n%s", line, err, mpis.Tail(string(text)))
				}
			}
			record := func(ranks int) string {
				name := fmt.Sprintf("lu-%d.spoor", ranks)
				run(append([]string{spoor, "run", "-o", name}, m.Command(ranks, binary, "-n", "40", "-i", "1")...)...)
				return name
			}
			line := []string{spoor, "extrapolate", "--ranks", "20", "-o", "told.spoor"}
			for _, n := range []int{4, 6, 8, 9, 12, 16} {
				line = append(line, record(n))
			}
			run(line...)
			run(spoor, "diff", "told.spoor", record(20))
			run(spoor, "replay", "--record", "again.spoor", "told.spoor")
			run(spoor, "diff", "--any-address", "told.spoor", "again.spoor")
		})
	}
}
