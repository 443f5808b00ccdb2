package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/again/proxy"
	"github.com/spoor-hpc/spoor/internal/again/reissue"
	"github.com/spoor-hpc/spoor/internal/extrapolate"
	"github.com/spoor-hpc/spoor/internal/run/inspect"
	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

type proxyOptions struct {
	proxy.Options
	dir   string
	force bool
	json  bool
	mpi   string
	paths []string
	fold  bool
	scale bool
}

func newProxy() *cobra.Command {
	o := proxyOptions{}
	cmd := &cobra.Command{
		Use:   "proxy [flags] TRACE | --scalable TRACE TRACE TRACE...",
		Short: "Write a C program that makes the calls of a trace again",
		Long: `Write a C program with Makefile and README that makes the same MPI calls with the
same parameters on as many ranks. Its functions and loops are those of the program
where the trace knows them (not with run --stack 0), else one function for each piece of
structure that the compression found. Values that differ from rank to rank are
expressions of the rank, so that its size is that of the compressed trace.

The program computes nothing; --compute says whether it lets the time pass that
the original spent between calls. Requests finish in the order in which they did
originally; where a program polls, they do in a loop that finishes the same ones, unless
--recorded-order asks for more lines. Files are scratch files in the folder where it runs.

Calls that can't be made again are listed, and no program is written unless
--partial says to leave them out. Of a trace that was recovered from a crash the
program then goes as far as the original came: up to the calls that never returned,
and to what needs them.

With --scalable the program runs on any number of ranks. It is made of three traces or more of one program
on different numbers of ranks, as spoor extrapolate takes them, and its values are
expressions of rank and number of ranks. It is exact on the numbers of ranks of the
traces. Values that the traces don't determine on others are parameters at the top of proxy.c.`,
		Example: `  spoor proxy app.spoor -o proxy && make -C proxy && mpiexec -n 4 proxy/proxy
  spoor proxy app.spoor --compute sleep
  spoor proxy app.spoor --compute spin --gaps followed
  spoor proxy --scalable app-9.spoor app-12.spoor app-16.spoor app-25.spoor -o proxy
  spoor proxy app.spoor --mpi openmpi       for another MPI than the trace was made under`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.scale {
				return atLeastTraces(3, "three")(cmd, args)
			}
			return exactly(1, "one trace")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := openTraces(args)
			defer closeTraces(list)
			if err != nil {
				return err
			}
			return runProxy(cmd, o, list)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.dir, "output", "o", "", "write to this `folder` (default NAME-proxy)")
	f.StringVar(&o.Compute, "compute", "none", "between calls: sleep, spin or none")
	f.StringVar((*string)(&o.Gaps), "gaps", string(proxy.GapsDrawn), "time before a call: drawn from histograms if there are any; mean, that of its place; followed, call by call")
	f.BoolVar(&o.Recorded, "recorded-order", false, "have requests finish in the recorded order, and tests find nothing as often, also where that follows no rule")
	f.BoolVar(&o.Partial, "partial", false, "leave out calls that can't be made again, and go as far as the program came")
	f.StringVar(&o.mpi, "mpi", "", "make it for this `MPI`: mpich, openmpi, abi (default: that of the trace)")
	f.BoolVar(&o.fold, "fold", false, "take the functions and loops that the compression found, also where the program's own are known")
	f.BoolVar(&o.scale, "scalable", false, "write a program for any number of ranks, from traces on several")
	debugPathFlag(f, &o.paths)
	f.BoolVar(&o.force, "force", false, "write into a folder that has files")
	f.BoolVar(&o.json, "json", false, "tell what was written, or what can't be, as JSON")
	return cmd
}

