package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

func newReduce() *cobra.Command { return newReduceOf(new(reduceOptions)) }

// newReduceOf makes the verb reduce, or thin if o includes a synthesis.
func newReduceOf(o *reduceOptions) *cobra.Command {
	var out string
	var force, asJSON bool
	cmd := &cobra.Command{
		Use:   "reduce [flags] [TRACE]",
		Short: "Make a smaller, lossy trace: similar message sizes become equal",
		Long: `This is lossy. Sizes of messages and collectives within --tolerance of each
other become their mean; order, partners, tags and call sites stay. Sends and
receives still match, and every verb reads the result. Times become means.

With --budget spoor merges as much as it needs, at the lowest tolerance. If
nothing is gained, the output is a copy. spoor info lists what was merged.
spoor papers thin goes further: synthetic trip counts and messages.
More: docs/reduce.md`,
		Example: `  spoor reduce app.spoor                    tolerance 5 %
  spoor reduce --tolerance 10% app.spoor -o small.spoor
  spoor reduce --budget 100K app.spoor
  spoor run --budget 100K mpirun -n 64 ./app     at the end of the run`,
		Args: aTrace,
		RunE: oneTrace(func(cmd *cobra.Command, r *trace.Reader) error {
			if err := o.parse(cmd.Flags()); err != nil {
				return &usageError{cmd, err}
			}
			x, stays, err := o.of(r, cmd.ErrOrStderr())
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name(), err)
			}
			defer x.Close()
			out = cmp.Or(out, nameOf(r, "reduced"))
			size, err := written(out, x.Write(out, force))
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), map[string]any{"trace": out, "bytes": size, "bytes_before": r.Size(), "same": x.Unchanged != nil, "merged": mergedOf(x.Content.MergedSizes), "partners": drawnMessagesOf(x.Content.SyntheticMessages), "stays": stays})
			}
			text := fmt.Sprintf("%s before: %s", show.FormatBytes(r.Size()), thinnedText(x))
			if x.Unchanged != nil {
				text = "the trace as it was: " + o.sameText()
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s\n", out, show.FormatBytes(size), text)
			for _, text := range stays {
				fmt.Fprintln(cmd.OutOrStdout(), text)
			}
			return nil
		}),
	}
	f := cmd.Flags()
	o.flags(f)
	f.StringVarP(&out, "output", "o", "", "write to this `file` (default NAME.reduced.spoor)")
	forceFlag(f, &force)
	jsonFlag(f, &asJSON)
	return cmd
}

// reduceOptions are the values of the flags that say how a trace is reduced.
type reduceOptions struct {
	options reduce.Options
	budget  string

	synthetic *synthesis // what spoor papers thin makes synthetic; nil: this is spoor reduce
}

// reduceFlags are the names of the flags that set reduceOptions.
var reduceFlags = []string{"tolerance", "budget"}

func (o *reduceOptions) flags(f *pflag.FlagSet) {
	o.options.PrecisionPercent = 95
	f.Var(toleranceFlag{&o.options.PrecisionPercent}, "tolerance", "sizes within this `percent` of each other may become equal")
	f.Lookup("tolerance").DefValue = "5%; with --budget up to 100%"
	f.StringVar(&o.budget, "budget", "", "merge no more than needed to get down to this size in `bytes`: 100K, 2M")
}

// parse checks the flags and converts their values to options.
func (o *reduceOptions) parse(f *pflag.FlagSet) error {
	if o.budget != "" {
		n, err := parseBytes(o.budget)
		if err != nil || n <= 0 {
			return fmt.Errorf("--budget %s: give a size such as 500K or 2M", o.budget)
		}
		o.options.BudgetBytes = n
		if !f.Changed("tolerance") {
			o.options.PrecisionPercent = 0
		}
	}
	return nil
}

// sameText explains why a reduction leaves a trace unchanged.
func (o *reduceOptions) sameText() string {
	if o.options.BudgetBytes > 0 {
		return "it is within the budget"
	}
	return "it would be no smaller"
}

// of reduces a trace. stays lists, as sentences, what could not be merged or made synthetic.
func (o *reduceOptions) of(r *trace.Reader, stderr io.Writer) (x *reduce.ReducedTrace, stays []string, err error) {
	passes := 3
	if o.options.BudgetBytes > 0 {
		passes = mostPasses
	}
	options := o.options
	p := newProgress(stderr, "ranks gone through, at most", o.synthetic.passes(passes)*r.Ranks())
	if err := o.synthetic.add(r, &options, p.steps); err != nil {
		p.end()
		return nil, nil, err
	}
	x, err = reduce.ReduceTrace(r, options, p.steps)
	p.end()
	if err != nil {
		return nil, nil, err
	}
	if x.SizesNotWorthwhile {
		stays = append(stays, "sizes stay: merged, they would take no less")
	}
	stays = append(stays, o.synthetic.stays(x)...)
	return x, stays, nil
}

// mostPasses is about how often a reduction to a budget goes over all ranks, for the progress display.
const mostPasses = 16

// parseBytes reads a number of bytes such as 4096, 100K, 2.5M or 1G; K is 1000.
func parseBytes(text string) (int64, error) {
	unit := 1.0
	text = strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(text)), "B"), " ")
	for i, u := range []string{"K", "M", "G", "T"} {
		if s, ok := strings.CutSuffix(text, u); ok {
			text, unit = strings.TrimSpace(s), math.Pow(1000, float64(i+1))
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v*unit >= 0 && v*unit < 1<<62) {
		return 0, fmt.Errorf("%q is not a size such as 500K or 2M", text)
	}
	return int64(v * unit), nil
}

// A mergedSizes is a family of merged sizes, as it is printed.
type mergedSizes struct {
	Of           string `json:"of"`
	Precision    int    `json:"precision"`
	Merged       uint64 `json:"merged"` // number of calls whose size was merged
	Kept         uint64 `json:"kept"`
	distribution        // distribution of the sizes in the original trace, in bytes
}

func mergedOf(list []trace.MergedSizes) []mergedSizes {
	out := []mergedSizes{}
	for _, t := range list {
		m := mergedSizes{Precision: t.PrecisionPercent, Kept: t.UnmergedCalls, distribution: distributionOf(t.Least, t.Most, t.Bins)}
		for _, b := range t.Bins {
			m.Merged += b.Count
		}
		var names []string
		for _, id := range t.Functions {
			if c, ok := mpi.CallByID(id); ok {
				names = append(names, c.Name)
			}
		}
		m.Of = strings.Join(names, ", ")
		if t.Functions == nil {
			m.Of = "messages"
			between := " with tags "
			if len(t.Tags) == 1 {
				between = " with tag "
			}
			for i, tag := range t.Tags {
				if i == mostTags {
					m.Of += fmt.Sprintf(" and %d others", len(t.Tags)-i)
					break
				}
				m.Of += between + strconv.FormatInt(tag, 10)
				between = ", "
			}
		}
		out = append(out, m)
	}
	return out
}

// mostTags is how many message tags are listed at most for a family of merged sizes.
const mostTags = 8

// text describes the family of sizes in a line.
func (m *mergedSizes) text() string {
	return fmt.Sprintf("%s of %s became %d, %s kept; tolerance %s; %s (rank %d) to %s (rank %d) before", show.FormatPlural(m.Merged, "size"), m.Of, len(m.Bins),
		show.FormatGrouped(m.Kept), toleranceText(m.Precision), show.FormatBytes(m.Least), m.LeastRank, show.FormatBytes(m.Most), m.MostRank)
}
