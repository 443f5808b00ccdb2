package inspect

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/need"
)

// build compiles C source into dir; tests that need it can't run without cc.
func build(t *testing.T, dir, name, source string, args ...string) string {
	t.Helper()
	cc := need.Command(t, "cc")
	file := filepath.Join(dir, name+".c")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, name)
	if msg, err := exec.Command(cc, append([]string{"-o", out, file}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, msg)
	}
	return out
}

// A program whose libraries stand in its own directory, one of them an MPI's
// name, reached through another library.
func TestProgramFindsMPIThroughLibraries(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "libmpi.so.40", "int MPI_Init(void *a, void *b) { return a != b; }", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40")
	build(t, dir, "libmpi_usempif08.so.40", "int f08;", "-shared", "-fPIC", "-Wl,-soname,libmpi_usempif08.so.40",
		"-Wl,--no-as-needed", filepath.Join(dir, "libmpi.so.40"), "-Wl,-rpath,$ORIGIN")
	app := build(t, dir, "app", "int main(void) { return 0; }", "-Wl,--no-as-needed",
		filepath.Join(dir, "libmpi_usempif08.so.40"), "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined")
	r, err := Program(app)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Traceable() || len(r.MPI) != 1 || r.MPI[0].Family != "Open MPI" || len(r.Fortran) != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestProgramNamesTheObstacle(t *testing.T) {
	dir := t.TempDir()
	static := build(t, dir, "static", "int main(void) { return 0; }", "-static")
	inside := build(t, dir, "inside", "int PMPI_Init(void) { return 0; } int main(void) { return PMPI_Init(); }")
	for path, want := range map[string]string{static: "statically linked", inside: "linked into it"} {
		r, err := Program(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.Obstacle, want) {
			t.Errorf("%s: obstacle %q, want %q", path, r.Obstacle, want)
		}
	}
	setuid := build(t, dir, "setuid", "int main(void) { return 0; }")
	if err := os.Chmod(setuid, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	if r, err := Program(setuid); err != nil || r.Traceable() {
		t.Errorf("set-user-id program: %+v, %v", r, err)
	}
}

func TestProgramTellsScriptsFromJunk(t *testing.T) {
	dir := t.TempDir()
	script, junk := filepath.Join(dir, "s"), filepath.Join(dir, "j")
	_ = os.WriteFile(script, []byte("#!/usr/bin/python3 -u\nprint()\n"), 0o755)
	_ = os.WriteFile(junk, []byte("junk"), 0o755)
	if r, err := Program(script); err != nil || r.Kind != "script" || r.Script != "/usr/bin/python3 -u" {
		t.Errorf("script: %+v, %v", r, err)
	}
	if _, err := Program(junk); err == nil {
		t.Error("junk was taken for a program")
	}
}
