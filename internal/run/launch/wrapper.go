package launch

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A wrapper is a program that starts another one, as in `timeout 5m mpirun …` and `mpirun -n 4 nice ./app`.
type wrapper struct {
	values   string // options that take the next word as value, separated by spaces
	operands int    // number of words between the options and the command
}

var wrappers = map[string]wrapper{
	"catchsegv": {},
	"chrt":      {"-T -P -D", 1},
	"env":       {"-u -C --unset --chdir", 0},
	"gdb":       {"-x -ex --command", 0},
	"ionice":    {"-c -n --class --classdata", 0},
	"nice":      {"-n --adjustment", 0},
	"nohup":     {},
	"numactl":   {"-C -m -N -i -p --physcpubind --membind --cpunodebind --interleave --preferred", 0},
	"perf":      {"-e -o -F -c -C --event --output --freq", 1},
	"setsid":    {},
	"stdbuf":    {"-i -o -e --input --output --error", 0},
	"strace":    {"-e -o -s -E -P -u -a -b -S --output", 0},
	"taskset":   {"", 1},
	"time":      {"-f -o --format --output", 0},
	"timeout":   {"-k -s --kill-after --signal", 1},
	"unbuffer":  {},
	"valgrind":  {},
}

// WrapperWordCount returns the number of words that belong to wrappers, before the command that these start. A program
// may have a wrapper's name, see usesMPI. The last word is never a wrapper, as it would have nothing to start.
func WrapperWordCount(args []string) int {
	n := 0
	for n < len(args)-1 {
		w, ok := wrappers[filepath.Base(args[n])]
		if !ok || usesMPI(args[n]) {
			return n
		}
		values, operands := strings.Fields(w.values), w.operands
		for n++; n < len(args); n++ {
			a := args[n]
			if slices.Contains(values, a) {
				n++
			} else if !strings.HasPrefix(a, "-") && !assigns(a) {
				if operands--; operands < 0 {
					break
				}
			}
		}
	}
	return min(n, len(args))
}

// usesMPI reports whether a word names a file that loads an MPI library at start, or contains one. Wrappers,
// launchers and interpreters don't, so such a file is the user's program, whatever its name.
func usesMPI(word string) bool {
	path, err := exec.LookPath(word)
	if err != nil {
		return false
	}
	r, err := InspectProgram(path)
	return err == nil && r.UsesMPI
}

// assigns reports whether a word sets a variable, as NAME=VALUE does in arguments of env.
func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/.")
}

// PreloadSetBy returns the value that a command line gives LD_PRELOAD for the ranks, as `mpiexec -genv LD_PRELOAD
// libx.so` and `env LD_PRELOAD=libx.so ./app` do. That value replaces the one that all ranks get. sets is false if
// the command line gives none.
func PreloadSetBy(args []string) (libraries string, sets bool) {
	const name = "LD_PRELOAD"
	for i, a := range args {
		_, value, ok := strings.Cut(a, name+"=")
		switch {
		case ok:
			// A shell command, or a list of variables, goes on after the value.
			if end := strings.IndexAny(value, " ,"); end >= 0 {
				value = value[:end]
			}
			return strings.Trim(value, `"'`), true
		case a != name:
		// -x LD_PRELOAD takes the value of the launcher's own environment.
		case i > 0 && args[i-1] == "-x" || i+1 == len(args):
			return "", true
		default:
			return args[i+1], true
		}
	}
	return "", false
}
