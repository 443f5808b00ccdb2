package profile

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

// TestMadeAtRunTime: code that is in no file, as that of a just-in-time compiler, is interpreted code. What it calls in libraries stands
// in it, with the loops that the order of calls shows.
func TestMadeAtRunTime(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		need.Absent(t, "no x86-64, of which the program writes code")
	}
	dir := trace(t, mpis.Need(t)[0], "jit.c", "-fno-omit-frame-pointer")
	hasRows(t, dir, "main()", "interpreted code jit.c:21", "12 times", "lib_step()", "lib_sync()", "interpreted code jit.c:22", "2 times")
}

// TestR: the functions of an interpreter are one row, and the library's functions that it calls stand in it.
func TestR(t *testing.T) {
	need.Command(t, "Rscript")
	if exec.Command("Rscript", "-e", "library(Rmpi); mpi.quit(save='no')").Run() != nil {
		need.Absent(t, "no Rmpi")
	}
	var m *mpis.MPI
	for _, x := range mpis.Need(t) {
		if x.Name == "openmpi" { // Debian's Rmpi is made for it
			m = x
		}
	}
	if m == nil {
		need.Absent(t, "no Open MPI")
	}
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/interpreted.R")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "interpreted.R"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	spoor(t, dir, slices.Concat([]string{"run", "-q", "-o", "app.spoor"}, m.Command(2, "Rscript", "interpreted.R"))...)
	tree := hasRows(t, dir, "interpreted code", "mpi_initialize()", "4 times", "mpi_allreduce()", "3 × MPI_Allreduce 8 B +", "mpi_barrier()", "mpi_finalize()")
	if strings.Contains(tree, "fn@") || strings.Contains(tree, "Rf_") {
		t.Errorf("functions of the interpreter in\n%s", tree)
	}
}

// hasRows looks for rows of the tree, in their order.
func hasRows(t *testing.T, dir string, rows ...string) (tree string) {
	t.Helper()
	tree = spoor(t, dir, "calltree", "--min-time", "0", "--width", "120", "app.spoor")
	next := 0
	for line := range strings.Lines(tree) {
		if text := strings.Join(strings.Fields(line), " "); next < len(rows) && strings.Contains(text+" ", " "+rows[next]) {
			next++
		}
	}
	if next < len(rows) {
		t.Errorf("no row %q after those before it in\n%s", rows[next], tree)
	}
	return tree
}
