package profile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

// TestPythonAbove: calls that a C library makes for Python have the library's functions, and around them the lines of Python
// that called into it, also where the library calls back into Python. No frame is the interpreter's.
func TestPythonAbove(t *testing.T) {
	const interpreter = "/usr/bin/python3"
	if _, err := os.Stat(interpreter); err != nil {
		need.Absent(t, "no %s", interpreter)
	}
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) { pythonAbove(t, m, interpreter) })
	}
}

func pythonAbove(t *testing.T, m *mpis.MPI, interpreter string) {
	dir := t.TempDir()
	if err := m.Compile(filepath.Join(dir, "libabove.so"), "testdata/above.c", "-O1", "-g", "-shared", "-fPIC"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/above.py")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "above.py"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"MPI_Init":      "begin above.c:4 < <module> above.py:29",
		"MPI_Allreduce": "step above.c:11 < solve above.c:17 < run above.py:18 < <module> above.py:30",
		"MPI_Barrier": "check above.c:22 < deep above.py:10 < deep above.py:9 < deep above.py:9 < monitor above.py:14 < solve above.c:18 < " +
			"run above.py:18 < <module> above.py:30",
		"MPI_Bcast":    "order above.c:26 < Item.__lt__ above.py:26 < <module> above.py:31",
		"MPI_Finalize": "end above.c:6 < <module> above.py:32",
	}
	spoor(t, dir, slices.Concat([]string{"run", "-q", "-o", "app.spoor"}, m.Command(4, interpreter, "above.py"))...)
	calls := make(map[string]int)
	for line := range strings.Lines(spoor(t, dir, "dump", "--sites", "--rank", "0", "app.spoor")) {
		call, place, _ := strings.Cut(strings.TrimSpace(line), " @ ")
		if call = call[strings.Index(call, "MPI_"):strings.Index(call, "(")]; place != want[call] {
			t.Errorf("%s at %s, want %s", call, place, want[call])
		}
		calls[call]++
	}
	if calls["MPI_Allreduce"] != 20 || calls["MPI_Barrier"] != 20 || calls["MPI_Bcast"] != 5 {
		t.Errorf("the calls are %v", calls)
	}

	// The profile has one loop, around both calls of a round.
	var list []struct{ Threads []struct{ Body []loop } }
	if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "app.spoor")), &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	each(list[0].Threads[0].Body, func(x loop) {
		switch x.Kind {
		case "function":
			got = append(got, x.Function)
		case "loop":
			got = append(got, fmt.Sprint(x.Rounds))
		}
	})
	if want := []string{"above.py <module>", "begin", "run", "solve", "20", "step", "monitor", "deep", "deep", "deep", "check", "Item.__lt__", "order", "end"}; !slices.Equal(got, want) {
		t.Errorf("the profile has %q, want %q", got, want)
	}
	if out := spoor(t, dir, "waits", "--top", "0", "app.spoor"); !strings.Contains(out, "MPI_Allreduce at step above.c:11 < run above.py:18") {
		t.Errorf("waits says %s", out)
	}
}

// TestPythonLibraries: so it is with PETSc and HDF5 as petsc4py and h5py call them. PETSc's loop is under the line that solves.
func TestPythonLibraries(t *testing.T) {
	interpreter, m := python(t)
	for program, want := range map[string][]string{
		"petsc.py": {"MPI_Allreduce", "KSPSolve", "solve petsc.py:34 < <module> petsc.py:38"},
		"hdf5.py":  {"MPI_File_write_at", "H5Dwrite", "save hdf5.py:15 < <module> hdf5.py:19"},
	} {
		t.Run(program, func(t *testing.T) {
			folders, _ := filepath.Glob("/usr/lib/petscdir/petsc3.*/*-real")
			if program == "petsc.py" && len(folders) == 0 {
				need.Absent(t, "no petsc4py")
			}
			if _, err := os.Stat("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi"); program == "hdf5.py" && err != nil {
				need.Absent(t, "no h5py for MPI")
			}
			dir := t.TempDir()
			text, err := os.ReadFile(filepath.Join("testdata", program))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, program), text, 0o644); err != nil {
				t.Fatal(err)
			}
			line := slices.Concat([]string{mpis.NeedSpoor(t), "run", "-q", "-o", "app.spoor"}, m.Command(4, interpreter, program))
			if r := (mpis.Job{MPI: m, Dir: dir, Temp: t.TempDir(), Env: []string{"PETSC_DIR=" + strings.Join(folders, "")}}).Run(line...); r.Err != nil {
				t.Fatal(r)
			}
			found := 0
			for line := range strings.Lines(spoor(t, dir, "dump", "--sites", "--rank", "0", "app.spoor")) {
				call, place, _ := strings.Cut(strings.TrimSpace(line), " @ ")
				if strings.Contains(place, ".py:") && strings.Contains(place, "PyObject") {
					t.Errorf("%s at %s", call, place)
				}
				if strings.Contains(call, want[0]) && strings.Contains(place, want[1]) && strings.HasSuffix(place, want[2]) {
					found++
				}
			}
			if min := map[string]int{"petsc.py": 100, "hdf5.py": 5}[program]; found < min {
				t.Errorf("%d calls of %s in %s, want %d", found, want[0], want[2], min)
			}
			if program == "petsc.py" {
				var rounds []int
				var list []struct{ Threads []struct{ Body []loop } }
				if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "app.spoor")), &list); err != nil {
					t.Fatal(err)
				}
				each(list[0].Threads[0].Body, func(x loop) {
					if x.Kind == "loop" {
						rounds = append(rounds, int(x.Rounds))
					}
				})
				if !slices.Contains(rounds, 49) && !slices.Contains(rounds, 50) {
					t.Errorf("loops of %v rounds, want 49 or 50 alike", rounds)
				}
			}
		})
	}
}
