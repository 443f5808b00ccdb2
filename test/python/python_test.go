// Package python tests the module for Python, packaging/python, with and without pandas.
package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

func TestTables(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	traces := mpis.Root("test", "powers", "testdata")
	args := []string{"tables.py"}
	for _, name := range []string{"heat2d", "sort", "lu-none", "checkpoint"} {
		args = append(args, filepath.Join(traces, name+".spoor"))
	}
	for _, c := range []struct{ name, hide, want string }{{"pandas", "", "ok DataFrame"}, {"lists", "pandas", "ok list"}} {
		t.Run(c.name, func(t *testing.T) {
			path := mpis.Root("packaging", "python")
			if c.hide != "" { // a module that cannot be imported is in the way
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, c.hide+".py"), []byte("raise ImportError\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				path = dir + ":" + path
			}
			cmd := exec.Command("/usr/bin/python3", append([]string{"-B"}, args...)...)
			cmd.Env = append(os.Environ(), "PYTHONPATH="+path, "SPOOR="+tool)
			out, err := cmd.CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != c.want {
				t.Errorf("%v: %s; want %q", err, out, c.want)
			}
		})
	}
}

// The package can be built and installed by pip, which needs nothing from a network.
func TestInstall(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "python")
	if err := os.CopyFS(source, os.DirFS(mpis.Root("packaging", "python"))); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("/usr/bin/python3", "-m", "pip", "--version").CombinedOutput(); err != nil {
		need.Absent(t, "pip is not installed: %s", out)
	}
	out, err := exec.Command("/usr/bin/python3", "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--target", filepath.Join(dir, "site"), source).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command("/usr/bin/python3", "-c", "import spoor; print(spoor.__version__)")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(dir, "site"))
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "1.1.0" {
		t.Errorf("%v: %s", err, out)
	}
}
