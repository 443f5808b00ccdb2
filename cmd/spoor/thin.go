package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/reduce/partners"
	"github.com/spoor-hpc/spoor/internal/reduce/rounds"
	"github.com/spoor-hpc/spoor/internal/reduce/thin"
	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

func newThin() *cobra.Command {
	var o thinOptions
	var out string
	var force, asJSON bool
	cmd := &cobra.Command{
		Use:   "thin [flags] TRACE",
		Short: "Make a trace smaller by merging sizes that are nearly alike",
		Long: `Make a trace smaller by merging sizes of messages and collective calls that are
nearly alike: those that depend on data take most of the traces of some programs. With
--precision 95 sizes that differ by at most 5 % (of the greater one) may become one, their
mean; with 100 none do, with 0 all but those that are 0. Sizes that belong together are
merged together: a message has one at the sender, at the receiver and in its status, of all
call sites and tags that it may meet; so does a collective function on all ranks. What fits
where it is received still does, and replay, proxy and simulate take the trace as any other.

Calls, their order, partners, tags and call sites stay as they are, displacements follow from
the counts. With --draw loops whose rounds are alike, but not as many each time, are run as often
as their distribution says: as many times as before, each with a number that is drawn with --seed,
the same on all ranks that send each other messages in the loop or call collective functions
together. Where that isn't sure, numbers of rounds stay, and it is said why.
With --partners messages of which it looks random whom they go to are drawn: between two collective
calls of all ranks stand others, which each rank sends to one at the same distance, with
partners, sizes, tags and numbers from the distributions that there were. What is regular stays,
and what can't be drawn safely. Times become means of calls that are alike: times of single calls are not kept.
The file says what was merged to what: spoor info lists it, and spoor dump has the bounds behind
the call. Units stay whole, so sizes of few elements are merged only where their mean is one of them.

If nothing is gained, the new file is a copy of TRACE.

With --budget only as much is merged as it takes to come to so many bytes: at the highest
precision that is enough, no lower than --precision, and there the families of sizes that take
most first. Each of some ten tries goes through all calls.`,
		Example: `  spoor thin --precision 95 app.spoor -o small.spoor
  spoor thin --partners app.spoor
  spoor thin --budget 100K app.spoor`,
		Args: exactly(1, "one trace"),
		RunE: oneTrace(func(cmd *cobra.Command, r *trace.Reader) error {
			if err := o.parse(cmd.Flags()); err != nil {
				return &usageError{cmd, err}
			}
			x, stays, err := o.of(r, cmd.ErrOrStderr())
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name(), err)
			}
			defer x.Close()
			if out == "" {
				out = nameOf(r, "thin")
			}
			size, err := written(out, x.Write(out, force))
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), map[string]any{"trace": out, "bytes": size, "bytes_before": r.Size(), "same": x.Same != nil, "merged": mergedOf(x.Content.Thinned), "partners": drawnMessagesOf(x.Content.Partners), "stays": stays})
			}
			text := fmt.Sprintf("%s before: %s", units.Bytes(r.Size()), thinnedText(x))
			if x.Same != nil {
				text = "the trace as it was: " + o.sameText()
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s\n", out, units.Bytes(size), text)
			for _, text := range stays {
				fmt.Fprintln(cmd.OutOrStdout(), text)
			}
			return nil
		}),
	}
	f := cmd.Flags()
	o.flags(f, "")
	f.StringVarP(&out, "output", "o", "", "write to this `file` instead of TRACE's name with .thin.spoor in the current folder")
	f.BoolVar(&force, "force", false, "replace what is there")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// thinOptions say how a trace is thinned.
type thinOptions struct {
	options thin.Options
	budget  string
	draw    bool
	who     bool // partners are drawn
	seed    uint64
}

// thinFlags are the names of their flags.
var thinFlags = []string{"precision", "budget", "draw", "partners", "seed"}

