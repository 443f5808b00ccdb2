package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spoor-hpc/spoor/internal/reproduce/replay"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace"
)

type machineOptions struct {
	out, name    string
	mpi, library string
	most         int64
	noisy        bool
	noRecorder   bool
	files        string
	quiet        bool
}

func newMachine() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "machine VERB [flags]",
		Short: "Measure or list machines for spoor simulate",
		Example: `  spoor machine list
  spoor machine measure -o here.toml mpirun -n 2
  spoor simulate --machine here.toml app.spoor`,
	}
	return ofVerbs(cmd, newMachineMeasure(), newMachineList())
}

func newMachineList() *cobra.Command {
	var o output
	cmd := &cobra.Command{
		Use:     "list [flags]",
		Short:   "List the machines that come with spoor",
		Long:    `Their figures are plausible, not measured. In "ideal" messages take no time.`,
		Example: `  spoor machine list`,
		Args:    exactly(0, "flags alone"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list []*machine.Machine
			for _, name := range machine.MachineNames() {
				m, err := machine.LoadMachine(name)
				if err != nil {
					return err
				}
				list = append(list, m)
			}
			table := show.Table[*machine.Machine]{Rows: list, Columns: show.Columns[*machine.Machine]{
				{Name: "machine", Unit: show.UnitWord, Doc: "its name", Value: func(m *machine.Machine) any { return m.Name }},
				{Name: "source", Unit: show.UnitWord, Doc: "where its figures are from", Value: func(m *machine.Machine) any { return m.FiguresSource }},
			}}
			return o.print(cmd, table, nil, table.Print)
		},
	}
	jsonFlag(cmd.Flags(), &o.json)
	return cmd
}

func newMachineMeasure() *cobra.Command {
	o := machineOptions{out: "machine.toml", most: 16 << 20}
	cmd := &cobra.Command{
		Use:   "measure [flags] LAUNCHER [OPTIONS...]",
		Short: "Measure messages, collectives and tracing on this machine",
		Long: `Give the launcher and its options without a program; spoor brings its own, which
needs no compiler. It measures one pair of ranks for each distance between ranks
(core, socket, node, network): one-way times by size, the size from which
messages wait for their receive, the cost for the cores, and the gap between
messages; then reductions, collectives of all ranks, and what tracing costs a
call.

If a tenth of the times are much smaller than the mean, the machine is busy, or
has fewer cores than ranks: spoor then writes no file, unless --noisy is given.
More: docs/simulate.md`,
		Example: `  spoor machine measure mpirun -n 2
  spoor machine measure -o cluster.toml srun -N 2 -n 4
  spoor machine measure -o here.toml --files /scratch mpirun -n 2`,
		Args: atLeastOne("a launcher, such as mpirun -n 2"),
		RunE: func(cmd *cobra.Command, args []string) error { return measureMachine(cmd, o, args) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVarP(&o.out, "output", "o", o.out, "write the machine to this `file`")
	f.StringVar(&o.name, "name", "", "what to call the machine (default: the host)")
	f.StringVar(&o.mpi, "mpi", "", "`name`: the MPI to use: openmpi, mpich or abi (default: the launcher's)")
	f.StringVar(&o.library, "library", "", "`file`: the MPI library to load (default: the launcher's)")
	f.Int64Var(&o.most, "most", o.most, "the largest message, in `bytes`")
	f.BoolVar(&o.noisy, "noisy", false, "accept times that vary")
	f.StringVar(&o.files, "files", "", "also measure MPI's files in this `folder`, which all ranks see (writes 300 MB, removes them)")
	f.BoolVar(&o.noRecorder, "no-recorder", false, "do not measure what tracing costs")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no progress")
	return cmd
}

// The least and the largest value of --most, which is the largest message measured, in bytes. With less than leastMost,
// some experiments could not be made.
const leastMost, mostMost = 1 << 10, 1 << 30

// talks is how often each kind of call is made under the tracer to measure what tracing costs.
const talks = 4000

func measureMachine(cmd *cobra.Command, o machineOptions, args []string) error {
	if o.most < leastMost || o.most > mostMost {
		return fmt.Errorf("--most %d: from %d bytes to %d", o.most, leastMost, mostMost)
	}
	if err := checkMPI(o.mpi); err != nil {
		return err
	}
	runner, err := launch.RunnerOf(args, o.mpi)
	if err != nil {
		return err
	}
	if p := launch.GuessProgram(runner.Launcher, args); p != "" {
		return fmt.Errorf("%s is a program: give the launcher and its options alone, as in spoor machine measure mpirun -n 2", p)
	}
	if o.library != "" {
		runner.Libraries = []string{o.library}
	}
	replayer, dir, err := findReplayer()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := ""
	if o.files != "" {
		if file, err = fileIn(o.files); err != nil {
			return err
		}
		defer os.Remove(file)
	}
	task := machine.MeasureTask{TestFile: file, ResultFile: filepath.Join(dir, "result"), MaxMessageBytes: o.most, AllowNoise: o.noisy, NoBackgroundProgress: o.quiet}
	measure := func(vars []launch.EnvVar) error {
		file := filepath.Join(dir, "config")
		if err := (&replay.ReplayConfig{Libraries: runner.Libraries, Calibrate: &task}).Write(file); err != nil {
			return err
		}
		argv, env := launch.CommandLine(runner.Launcher, slices.Concat(args, []string{replayer}), append(vars, launch.EnvVar{Name: replay.ConfigVariable, Value: file}))
		code, err := launch.RunLauncher(argv, env)
		if err == nil && code != 0 {
			err = fmt.Errorf("%s %s ended with code %d", strings.Join(args, " "), replayer, code)
		}
		return err
	}
	if err := measure(nil); err != nil {
		return err
	}
	result, err := machine.ReadCalibrationResult(task.ResultFile)
	if err != nil {
		return err
	}
	if result.NoiseErrorText != "" {
		return errors.New(result.NoiseErrorText)
	}
	m, err := machine.ParseMachine("measured", []byte(result.MachineText))
	if err != nil {
		return err
	}
	if !o.noRecorder {
		if !o.quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), "spoor: what tracing costs")
		}
		task = machine.MeasureTask{MaxMessageBytes: o.most, TracedCalls: talks}
		if m.TracingCost, err = recorderCost(filepath.Join(dir, "t.spoor"), result.LocalCallNs, measure); err != nil {
			return err
		}
	}
	m.Name = cmp.Or(o.name, result.RankBindings[0].Host)
	library, _, _ := strings.Cut(strings.Join(strings.Fields(result.Library), " "), ", package")
	if strings.HasPrefix(library, "Open MPI") {
		m.CollectiveAlgorithms = machine.OpenMPIAlgorithms
	}
	m.FiguresSource = fmt.Sprintf("spoor machine measure %s, %s", strings.Join(args, " "), time.Now().UTC().Format(time.DateOnly))
	comment := fmt.Sprintf("Measured on %s with %s.", result.RankBindings[0].Host, units72(library))
	return writeWhole(o.out, true, func(w io.Writer) error { _, err := w.Write(m.FileText(comment)); return err })
}

