package compile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// Every program runs under both MPIs as it does without spoor, and leaves a
// trace that passes verify.
func TestTraced(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	for _, m := range mpis.Need(t) {
		ranks := 4
		if m.Family == "mpich" {
			ranks = 2 // they spin while they wait
		}
		for _, a := range All {
			if !a.RunsOn(m) {
				continue
			}
			t.Run(m.Name+"/"+a.Name, func(t *testing.T) {
				job := mpis.Job{MPI: m, Dir: t.TempDir()}
				path, err := a.Build(m, job.Dir)
				if err != nil {
					t.Fatal(err)
				}
				run := func(line ...string) string {
					t.Helper()
					r := job.Run(line...)
					if r.Err != nil {
						t.Fatalf("%q: %v", line, r)
					}
					return r.Stdout
				}
				line := m.Command(ranks, append([]string{path}, a.Quick...)...)
				plain := run(line...)
				if got := run(append([]string{tool, "run", "-o", "t.spoor"}, line...)...); got != plain || got == "" {
					t.Errorf("traced %q, plain %q", got, plain)
				}
				run(tool, "check", "t.spoor")
				info, err := os.Stat(filepath.Join(job.Dir, "t.spoor"))
				if err != nil {
					t.Fatal(err)
				}
				if info.Size() > 16<<10 {
					t.Errorf("a trace of %d bytes", info.Size())
				}
			})
		}
	}
}
