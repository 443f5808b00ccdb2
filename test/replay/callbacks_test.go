package replay

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// TestPredefinedCallbacks: a trace knows predefined copy and delete functions of any MPI by name, so that duplicates have the same
// attributes in a replay under any.
func TestPredefinedCallbacks(t *testing.T) {
	list := mpis.Need(t)
	for _, m := range list {
		dir := t.TempDir()
		spoor := func(args ...string) string {
			t.Helper()
			r := mpis.Job{MPI: m, Dir: dir, Temp: t.TempDir()}.Run(append([]string{mpis.NeedSpoor(t)}, args...)...)
			if r.Err != nil {
				t.Fatalf("%s, spoor %q: %v", m.Name, args, r)
			}
			return r.Stdout
		}
		app := filepath.Join(dir, "app")
		if err := m.Compile(app, mpis.Root("test", "mpi", "attributes_predefined.c")); err != nil {
			t.Fatal(err)
		}
		spoor(append([]string{"run", "-q", "-o", "app.spoor"}, m.Command(2, app)...)...)
		text := spoor("dump", "-r", "0", "app.spoor")
		for _, name := range []string{"MPI_COMM_NULL_COPY_FN", "MPI_COMM_DUP_FN", "MPI_TYPE_NULL_DELETE_FN", "MPI_TYPE_DUP_FN", "MPI_WIN_NULL_COPY_FN", "MPI_WIN_DUP_FN"} {
			if !strings.Contains(text, "_fn="+name) {
				t.Errorf("%s: no %s in\n%s", m.Name, name, text)
			}
		}
		for _, other := range list {
			spoor("replay", "-q", "--mpi", other.Name, "-o", "by-"+other.Name+".spoor", "app.spoor")
			spoor("diff", "--renamed", "app.spoor", "by-"+other.Name+".spoor")
		}
	}
}
