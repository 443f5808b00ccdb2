package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Programs may be named in a file: the first is found, and Open MPI's launcher, which ignores options beside the file, has
// variables for ranks in it.
func TestListedPrograms(t *testing.T) {
	dir := t.TempDir()
	app, other := tool(t, dir, "app", ""), tool(t, dir, "other", "")
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lines := file("lines", "# programs\n\n-n 2 "+app+" x\n-n 1 "+other+"\n")
	ranks := file("ranks", "# programs\n0-2,4 "+app+" %t\n3 "+other+"\n")
	for _, c := range []struct {
		l    Launcher
		args []string
		want string
	}{
		{LauncherHydra, []string{"mpiexec", "-configfile", lines}, app},
		{LauncherHydra, []string{"mpiexec", "-f", "hosts", "-configfile", lines}, app},
		{LauncherOpenMPI, []string{"mpirun", "--app", lines}, app},
		{LauncherPRRTE, []string{"mpirun", "-app", lines}, app},
		{LauncherPassesOwnEnv, []string{"srun", "-n", "5", "--multi-prog", ranks}, app},
		{LauncherPassesOwnEnv, []string{"srun", "--multi-prog", "-n", "5", ranks}, app},
		{LauncherHydra, []string{"mpiexec", "-configfile", filepath.Join(dir, "none")}, ""},
	} {
		if got := GuessProgram(c.l, c.args); got != c.want {
			t.Errorf("%v %v: got %q, want %q", c.l, c.args, got, c.want)
		}
	}
	argv, env := CommandLine(LauncherOpenMPI, []string{"mpirun", "-v", "--app", lines}, []EnvVar{{"A", "1"}, {"B", "x y"}})
	if !slices.Equal(argv[:3], []string{"mpirun", "-v", "--app"}) || !slices.Contains(env, "A=1") || !slices.Contains(env, "B=x y") {
		t.Errorf("%q", argv)
	}
	text, err := os.ReadFile(argv[3])
	if want := strings.ReplaceAll("# programs\n\n-n 2 "+app+" x\n-n 1 "+other+"\n", "-n", "-x A=1 -n"); err != nil || string(text) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
}
