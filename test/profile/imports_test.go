package profile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestImports: what a file of Python does outside of functions has the file's name, an import is one row, with what it imports itself, and
// functions of C stand below the line of Python that called them.
func TestImports(t *testing.T) {
	interpreter, m := python(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/imports")); err != nil {
		t.Fatal(err)
	}
	if err := m.Compile(filepath.Join(dir, "solve.so"), "testdata/imports/solve.c", "-shared", "-fPIC"); err != nil {
		t.Fatal(err)
	}
	spoor(t, dir, slices.Concat([]string{"run", "-q", "-o", "app.spoor"}, m.Command(2, interpreter, "main.py"))...)
	tree := hasRows(t, dir, "main.py <module>()", "import helper main.py:5", "MPI_Barrier helper.py:2", "import pkg main.py:6", "MPI_Barrier inner.py:2", "MPI_Barrier inner.py:3",
		"4 times", "sweep() main.py:9", "solve() main.py:10", "product() solve.c:", "5 × MPI_Allreduce", "work() > <lambda>() inner.py:6", "interpreted code")
	for _, text := range []string{"import inner", "_PyEval", "Py_RunMain", "fn@"} {
		if strings.Contains(tree, text) {
			t.Errorf("%q in\n%s", text, tree)
		}
	}
}
