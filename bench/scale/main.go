// Command scale measures how large the traces of well-known communication
// patterns are, on up to 16,384 virtual ranks: their calls go through the same
// merge and the same file format as those of real processes. Beside it stands
// what Pilgrim's published scheme makes of the same calls.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/bench/scale/real"
	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
	"github.com/spoor-hpc/spoor/test/mpis"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	f := flag.NewFlagSet("scale", flag.ExitOnError)
	programs := f.String("programs", "", "comma-separated `names`; all if empty")
	ranks := f.String("ranks", "16,64,256,1024", "comma-separated `numbers` of ranks")
	baseline := f.Bool("baseline", true, "compress as Pilgrim does, too")
	sections := f.Bool("sections", false, "list where the bytes go")
	plot := f.String("plot", "", "write a plot to this SVG `file`")
	read := f.String("read", "", "measure nothing, take the results from this `file`")
	into := f.String("into", "", "put results into the table in this `file`")
	missing := f.Bool("missing", false, "run only what the table of -into lacks")
	real := f.String("real", "", "run these `programs` under the MPIs of this machine instead, all if \"all\"; with -missing those that -into lacks")
	mpis := f.String("mpi", "openmpi,mpich", "`MPIs` for -real")
	limit := f.Duration("limit", 2*time.Minute, "how long a run of -real may take")
	keep := f.String("keep", "", "write the traces to this `folder`")
	profile := f.String("cpuprofile", "", "write a profile to this `file`")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *profile != "" {
		out, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer out.Close()
		if err := pprof.StartCPUProfile(out); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	var st *store
	if *into != "" {
		var err error
		if st, err = openStore(*into); err != nil {
			return err
		}
	}
	if *missing && st == nil {
		return fmt.Errorf("-missing needs -into")
	}
	if *real != "" {
		return runReal(*real, *ranks, *mpis, *keep, *limit, st, *missing)
	}
	if *read != "" {
		in, err := os.Open(*read)
		if err != nil {
			return err
		}
		defer in.Close()
		results, err := readTable(in)
		if err != nil {
			return fmt.Errorf("%s: %w", *read, err)
		}
		return finish(results, *plot)
	}
	list := skeleton.All
	if *programs != "" {
		list = nil
		for _, name := range strings.Split(*programs, ",") {
			p, ok := skeleton.ByName(name)
			if !ok {
				return fmt.Errorf("no program %q", name)
			}
			list = append(list, p)
		}
	}
	var sizes []int
	for _, s := range strings.Split(*ranks, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of ranks", s)
		}
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	var wanted []place
	for _, p := range list {
		for _, n := range sizes {
			if p.Fits == nil || p.Fits(n) {
				wanted = append(wanted, place{p.Name, n})
			}
		}
	}
	if *missing {
		wanted = st.missing(list, sizes, *baseline)
	}
	var results []*Result
	printHead(os.Stdout)
	for _, k := range wanted {
		p, _ := skeleton.ByName(k.program)
		if *missing && st.rows[k] != nil { // the file has the row, which lacks only the baseline
			if err := st.addBaseline(k, compare(p, k.ranks)); err != nil {
				return err
			}
			continue
		}
		// With a file of results, spoor's row is stored before the baseline is measured, which may take longer.
		r, err := measure(p, k.ranks, *baseline && st == nil, *keep)
		if err != nil {
			return fmt.Errorf("%s on %d ranks: %w", p.Name, k.ranks, err)
		}
		if st != nil {
			if err := st.add(r); err != nil {
				return err
			}
			if *baseline {
				if err := st.addBaseline(k, compare(p, k.ranks)); err != nil {
					return err
				}
			}
		}
		printRow(os.Stdout, r)
		if *sections {
			printSections(os.Stdout, r)
		}
		r.Program.Run = nil
		results = append(results, r)
	}
	if st != nil { // writing also sorts the rows of the file, so it is done even if nothing was run
		if err := st.reload(); err != nil {
			return err
		}
		if err := st.write(); err != nil {
			return err
		}
	}
	return finish(results, *plot)
}

// runReal measures programs on ranks of this machine. It reports a run that exceeds the time limit, and skips it.
func runReal(names, ranks, only, keep string, limit time.Duration, st *store, missing bool) error {
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if keep != "" {
		if err := os.MkdirAll(keep, 0o755); err != nil {
			return err
		}
	}
	tool, err := filepath.Abs("bin/spoor")
	if err != nil {
		return err
	}
	b := real.Bench{Tool: tool, Dir: dir, Timeout: limit}
	list := real.Names()
	if names != "all" {
		list = strings.Split(names, ",")
	}
	real.Head(os.Stdout)
	// Runs with few ranks are first, as they show problems soonest.
	for _, text := range strings.Split(ranks, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		for _, name := range list {
			for _, m := range mpis.Installed() {
				if !slices.Contains(strings.Split(only, ","), m.Name) {
					continue
				}
				if missing && st.real[real.Key{Program: name, MPI: m.Name, Ranks: n}] != "" {
					continue
				}
				r, err := b.Run(m, name, n)
				if err != nil {
					fmt.Printf("%-11s %-8s %5d: %v\n", name, m.Name, n, err)
				}
				if err != nil || r == nil {
					continue
				}
				real.Row(os.Stdout, r)
				if keep != "" {
					file := fmt.Sprintf("%s-%s-%d.spoor", name, m.Name, n)
					b, err := os.ReadFile(filepath.Join(dir, file))
					if err == nil {
						err = os.WriteFile(filepath.Join(keep, file), b, 0o644)
					}
					if err != nil {
						return err
					}
				}
				if st != nil {
					if err := st.addReal(r); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// finish prints the summary of the results, and writes the plot to a file unless its name, plot, is "".
func finish(results []*Result, plot string) error {
	printSummary(os.Stdout, results)
	if plot != "" {
		return writePlot(plot, results)
	}
	return nil
}
