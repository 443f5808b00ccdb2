package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/trace"
)

func newDoctor() *cobra.Command {
	var o output
	var code string
	var functions bool
	var paths []string
	cmd := &cobra.Command{
		Use:   "doctor [flags] [PROGRAM]",
		Short: "Find out whether programs can be traced here, and what prevents it",
		Long: `Without an argument: the MPIs, launchers and parts of spoor on this machine.
With a program: which MPI it loads, its Fortran bindings, whether spoor can
trace it, and the launcher to start it with. The exit code is 1 if something
prevents tracing.

--code shows where the machine code of a program or library calls MPI, in which
functions and loops, without running it. --functions lists how
the functions of the MPI standard are traced; with a name, all its parameters.
More: docs/doctor.md`,
		Example: `  spoor doctor                   MPIs, launchers and parts of spoor on this machine
  spoor doctor ./app             which MPI it loads, whether spoor can trace it
  spoor doctor --code ./app      functions and loops that call MPI
  spoor doctor --functions       how each function of the MPI standard is traced
  spoor doctor --functions MPI_Send`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case functions:
				return listFunctions(cmd, args, o)
			case code != "":
				if len(args) > 0 {
					return &usageError{cmd, fmt.Errorf("--code %s: no program beside it", code)}
				}
				return showCode(cmd, code, paths, o)
			}
			h := examineHost()
			if len(args) == 1 {
				var err error
				if h.Program, err = launch.InspectProgram(lookPath(args[0])); err != nil {
					return err
				}
				h.Program.InspectSymbols()
			}
			if err := o.print(cmd, h, h.print, nil); err != nil {
				return err
			}
			if !h.healthy() {
				return exitCode(1)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&code, "code", "", "show functions and loops that call MPI in this `binary`")
	f.BoolVar(&functions, "functions", false, "list the functions of the MPI standard, or show one")
	jsonFlag(f, &o.json)
	debugPathFlag(f, &paths)
	return cmd
}

// A machineReport is what spoor doctor found on this machine: parts of spoor, MPIs, launchers and the scratch folder.
type machineReport struct {
	Parts     []toolPart         `json:"parts"`
	MPIs      []launch.Library   `json:"mpi_libraries"`
	Launchers []launcher         `json:"launchers"`
	Scratch   string             `json:"scratch"`
	FreeBytes uint64             `json:"scratch_free_bytes"`
	SteadyTSC bool               `json:"steady_tsc"`
	Program   *launch.Inspection `json:"program,omitempty"`
}

type toolPart struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"`
	Problem string `json:"problem,omitempty"`
}

type launcher struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
}

