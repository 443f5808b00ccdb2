package profile

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

// TestGo: calls that Go makes by cgo are in the functions and lines of Go, in all goroutines. Nothing is shown of what stands between Go
// and C.
func TestGo(t *testing.T) {
	need.Command(t, "go")
	m := mpis.Need(t)[0]
	if m.Name != "openmpi" {
		need.Absent(t, "no Open MPI, whose flags the program has")
	}
	dir := t.TempDir()
	source, err := os.ReadFile("testdata/cgo.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"main.go": string(source), "go.mod": "module cgo\n\ngo 1.20\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("go", "build", "-o", "app", ".")
	c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	spoor(t, dir, slices.Concat([]string{"run", "-q", "-o", "app.spoor"}, m.Command(2, "./app"))...)
	line := func(text string) string {
		return places(t, string(source), text)
	}
	want := []string{
		"MPI_Init_thread start " + line("return MPI_Init_thread"),
		"MPI_Allreduce sum " + line("int y; MPI_Allreduce"),
		"MPI_Barrier main.main " + line("\t\tC.barrier()\n"),
		"MPI_Barrier main.main.func1 " + line("each(func(i int) { C.barrier()"),
		"MPI_Allreduce main.main.func2.1 " + line("C.MPI_Allreduce("),
		"MPI_Finalize main.main " + line("C.finish()"),
	}
	table := spoor(t, dir, "profile", "--csv", "--columns", "function,place", "app.spoor")
	for _, place := range want {
		if !strings.Contains(table, "\n"+strings.Replace(place, " ", ",", 1)) {
			t.Errorf("no %s", place)
		}
	}
	if n := strings.Count(table, "MPI_"); n != len(want) {
		t.Errorf("%d places, not %d, in\n%s", n, len(want), table)
	}
	tree := spoor(t, dir, "calltree", "--min-time", "0", "--width", "100", "app.spoor")
	for _, row := range []string{"  main.main()\n", "  5 times", " main.(*solver).step() > sum() ", " main.main.func3() > main.(*solver).step() > sum() ", " 4 × MPI_Allreduce "} {
		if !strings.Contains(tree, row) {
			t.Errorf("no row %q", row)
		}
	}
	if strings.Contains(tree, "cgo-gcc-prolog") || strings.Contains(tree, "runtime.") || t.Failed() {
		t.Errorf("the tree is\n%s", tree)
	}
}

// places is the place of a line that has a text.
func places(t *testing.T, source, text string) string {
	t.Helper()
	before, _, ok := strings.Cut(source, text)
	if !ok {
		t.Fatalf("no %q", text)
	}
	n := strings.Count(before, "\n") + 1
	if strings.HasPrefix(text, "\n") {
		n++
	}
	return "main.go:" + strconv.Itoa(n)
}