// fileIn makes an empty file with a new name in a folder, and returns its path.
func fileIn(folder string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(folder, "spoor-calibrate-*")
	if err != nil {
		return "", fmt.Errorf("--files: %w", err)
	}
	return f.Name(), f.Close()
}

// units72 shortens an MPI's description of itself to 72 characters.
func units72(text string) string {
	if r := []rune(text); len(r) > 72 {
		return string(r[:72]) + "…"
	}
	return text
}

// recorderCost runs ranks that make calls in direct succession under the tracer, and computes what tracing a call costs
// from the times in their trace. local is the time in ns of MPI_Comm_rank without the tracer.
func recorderCost(path string, local float64, run func([]launch.EnvVar) error) (cost machine.TracingCost, err error) {
	shim, err := findLibrary("libspoor.so")
	if err != nil {
		return cost, err
	}
	scratch, err := makeScratch("", "")
	if err != nil {
		return cost, err
	}
	defer os.Remove(scratch) // a folder that still has records stays, as then this fails
	o := runOptions{out: path, quiet: true}
	o.timing.Mode = timing.ModeLossless
	if err := run(rankVars(o, shim, path, scratch)); err != nil {
		return cost, err
	}
	r, err := trace.Open(path)
	if err != nil {
		return cost, fmt.Errorf("what tracing costs: %w", err)
	}
	defer r.Close()
	k, err := r.Rank(0)
	if err != nil {
		return cost, err
	}
	var gaps, calls []float64
	before := ""
	for t, err := range k.TimedTerminals(0) {
		if err != nil {
			return cost, err
		}
		c, err := k.Terminal(int(t.Terminal))
		if err != nil {
			return cost, err
		}
		switch name := c.Name(); name {
		case "MPI_Comm_rank":
			if before == name {
				calls = append(calls, float64(t.Timing.Duration.Ns))
			}
		case "MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait":
			gaps = append(gaps, float64(t.Timing.Gap.Ns))
		}
		before = c.Name()
	}
	return machine.MeasuredTracingCost(gaps, calls, local)
}
