package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	r, err := InspectProgram(app)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Traceable() || len(r.MPI) != 1 || r.MPI[0].Family != "Open MPI" || len(r.FortranBindings) != 1 {
		t.Errorf("got %+v", r)
	}
}

// Loops that count their rounds are told of by notes of the program and of its libraries, one for each unit.
func TestProgramCountsLoops(t *testing.T) {
	dir := t.TempDir()
	note := func(loops string) string {
		return `__asm__(".pushsection .note.spoor, \"a\", @note; .long 6, 16, 1; .asciz \"spoor\"; .short 0; .long 0, 0, ` + loops + `, 0; .popsection");`
	}
	build(t, dir, "libx.so", note("5"), "-shared", "-fPIC", "-Wl,-soname,libx.so")
	app := build(t, dir, "app", note("7")+note("30")+"int main(void) { return 0; }", "-Wl,--no-as-needed", filepath.Join(dir, "libx.so"), "-Wl,-rpath,$ORIGIN")
	if r := symbols(t, app); r.InstrumentedLoops != 42 {
		t.Errorf("got %+v", r)
	}
	cut := build(t, dir, "cut", note("7")+`__asm__(".pushsection .note.spoor, \"a\", @note; .long 6, 16, 1; .popsection");int main(void) { return 0; }`)
	if r := symbols(t, cut); r.InstrumentedLoops != 7 {
		t.Errorf("a note that is cut short: %+v", r)
	}
}

// symbols is all that is known of a program.
func symbols(t *testing.T, path string) *Inspection {
	t.Helper()
	r, err := InspectProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	r.InspectSymbols()
	return r
}

func TestProgramNamesTheObstacle(t *testing.T) {
	dir := t.TempDir()
	static := build(t, dir, "static", "int main(void) { return 0; }", "-static")
	inside := build(t, dir, "inside", "int PMPI_Init(void) { return 0; } int main(void) { return PMPI_Init(); }")
	for path, want := range map[string]string{static: "statically linked", inside: "linked into it"} {
		r, err := InspectProgram(path)
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
	if r, err := InspectProgram(setuid); err != nil || r.Traceable() {
		t.Errorf("set-user-id program: %+v, %v", r, err)
	}
}

func TestProgramTellsScriptsFromJunk(t *testing.T) {
	dir := t.TempDir()
	script, junk := filepath.Join(dir, "s"), filepath.Join(dir, "j")
	_ = os.WriteFile(script, []byte("#!/usr/bin/python3 -u\nprint()\n"), 0o755)
	_ = os.WriteFile(junk, []byte("junk"), 0o755)
	if r, err := InspectProgram(script); err != nil || r.Kind != "script" || r.ScriptInterpreter != "/usr/bin/python3 -u" {
		t.Errorf("script: %+v, %v", r, err)
	}
	if _, err := InspectProgram(junk); err == nil {
		t.Error("junk was taken for a program")
	}
}

// The loader's cache says what ldconfig reads in it.
func TestLoaderCache(t *testing.T) {
	out, err := exec.Command(need.Command(t, "/sbin/ldconfig"), "-p").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		if name, path, ok := strings.Cut(strings.TrimSpace(line), " => "); ok {
			name, _, _ = strings.Cut(name, " ")
			want[name] = append(want[name], path)
		}
	}
	if d := cmp.Diff(want, loaderCache()); d != "" {
		t.Error(d)
	}
}
