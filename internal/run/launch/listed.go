package launch

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Launchers can read programs from a file, too: a line for each, with its command-line options (Hydra's -configfile,
// Open MPI's --app), or after the ranks that run it (srun --multi-prog).

// listFile returns where among the arguments the file is named, and whether its lines begin with numbers of ranks; -1 if none is.
func listFile(l Launcher, args []string) (at int, numbered bool) {
	for i := 1; i < len(args); i++ {
		switch o := strings.TrimPrefix(args[i], "-"); {
		case l == LauncherHydra && (o == "configfile" || o == "-configfile"), l.openMPI() && (o == "app" || o == "-app"):
			if i+1 < len(args) {
				return i + 1, false
			}
		case l == LauncherOwnEnvironment && o == "-multi-prog":
			// The file is in the program's place, after options. Further options may follow it.
			for k := len(args) - 1; k > i; k-- {
				if isFile(args[k]) {
					return k, true
				}
			}
		}
	}
	return -1, false
}

// listed returns the first program that a file names; empty if none.
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

// fields are the words of a line, without quotes; none of a comment.
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

// held are files without a name that a launcher reads by their descriptors.
var held []*os.File

// withVars returns the arguments of Open MPI's launcher with another file in place of that which names the programs: each
// line has options for vars. The launcher ignores those on its command line then. Values with spaces are left out, as lines
// have no quotes: the launcher's own environment has them.
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
