package proxy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// TestTriangles: inner loops that run once more or less each time take some bytes of the
// trace and some lines of the proxy, however often they do.
func TestTriangles(t *testing.T) {
	for i, m := range installed(t) {
		for _, source := range []string{"triangles.c", "waits_growing.c"} {
			t.Run(m.Name+"/"+source, func(t *testing.T) {
				binary := filepath.Join(t.TempDir(), "triangles")
				if err := m.Compile(binary, filepath.Join("../mpi", source)); err != nil {
					t.Fatal(err)
				}
				// Each exchange waits for the other rank, for a time slice of whoever else wants the processors.
				a := short(t, m, binary, "40")
				if i == 0 && source == "triangles.c" {
					short(t, m, binary, "120")
				}
				p, err := proxy.GenerateProgram(a, proxy.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if p.Lines > 100 {
					t.Errorf("%d lines", p.Lines)
				}
				dir := t.TempDir()
				if err := p.Write(dir); err != nil {
					t.Fatal(err)
				}
				b := traced(t, m, dir, "b.spoor", 2, compiled(t, m, dir))
				if got, why := compare(t, a, b); got != equal {
					t.Errorf("%s\n%s", got, why)
				}
				if i > 0 {
					return
				}
				// Nor many lines of one that has the program's own functions and loops.
				a = deep(t, m, t.TempDir(), "a.spoor", 2, binary, "40")
				o := proxy.Options{Code: code(t, a)}
				if p, err = proxy.GenerateProgram(a, o); err != nil {
					t.Fatal(err)
				}
				if p.Lines > 200 || !strings.Contains(string(p.Files["proxy.c"]), "// loop ") {
					t.Errorf("%d lines with the program's loops", p.Lines)
				}
				if got, why := proxied(t, m, a, 2, o); got != equal {
					t.Errorf("with the program's loops: %s\n%s", got, why)
				}
			})
		}
	}
}

// short traces two ranks of a program, whose order of calls has to take at most 100 bytes.
func short(t *testing.T, m *mpis.MPI, binary, rounds string) *trace.Reader {
	t.Helper()
	r := traced(t, m, t.TempDir(), "a.spoor", 2, binary, rounds)
	costs, err := r.StorageCosts()
	if err != nil {
		t.Fatal(err)
	}
	order := 0.0
	for _, c := range costs {
		if c.Parameter == "order of calls" {
			order += c.StoredBytes
		}
	}
	if order == 0 || order > 100 {
		t.Errorf("%s rounds: the order of calls takes %.0f bytes", rounds, order)
	}
	return r
}
