package real

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Head and Row print the table.
func Head(w io.Writer) {
	fmt.Fprintf(w, "%-11s %-8s %5s %9s %6s | %8s %8s %8s %8s | %12s %12s | %7s | %s\n",
		"program", "MPI", "ranks", "calls", "class", "file", "content", "times", "process", "finalize", "plain", "run", "size")
}

// Row prints a result.
func Row(w io.Writer, r *Result) {
	fmt.Fprintf(w, "%-11s %-8s %5d %9d %6d | %8d %8d %8d %8d | %9.1f ms %9.1f ms | %5.1f s | %s\n", r.Program, r.MPI, r.Ranks,
		r.Calls, r.Classes, r.File, r.Content, r.Times, r.Process, r.Finalize, r.Plain, r.Seconds, r.Args)
}

// A Key is what a row of the table is of.
type Key struct {
	Program, MPI string
	Ranks        int
}

// Key returns what the result is of.
func (r *Result) Key() Key { return Key{r.Program, r.MPI, r.Ranks} }

// KeyOf returns what a line is about that Row printed.
func KeyOf(line string) (Key, bool) {
	f := strings.Fields(line)
	if len(f) < 4 || !strings.Contains(line, "|") || !slices.Contains(Names(), f[0]) || f[1] != "mpich" && f[1] != "openmpi" {
		return Key{}, false
	}
	n, err := strconv.Atoi(f[2])
	return Key{f[0], f[1], n}, err == nil
}

// Compare orders rows as Names does, then by MPI and ranks.
func Compare(a, b Key) int {
	names := Names()
	return cmp.Or(cmp.Compare(slices.Index(names, a.Program), slices.Index(names, b.Program)),
		cmp.Compare(a.MPI, b.MPI), cmp.Compare(a.Ranks, b.Ranks))
}
