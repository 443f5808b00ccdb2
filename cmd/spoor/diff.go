package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/diff"
	"github.com/spoor-hpc/spoor/internal/extrapolate"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

type diffOptions struct {
	diff.Options
	all   bool
	quiet bool
	json  bool

	window windowFlags
}

func newDiff() *cobra.Command {
	o := diffOptions{Options: diff.Options{ContextCalls: 3}}
	cmd := &cobra.Command{
		Use:   "diff [flags] TRACE TRACE",
		Short: "Find the first call that differs between two traces, rank by rank",
		Long: `spoor compares call by call and value by value, and prints the first difference
of each rank with the calls before it. Call sites are not compared unless asked
for, and times never. Threads are matched by number or by what they do; numbers of
handles, requests and memory may differ.

The exit code is 0 if the traces are equal, 1 if they differ, 2 after an error.
For times of runs see spoor compare.
More: docs/compare.md`,
		Example: `  spoor diff before.spoor after.spoor
  spoor diff --sites --context 10 a.spoor b.spoor
  spoor diff --any-address mpich.spoor openmpi.spoor
  spoor diff --renamed --any-order app.spoor proxy.spoor
  spoor diff --loop main --iteration 0:10 short.spoor long.spoor
  spoor diff --quiet a.spoor b.spoor && echo same`,
		Args: exactly(2, "two traces"),
		RunE: func(cmd *cobra.Command, args []string) error {
			equal, err := runDiff(cmd, o, args[0], args[1])
			return verdict(cmd, !equal, err)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.CompareSites, "sites", false, "compare call sites and callbacks as well")
	f.BoolVar(&o.AnyAddress, "any-address", false, "ignore addresses, which change from build to build")
	f.BoolVar(&o.AllowRenamed, "renamed", false, "allow other addresses, file names and attribute keys if they correspond")
	f.BoolVar(&o.AnyOrder, "any-order", false, "allow requests and wildcard receives to complete in another order, and other numbers of failed tests")
	f.IntVarP(&o.ContextCalls, "context", "", o.ContextCalls, "show `N` calls before a difference")
	f.BoolVarP(&o.all, "all-ranks", "a", false, "show every rank that differs")
	f.BoolVar(&o.json, "json", false, "print a JSON line for each rank that differs")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing")
	o.window.add(f)
	return cmd
}

func runDiff(cmd *cobra.Command, o diffOptions, pathA, pathB string) (bool, error) {
	a, err := openTrace(pathA)
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, err := openTrace(pathB)
	if err != nil {
		return false, err
	}
	defer b.Close()
	for _, r := range []**trace.Reader{&a, &b} {
		part, done, err := o.window.part(cmd, *r)
		if err != nil {
			return false, err
		}
		defer done()
		*r = part
	}
	for _, r := range []*trace.Reader{a, b} {
		if extrapolate.Made(r) {
			o.AllowMovedBlocks = true
			if !o.quiet {
				fmt.Fprintf(cmd.ErrOrStderr(), "spoor: diff: %s is extrapolated: its blocks of memory may have other names\n", r.Name())
			}
		}
		if list, err := r.Thinned(); err != nil {
			return false, err
		} else if list != nil && !o.quiet {
			fmt.Fprintf(cmd.ErrOrStderr(), "spoor: diff: %s was reduced: its sizes are means, not those of the run\n", r.Name())
		}
		if list, err := r.Drawn(); err != nil {
			return false, err
		} else if list != nil && !o.quiet {
			fmt.Fprintf(cmd.ErrOrStderr(), "spoor: diff: %s has loops with synthetic trip counts: it cannot compare calls in and after them with those of a run\n", r.Name())
		}
		if list, err := r.Partners(); err != nil {
			return false, err
		} else if list != nil && !o.quiet {
			fmt.Fprintf(cmd.ErrOrStderr(), "spoor: diff: %s has synthetic messages: its calls can't be compared with those of a run\n", r.Name())
		}
	}
	if o.CompareSites {
		x, err := diff.HasStacks(a)
		if err != nil {
			return false, err
		}
		y, err := diff.HasStacks(b)
		if err != nil {
			return false, err
		}
		if o.IgnoreCallers = x != y; o.IgnoreCallers && !o.quiet {
			without := a
			if x {
				without = b
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "spoor: diff: %s has no call stacks: places are compared, and not what is around them\n", without.Name())
		}
	}
	const room = 5
	out := bufio.NewWriter(cmd.OutOrStdout())
	if o.quiet {
		out = bufio.NewWriter(io.Discard)
	}
	progress := newProgress(cmd.ErrOrStderr(), "ranks compared", max(a.Ranks(), b.Ranks()))
	defer progress.end()
	o.Progress = progress.step
	if a.Ranks() != b.Ranks() && !o.json {
		fmt.Fprintf(out, "%s has %s, %s has %s\n", pathA, show.Plural(a.Ranks(), "rank"), pathB, show.Plural(b.Ranks(), "rank"))
	}
	var differ []int
	for d, err := range diff.Traces(a, b, o.Options) {
		if err != nil {
			return false, errors.Join(out.Flush(), err)
		}
		differ = append(differ, d.Rank)
		switch {
		case o.quiet:
			return false, nil
		case o.json:
			if err := json.NewEncoder(out).Encode(d); err != nil {
				return false, err
			}
		case o.all || len(differ) <= room:
			printDifference(out, d)
		}
	}
	switch {
	case o.json:
	case len(differ) == 0:
		fmt.Fprintf(out, "equal: %s\n", show.Plural(a.Ranks(), "rank"))
	case len(differ) > room && !o.all:
		fmt.Fprintf(out, "%s differ: %s (--all-ranks shows each)\n", show.Plural(len(differ), "rank"), show.Ranges(differ))
	default:
		fmt.Fprintf(out, "%s of %s differ\n", show.Grouped(len(differ)), show.Plural(max(a.Ranks(), b.Ranks()), "rank"))
	}
	return len(differ) == 0, out.Flush()
}

func printDifference(w io.Writer, d *diff.Difference) {
	if d.What != "" {
		fmt.Fprintf(w, "rank %d: %s\n", d.Rank, d.What)
		return
	}
	thread := ""
	if d.Stream > 0 {
		thread = fmt.Sprintf(", thread %d", d.Stream)
	}
	fmt.Fprintf(w, "rank %d%s, call %d:\n", d.Rank, thread, d.Index)
	for _, c := range d.Before {
		fmt.Fprintf(w, "  %s\n", c.Text())
	}
	fmt.Fprintf(w, "- %s\n+ %s\n", callOrEnd(d.A), callOrEnd(d.B))
	if d.A != nil && d.B != nil && d.A.Text() == d.B.Text() {
		fmt.Fprintf(w, "  called from %s and %s\n", d.A.Site.String(), d.B.Site.String())
	}
}

func callOrEnd(c *trace.Call) string {
	if c == nil {
		return "end of calls"
	}
	return c.Text()
}
