package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Runs in one folder take no trace of each other for their own: one begins and ends while the other goes on, which then dies or has a trace.
func TestBeside(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/meanwhile.c", func(s *shell) {
		for _, flags := range [][]string{nil, {"--tolerance", "5%"}} {
			for end, want := range map[string]string{"exit 1": "no whole trace", "true": "app-2.spoor: 2 ranks"} {
				other := strings.Join(append([]string{"env -i HOME=/ PATH=" + os.Getenv("PATH")}, s.mpi.Environ()[len(os.Environ()):]...), " ") +
					" " + tool + " run " + strings.Join(s.mpi.Command(2, "./app", "4"), " ") + " >other 2>&1; " + end
				line := append(append([]string{tool, "run"}, flags...), s.mpi.Command(2, "./app", "20", other)...)
				_, _, stderr := s.run(line...)
				text, _ := os.ReadFile(filepath.Join(s.dir, "other"))
				if !strings.Contains(string(text), "spoor: app.spoor: 2 ranks") || strings.Contains(stderr, "spoor: app.spoor: 2 ranks") || !strings.Contains(stderr, want) {
					s.t.Errorf("%q, %s: it printed %s\nand the other one %s", flags, end, stderr, text)
				}
				for _, pattern := range []string{"*.spoor", "*.partial"} {
					list, _ := filepath.Glob(filepath.Join(s.dir, pattern))
					for _, path := range list {
						if err := os.RemoveAll(path); err != nil {
							s.t.Fatal(err)
						}
					}
				}
			}
		}
	})
}
