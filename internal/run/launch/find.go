package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A Runner is a launcher and an MPI with which ranks can be started.
type Runner struct {
	Launcher        Launcher
	Flavour         string   // openmpi or mpich; "" if the launcher serves any MPI
	CommandTemplate []string // words of the command; {n} becomes the number of ranks
	Libraries       []string // names of the MPI library to try, best first
}

// candidates are, by flavour, the names under which launchers are found, most specific first.
var candidates = map[string][]string{
	"openmpi": {"mpiexec.openmpi", "mpirun.openmpi", "prterun", "orterun", "mpiexec", "mpirun"},
	"mpich":   {"mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun"},
}

var libraries = map[string][]string{
	"openmpi": {"libmpi.so.40", "libmpi.so.80", "libmpi.so"},
	"mpich":   {"libmpich.so.12", "libmpi.so.12", "libmpich.so", "libmpi.so"},
	"abi":     {"libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so"},
}

// starts reports whether a launcher starts ranks of the flavour's MPI and no other.
func (l Launcher) starts(flavour string) bool {
	return flavour == "openmpi" && l.openMPI() || flavour == "mpich" && l == LauncherHydra
}

// FindRunner returns the runner of the first flavour whose launcher is installed.
func FindRunner(flavours ...string) (*Runner, error) {
	var tried []string
	for _, f := range flavours {
		for _, name := range candidates[f] {
			path, err := exec.LookPath(name)
			if err != nil {
				tried = append(tried, name)
				continue
			}
			l := IdentifyLauncher(name)
			if !l.starts(f) {
				continue
			}
			line := []string{name, "-n", "{n}"}
			if f == "openmpi" {
				line = []string{name, "--oversubscribe", "-n", "{n}"}
			}
			return &Runner{l, f, line, near(path, f)}, nil
		}
	}
	return nil, fmt.Errorf("no launcher of %s found (looked for %s); name one with --launcher 'mpiexec -n {n}'",
		strings.Join(flavours, " or "), strings.Join(tried, ", "))
}

// ParseRunner makes a runner from a launcher's command line, which the user gave. flavour is that of the MPI which
// ranks load; "": the launcher's.
func ParseRunner(line, flavour string) (*Runner, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, fmt.Errorf("--launcher: nothing there; give a line such as 'mpiexec -n {n}'")
	}
	if !strings.Contains(line, "{n}") {
		return nil, fmt.Errorf("--launcher %q: put {n} where the number of ranks goes, as in 'mpiexec -n {n}'", line)
	}
	r, err := RunnerOf(words, flavour)
	if err != nil {
		return nil, fmt.Errorf("--launcher: %w", err)
	}
	return r, nil
}

// RunnerOf makes a runner from a launcher with its options, which include the number of ranks, or {n} in its place.
func RunnerOf(line []string, flavour string) (*Runner, error) {
	path, err := exec.LookPath(line[0])
	if err != nil {
		return nil, err
	}
	r := &Runner{Launcher: IdentifyLauncher(line[0]), Flavour: flavour, CommandTemplate: line}
	if r.Flavour == "" {
		switch r.Launcher {
		case LauncherOpenMPI, LauncherPRRTE:
			r.Flavour = "openmpi"
		case LauncherHydra:
			r.Flavour = "mpich"
		default:
			return nil, fmt.Errorf("%q: which MPI do its ranks use? Give --mpi", strings.Join(line, " "))
		}
	}
	r.Libraries = near(path, r.Flavour)
	return r, nil
}

// near lists the MPI libraries of the launcher's own installation before the names by which the loader finds others.
func near(path, flavour string) []string {
	names := libraries[flavour]
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	prefix := filepath.Dir(filepath.Dir(path))
	if prefix == "/usr" || prefix == "/" {
		return names // the loader searches these folders anyway
	}
	var list []string
	for _, dir := range []string{"lib", "lib64"} {
		for _, n := range names {
			p := filepath.Join(prefix, dir, n)
			if _, err := os.Stat(p); err == nil {
				list = append(list, p)
			}
		}
	}
	return append(list, names...)
}

// CommandLine returns the command line that starts n ranks of a program.
func (r *Runner) CommandLine(n int, program ...string) []string {
	var args []string
	for _, w := range r.CommandTemplate {
		args = append(args, strings.ReplaceAll(w, "{n}", strconv.Itoa(n)))
	}
	return append(args, program...)
}
