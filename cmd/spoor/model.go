package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/run/deliver"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace"
)

// checkReduced sets o.reduced if a flag asks for a trace that is reduced, as by spoor reduce. It returns an error if
// other flags contradict that.
func (o *runOptions) checkReduced(f *pflag.FlagSet) error {
	if o.reduced = slices.ContainsFunc(reduceFlags, f.Changed); !o.reduced {
		return nil
	}
	for _, x := range []struct {
		name string
		set  bool
	}{
		{"--timing " + o.mode, o.timing.Mode != timing.ModeStats && o.timing.Mode != timing.ModeNone},
		{"--plugin", o.plugin != ""},
		{"--counters", o.counters != ""},
	} {
		if x.set {
			return fmt.Errorf("--tolerance and --budget keep means of times, and nothing of what is attached to calls: leave out %s", x.name)
		}
	}
	return o.thin.parse(f)
}

// made returns the name under which ranks write the trace: a temporary name if the trace is reduced afterwards.
func (o *runOptions) made(out string) string {
	if !o.reduced {
		return out
	}
	ext := filepath.Ext(out)
	return strings.TrimSuffix(out, ext) + ".lossless" + ext
}

// reportMade prints the summary of the trace that ranks wrote. If a reduced one is wanted, it makes that first and
// removes the lossless one. If that fails or gains nothing, the lossless trace is renamed to the wanted name.
func reportMade(stderr io.Writer, o runOptions, path, out string, force bool) (*sums.Summary, error) {
	if !o.reduced {
		return reportTrace(stderr, o, path)
	}
	name, said, err := o.thin.file(stderr, path, out, force)
	switch {
	case err == nil && name != "":
		if filepath.Dir(path) != filepath.Dir(out) { // rank 0 has printed a command that moves this lossless trace
			said += fmt.Sprintf("; %s is gone", path)
		}
		err = os.Remove(path)
	default:
		var moved error
		if name, moved = moveFree(path, out, force); moved != nil {
			name = path
		}
		if err != nil {
			err = fmt.Errorf("lossless, as it could not be reduced: %w", errors.Join(err, moved))
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "spoor: %s: %v\n", shortPath(name), err)
	}
	s, err := reportTrace(stderr, o, name)
	if said != "" && !o.quiet {
		fmt.Fprintf(stderr, "spoor: %s: %s\n", shortPath(name), said)
	}
	return s, err
}

