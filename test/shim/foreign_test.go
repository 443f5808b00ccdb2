package shim

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// A library may have functions of other purposes under names of MPI's or of the C library's, in any mangling.
// They are called with what the caller passed, and MPI's calls are recorded beside them.
func TestForeignNames(t *testing.T) {
	makes(t, "bin/libspoor-io.so")
	dir := filepath.Dir(library(t))
	calls := map[string]int{"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Barrier": 1, "MPI_Finalize": 1}
	for _, m := range mpis.Need(t) {
		foreign := compile(t, "cc", "foreign.c", "libforeign.so", "-DFILES")
		later := compile(t, "cc", "foreign.c", "libforeign.so")
		libs := []struct {
			name    string
			program string
			args    []string
		}{
			{"linked", compile(t, m.CC, "foreigner.c", "linked", "-DLINKED", "-DFILES", foreign), nil},
			{"bound at start", compile(t, m.CC, "foreigner.c", "now", "-DLINKED", "-DFILES", "-Wl,-z,now", foreign), nil},
			{"loaded", compile(t, m.CC, "foreigner.c", "loads"), []string{later, "lazy", "local"}},
			{"loaded bound", compile(t, m.CC, "foreigner.c", "loads"), []string{later, "now", "local"}},
			{"loaded globally", compile(t, m.CC, "foreigner.c", "loads"), []string{later, "lazy", "global"}},
		}
		for _, l := range libs {
			for _, shim := range []string{"libspoor.so", "libspoor-io.so"} {
				t.Run(m.Name+"/"+l.name+"/"+shim, func(t *testing.T) {
					work := t.TempDir()
					file := filepath.Join(work, "t.spoor")
					command := append([]string{l.program}, l.args...)
					plain := run(t, m, work, nil, 1, command...)
					r := run(t, m, work, []string{"LD_PRELOAD=" + filepath.Join(dir, shim), "SPOOR_OUT=" + file}, 1, command...)
					if plain.Err != nil || r.Err != nil || r.Stdout != plain.Stdout || strings.Contains(plain.Stdout, "WRONG") {
						t.Fatalf("%v, %v\n%s\ninstead of\n%s\n%s", plain.Err, r.Err, r.Stdout, plain.Stdout, r.Stderr)
					}
					got := countCalls(t, file)
					maps.DeleteFunc(got, func(name string, _ int) bool { return !strings.HasPrefix(name, "MPI_") })
					if !maps.Equal(got, calls) {
						t.Errorf("calls of rank 0: %v, want %v", got, calls)
					}
				})
			}
		}
	}
}

// Calls by manglings that the library does not export are recorded all the same.
func TestManglings(t *testing.T) {
	shim := library(t)
	want := map[string]int{"MPI_Init": 1, "MPI_Comm_rank": 3, "MPI_Barrier": 4, "MPI_Finalize": 1}
	for _, m := range mpis.Need(t) {
		for _, bind := range []string{"lazy", "now"} {
			t.Run(m.Name+"/"+bind, func(t *testing.T) {
				fortran := map[string]string{"mpich": "-lmpichfort", "openmpi": "-lmpi_mpifh"}[m.Name]
				program := compile(t, m.CC, "manglings.c", "manglings", fortran, "-Wl,-z,"+bind)
				dir := t.TempDir()
				file := filepath.Join(dir, "t.spoor")
				r := run(t, m, dir, []string{"LD_PRELOAD=" + shim, "SPOOR_OUT=" + file}, 2, program)
				if r.Err != nil || !strings.Contains(r.Stdout, "3 0") {
					t.Fatalf("%v: %s%s", r.Err, r.Stdout, r.Stderr)
				}
				got := countCalls(t, file)
				delete(got, "MPI_Comm_c2f")
				if !maps.Equal(got, want) {
					t.Errorf("calls of rank 0: %v, want %v", got, want)
				}
			})
		}
	}
}
