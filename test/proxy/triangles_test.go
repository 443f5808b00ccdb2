package proxy

import (
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/internal/proxy"
)

// TestTriangles: inner loops that run once more or less each time take some bytes of the
// trace and some lines of the proxy, however often they do.
func TestTriangles(t *testing.T) {
	const ranks = 2
	for i, m := range installed(t) {
		n := "400"
		if i > 0 {
			n = "150" // it takes seven times as long
		}
		triangles := func(t *testing.T, source string) {
			binary := filepath.Join(t.TempDir(), "triangles")
			if err := m.Compile(binary, filepath.Join("../mpi", source)); err != nil {
				t.Fatal(err)
			}
			a := traced(t, m, t.TempDir(), "a.spoor", ranks, binary, n)
			costs, err := a.Costs()
			if err != nil {
				t.Fatal(err)
			}
			order := 0.0
			for _, c := range costs {
				if c.Value == "order of calls" {
					order += c.Stored
				}
			}
			if order == 0 || order > 100 {
				t.Errorf("the order of calls takes %.0f bytes", order)
			}
			p, err := proxy.Generate(a, proxy.Options{})
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
			b := traced(t, m, dir, "b.spoor", ranks, compiled(t, m, dir))
			if got, why := compare(t, a, b); got != equal {
				t.Errorf("%s\n%s", got, why)
			}
			t.Logf("%.1f bytes of order, %d lines", order, p.Lines)
		}
		for _, source := range []string{"triangles.c", "waits_growing.c"} {
			t.Run(m.Name+"/"+source, func(t *testing.T) { triangles(t, source) })
		}
	}
}
