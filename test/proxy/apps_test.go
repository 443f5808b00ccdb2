package proxy

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"spoor/internal/proxy"
	"spoor/test/apps/compile"
	"spoor/test/hpcc"
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
				ranks := "2"
				if all() {
					ranks = "4"
				}
				if known(m.Name, app.Name, ranks) {
					continue
				}
				t.Run(app.Name, func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					if late() {
						t.Skip("the time is up")
					}
					dir := t.TempDir()
					binary, err := m.Build(app, dir)
					if err != nil {
						t.Fatal(err)
					}
					a := traced(t, &m, dir, "a.spoor", ranks, append([]string{binary}, app.Quick...)...)
					got, why := proxied(t, &m, a, ranks, proxy.Options{})
					total.add(got)
					note(t, m.Name, app.Name, ranks, got, why)
					judge(t, app.Name, m.Name, got, why)
				})
			}
		})
		t.Logf("%s: %v", m.Name, total.of)
	}
}

// TestReal makes proxies of HPC Challenge and of LAMMPS, with SPOOR_TEST_PROXY=all.
func TestReal(t *testing.T) {
	if !all() {
		t.Skip("SPOOR_TEST_PROXY=all runs it")
	}
	for _, m := range installed(t) {
		if m.Name != "openmpi" {
			continue // what Debian builds them for
		}
		real := func(name string, args ...string) {
			t.Run(name, func(t *testing.T) {
				if _, err := exec.LookPath(args[0]); err != nil {
					skip(t, "%s is not installed", args[0])
				}
				if known(m.Name, name, "4") || late() {
					t.Skip("known already, or the time is up")
				}
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "hpccinf.txt"), []byte(hpcc.Input), 0o666); err != nil {
					t.Fatal(err)
				}
				got, why := proxied(t, &m, traced(t, &m, dir, "a.spoor", "4", args...), "4", proxy.Options{})
				note(t, m.Name, name, "4", got, why)
				judge(t, name, m.Name, got, why)
			})
		}
		real("hpcc", "hpcc")
		real("lammps-melt", "lmp", "-in", "/usr/share/lammps/examples/melt/in.melt", "-log", "none")
	}
}
