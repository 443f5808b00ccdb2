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
	o := diffOptions{Options: diff.Options{PrecedingCallCount: 3}}
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
	f.BoolVar(&o.IgnoreAddresses, "any-address", false, "ignore addresses, which change from build to build")
	f.BoolVar(&o.AllowRenamedValues, "renamed", false, "allow other addresses, file names and attribute keys if they correspond")
	f.BoolVar(&o.AllowAnyCompletionOrder, "any-order", false, "allow requests and wildcard receives to complete in another order, and other numbers of failed tests")
	f.IntVarP(&o.PrecedingCallCount, "context", "", o.PrecedingCallCount, "show `N` calls before a difference")
	f.BoolVarP(&o.all, "all-ranks", "a", false, "show every rank that differs")
	f.BoolVar(&o.json, "json", false, "print a JSON line for each rank that differs")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing")
	o.window.add(f)
	return cmd
}

func runDiff(cmd *cobra.Command, o diffOptions, pathA, pathB string) (equal bool, err error) {
	a, closeA, err := o.open(cmd, pathA)
	if err != nil {
		return false, err
	}
	defer closeA()
	b, closeB, err := o.open(cmd, pathB)
	if err != nil {
		return false, err
	}
	defer closeB()
	warnings, err := o.fit(a, b)
	if err != nil {
		return false, err
	}
	p := diffPrinter{diffOptions: o, out: bufio.NewWriter(cmd.OutOrStdout()), ranks: a.Ranks(), most: max(a.Ranks(), b.Ranks())}
	if o.quiet {
		warnings, p.out = nil, bufio.NewWriter(io.Discard)
	}
	for _, w := range warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "spoor: diff: %v\n", w)
	}
	progress := newProgress(cmd.ErrOrStderr(), "ranks compared", p.most)
	defer progress.end()
	o.Progress = progress.step
	if a.Ranks() != b.Ranks() && !o.json {
		fmt.Fprintf(p.out, "%s has %s, %s has %s\n", pathA, show.FormatPlural(a.Ranks(), "rank"), pathB, show.FormatPlural(b.Ranks(), "rank"))
	}
	for d, err := range diff.CompareTraces(a, b, o.Options) {
		if err != nil {
			return false, errors.Join(p.out.Flush(), err)
		}
		if o.quiet {
			return false, nil
		}
		if err := p.add(d); err != nil {
			return false, err
		}
	}
	p.end()
	return len(p.differ) == 0, p.out.Flush()
}

// open opens a trace, or makes the part of it that flags such as --from ask for. done closes what was opened.
func (o *diffOptions) open(cmd *cobra.Command, path string) (of *trace.Reader, done func(), err error) {
	r, err := openTrace(path)
	if err != nil {
		return nil, nil, err
	}
	part, closePart, err := o.window.part(cmd, r)
	if err != nil {
		r.Close()
		return nil, nil, err
	}
	return part, func() { closePart(); r.Close() }, nil
}

// fit adapts the options to the two traces. It lists why their comparison is limited (e.g. one is extrapolated).
func (o *diffOptions) fit(a, b *trace.Reader) (list []diff.Warning, err error) {
	for _, r := range []*trace.Reader{a, b} {
		if extrapolate.IsExtrapolated(r) {
			o.AllowMovedBlocks = true
			list = append(list, diff.Warning{TraceName: r.Name(), Text: "is extrapolated: its blocks of memory may have other names"})
		}
		more, err := diff.ReductionWarnings(r)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	more, err := o.SetIgnoreCallers(a, b)
	return append(list, more...), err
}

// A diffPrinter prints the differences between two traces, rank by rank.
type diffPrinter struct {
	diffOptions
	out    *bufio.Writer
	ranks  int // number of ranks of the first of the two traces
	most   int // number of ranks of the trace with more ranks
	differ []int
}

// shownDifferences is how many of the differing ranks are shown at most without --all-ranks.
const shownDifferences = 5

func (p *diffPrinter) add(d *diff.Difference) error {
	p.differ = append(p.differ, d.Rank)
	switch {
	case p.json:
		return json.NewEncoder(p.out).Encode(d)
	case p.all || len(p.differ) <= shownDifferences:
		printDifference(p.out, d)
	}
	return nil
}

// end prints the last line: how many ranks are equal or differ.
func (p *diffPrinter) end() {
	switch {
	case p.json:
	case len(p.differ) == 0:
		fmt.Fprintf(p.out, "equal: %s\n", show.FormatPlural(p.ranks, "rank"))
	case len(p.differ) > shownDifferences && !p.all:
		fmt.Fprintf(p.out, "%s differ: %s (--all-ranks shows each)\n", show.FormatPlural(len(p.differ), "rank"), show.FormatRanges(p.differ))
	default:
		fmt.Fprintf(p.out, "%s of %s differ\n", show.FormatGrouped(len(p.differ)), show.FormatPlural(p.most, "rank"))
	}
}

func printDifference(w io.Writer, d *diff.Difference) {
	if d.NonCallText != "" {
		fmt.Fprintf(w, "rank %d: %s\n", d.Rank, d.NonCallText)
		return
	}
	thread := ""
	if d.Stream > 0 {
		thread = fmt.Sprintf(", thread %d", d.Stream)
	}
	fmt.Fprintf(w, "rank %d%s, call %d:\n", d.Rank, thread, d.CallIndex)
	for _, c := range d.PrecedingCallsA {
		fmt.Fprintf(w, "  %s\n", c.Text())
	}
	fmt.Fprintf(w, "- %s\n+ %s\n", callOrEnd(d.CallA), callOrEnd(d.CallB))
	if d.CallA != nil && d.CallB != nil && d.CallA.Text() == d.CallB.Text() {
		fmt.Fprintf(w, "  called from %s and %s\n", d.CallA.Site.String(), d.CallB.Site.String())
	}
}

func callOrEnd(c *trace.Call) string {
	if c == nil {
		return "end of calls"
	}
	return c.Text()
}
