package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/trace"
)

// windowFlags are the values of the flags that select which part of a run a verb analyses.
type windowFlags struct {
	from, until, phase, loop, iteration string
	inner                               bool
}

func (w *windowFlags) add(f *pflag.FlagSet) {
	f.StringVar(&w.from, "from", "", "from this `time` of the run on (12.5s, 300ms); calls that cross it count")
	f.StringVar(&w.until, "until", "", "up to this `time` of the run")
	phaseFlag(f, &w.phase)
	f.StringVar(&w.loop, "loop", "", "only one loop, named as spoor calltree does, by place (halo.c:80) or function, or by the `call` that its iterations begin with, such as MPI_Recv@halo.c:88; main: the loop whose iterations info names")
	f.StringVar(&w.iteration, "iteration", "", "only these iterations of the loop (default main), counted from 0: `range` such as 10:20, without 20")
	f.BoolVar(&w.inner, "without-init", false, "only what comes after MPI_Init and before MPI_Finalize")
	inGroup(f, partGroup, "from", "until", "phase", "loop", "iteration", "without-init")
}

// windowNames lists the names of the flags that windowFlags has.
func windowNames() (names []string) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(windowFlags).add(f)
	f.VisitAll(func(x *pflag.Flag) { names = append(names, x.Name) })
	return names
}

// moments parses the values of --from and --until to ns since the start of the run; nil: the flag is not given.
func moments(from, until string) (begin, end *int64, err error) {
	for _, b := range []struct {
		name, text string
		to         **int64
	}{{"from", from, &begin}, {"until", until, &end}} {
		if b.text == "" {
			continue
		}
		ns, err := parseMoment(b.text)
		if err != nil {
			return nil, nil, fmt.Errorf("--%s: %w", b.name, err)
		}
		*b.to = &ns
	}
	if begin != nil && end != nil && *end < *begin {
		return nil, nil, fmt.Errorf("--until %s is before --from %s", until, from)
	}
	return begin, end, nil
}

// window converts the flags to a selection of calls. It checks that any of the given ranks has the marked phase; if
// ranks is nil, all ranks are meant.
func (w *windowFlags) window(r *trace.Reader, ranks []int) (x reduce.Selection, err error) {
	if x.FromNs, x.UntilNs, err = moments(w.from, w.until); err != nil {
		return x, err
	}
	if err = checkPhase(w.phase, r, ranks); err != nil {
		return x, err
	}
	x.Phase, x.Loop, x.WithoutInit = w.phase, w.loop, w.inner
	if w.iteration != "" && x.Loop == "" {
		x.Loop = reduce.MainLoop
	}
	x.EndIteration = ^uint64(0)
	if w.iteration != "" {
		if x.FirstIteration, x.EndIteration, err = parseSpan(w.iteration); err != nil {
			return x, fmt.Errorf("--iteration: %w", err)
		}
	}
	if name, _, _ := strings.Cut(x.Loop, "@"); x.Loop != "" && x.Loop != reduce.MainLoop && !slices.ContainsFunc(r.Schema(), func(f *trace.Function) bool { return f.Name == name }) {
		if x.IterationSites, err = roundOf(r, name); err != nil {
			return x, fmt.Errorf("--loop: %w", err)
		}
	}
	if strings.Contains(x.Loop, "@") {
		where := newPlaces(nil)
		x.SiteNamer = func(function string, s trace.Site) string {
			place := where.called(function, s)
			return place.String()
		}
	}
	return x, nil
}

// roundOf finds the functions and call sites with which iterations of a loop begin. name names the loop as spoor
// calltree does: by its place (halo.c:80) or its function.
func roundOf(r *trace.Reader, name string) (map[trace.FunctionSite]bool, error) {
	o, err := newPlaces(nil).tree(r)
	if err != nil {
		return nil, err
	}
	o.StructureOnly = true
	found := make(map[trace.FunctionSite]bool)
	for class := range r.Classes() {
		rank := r.Members(class)[0]
		t, err := calltree.Build(r, rank, o)
		if err != nil {
			return nil, err
		}
		n, err := t.IterationCall(name)
		if err != nil {
			return nil, err
		}
		if n == nil {
			continue
		}
		k, err := r.Rank(rank)
		if err != nil {
			return nil, err
		}
		for _, terminal := range n.Terminals {
			found[k.CallWithoutParams(terminal).FunctionSite()] = true
		}
	}
	return found, nil
}