func examineHost() *machineReport {
	h := &machineReport{MPIs: launch.InstalledMPIs(), Scratch: "/dev/shm", Launchers: []launcher{}}
	sort.Slice(h.MPIs, func(i, j int) bool { return h.MPIs[i].Path < h.MPIs[j].Path })
	for _, name := range []string{"libspoor.so", "libspoor-engine.so"} {
		p := toolPart{Name: name}
		if path, err := findLibrary(name); err != nil {
			p.Problem = err.Error()
		} else {
			p.Path, p.Problem = path, launch.TryPreload(path)
		}
		h.Parts = append(h.Parts, p)
	}
	for _, name := range []string{"mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra", "srun"} {
		if path, err := exec.LookPath(name); err == nil {
			h.Launchers = append(h.Launchers, launcher{path, launch.IdentifyLauncher(path).String()})
		}
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(h.Scratch, &st); err != nil {
		h.Scratch = os.TempDir()
		_ = syscall.Statfs(h.Scratch, &st)
	}
	h.FreeBytes = st.Bavail * uint64(st.Bsize)
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	h.SteadyTSC = strings.Contains(string(cpu), "constant_tsc") && strings.Contains(string(cpu), "nonstop_tsc")
	return h
}

func (h *machineReport) healthy() bool {
	for _, p := range h.Parts {
		if p.Problem != "" {
			return false
		}
	}
	return h.Program == nil || h.Program.Traceable()
}

func (h *machineReport) print(w io.Writer) {
	for _, p := range h.Parts {
		switch {
		case p.Path == "":
			fmt.Fprintf(w, "missing    %s\n", p.Problem)
		case p.Problem != "":
			fmt.Fprintf(w, "broken     %s: %s\n", p.Path, p.Problem)
		default:
			fmt.Fprintf(w, "ok         %s\n", p.Path)
		}
	}
	for _, m := range h.MPIs {
		fmt.Fprintf(w, "MPI        %s (%s)\n", m.Path, m.Family)
	}
	if len(h.MPIs) == 0 {
		fmt.Fprintf(w, "MPI        none in the loader's cache; one in a module or LD_LIBRARY_PATH works as well\n")
	}
	for _, l := range h.Launchers {
		fmt.Fprintf(w, "launcher   %s (%s)\n", l.Path, l.Kind)
	}
	fmt.Fprintf(w, "scratch    %s, %d MiB free; a rank needs about 2 MiB while it runs\n", h.Scratch, h.FreeBytes>>20)
	if h.SteadyTSC {
		fmt.Fprintf(w, "clock      time stamp counter, steady\n")
	} else {
		fmt.Fprintf(w, "clock      clock_gettime; the time stamp counter is not steady here, calls cost about 60 ns more\n")
	}
	if h.Program != nil {
		h.printProgram(w, h.Program)
	}
}

func (h *machineReport) printProgram(w io.Writer, r *launch.Inspection) {
	fmt.Fprintf(w, "\nprogram    %s (%s)\n", r.Path, r.Kind)
	if r.ScriptInterpreter != "" {
		fmt.Fprintf(w, "runs under %s\n", r.ScriptInterpreter)
	}
	for _, m := range r.MPI {
		fmt.Fprintf(w, "loads      %s (%s)\n", m.Path, m.Family)
	}
	for _, f := range r.FortranBindings {
		fmt.Fprintf(w, "Fortran    %s\n", f)
	}
	for _, l := range r.WrapperLibraries {
		fmt.Fprintf(w, "layer      %s wraps %s: called as without spoor\n", l.Path, show.FormatPlural(len(l.Functions), "MPI function"))
	}
	for _, s := range r.Sanitizers {
		fmt.Fprintf(w, "sanitizer  %s\n", s)
	}
	if r.InstrumentedLoops > 0 {
		fmt.Fprintf(w, "iterations %s count them: spoor run --plugin $(spoor papers pass --plugin)\n", show.FormatPlural(r.InstrumentedLoops, "loop"))
	}
	for _, m := range r.Missing {
		fmt.Fprintf(w, "not found  %s\n", m)
	}
	if r.NoteText != "" {
		fmt.Fprintf(w, "note       %s\n", r.NoteText)
	}
	if r.Traceable() && r.Kind == "executable" && len(r.MPI) == 0 {
		fmt.Fprintf(w, "verdict    nothing to trace, unless it loads an MPI while it runs\n")
	} else if r.Traceable() {
		fmt.Fprintf(w, "verdict    would be traced: spoor run %s -n 4 %s\n", h.launcherFor(r), r.Path)
	} else {
		fmt.Fprintf(w, "verdict    can't be traced: %s\n", r.Obstacle)
	}
}

// launcherFor returns the name of a launcher that belongs to the program's MPI, else mpirun. With another MPI's
// launcher, each rank would have an MPI_COMM_WORLD of its own.
func (h *machineReport) launcherFor(r *launch.Inspection) string {
	for _, l := range h.Launchers {
		if len(r.MPI) > 0 && launch.FitsFamily(launch.IdentifyLauncher(l.Path), r.MPI[0].Family) {
			return filepath.Base(l.Path)
		}
	}
	return "mpirun"
}

// showCode prints the functions and loops around MPI calls in a binary.
func showCode(cmd *cobra.Command, path string, paths []string, form output) error {
	m, err := code.Open(path)
	if r, traced := trace.Open(path); err != nil && traced == nil {
		r.Close()
		return fmt.Errorf("%s is a trace; for its loops: spoor calltree %s", path, path)
	}
	if err != nil {
		return err
	}
	defer m.Close()
	s := symbolise.New(symbolise.Options{SearchFolders: paths})
	o := tree.NewOutline(m, s)
	for _, note := range append(s.ImprecisionNotes(), o.Notes...) {
		complain(cmd, errors.New(note))
	}
	return form.print(cmd, o, o.WriteText, nil)
}