// moveFree renames a trace to out, or to a numbered name (app-2.spoor) if out exists and force isn't set. It returns
// the name.
func moveFree(path, out string, force bool) (name string, err error) {
	for n := 1; ; n++ {
		name = deliver.NumberedName(out, n)
		if err = sections.Rename(path, name, force); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// file reduces the trace at path and writes the result to out or a numbered name. It returns the new file's name and
// the outcome in words. name is "" if reducing gains nothing.
func (o *reduceOptions) file(stderr io.Writer, path, out string, force bool) (name, said string, err error) {
	r, err := trace.Open(path)
	if err != nil {
		return "", "", err
	}
	defer r.Close()
	x, stays, err := o.of(r, stderr)
	if err != nil {
		return "", "", err
	}
	defer x.Close()
	stay := strings.Join(append([]string{""}, stays...), "; ")
	switch nothing := x.Content.MergedSizes == nil && x.Content.SyntheticLoops == nil && x.Content.SyntheticMessages == nil && !ordered(x); {
	case o.options.BudgetBytes > 0 && x.Unchanged != nil:
		return "", "lossless, as " + o.sameText(), nil
	case o.options.BudgetBytes > 0:
	case x.Unchanged != nil:
		return "", fmt.Sprintf("lossless, as %s at tolerance %s%s", o.sameText(), toleranceText(o.options.PrecisionPercent), stay), nil
	case nothing:
		return "", fmt.Sprintf("lossless, as nothing is merged at tolerance %s%s", toleranceText(o.options.PrecisionPercent), stay), nil
	}
	for n := 1; ; n++ {
		name = deliver.NumberedName(out, n)
		if err = x.Write(name, force); !errors.Is(err, fs.ErrExist) {
			return name, fmt.Sprintf("reduced, %s before: %s%s", show.FormatBytes(r.Size()), thinnedText(x), stay), err
		}
	}
}

// ordered reports whether the reduction changed calls such as MPI_Waitsome so that requests complete in the order in
// which they are passed.
func ordered(x *reduce.ReducedTrace) bool { return x.Content.Meta[trace.MetaNotePrefix+".order"] != "" }

// thinnedText summarises which sizes a reduction merged, and which trip counts and messages it made synthetic.
func thinnedText(x *reduce.ReducedTrace) string {
	var parts []string
	var sizes, runs uint64
	to, bins := 0, 0
	for _, t := range x.Content.MergedSizes {
		for _, b := range t.Bins {
			sizes += b.Count
		}
		to += len(t.Bins)
	}
	if sizes > 0 {
		parts = append(parts, fmt.Sprintf("%s became %d (tolerance %s)", show.FormatPlural(sizes, "size"), to, toleranceText(x.Content.MergedSizes[0].PrecisionPercent)))
	}
	if d := x.Content.SyntheticLoops; d != nil {
		for _, f := range d.Families {
			runs += f.LoopRuns
			bins += len(f.Bins)
		}
		parts = append(parts, fmt.Sprintf("trip counts of %s of loops are synthetic, of %d values (tolerance %s, seed %d)", show.FormatPlural(runs, "run"), bins, toleranceText(d.Families[0].PrecisionPercent), d.Seed))
	}
	if list := x.Content.SyntheticMessages; list != nil {
		intervals, messages := uint64(0), uint64(0)
		for i := range list {
			intervals, messages = intervals+list[i].Intervals, messages+list[i].RankDistances.Count()
		}
		parts = append(parts, fmt.Sprintf("%s in %s between collective calls are synthetic (seed %d)", show.FormatPlural(messages, "message"), show.FormatPlural(intervals, "interval"), list[0].Seed))
	}
	if ordered(x) {
		parts = append(parts, "requests finish in the order of their arrays")
	}
	if parts == nil {
		return "nothing was merged"
	}
	return strings.Join(parts, ", ")
}

// thinCommand returns the command with which the engine has a trace reduced. The engine needs it if spoor run has
// replaced itself by the rank's program, so that no spoor run waits for the end.
func (o *runOptions) thinCommand(tool, out string) []string {
	t := &o.thin
	return []string{
		tool, "reduced", "--tolerance=" + toleranceText(t.options.PrecisionPercent), "--budget=" + t.budget,
		"--stack=" + strconv.Itoa(o.stack), "--no-code=" + strconv.FormatBool(o.noCode), "--force=" + strconv.FormatBool(o.force), "--quiet=" + strconv.FormatBool(o.quiet), "--to=" + out,
	}
}

// newReduced makes the hidden verb reduced, which the command of thinCommand runs.
func newReduced() *cobra.Command {
	o := runOptions{reduced: true}
	var to, say string
	cmd := &cobra.Command{
		Use:    "reduced TRACE",
		Short:  "Make the trace that was asked for of a run's lossless one",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.thin.parse(cmd.Flags()); err != nil {
				return err
			}
			said, err := os.OpenFile(say, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			if exists(to) && !o.force {
				fmt.Fprintf(said, "spoor: %s exists, the trace is %s\n", to, freeName(to))
			}
			_, err = reportMade(said, o, args[0], to, o.force)
			return errors.Join(err, said.Close())
		},
	}
	f := cmd.Flags()
	o.thin.flags(f)
	f.IntVar(&o.stack, "stack", defaultStack, "frames of the calls' sites")
	f.BoolVar(&o.noCode, "no-code", false, "say nothing of the binaries")
	f.BoolVar(&o.force, "force", false, "write over an existing file")
	f.BoolVar(&o.quiet, "quiet", false, "say nothing but failures")
	f.StringVar(&to, "to", "", "`file` to write")
	f.StringVar(&say, "say", "", "`file` to say it in")
	return cmd
}
