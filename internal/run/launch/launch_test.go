package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/need"
)

// tool makes an executable file in dir.
func tool(t *testing.T, dir, name, script string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIdentifyFollowsLinksThenAsks(t *testing.T) {
	dir := t.TempDir()
	tool(t, dir, "orterun", "")
	if err := os.Symlink(filepath.Join(dir, "orterun"), filepath.Join(dir, "mpirun")); err != nil {
		t.Fatal(err)
	}
	tool(t, dir, "mpiexec.hydra", "")
	tool(t, dir, "prterun", "")
	tool(t, dir, "mpiexec", "echo 'Intel(R) MPI Library for Linux'")
	tool(t, dir, "mpirun.other", "echo 'mpirun (Open MPI) 4.1.4'")
	tool(t, dir, "mpirun.later", "echo 'mpirun.later (Open MPI) 5.0.7'")
	tool(t, dir, "mpiexec.openmpi", "echo 'mpiexec.openmpi (Open MPI) 10.0.0rc1'")
	tool(t, dir, "mpirun.openmpi", "exit 1")
	for _, program := range []string{"app", "nwchem.openmpi", "solver.mpich", "hydra"} {
		tool(t, dir, program, "")
	}
	for name, want := range map[string]Launcher{
		"mpirun": LauncherOpenMPI, "mpiexec.hydra": LauncherHydra, "mpiexec": LauncherHydra, "mpirun.other": LauncherOpenMPI, "mpirun.later": LauncherPRRTE, "mpiexec.openmpi": LauncherPRRTE, "mpirun.openmpi": LauncherOpenMPI, "prterun": LauncherPRRTE, "srun": LauncherPassesOwnEnv, "app": NoLauncher,
		"nwchem.openmpi": NoLauncher, "solver.mpich": NoLauncher, "hydra": NoLauncher,
	} {
		if got := IdentifyLauncher(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestCommandPassesVariables(t *testing.T) {
	vars := []EnvVar{{"A", "1"}, {"B", "x y"}}
	args := []string{"mpirun", "-n", "1", "a", ":", "-n", "2", "b"}
	got, env := CommandLine(LauncherOpenMPI, args, vars)
	want := []string{"mpirun", "-x", "A=1", "-x", "B=x y", "-n", "1", "a", ":", "-x", "A=1", "-x", "B=x y", "-n", "2", "b"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(os.Environ(), env); d != "" {
		t.Errorf("the launcher's environment: %s", d)
	}
	got, env = CommandLine(LauncherPRRTE, args, vars)
	if d := cmp.Diff(want, got); d != "" || !slices.Contains(env, "A=1") || !slices.Contains(env, "B=x y") {
		t.Errorf("what ranks spawn doesn't have them: %q, %q", got, env)
	}
	got, _ = CommandLine(LauncherHydra, args, vars)
	want = []string{"mpirun", "-genv", "A", "1", "-genv", "B", "x y", "-n", "1", "a", ":", "-n", "2", "b"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got, env = CommandLine(NoLauncher, []string{"a"}, vars)
	if len(got) != 1 || env[len(env)-1] != "B=x y" {
		t.Errorf("got %q, …%q", got, env[len(env)-1])
	}
}

func TestProgramSkipsOptionsAndInterpreters(t *testing.T) {
	dir := t.TempDir()
	app := tool(t, dir, "app", "")
	script := filepath.Join(dir, "job.py")
	if err := os.WriteFile(script, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	python := tool(t, dir, "python3.11", "")
	wrapper := tool(t, dir, "wdir", "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"mpirun", "-n", "4", app, "x"}, app},
		{[]string{"mpirun", "-wdir", wrapper, "-n", "4", app}, app},
		{[]string{"mpirun", "-n", "4", python, "-u", script, "arg"}, script},
		{[]string{"mpirun", "-n", "4"}, ""},
		{[]string{"mpiexec", "-launcher", "sh", "-hosts", "env", "-n", "4", app}, app},
		{[]string{"mpirun", "--host", "env", "-n", "4", app}, app},
		{[]string{"mpirun", "--mca", "plm", wrapper, "-n", "4", app}, app},
		{[]string{"mpirun", "-n", "4", "nice", app, "x"}, app},
		{[]string{"mpirun", "-n", "4", "nice", "-n", "5", "nohup", app}, app},
		{[]string{"mpirun", "-n", "4", "timeout", "-k", "5", "-s", "INT", "10m", app}, app},
		{[]string{"mpirun", "-n", "4", "env", "-u", "A", "B=/c", app}, app},
		{[]string{"mpirun", "-n", "4", "stdbuf", "-oL", "-e", "0", app}, app},
		{[]string{"mpirun", "-n", "4", "sh", "-c", "A=b exec " + app + " x"}, app},
		{[]string{"mpirun", "-n", "4", "env", "A=b", python, script}, script},
		{[]string{"mpirun", "-n", "4", "nice"}, "nice"},
		{[]string{"mpirun", "-n", "4", "timeout", "5"}, ""},
	} {
		if got := GuessProgram(LauncherOpenMPI, c.args); got != c.want {
			t.Errorf("%v: got %q, want %q", c.args, got, c.want)
		}
	}
	if got := GuessProgram(NoLauncher, []string{app, "-n"}); got != app {
		t.Errorf("singleton: got %q", got)
	}
}

// Programs may have the names of wrappers, launchers and interpreters: what tells them apart is that they load an MPI.
func TestProgramsNamedAsToolsAre(t *testing.T) {
	dir := t.TempDir()
	cc := need.Command(t, "cc")
	build := func(name string, args ...string) string {
		t.Helper()
		out := filepath.Join(dir, name)
		c := exec.Command(cc, append([]string{"-o", out, "-x", "c", "-", "-x", "none"}, args...)...)
		c.Stdin = strings.NewReader("int main(void) { return 0; }")
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return out
	}
	lib := build("libmpi.so.40", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40")
	mpiProgram := func(name string) string { return build(name, "-Wl,--no-as-needed", lib, "-Wl,-rpath,$ORIGIN") }
	app := tool(t, dir, "app", "")
	input := filepath.Join(dir, "input.txt")
	if err := os.WriteFile(input, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"time", "perf", "env", "timeout", "gdb", "sh", "julia", "taskset"} {
		path := mpiProgram(name)
		for _, rest := range [][]string{nil, {input}, {app}, {"-n", "3", "A=B", app}, {"-c", app}} {
			args := append([]string{"mpirun", "-n", "4", path}, rest...)
			if got := GuessProgram(LauncherHydra, args); got != path {
				t.Errorf("%q: the program is %q", args, got)
			}
			if got := GuessProgram(LauncherHydra, append([]string{"mpirun", "-n", "4", "nice", "-n", "3"}, args[3:]...)); got != path {
				t.Errorf("behind nice: %q: the program is %q", args, got)
			}
			if got := WrapperWordCount(args[3:]); got != 0 {
				t.Errorf("%q: %d words stand before the program", args[3:], got)
			}
		}
	}
	for _, name := range []string{"flux", "srun", "mpirun_test", "mpiexec-like"} {
		if got := IdentifyLauncher(mpiProgram(name)); got != NoLauncher {
			t.Errorf("%s is a launcher: %v", name, got)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if got := GuessProgram(LauncherHydra, []string{"mpirun", "perf", app}); got != "perf" {
		t.Errorf("found by PATH: %q", got)
	}
	// A program that can't be told from a wrapper by what it loads.
	script := tool(t, dir, "stdbuf", "")
	for _, args := range [][]string{{script}, {script, input}, {script, "-o", "L", input}} {
		if got := GuessProgram(LauncherHydra, append([]string{"mpirun", "-n", "4"}, args...)); got != script {
			t.Errorf("%q: the program is %q", args, got)
		}
	}
	if got := GuessProgram(LauncherHydra, []string{"mpirun", script, "-oL", app}); got != app {
		t.Errorf("a wrapper by its path: the program is %q", got)
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		l      Launcher
		family string
		want   bool
	}{{LauncherOpenMPI, "Open MPI", true}, {LauncherPRRTE, "Open MPI", true}, {LauncherOpenMPI, "MPICH family", false}, {LauncherHydra, "MPICH family", true}, {LauncherPassesOwnEnv, "Open MPI", true}, {NoLauncher, "Open MPI", false}} {
		if got := FitsFamily(c.l, c.family); got != c.want {
			t.Errorf("%v with %s: %v", c.l, c.family, got)
		}
	}
}

func TestFront(t *testing.T) {
	for _, c := range []struct {
		line string
		want int
	}{
		{"mpirun -n 4 timeout 5 app", 0},
		{"timeout 5m mpirun -n 4 app", 2},
		{"/usr/bin/timeout -k 1 5m mpirun", 4},
		{"taskset -c 0-3 mpirun", 3},
		{"taskset 0x3 mpirun", 2},
		{"numactl --interleave=all -C 0 mpirun", 4},
		{"env A=b C=d nice mpirun", 4},
		{"time -p mpirun", 2},
		{"nice", 0},
		{"nice time", 1},
		{"timeout -k", 2},
		{"", 0},
	} {
		if got := WrapperWordCount(strings.Fields(c.line)); got != c.want {
			t.Errorf("%q: the command is word %d, want %d", c.line, got, c.want)
		}
	}
}

func TestPreloads(t *testing.T) {
	for _, c := range []struct {
		line, want string
		sets       bool
	}{
		{"mpiexec -n 2 ./app", "", false},
		{"mpiexec -n 2 ./app --preload LD_PRELOADS", "", false},
		{"mpiexec -genv LD_PRELOAD libx.so -n 2 ./app", "libx.so", true},
		{"mpiexec -n 2 -env LD_PRELOAD=libx.so:liby.so ./app", "libx.so:liby.so", true},
		{"mpirun -x LD_PRELOAD=libx.so -n 2 ./app", "libx.so", true},
		{"mpirun -x LD_PRELOAD -n 2 ./app", "", true},
		{"mpirun -n 2 env A=b LD_PRELOAD=libx.so ./app", "libx.so", true},
		{"srun --export=ALL,LD_PRELOAD=libx.so ./app", "libx.so", true},
	} {
		if got, sets := PreloadSetBy(strings.Fields(c.line)); got != c.want || sets != c.sets {
			t.Errorf("%q: %q, %v", c.line, got, sets)
		}
	}
	if got, _ := PreloadSetBy([]string{"mpirun", "sh", "-c", "LD_PRELOAD='libx.so' exec ./app"}); got != "libx.so" {
		t.Errorf("in a shell's command: %q", got)
	}
}

func TestInstead(t *testing.T) {
	dir := t.TempDir()
	app := tool(t, dir, "app", "")
	for _, c := range []struct{ line, want string }{
		{"mpiexec -launcher-exec " + app + " -hosts a,b -n 4 " + app + " in.txt -n 5", "mpiexec -launcher-exec " + app + " -hosts a,b -n 4 get it"},
		{"mpirun --host a:2 -n 2 nice -n 3 " + app, "mpirun --host a:2 -n 2 get it"},
		{"mpirun -n 1 " + app + " x : -n 2 " + app, "mpirun -n 1 get it : -n 2 get it"},
		{"mpirun -n 1 " + app + " x : -n 2 nothing-of-that-name", ""},
	} {
		if got := strings.Join(ReplaceCommand(LauncherHydra, strings.Fields(c.line), []string{"get", "it"}), " "); got != c.want {
			t.Errorf("%s: %s", c.line, got)
		}
	}
	if got := ReplaceCommand(NoLauncher, []string{app}, []string{"get"}); got != nil {
		t.Errorf("without a launcher: %q", got)
	}
}
