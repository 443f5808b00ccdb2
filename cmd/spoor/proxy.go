package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/extrapolate"
	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/show"
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
	loops string
	times string // value of --compute-times
	scale bool
}

func newProxy() *cobra.Command {
	o := proxyOptions{}
	cmd := &cobra.Command{
		Use:   "proxy [flags] TRACE | --scalable TRACE TRACE TRACE...",
		Short: "Write a C program that makes the MPI calls of a trace",
		Long: `The program has the functions and loops of the original, and values that differ
between ranks as expressions of the rank; its size is that of the trace. It
computes nothing; --compute lets the time between calls pass. Requests complete in
the original order, polling loops complete the same requests. Files go to a scratch
folder. Calls that cannot be made again are listed, and nothing is written, unless
--partial leaves them out.

--scalable takes traces of one program on three and more numbers of ranks, and
writes a program for any number. Values that the traces do not determine are
parameters at the top of proxy.c.
More: docs/proxy.md`,
		Example: `  spoor proxy app.spoor -o proxy && make -C proxy && mpiexec -n 4 proxy/proxy
  spoor proxy app.spoor --compute spin --compute-times all
  spoor proxy app.spoor --mpi openmpi
  spoor proxy --scalable app-9.spoor app-12.spoor app-16.spoor app-25.spoor -o proxy`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.scale {
				return atLeastTraces(3, "three")(cmd, args)
			}
			return aTrace(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				path, err := named(cmd, args)
				if err != nil {
					return err
				}
				args = []string{path}
			}
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
	f.StringVar(&o.GapAction, "compute", "none", "`how`: let the time between calls pass: sleep, spin or none")
	f.StringVar(&o.times, "compute-times", "histogram", "`kind` of time before a call: random, from its histogram; mean of its call path; or all, call by call")
	f.BoolVar(&o.KeepRecordedOrder, "recorded-order", false, "complete requests in the recorded order, also where that follows no rule")
	f.BoolVar(&o.AllowPartial, "partial", false, "leave out calls that cannot be made again; for a dead program, go as far as it came")
	f.StringVar(&o.mpi, "mpi", "", "write it for this `MPI`: mpich, openmpi, abi (default: that of the trace)")
	loopsFlag(f, &o.loops)
	f.BoolVar(&o.scale, "scalable", false, "a program for any number of ranks, from traces on several")
	debugPathFlag(f, &o.paths)
	f.BoolVarP(&o.force, "force", "f", false, "write into a folder that has files")
	f.BoolVar(&o.json, "json", false, "print what was written, or why not, as JSON")
	return cmd
}

// computeTimes maps the values of --compute-times to how a proxy computes the time between calls.
var computeTimes = map[string]proxy.GapModel{"histogram": proxy.GapsDrawn, "mean": proxy.GapsMean, "all": proxy.GapsRecorded}

func runProxy(cmd *cobra.Command, o proxyOptions, list []*trace.Reader) error {
	r := list[0]
	if err := o.check(cmd.Flags()); err != nil {
		return &usageError{cmd, err}
	}
	if f := cmd.Flags(); f.Changed("compute-times") || o.GapAction != "none" {
		if err := r.RequireTimes(); err != nil {
			return err
		}
	}
	if err := o.findFunctions(cmd.ErrOrStderr()); err != nil {
		return err
	}
	o.dir = cmp.Or(o.dir, traceName(strings.TrimSuffix(filepath.Base(r.Name()), ".spoor"))+"-proxy")
	if entries, err := os.ReadDir(o.dir); err == nil && len(entries) > 0 && !o.force {
		return fmt.Errorf("%s has files; use --force to write there all the same", o.dir)
	}
	if err := o.findPlaces(r); err != nil {
		return err
	}
	p, err := o.generate(list)
	var refused *proxy.RefusedError
	if errors.As(err, &refused) {
		if o.json {
			return errors.Join(writeJSON(cmd.OutOrStdout(), map[string]any{"refused": refused.Obstacles}), exitCode(1))
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
	return o.print(cmd, p, r.Ranks())
}

// check checks the flags, and sets GapModel from --compute-times.
func (o *proxyOptions) check(f *pflag.FlagSet) error {
	if o.scale && (o.loops != loopsFromCode || o.AllowPartial || o.KeepRecordedOrder || f.Changed("compute-times")) {
		return errors.New("--scalable goes without --loops-from, --compute-times, --partial and --recorded-order")
	}
	switch o.GapAction {
	case "sleep", "spin", "none":
	default:
		return fmt.Errorf("--compute %s: sleep, spin or none", o.GapAction)
	}
	if err := checkLoops(o.loops); err != nil {
		return err
	}
	var known bool
	if o.GapModel, known = computeTimes[o.times]; !known {
		return fmt.Errorf("--compute-times %s: histogram, mean or all", o.times)
	}
	if _, ok := mpi.FlavourNamed(o.mpi); !ok && o.mpi != "" {
		return fmt.Errorf("--mpi %s: mpich, openmpi or abi", o.mpi)
	}
	return nil
}

// findFunctions finds which functions the installed MPI of the flavour that --mpi names has, so that a proxy uses no
// others.
func (o *proxyOptions) findFunctions(stderr io.Writer) error {
	if o.Target.Flavour = o.mpi; o.mpi == "" {
		return nil
	}
	flavour, _ := mpi.FlavourNamed(o.mpi)
	has, err := launch.MPIFunctionsOf(flavour)
	if err != nil {
		return err
	}
	if has == nil {
		fmt.Fprintf(stderr, "spoor: %s is not installed here: which functions it lacks will show when the program is linked\n", o.mpi)
		return nil
	}
	o.Target.HasFunction = func(name string) bool { return has[name] || flavour.HasMacro(name) }
	return nil
}

// findPlaces has the proxy's generator write source lines into comments. With --loops-from code, it also has the
// generator use the functions and loops of the machine code.
func (o *proxyOptions) findPlaces(r *trace.Reader) (err error) {
	where := newPlaces(o.paths)
	o.RenderSite = func(s trace.Site) string {
		if p := where.of(s); len(p.Frames) > 0 {
			return p.String()
		}
		return s.String()
	}
	if o.loops == loopsFromCode && !o.scale {
		o.Code, err = where.code(r)
	}
	return err
}

// generate makes the proxy of the first trace, or with --scalable one for any number of ranks from all traces.
func (o *proxyOptions) generate(list []*trace.Reader) (*proxy.Program, error) {
	if !o.scale {
		return proxy.GenerateProgram(list[0], o.Options)
	}
	m, err := extrapolate.Learn(list, o.RenderSite)
	if err != nil {
		return nil, err
	}
	return m.GenerateProxy(o.Options)
}

// print prints which folder the proxy is in, how large it is, what was left out, and how to start it.
func (o *proxyOptions) print(cmd *cobra.Command, p *proxy.Program, ranks int) error {
	out := cmd.OutOrStdout()
	if o.json && o.scale {
		return writeJSON(out, map[string]any{"folder": o.dir, "lines": p.Lines, "parameters": p.UndeterminedValues})
	}
	if o.json {
		return writeJSON(out, map[string]any{
			"folder": o.dir, "lines": p.Lines, "functions": p.StructureFunctions, "programs": p.RankVariants, "ranks": ranks, "left_out": p.LeftOut,
		})
	}
	if len(p.LeftOut) > 0 {
		printObstacles(cmd.ErrOrStderr(), p.LeftOut)
	}
	if o.scale {
		fmt.Fprintf(out, "%s: proxy.c with %s, %s that the traces don't determine; make -C %s && mpiexec -n N %s\n", o.dir, show.FormatPlural(p.Lines, "line"),
			show.FormatPlural(p.UndeterminedValues, "value"), o.dir, filepath.Join(o.dir, "proxy"))
		return nil
	}
	fmt.Fprintf(out, "%s: proxy.c with %s, %s; make -C %s && mpiexec -n %d %s\n", o.dir, show.FormatPlural(p.Lines, "line"),
		show.FormatPlural(p.StructureFunctions, "function"), o.dir, ranks, filepath.Join(o.dir, "proxy"))
	return nil
}

func printObstacles(w io.Writer, list []reissue.Obstacle) {
	for _, x := range list {
		fmt.Fprintf(w, "%10s  %s (%s): %s\n", show.FormatPlural(int(x.Calls), "call"), x.Function, show.FormatPlural(x.Ranks, "rank"), x.Reason)
	}
}
