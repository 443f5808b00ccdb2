package run

import (
	"os"
	"path/filepath"
	"testing"
)

// Launchers take programs from a file, too: they run, all ranks are recorded, and the trace has the first one's name.
func TestListedPrograms(t *testing.T) {
	t.Parallel()
	each(t, "stencil", func(s *shell) {
		if err := os.Link(filepath.Join(s.dir, "app"), filepath.Join(s.dir, "second")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.dir, "list"), []byte("# both\n-n 2 ./app\n-n 1 ./second\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		option := map[string]string{"mpich": "-configfile", "openmpi": "--app"}[s.mpi.Family]
		line := s.mpi.Command(1, "./app")
		launcher := line[:len(line)-3] // without -n 1 ./app
		_, stderr := s.spoor(append(append([]string{"run"}, launcher...), option, "list")...)
		s.wants(stderr, "spoor: app.spoor: 3 ranks, ")
		s.spoor("check", "app.spoor")
	})
}
