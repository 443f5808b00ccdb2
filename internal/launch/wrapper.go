package launch

import (
	"path/filepath"
	"slices"
	"strings"
)

// A wrapper is a program that starts another one in its own way, as in
// `timeout 5m mpirun …` and `mpirun -n 4 nice ./app`.
type wrapper struct {
	values   string // options whose value is the word behind them
	operands int    // words between the options and the command
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

// Front returns how many words stand before the command that is started in the end:
// wrappers with their options.
func Front(args []string) int {
	n := 0
	for n < len(args) {
		w, ok := wrappers[filepath.Base(args[n])]
		if !ok {
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

// assigns reports whether a word sets a variable, as env takes it.
func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/.")
}
