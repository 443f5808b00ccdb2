package export

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// counts counts the rows of a table by what stands in a column.
func counts(t *testing.T, path, column string) map[string]int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	n := make(map[string]int)
	for i, name := range rows[0] {
		if name == column {
			for _, row := range rows[1:] {
				n[row[i]]++
			}
		}
	}
	return n
}

// TestPhases: of programs whose phases are known, an export of one has its calls, and dump prints the same,
// with times and without.
func TestPhases(t *testing.T) {
	type functions = map[string]int
	known := map[string]map[string]functions{ // by program and level, on 4 ranks
		"phases.c": {
			"3":  {"MPI_Pcontrol": 4, "MPI_Bcast": 4},
			"4":  {"MPI_Pcontrol": 40, "MPI_Irecv": 40, "MPI_Send": 40},
			"5":  {"MPI_Pcontrol": 40, "MPI_Wait": 40, "MPI_Allreduce": 20},
			"60": {"MPI_Pcontrol": 20, "MPI_Allreduce": 20},
			"0":  {"MPI_Pcontrol": 4},
			"-1": {"MPI_Pcontrol": 4, "MPI_Barrier": 4, "MPI_Finalize": 4},
		},
		"pcontrol.c": {
			"0": {"MPI_Pcontrol": 8},
			"1": {"MPI_Pcontrol": 12, "MPI_Allreduce": 40, "MPI_Comm_free": 4, "MPI_Finalize": 4},
			"2": {"MPI_Pcontrol": 8, "MPI_Allreduce": 40},
		},
	}
	for _, m := range mpis.Need(t) {
		for _, p := range mpis.NeedPrograms(t) {
			levels := known[p.Name]
			if levels == nil {
				continue
			}
			for _, timing := range []string{"lossless", "stats", "none"} {
				t.Run(m.Name+"/"+p.Name+"/"+timing, func(t *testing.T) {
					dir := t.TempDir()
					app := filepath.Join(dir, "app")
					if err := m.Compile(app, p.Path); err != nil {
						t.Fatal(err)
					}
					spoor(t, dir, append([]string{"run", "-q", "--timing", timing, "-o", "app.spoor"}, m.Command(4, app)...)...)
					for level, want := range levels {
						told := spoor(t, dir, "export", "--to", "csv", "--phase", level, "--force", "-o", "csv", "app.spoor")
						got := counts(t, filepath.Join(dir, "csv", "calls.csv"), "function")
						if diff := cmp.Diff(want, got); diff != "" {
							t.Errorf("phase %s:\n%s", level, diff)
						}
						dumped := make(functions)
						for _, line := range strings.Split(strings.TrimSpace(spoor(t, dir, "dump", "--phase", level, "app.spoor")), "\n") {
							_, call, _ := strings.Cut(line, " ")
							name, _, _ := strings.Cut(call, "(")
							dumped[name]++
						}
						if diff := cmp.Diff(want, dumped); diff != "" {
							t.Errorf("dump of phase %s:\n%s%s", level, diff, told)
						}
					}
					if p.Name == "phases.c" { // what the phase before began is completed in it
						spoor(t, dir, "export", "--to", "csv", "--phase", "5", "--force", "-o", "csv", "app.spoor")
						if n := counts(t, filepath.Join(dir, "csv", "operations.csv"), "kind")["receive end"]; n != 40 {
							t.Errorf("%d receives end in phase 5, want 40", n)
						}
					}
				})
			}
		}
	}
}
