package profile

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

// python finds the interpreter and the MPI that mpi4py was built for.
func python(t *testing.T) (string, *mpis.MPI) {
	t.Helper()
	const interpreter = "/usr/bin/python3"
	out, err := exec.Command(interpreter, "-c", "from mpi4py import MPI; print(MPI.get_vendor()[0])").Output()
	if err != nil {
		need.Absent(t, "no mpi4py")
	}
	for _, m := range mpis.Need(t) {
		if strings.Contains(strings.ReplaceAll(strings.ToLower(string(out)), " ", ""), m.Name) {
			return interpreter, m
		}
	}
	need.Absent(t, "no MPI that mpi4py was built for: %s", out)
	return "", nil
}

// A called is a call with its innermost frames, as function:line.
type called struct {
	Call   string
	Frames []struct {
		Function, File string
		Line           int
	}
}

func callsOf(t *testing.T, dir string) (list []called) {
	t.Helper()
	for line := range strings.Lines(spoor(t, dir, "dump", "--json", "--sites", "--rank", "0", "app.spoor")) {
		var c called
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// Calls of a program in Python are known by its functions and lines, whatever the way to there, in all threads; mpi4py's own
// frames are none of them. The program does what it does without.
func TestPython(t *testing.T) {
	interpreter, m := python(t)
	dir := t.TempDir()
	source, err := os.ReadFile("testdata/lines.py")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "lines.py"), source, 0o644); err != nil {
		t.Fatal(err)
	}
	version, err := exec.Command(interpreter, "-c", "import sys; print(sys.version_info >= (3, 11))").Output()
	if err != nil {
		t.Fatal(err)
	}
	qualified := strings.TrimSpace(string(version)) == "True" // else code knows its function without the class around it
	step := "Solver.step"
	if !qualified {
		step = "step"
	}
	want := make(map[string]bool)
	marked := regexp.MustCompile(`# ([\w, ]+) in (\S+)`)
	var functions []string
	for i, line := range strings.Split(string(source), "\n") {
		if x := marked.FindStringSubmatch(line); x != nil {
			if !qualified {
				x[2] = x[2][strings.LastIndex(x[2], ".")+1:]
			}
			for _, name := range strings.Split(x[1], ", ") {
				want[fmt.Sprintf("%s in %s, line %d", name, x[2], i+1)] = true
				functions = append(functions, name)
			}
		}
	}
	out := spoor(t, dir, slices.Concat([]string{"run", "-q", "-o", "app.spoor"}, m.Command(2, interpreter, "lines.py"))...)
	if strings.Count(out, "done") != 2 {
		t.Errorf("the program printed %q", out)
	}
	got, scans := make(map[string]bool), make(map[string]bool)
	for _, c := range callsOf(t, dir) {
		if len(c.Frames) == 0 {
			continue
		}
		f := c.Frames[0]
		c.Call = strings.TrimSuffix(c.Call, "_c") // newer ones of mpi4py prefer them
		switch {
		case c.Call == "MPI_Scan":
			scans[fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line)] = true
		case slices.Contains(functions, c.Call) && filepath.Base(f.File) == "lines.py":
			got[fmt.Sprintf("%s in %s, line %d", c.Call, f.Function, f.Line)] = true
		}
	}
	for x := range want {
		if !got[x] {
			t.Errorf("no call of %s", x)
		}
	}
	made := make(map[string]bool)
	for i := range 50 {
		made[fmt.Sprintf("made%d <string>:%d", i%7, 2+i%5)] = true
	}
	if d := cmp.Diff(made, scans); d != "" {
		t.Errorf("of code that is made at run time: %s", d)
	}

	// With stacks the functions around stand there, too.
	spoor(t, dir, slices.Concat([]string{"run", "-q", "--force", "--stack", "30", "-o", "app.spoor"}, m.Command(2, interpreter, "lines.py"))...)
	out = spoor(t, dir, "dump", "--sites", "--rank", "0", "--call", "MPI_Allgather*", "app.spoor")
	if n := strings.Count(out, step+" lines.py:"); n != 1+8 {
		t.Errorf("%d frames of a function that calls itself 100 times, of which 8 in a row are kept: %s", n, out)
	}
	if !strings.Contains(out, "< <module> lines.py:") {
		t.Errorf("no way from the module: %s", out)
	}

	// The profile has them as functions, and the interpreter's machine code is no structure of the program.
	out = spoor(t, dir, "calltree", "--min-time", "0", "--width", "200", "app.spoor")
	if !strings.Contains(out, " <module>()") || !strings.Contains(out, " "+step+"()") || strings.Contains(out, "elsewhere") {
		t.Errorf("the profile says %s", out)
	}

	// SPOOR_PYTHON=0 leaves all of it out.
	r := mpis.Job{MPI: m, Dir: dir, Temp: t.TempDir(), Env: []string{"SPOOR_PYTHON=0"}}.Run(slices.Concat([]string{mpis.NeedSpoor(t), "run", "-q", "--force", "-o", "app.spoor"}, m.Command(2, interpreter, "lines.py"))...)
	if r.Err != nil {
		t.Fatal(r)
	}
	for _, c := range callsOf(t, dir) {
		if len(c.Frames) > 0 && strings.HasSuffix(c.Frames[0].File, ".py") {
			t.Errorf("%s at %+v", c.Call, c.Frames)
		}
	}
	if out = spoor(t, dir, "info", "app.spoor"); strings.Contains(out, "\nstructure ") {
		t.Errorf("the interpreter's loops are the program's: %s", out)
	}
}

// Calls on files that Python makes have its lines, too.
func TestPythonFiles(t *testing.T) {
	interpreter, m := python(t)
	dir := t.TempDir()
	const source = "from mpi4py import MPI\n\ndef save(name):\n    with open(name, 'wb') as f:\n        f.write(b'x' * 1000000)\n\nsave('out.%d' % MPI.COMM_WORLD.rank)\n"
	if err := os.WriteFile(filepath.Join(dir, "app.py"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	spoor(t, dir, slices.Concat([]string{"run", "-q", "--io", "--io-include", "*/out.*", "-o", "app.spoor"}, m.Command(2, interpreter, "app.py"))...)
	lines := make(map[string]int)
	for _, c := range callsOf(t, dir) {
		if len(c.Frames) > 0 && c.Frames[0].Function == "save" && filepath.Base(c.Frames[0].File) == "app.py" {
			lines[c.Call] = c.Frames[0].Line
		}
	}
	if lines["open"] != 4 || lines["write"] != 5 || lines["close"] == 0 {
		t.Errorf("calls on files are at %v", lines)
	}
}
