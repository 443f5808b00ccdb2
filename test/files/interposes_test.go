package files

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// Calls on files inside of a call of MPI are the MPI's, though they come from functions of the program's that it called by the
// names of the C library's.
func TestProgramsOwnFunctions(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := t.TempDir()
			program, file := filepath.Join(dir, "interposes"), filepath.Join(dir, "t.spoor")
			if err := m.Compile(program, "testdata/interposes.c", "-rdynamic", "-ldl"); err != nil {
				t.Fatal(err)
			}
			if r := (mpis.Job{MPI: m, Dir: dir, Temp: dir}).Run(append([]string{tool, "run", "-q", "--io", "-o", file}, m.Command(1, program)...)...); r.Err != nil {
				t.Fatal(r)
			}
			r, err := trace.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			k, err := r.Rank(0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for c, err := range k.Calls(0) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, c.Name())
			}
			if i := slices.Index(got, "MPI_Init"); i > 0 {
				got = got[i:] // what libraries do when they are loaded
			}
			if text := strings.Join(got, " "); text != "MPI_Init fopen fclose MPI_Barrier MPI_Finalize" {
				t.Error(text)
			}
		})
	}
}
