package launch

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Launchers can also read programs from a file: one per line, with its command-line options (Hydra's -configfile,
// Open MPI's --app), or after the numbers of its ranks (srun --multi-prog).

// listFile returns the index of the argument that names the file of programs, and whether its lines begin with
// numbers of ranks; -1: no argument does.
func listFile(l Launcher, args []string) (at int, numbered bool) {
	for i := 1; i < len(args); i++ {
		switch o := strings.TrimPrefix(args[i], "-"); {
		case l == LauncherHydra && (o == "configfile" || o == "-configfile"), l.openMPI() && (o == "app" || o == "-app"):
			if i+1 < len(args) {
				return i + 1, false
			}
		case l == LauncherPassesOwnEnv && o == "-multi-prog":
			// The file is where the program would be, after options. Further options may follow it.
			for k := len(args) - 1; k > i; k-- {
				if isFile(args[k]) {
					return k, true
				}
			}
		}
	}
	return -1, false
}

// listed returns the first program in the file of programs that the arguments name; "" without such a file.
func listed(l Launcher, args []string) string {
	at, numbered := listFile(l, args)
	if at < 0 {
		return ""
	}
	text, err := os.ReadFile(args[at])
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(text) {
		words := fields(string(line))
		if len(words) == 0 {
			continue
		}
		if numbered {
			if p := GuessProgram(NoLauncher, words[1:]); p != "" {
				return p
			}
			continue
		}
		if p := GuessProgram(l, append([]string{args[0]}, words...)); p != "" {
			return p
		}
	}
	return ""
}

// fields returns the words of a line, without quotes; nil for a comment.
func fields(line string) []string {
	words := strings.Fields(line)
	if len(words) > 0 && strings.HasPrefix(words[0], "#") {
		return nil
	}
	for i, w := range words {
		words[i] = strings.Trim(w, `"'`)
	}
	return words
}

// held are unnamed files that a launcher reads through their descriptors.
var held []*os.File

// withVars returns Open MPI's arguments with a changed copy of the file args[at], which lists programs. Each line
// gets options for vars, as the launcher ignores such options on its command line. Values with spaces are left out,
// as lines have no quotes; the launcher's own environment has them.
func withVars(args []string, at int, vars []EnvVar) ([]string, error) {
	text, err := os.ReadFile(args[at])
	if err != nil {
		return nil, err
	}
	var opts, out strings.Builder
	for _, v := range vars {
		if !strings.ContainsAny(v.Value, " \t\n\"'") {
			fmt.Fprintf(&opts, "-x %s=%s ", v.Name, v.Value)
		}
	}
	for line := range strings.Lines(string(text)) {
		if len(fields(line)) > 0 {
			out.WriteString(opts.String())
		}
		out.WriteString(line)
	}
	f, err := os.CreateTemp("", "spoor-programs-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, err
	}
	if _, err := f.WriteString(out.String()); err != nil {
		return nil, err
	}
	held = append(held, f)
	args = slices.Clone(args)
	args[at] = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd())
	return args, nil
}
