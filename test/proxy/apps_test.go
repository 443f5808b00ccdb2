package proxy

import (
	"os/exec"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/inputs"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/trace"
)

// TestApps makes proxies of the small real programs.
func TestApps(t *testing.T) {
	for _, m := range installed(t) {
		var total count
		t.Run(m.Name, func(t *testing.T) {
			for _, app := range compile.All {
				if !sampled(app.Name+m.Name, 2) {
					continue
				}
				ranks := 2
				if all() {
					ranks = 4
				}
				if results.Known(m.Name, app.Name, ranks) {
					continue
				}
				t.Run(app.Name, func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					results.InTime(t)
					dir := t.TempDir()
					binary, err := app.Build(m, dir)
					if err != nil {
						t.Fatal(err)
					}
					a := deep(t, m, dir, "a.spoor", ranks, append([]string{binary}, app.Quick...)...)
					if code(t, a) == nil {
						t.Error("nothing is known of the program's code")
					}
					for _, o := range []proxy.Options{{}, {Code: code(t, a)}} {
						got, why := proxied(t, m, a, ranks, o)
						total.add(got)
						results.Note(t, m.Name, app.Name, ranks, string(got), why)
						judge(t, app.Name, m.Name, got, why)
					}
				})
			}
		})
		t.Logf("%s: %v", m.Name, total.of)
	}
}

// A real program that nobody here wrote, and how it is called.
var realPrograms = []struct {
	name string
	line []string
}{
	{"hpcc", []string{"hpcc"}},
	{"lammps-melt", []string{"lmp", "-in", "/usr/share/lammps/examples/melt/in.melt", "-log", "none"}},
	{"nwchem", []string{"nwchem.openmpi", "water.nw"}},
	{"cp2k", []string{"cp2k.psmp", "-i", "water.inp"}},
}

// recordedReal traces a real program.
func recordedReal(t *testing.T, m *mpis.MPI, ranks int, line []string) *trace.Reader {
	t.Helper()
	if _, err := exec.LookPath(line[0]); err != nil {
		need.Absent(t, "%s is not installed", line[0])
	}
	dir := t.TempDir()
	if err := inputs.Write(dir, ranks); err != nil {
		t.Fatal(err)
	}
	return traced(t, m, dir, "a.spoor", ranks, line...)
}

// TestReal makes proxies of the real programs, with SPOOR_TEST_PROXY=all.
func TestReal(t *testing.T) {
	if !all() {
		t.Skip("SPOOR_TEST_PROXY=all runs it")
	}
	for _, m := range installed(t) {
		if m.Family != "openmpi" {
			continue // what Debian builds them for
		}
		for _, x := range realPrograms {
			t.Run(x.name, func(t *testing.T) {
				if results.Known(m.Name, x.name, 4) {
					t.Skip("known already")
				}
				results.InTime(t)
				got, why := proxied(t, m, recordedReal(t, m, 4, x.line), 4, proxy.Options{})
				results.Note(t, m.Name, x.name, 4, string(got), why)
				judge(t, x.name, m.Name, got, why)
			})
		}
	}
}
