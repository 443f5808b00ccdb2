package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// An outcome is a line of the file that test/proxy writes: MPI, program, number of ranks, one of outcomes, and its
// reason.
type outcome struct{ mpi, program, ranks, what, why string }

// outcomes are the results of comparing a proxy with its program, in the order of the printed table's columns.
var outcomes = []string{"equal", "equal up to the order in which requests finish", "refused", "different"}

var titles = map[string]string{outcomes[1]: "Equal up to order", outcomes[2]: "Refused", outcomes[3]: "Different"}

// count prints a Markdown table of the number of programs by outcome, and the names of the programs whose proxies
// aren't equal. Of two lines on the same program, MPI and number of ranks, the later one counts.
func count(w io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	last := make(map[[3]string]outcome)
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		c := strings.SplitN(in.Text(), "\t", 5)
		if len(c) != 5 {
			return fmt.Errorf("%s: %q is no outcome", file, in.Text())
		}
		why, err := strconv.Unquote(c[4])
		if err != nil {
			return fmt.Errorf("%s: %q: %w", file, c[4], err)
		}
		last[[3]string{c[0], c[1], c[2]}] = outcome{c[0], c[1], c[2], c[3], why}
	}
	if err := in.Err(); err != nil {
		return err
	}
	type row struct{ mpi, ranks string }
	rows := make(map[row]map[string]int)
	memory := make(map[row]int)
	var list []outcome
	for _, o := range last {
		for _, r := range []row{{o.mpi, o.ranks}, {o.mpi, "all"}} {
			if rows[r] == nil {
				rows[r] = make(map[string]int)
			}
			rows[r][o.what]++
			if o.what == "equal" && o.why == "same" {
				memory[r]++
			}
		}
		list = append(list, o)
	}
	keys := slices.SortedFunc(maps.Keys(rows), func(a, b row) int { return strings.Compare(a.mpi+a.ranks, b.mpi+b.ranks) })
	fmt.Fprintln(w, "| MPI | ranks | programs | equal | of these memory too | equal up to order | refused | different |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|")
	for _, r := range keys {
		n := 0
		for _, k := range rows[r] {
			n += k
		}
		fmt.Fprintf(w, "| %s | %s | %d | %d | %d | %d | %d | %d |\n", r.mpi, r.ranks, n,
			rows[r][outcomes[0]], memory[r], rows[r][outcomes[1]], rows[r][outcomes[2]], rows[r][outcomes[3]])
	}
	// List the programs whose outcome isn't "equal", by outcome and MPI.
	for _, what := range outcomes[1:] {
		of := make(map[string]map[string]bool)
		for _, o := range list {
			if o.what == what {
				if of[o.mpi] == nil {
					of[o.mpi] = make(map[string]bool)
				}
				of[o.mpi][o.program] = true
			}
		}
		for _, mpi := range slices.Sorted(maps.Keys(of)) {
			names := slices.Sorted(maps.Keys(of[mpi]))
			fmt.Fprintf(w, "\n%s, %s: `%s`.\n", titles[what], mpi, strings.Join(names, "`, `"))
		}
	}
	return nil
}
