package replay

import (
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// Requests that finish in the order of their arrays are replayed, and all that was received is.
func TestReplayOfOrdered(t *testing.T) {
	source, err := filepath.Abs("../proxy/testdata/polling.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range installed(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := t.TempDir()
			binary := filepath.Join(dir, "polling")
			if err := m.Compile(binary, source); err != nil {
				t.Fatal(err)
			}
			if err := record(m, dir, 4, binary, "50"); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"papers", "thin", "--order", "--tolerance", "0%", "-o", "ordered.spoor", "a.spoor"},
				{"check", "ordered.spoor"},
				{"diff", "--any-order", "a.spoor", "ordered.spoor"},
				{"replay", "--mpi", m.Name, "--no-compute", "-o", "b.spoor", "--timeout", "40s", "ordered.spoor"},
				{"diff", "--any-address", "ordered.spoor", "b.spoor"},
			} {
				if out, err := spoor(m, dir, args...); err != nil {
					t.Fatalf("spoor %s: %v\n%s", args[0], err, mpis.Tail(out))
				}
			}
			if out, err := spoor(m, dir, "diff", "--quiet", "a.spoor", "ordered.spoor"); err == nil {
				t.Errorf("all requests finished in order\n%s", out)
			}
		})
	}
}
