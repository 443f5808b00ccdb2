package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/run/deliver"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/run/recover"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites/sums"

	"github.com/spoor-hpc/spoor/trace"
)

type recoverOptions struct {
	out   string
	force bool
	output
	all  bool
	tags []string
}

func newRecover() *cobra.Command {
	var o recoverOptions
	cmd := &cobra.Command{
		Use:   "recover [flags] DIR... [-- LAUNCHER [ARGS...]]",
		Short: "Make a trace of what a crashed or killed program left",
		Long: `DIR is what spoor run left (PROGRAM.spoor.partial), a scratch folder, or folders
of processes; copy those of other nodes to one place first. A launcher after
"--" brings them from other hosts: it has to start one process on each, on hosts
that see DIR. spoor prints for each rank whether it reached MPI_Finalize, and
its last call if not. The folders stay as they are.`,
		Example: `  spoor recover app.spoor.partial
  spoor recover -o crash.spoor node1/spoor-17 node2/spoor-17
  spoor recover app.spoor.partial -- mpiexec -hosts node1,node2 -n 2`,
		Args: atLeastOne("a directory"),
		RunE: func(cmd *cobra.Command, args []string) error { return runRecover(cmd, o, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "", "trace `file` to write (default: the name of DIR without .partial)")
	forceFlag(f, &o.force)
	f.BoolVarP(&o.all, "all-ranks", "a", false, "print every rank")
	f.StringArrayVar(&o.tags, "tag", nil, "keep `NAME=VALUE` in the trace; repeatable")
	jsonFlag(f, &o.json)
	return cmd
}

// A recovered is what spoor recover reports of one trace that it made: one for each MPI_COMM_WORLD of the run.
type recovered struct {
	Trace  string           `json:"trace"`
	Ranks  int              `json:"ranks"`
	Calls  int64            `json:"calls"`
	Bytes  int64            `json:"bytes"`
	Ending []recover.Ending `json:"endings"`
}

func runRecover(cmd *cobra.Command, o recoverOptions, args []string) error {
	if err := deliver.CheckTags(o.tags); err != nil {
		return &usageError{cmd, err}
	}
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		line := args[at:]
		if args = args[:at]; len(line) == 0 || len(args) == 0 {
			return &usageError{cmd, errors.New("give a directory before --, and after it a launcher that starts a process on each host")}
		}
		for _, arg := range args {
			if err := bringWith(cmd, line, arg); err != nil {
				return err
			}
		}
	}
	dirs, err := processDirs(cmd, args, false, func(arg string, hosts []string) string {
		if slices.Contains(hosts, otherHosts) {
			hosts = []string{"HOST", "HOST"}
		}
		launcher := []string{"mpiexec", "-hosts", strings.Join(hosts, ","), "-n", strconv.Itoa(len(hosts))}
		if _, err := exec.LookPath("srun"); err == nil {
			launcher = launch.CommandOnNodes(hosts, false)
		}
		return ", or: " + show.QuoteCommand(append([]string{"spoor", "recover", arg, "--"}, launcher...))
	})
	if err != nil {
		return err
	}
	progress := newProgress(cmd.ErrOrStderr(), "processes read", len(dirs))
	processes := recover.ReadProcesses(dirs, progress.step)
	progress.end()
	out := cmp.Or(o.out, recoverName(args[0], processes))
	list, err := writeWorlds(processes, out, o.force, o.tags)
	for _, p := range processes {
		if p.Context == nil {
			complain(cmd, p.Damage)
		}
	}
	if err != nil {
		return err
	}
	return o.print(cmd, list, func(w io.Writer) {
		for _, r := range list {
			printRecovered(w, r, o.all)
		}
	}, nil)
}

// recoverName returns the name of the trace made from a directory's records. For app.spoor.partial, a name that spoor
// run gives, it is app.spoor; else it is the program's name with .spoor.
func recoverName(dir string, processes []*recover.Process) string {
	if name, ok := strings.CutSuffix(filepath.Clean(dir), ".partial"); ok {
		return name
	}
	for _, p := range processes {
		if p.Context != nil && p.Context.Exe != "" {
			return filepath.Base(p.Context.Exe) + ".spoor"
		}
	}
	return "recovered.spoor"
}

// writeWorlds writes a trace for each MPI_COMM_WORLD of the processes: out, then numbered names. of are the tags, as
// NAME=VALUE, that each trace gets.
func writeWorlds(processes []*recover.Process, out string, force bool, of []string) ([]recovered, error) {
	var list []recovered
	var failed error
	for _, w := range recover.GroupIntoWorlds(processes) {
		name := deliver.NumberedName(out, len(list)+1)
		r, err := writeWorld(w, name, force, of)
		if errors.Is(err, recover.ErrNoRecords) {
			for _, p := range w.Processes {
				failed = errors.Join(failed, p.Damage)
			}
			continue
		}
		if errors.Is(err, fs.ErrExist) {
			return list, thereAlready(name)
		}
		if err != nil {
			return list, err
		}
		list = append(list, r)
	}
	if len(list) == 0 {
		return nil, errors.Join(recover.ErrNoRecords, failed)
	}
	return list, nil
}

func writeWorld(w *recover.World, name string, force bool, of []string) (recovered, error) {
	c, err := w.Content(show.Version)
	if err != nil {
		return recovered{}, err
	}
	for tag, value := range deliver.TagsByName(of) {
		c.Meta[trace.MetaRunTagPrefix+tag] = value
	}
	if err := sections.WriteFile(name, c, force); err != nil {
		return recovered{}, err
	}
	r, err := trace.Open(name)
	if err != nil {
		return recovered{}, err
	}
	defer r.Close()
	if err := cmp.Or(w.AddAnalyses(r), addCode(r)); err != nil {
		return recovered{}, err
	}
	endings, err := w.Endings(r)
	if err != nil {
		return recovered{}, err
	}
	done := recovered{Trace: name, Ranks: r.Ranks(), Ending: endings}
	for _, e := range endings {
		done.Calls += e.Calls
	}
	if st, err := os.Stat(name); err == nil {
		done.Bytes = st.Size()
	}
	return done, nil
}

func printRecovered(w io.Writer, r recovered, all bool) {
	const room = 32
	fmt.Fprintf(w, "%s: %s, %s, %s\n", r.Trace, show.FormatPlural(r.Ranks, "rank"), show.FormatPlural(r.Calls, "call"), show.FormatBytes(r.Bytes))
	if all || len(r.Ending) <= room {
		for i := range r.Ending {
			printEnding(w, &r.Ending[i])
		}
		return
	}
	printTally(w, r.Ending)
}

// ended returns in words how a rank ended, as far as its records show it.
func ended(e *recover.Ending) string {
	if e.Alive {
		return "still running"
	}
	if e.EndState == sums.EndUnfinished {
		return "ended without MPI_Finalize"
	}
	return e.EndState
}

func printEnding(w io.Writer, e *recover.Ending) {
	fmt.Fprintf(w, "  rank %d: %s", e.Rank, ended(e))
	if e.Host != "" {
		fmt.Fprintf(w, " on %s, process %d", e.Host, e.PID)
	}
	if e.EndState == sums.EndUnfinished && e.SpanNs > 0 {
		fmt.Fprintf(w, ", %s after its first call", show.FormatDuration(float64(e.SpanNs)))
	}
	fmt.Fprintln(w)
	for _, l := range e.Threads {
		if e.EndState == sums.EndFinished {
			break
		}
		where := "after"
		if l.NotReturned {
			where = "inside"
		}
		thread := ""
		if l.Thread > 0 {
			thread = fmt.Sprintf("thread %d ", l.Thread)
		}
		fmt.Fprintf(w, "    %s%s call %s: %s\n", thread, where, show.FormatGrouped(l.Call.Index), l.Call.Text())
	}
	if e.Damage != "" {
		fmt.Fprintf(w, "    damaged: %s\n", e.Damage)
	}
}

// printTally prints a line for each way in which ranks ended (e.g. inside MPI_Recv), with the ranks that ended so.
func printTally(w io.Writer, list []recover.Ending) {
	var order []string
	ranks := make(map[string][]int)
	for i := range list {
		e := &list[i]
		key := ended(e)
		if e.EndState == sums.EndUnfinished && len(e.Threads) > 0 {
			l := e.Threads[0]
			where := " after "
			if l.NotReturned {
				where = " inside "
			}
			key += where + l.Call.Name()
		}
		if e.Damage != "" {
			key += ", damaged"
		}
		if ranks[key] == nil {
			order = append(order, key)
		}
		ranks[key] = append(ranks[key], e.Rank)
	}
	for _, key := range order {
		fmt.Fprintf(w, "  %s: %s: %s\n", key, show.FormatPlural(len(ranks[key]), "rank"), shortRanges(ranks[key]))
	}
	fmt.Fprintln(w, "  (--all-ranks prints each)")
}