// cut makes a trace of the part of the run that the flags select; nil if they select the whole run.
func (w *windowFlags) cut(cmd *cobra.Command, r *trace.Reader) (*reduce.CutResult, error) {
	x, err := w.window(r, nil)
	if err != nil || x.IsWholeRun() {
		return nil, err
	}
	p := newProgress(cmd.ErrOrStderr(), "ranks cut", r.Ranks())
	part, err := reduce.Cut(r, x, p.steps)
	p.end()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", r.Name(), x.String(), err)
	}
	if c := part.IterationCall; c != nil {
		where := newPlaces(nil).called(c.Name(), c.Site)
		fmt.Fprintf(cmd.ErrOrStderr(), "spoor: an iteration begins with %s at %s; --loop names another call\n", c.Name(), where.String())
	}
	for _, n := range part.Notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %s\n", n)
	}
	return part, nil
}

// of makes the RunE of a verb that reads one trace. f gets a trace of the part that the flags select.
func (w *windowFlags) of(f func(cmd *cobra.Command, r *trace.Reader) error) func(*cobra.Command, []string) error {
	return oneTrace(func(cmd *cobra.Command, r *trace.Reader) error {
		part, done, err := w.part(cmd, r)
		if err != nil {
			return err
		}
		defer done()
		return f(cmd, part)
	})
}

// ofInner does what of does, except for --without-init without other flags. Then f gets the whole trace and inside is
// true: f itself has to leave out MPI_Init and MPI_Finalize.
func (w *windowFlags) ofInner(f func(cmd *cobra.Command, r *trace.Reader, inside bool) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		inside := w.inner && *w == windowFlags{inner: true}
		if inside {
			w.inner = false
		}
		return w.of(func(cmd *cobra.Command, r *trace.Reader) error { return f(cmd, r, inside) })(cmd, args)
	}
}

// ofOr does what of does, with one exception: the flags select iterations of which the trace has no times of single
// calls, but sums that ranks made at the end of the run. Then it calls iterations, not f, with these sums.
func (w *windowFlags) ofOr(iterations func(cmd *cobra.Command, r *trace.Reader, x *trace.When, first, end uint64) error, f func(cmd *cobra.Command, r *trace.Reader) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		path, err := named(cmd, args)
		if err != nil {
			return err
		}
		args, found := []string{path}, false
		err = oneTrace(func(cmd *cobra.Command, r *trace.Reader) error {
			x, first, end, err := w.whenOf(r)
			if found = x != nil; err != nil || !found {
				return err
			}
			return iterations(cmd, r, x, first, end)
		})(cmd, args)
		if err != nil || found {
			return err
		}
		return w.of(f)(cmd, args)
	}
}

// part returns a trace of the part that the flags select, or the trace itself if that is all of it. The part has the
// trace's name, so that messages name a file that users know.
func (w *windowFlags) part(cmd *cobra.Command, r *trace.Reader) (of *trace.Reader, done func(), err error) {
	part, err := w.cut(cmd, r)
	if err != nil || part == nil {
		return r, func() {}, err
	}
	defer part.Close()
	dir, err := os.MkdirTemp("", "spoor-part-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, filepath.Base(r.Name()))
	if err := part.Write(path, false); err != nil {
		return nil, nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	st, err := file.Stat()
	if err == nil {
		of, err = trace.NewReader(file, st.Size(), r.Name())
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return of, func() { file.Close() }, nil
}

// phaseFlag adds the flag that selects the calls of one marked phase.
func phaseFlag(f *pflag.FlagSet, name *string) {
	f.StringVar(name, "phase", "", "only this `phase`: from each MPI_Pcontrol(PHASE) or plugin mark to the next mark of the thread")
}

// checkPhase returns an error if no given rank has the marked phase that --phase names. If ranks is nil, all ranks are
// meant.
func checkPhase(name string, r *trace.Reader, ranks []int) error {
	if name == "" {
		return nil
	}
	if err := ops.CheckPhase(name, r, ranks); err != nil {
		return fmt.Errorf("--phase: %w", err)
	}
	return nil
}