func runProxy(cmd *cobra.Command, o proxyOptions, list []*trace.Reader) error {
	r := list[0]
	if o.scale && (o.fold || o.Partial || o.Recorded || cmd.Flags().Changed("gaps")) {
		return &usageError{cmd, errors.New("--scalable goes without --fold, --gaps, --partial and --recorded-order")}
	}
	switch o.Compute {
	case "sleep", "spin", "none":
	default:
		return &usageError{cmd, fmt.Errorf("--compute %s: sleep, spin or none", o.Compute)}
	}
	switch o.Gaps {
	case proxy.GapsDrawn, proxy.GapsMean, proxy.GapsFollowed:
	default:
		return &usageError{cmd, fmt.Errorf("--gaps %s: drawn, mean or followed", o.Gaps)}
	}
	if f := cmd.Flags(); f.Changed("gaps") || o.Compute != "none" {
		if err := r.NeedTimes(); err != nil {
			return err
		}
	}
	if o.Target.Flavour = o.mpi; o.mpi != "" {
		flavour, ok := mpi.FlavourNamed(o.mpi)
		if !ok {
			return &usageError{cmd, fmt.Errorf("--mpi %s: mpich, openmpi or abi", o.mpi)}
		}
		has, err := inspect.FunctionsOf(flavour)
		if err != nil {
			return err
		}
		if has == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %s is not installed here: which functions it lacks will show when the program is linked\n", o.mpi)
		} else {
			o.Target.Has = func(name string) bool { return has[name] || flavour.Macro(name) }
		}
	}
	if o.dir == "" {
		o.dir = traceName(strings.TrimSuffix(filepath.Base(r.Name()), ".spoor")) + "-proxy"
	}
	if entries, err := os.ReadDir(o.dir); err == nil && len(entries) > 0 && !o.force {
		return fmt.Errorf("%s has files; use --force to write there all the same", o.dir)
	}
	out := cmd.OutOrStdout()
	where := newPlaces(o.paths)
	o.Line = func(s trace.Site) string {
		if p := where.of(s); len(p.Frames) > 0 {
			return p.String()
		}
		return s.String()
	}
	if !o.fold && !o.scale {
		var err error
		if o.Code, err = where.code(r); err != nil {
			return err
		}
	}
	generate := func() (*proxy.Program, error) {
		if !o.scale {
			return proxy.Generate(r, o.Options)
		}
		m, err := extrapolate.Learn(list)
		if err != nil {
			return nil, err
		}
		return m.Proxy(o.Options)
	}
	p, err := generate()
	var refused *proxy.RefusedError
	if errors.As(err, &refused) {
		if o.json {
			return errors.Join(writeJSON(out, map[string]any{"refused": refused.Obstacles}), exitCode(1))
		}
		printObstacles(cmd.ErrOrStderr(), refused.Obstacles)
		return fmt.Errorf("%s: %w; --partial leaves them out", r.Name(), err)
	}
	if err != nil {
		return err
	}
	if err := p.Write(o.dir); err != nil {
		return err
	}
	if o.json && o.scale {
		return writeJSON(out, map[string]any{"folder": o.dir, "lines": p.Lines, "parameters": p.Parameters})
	}
	if o.json {
		return writeJSON(out, map[string]any{
			"folder": o.dir, "lines": p.Lines, "functions": p.Parts, "programs": p.Variants, "ranks": r.Ranks(), "left_out": p.LeftOut,
		})
	}
	if len(p.LeftOut) > 0 {
		printObstacles(cmd.ErrOrStderr(), p.LeftOut)
	}
	if o.scale {
		fmt.Fprintf(out, "%s: proxy.c with %s, %s that the traces don't determine; make -C %s && mpiexec -n N %s\n", o.dir, units.Plural(p.Lines, "line"),
			units.Plural(p.Parameters, "value"), o.dir, filepath.Join(o.dir, "proxy"))
		return nil
	}
	fmt.Fprintf(out, "%s: proxy.c with %s, %s; make -C %s && mpiexec -n %d %s\n", o.dir, units.Plural(p.Lines, "line"),
		units.Plural(p.Parts, "function"), o.dir, r.Ranks(), filepath.Join(o.dir, "proxy"))
	return nil
}

func printObstacles(w io.Writer, list []reissue.Obstacle) {
	for _, x := range list {
		fmt.Fprintf(w, "%10s  %s (%s): %s\n", units.Plural(int(x.Calls), "call"), x.Function, units.Plural(x.Ranks, "rank"), x.Reason)
	}
}
