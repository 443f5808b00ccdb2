// Package launch inspects MPI programs, and starts them under their own launcher with the shim preloaded into the
// ranks. It knows how each launcher passes environment variables, and nothing about traces.
package launch

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/mpi"
)

// A Launcher is a kind of launcher, by how it passes environment variables.
type Launcher int

const (
	NoLauncher      Launcher = iota // the program itself was started: MPI runs with a single rank
	LauncherOpenMPI                 // mpirun, orterun: options -x NAME=VALUE
	// Launchers of PRRTE, and mpirun since Open MPI 5: the same options, which don't reach spawned ranks.
	LauncherPRRTE
	LauncherHydra        // MPICH, Intel MPI, MVAPICH: options -genv NAME VALUE
	LauncherPassesOwnEnv // srun, flux, jsrun, …: ranks get the launcher's environment
)

func (l Launcher) String() string {
	return [...]string{"none", "Open MPI", "Open MPI", "Hydra, MPICH family", "environment"}[l]
}

// environ lists the launchers that pass their whole environment to the ranks.
var environ = map[string]bool{
	"srun": true, "flux": true, "jsrun": true, "aprun": true, "prun": true,
	"mpirun_rsh": true, "ibrun": true, "palsrun": true,
}

// IdentifyLauncher returns the kind of the launcher with a command name, or NoLauncher. Names such as mpirun are
// often links, so the target's name decides. If that is inconclusive, the launcher's version text does.
func IdentifyLauncher(name string) Launcher {
	base := filepath.Base(name)
	if (environ[base] || runs(base) && !usual[name]) && usesMPI(name) {
		return NoLauncher // a program may be called flux
	}
	if environ[base] {
		return LauncherPassesOwnEnv
	}
	path, err := exec.LookPath(name)
	if err != nil {
		path = name
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	for _, n := range []string{filepath.Base(real), base} {
		switch {
		case n == "orterun":
			return LauncherOpenMPI
		case n == "prterun", n == "prte":
			return LauncherPRRTE
		case !runs(n): // not a launcher: programs may have names such as solver.openmpi
		case strings.HasSuffix(n, ".openmpi"):
			if ask(path) == LauncherPRRTE {
				return LauncherPRRTE
			}
			return LauncherOpenMPI
		case strings.Contains(n, "hydra"), strings.HasSuffix(n, ".mpich"):
			return LauncherHydra
		}
	}
	if !runs(base) {
		return NoLauncher
	}
	return ask(path)
}

// usual are launchers' command names that no MPI program has.
var usual = map[string]bool{
	"mpirun": true, "mpirun.openmpi": true, "mpirun.mpich": true, "mpiexec": true, "mpiexec.openmpi": true, "mpiexec.mpich": true, "mpiexec.hydra": true,
}

func runs(base string) bool {
	return strings.HasPrefix(base, "mpirun") || strings.HasPrefix(base, "mpiexec") || strings.HasPrefix(base, "orterun")
}

func (l Launcher) openMPI() bool { return l == LauncherOpenMPI || l == LauncherPRRTE }

// FitsFamily reports whether a launcher can start ranks of an MPI family, as MPIFamilyOf names it, in one job.
func FitsFamily(l Launcher, family string) bool {
	return l == LauncherPassesOwnEnv || l.openMPI() && family == mpi.FlavourOpenMPI.FamilyText() || l == LauncherHydra && family == mpi.FlavourMPICH.FamilyText()
}

const openMPIVersion = `\(open mpi\) v?(\d+)\.`

// ask returns the kind of launcher at path by its answer to --version.
func ask(path string) Launcher {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	text := strings.ToLower(string(out))
	switch {
	case strings.Contains(text, "prrte"):
		return LauncherPRRTE
	case strings.Contains(text, "open mpi"), strings.Contains(text, "openrte"):
		if m := regexp.MustCompile(openMPIVersion).FindStringSubmatch(text); m != nil && (len(m[1]) > 1 || m[1] >= "5") {
			return LauncherPRRTE
		}
		return LauncherOpenMPI
	case strings.Contains(text, "hydra"), strings.Contains(text, "intel(r) mpi"), strings.Contains(text, "mpich"):
		return LauncherHydra
	}
	return LauncherPassesOwnEnv
}

// An EnvVar is an environment variable for ranks.
type EnvVar struct{ Name, Value string }

// CommandLine returns the command line that runs args under launcher l with vars set in the ranks. It also returns
// the environment of the launcher itself, which stays unchanged if the launcher has options that reach all ranks.
func CommandLine(l Launcher, args []string, vars []EnvVar) (argv, env []string) {
	env = os.Environ()
	switch l {
	case LauncherOpenMPI, LauncherPRRTE:
		if at, _ := listFile(l, args); at > 0 {
			if argv, err := withVars(args, at, vars); err == nil {
				return argv, extend(env, vars)
			}
			return args, extend(env, vars) // variables then reach the ranks on this host only
		}
		var opts []string
		for _, v := range vars {
			opts = append(opts, "-x", v.Name+"="+v.Value)
		}
		argv = append([]string{args[0]}, opts...)
		for _, a := range args[1:] {
			argv = append(argv, a)
			if a == ":" { // -x applies to one of several programs, which : separates
				argv = append(argv, opts...)
			}
		}
		if l == LauncherPRRTE { // ranks spawned on this host inherit the launcher's environment
			env = extend(env, vars)
		}
		return argv, env
	case LauncherHydra:
		argv = []string{args[0]}
		for _, v := range vars {
			argv = append(argv, "-genv", v.Name, v.Value)
		}
		return append(argv, args[1:]...), env
	}
	return args, extend(env, vars)
}

func extend(env []string, vars []EnvVar) []string {
	for _, v := range vars {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}

// GuessProgram guesses the program among a launcher's arguments: the first executable, after wrappers; for an
// interpreter, its script. If a file lists programs, it is the first in the file. It returns "" if it finds none.
func GuessProgram(l Launcher, args []string) string {
	if p := listed(l, args); p != "" {
		return p
	}
	i := command(l, args)
	if i < 0 {
		return ""
	}
	a, rest := args[i], args[i:]
	if n := WrapperWordCount(rest); n > 0 {
		if p := GuessProgram(NoLauncher, rest[n:]); p != "" || !strings.Contains(a, "/") {
			return p
		}
		return a // as in ./time input.txt, where time is the user's program: nothing after it can be started
	}
	if interpreter(a) && !usesMPI(a) {
		return script(rest)
	}
	return a
}

// command returns the index in args of the first word that is an executable, where the launcher's options end; -1 if
// there is no such word.
func command(l Launcher, args []string) int {
	first := 0
	if l != NoLauncher {
		first = 1
	}
	for i := first; i < len(args); i++ {
		if strings.HasPrefix(args[i], "-") || !executable(args[i]) {
			continue
		}
		if l != NoLauncher && (i > first && takesPath[args[i-1]] || i > first+1 && takesTwo[args[i-2]]) {
			continue
		}
		return i
	}
	return -1
}

// ReplaceCommand returns the launcher's command line with another command in place of each program, so that the
// command runs on the same hosts. It returns nil without a launcher, or if a program isn't found.
func ReplaceCommand(l Launcher, args, program []string) (line []string) {
	if at, _ := listFile(l, args); l == NoLauncher || at > 0 {
		return nil
	}
	line = append(line, args[0])
	for n, part := range split(args[1:], ":") {
		i := command(l, append([]string{args[0]}, part...))
		if i < 0 {
			return nil
		}
		if n > 0 {
			line = append(line, ":")
		}
		line = slices.Concat(line, part[:i-1], program)
	}
	return line
}

// split cuts a list at each occurrence of a word.
func split(list []string, at string) (parts [][]string) {
	for {
		i := slices.Index(list, at)
		if i < 0 {
			return append(parts, list)
		}
		parts, list = append(parts, list[:i]), list[i+1:]
	}
}

// script returns the script that an interpreter runs, or else the interpreter. args begins with the interpreter.
func script(args []string) string {
	for i, s := range args[1:] {
		if strings.HasPrefix(s, "-") {
			continue
		}
		if isFile(s) {
			return s
		}
		if args[i] == "-c" && shell(args[0]) {
			words := strings.Fields(s)
			for len(words) > 0 && (words[0] == "exec" || assigns(words[0])) {
				words = words[1:]
			}
			if p := GuessProgram(NoLauncher, words); p != "" {
				return p
			}
		}
	}
	return args[0]
}

// takesPath lists launcher options whose value may look like a program; takesTwo lists options with two values.
var (
	takesPath = map[string]bool{
		"-wdir": true, "--wdir": true, "-wd": true, "-path": true, "--path": true, "--prefix": true, "-prefix": true,
		"-x": true, "-genv": true, "-env": true, "-launcher-exec": true, "--chdir": true, "-D": true, "-mca": true, "--mca": true,
		"-gmca": true, "--gmca": true, "--prtemca": true, "--pmixmca": true, "--omca": true,
		"-launcher": true, "-bootstrap": true, "-bootstrap-exec": true, "-rmk": true, "-iface": true, "-bind-to": true, "--bind-to": true,
		"-map-by": true, "--map-by": true, "-host": true, "--host": true, "-hosts": true, "-H": true, "-f": true, "-hostfile": true, "--hostfile": true,
		"-machinefile": true, "--machinefile": true, "-w": true, "--nodelist": true, "-p": true, "--partition": true,
	}
	takesTwo = map[string]bool{
		"-genv": true, "-env": true, "-mca": true, "--mca": true, "-gmca": true, "--gmca": true, "--prtemca": true, "--pmixmca": true, "--omca": true,
	}
)

func executable(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

func interpreter(name string) bool {
	base := filepath.Base(name)
	return slices.Contains([]string{"python", "julia", "perl", "ruby", "bash", "sh", "dash", "zsh", "Rscript"}, strings.TrimRight(base, "0123456789."))
}

func shell(name string) bool { return strings.HasSuffix(filepath.Base(name), "sh") }

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}

// rankVariables are environment variables by which launchers mark a process as a rank.
var rankVariables = []string{
	"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "FLUX_TASK_RANK", "PALS_RANKID", "ALPS_APP_PE", "JSM_NAMESPACE_RANK",
}

// InRank reports whether a launcher started this process as a rank.
func InRank() bool {
	for _, name := range rankVariables {
		if os.Getenv(name) != "" {
			return true
		}
	}
	// Slurm also sets variables of ranks for a batch job's shell, whose step number is large.
	step, err := strconv.ParseUint(os.Getenv("SLURM_STEP_ID"), 10, 32)
	return err == nil && step < 1<<31 && os.Getenv("SLURM_PROCID") != ""
}

// A JobPlace is a process's position in its job, by the environment variables that the launcher set.
type JobPlace struct {
	Rank       int    // rank in the job; -1: not set
	Ranks      int    // number of ranks in the job; 0: not set
	LocalRanks int    // number of the job's ranks on this node; 0: not set
	JobName    string // distinguishes jobs of one launcher; "": not set
}

// ReadJobPlace reads a process's position in its job from its environment variables.
func ReadJobPlace(getenv func(name string) string) JobPlace {
	number := func(without int, names ...string) int {
		for _, name := range names {
			if n, err := strconv.Atoi(getenv(name)); err == nil && n >= 0 {
				return n
			}
		}
		return without
	}
	return JobPlace{
		Rank:       number(-1, append(rankVariables, "PMI_ID", "SLURM_PROCID")...),
		Ranks:      number(0, "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "FLUX_JOB_SIZE", "PALS_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
		LocalRanks: number(0, "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE"),
		JobName:    cmp.Or(getenv("PMIX_NAMESPACE"), getenv("PMI_JOBID"), getenv("PMI_KVSNAME")),
	}
}

// SiblingRanksName returns a name that is the same for all processes started by this process's parent: mostly the
// ranks of one job on one node. It includes the host, and the container if that numbers processes separately.
func SiblingRanksName(host string) string {
	parent := os.Getppid()
	began := "0"
	// The second field, the process's name, is in parentheses and may contain any character.
	if text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(parent), "stat")); err == nil {
		if fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])); len(fields) > 19 {
			began = fields[19]
		}
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	where := fnv.New32a()
	fmt.Fprint(where, string(boot), space)
	return fmt.Sprintf("%s-%d-%s-%08x", host, parent, began, where.Sum32())
}

var ofSiblings = regexp.MustCompile(`-\d+-\d+-[0-9a-f]{8}$`)

// HostOfSiblingRanksName returns the host in a name of SiblingRanksName; it returns other names unchanged.
func HostOfSiblingRanksName(name string) string { return ofSiblings.ReplaceAllString(name, "") }