// flags adds them; what is for the sake of another one says so in front.
func (o *thinOptions) flags(f *pflag.FlagSet, front string) {
	f.IntVar(&o.options.Precision, "precision", 95, front+"`percent`: sizes that differ by no more than what is missing to 100 may be one; 0 with --budget, if it isn't said")
	f.StringVar(&o.budget, "budget", "", front+"merge no more than it takes to come to so many `bytes`: 100K, 2M")
	f.BoolVar(&o.draw, "draw", false, front+"give up numbers of rounds of loops that differ: they are drawn from their distribution; with --budget only where sizes are not enough")
	f.BoolVar(&o.who, "partners", false, front+"give up whom messages go to, where that looks random: partners, sizes and tags are drawn from their distributions; with --budget only where all else is not enough")
	f.Uint64Var(&o.seed, "seed", 1, front+"draw with this `number`")
}

// parse checks what was said.
func (o *thinOptions) parse(f *pflag.FlagSet) error {
	if o.budget != "" {
		n, err := parseBytes(o.budget)
		if err != nil || n <= 0 {
			return fmt.Errorf("--budget %s: say bytes, as 500K or 2M", o.budget)
		}
		o.options.Budget = n
		if !f.Changed("precision") {
			o.options.Precision = 0
		}
	}
	if o.options.Precision < 0 || o.options.Precision > 100 {
		return fmt.Errorf("--precision %d: it is 0 to 100", o.options.Precision)
	}
	return nil
}

// sameText says why a trace stays as it was.
func (o *thinOptions) sameText() string {
	if o.options.Budget > 0 {
		return "it is within the budget"
	}
	return "it would be no smaller"
}

// of thins a trace, and says what stays though it was to be drawn.
func (o *thinOptions) of(r *trace.Reader, stderr io.Writer) (x *thin.Result, stays []string, err error) {
	passes := 3
	if o.options.Budget > 0 {
		passes = mostPasses
	}
	options := o.options
	if o.draw {
		options.Rounds = func(r *trace.Reader) thin.Drawer {
			return rounds.New(r, rounds.Options{Precision: options.Precision, Seed: o.seed})
		}
	}
	if o.who {
		passes *= 3
	}
	p := newProgress(stderr, "ranks gone through, at most", passes*r.Ranks())
	var who *partners.Drawer
	if o.who {
		who = partners.New(r, o.seed, p.steps)
		options.Partners = who
	}
	x, err = thin.Of(r, options, p.steps)
	p.end()
	if err != nil {
		return nil, nil, err
	}
	if x.Unmerged {
		stays = append(stays, "sizes stay: merged, they would take no less")
	}
	if d, ok := x.Drawer.(*rounds.Drawer); ok {
		if text := keptText(d.Kept()); text != "" {
			stays = append(stays, "numbers of rounds that stay: "+text)
		}
	}
	if who != nil {
		kept := who.Kept()
		if x.Larger {
			kept = append(kept, partners.Kept{Why: "the trace would be no smaller"})
		}
		if text := keptPartners(kept); text != "" {
			stays = append(stays, "messages that stay: "+text)
		}
	}
	return x, stays, nil
}

// mostPasses is about how often a budget has all calls gone through.
const mostPasses = 16

// parseBytes reads a number of bytes: 100K, 2.5M, 1G or plain digits.
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
		return 0, fmt.Errorf("%q is no number of bytes", text)
	}
	return int64(v * unit), nil
}

// A mergedSizes is a family of sizes that were merged, as people read it.
type mergedSizes struct {
	Of           string `json:"of"`
	Precision    int    `json:"precision"`
	Merged       uint64 `json:"merged"` // sizes, calls counted
	Kept         uint64 `json:"kept"`
	distribution        // of bytes, before
}

func mergedOf(list []trace.Thinned) []mergedSizes {
	out := []mergedSizes{}
	for _, t := range list {
		m := mergedSizes{Precision: t.Precision, Kept: t.Kept, distribution: distributionOf(t.Least, t.Most, t.Bins)}
		for _, b := range t.Bins {
			m.Merged += b.Count
		}
		var names []string
		for _, id := range t.Functions {
			if c, ok := mpi.ByID(id); ok {
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

// mostTags is how many tags of a family are listed.
const mostTags = 8

// text says it in a line.
func (m *mergedSizes) text() string {
	return fmt.Sprintf("%s of %s became %d, %s kept; precision %d; %s (rank %d) to %s (rank %d) before", units.Plural(m.Merged, "size"), m.Of, len(m.Bins),
		units.Grouped(m.Kept), m.Precision, units.Bytes(m.Least), m.LeastRank, units.Bytes(m.Most), m.MostRank)
}
