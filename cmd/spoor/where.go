package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/hang"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/run/recover"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites/sums"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

type whereOptions struct {
	scratch string
	settle  time.Duration
	watch   time.Duration
	all     bool
	json    bool
	debug   []string
	beside  string // a folder that all hosts can access; "": the working directory
}

func newWhere() *cobra.Command {
	var o whereOptions
	cmd := &cobra.Command{
		Aliases: []string{"hang"},
		Use:     "where [flags] [TRACE | DIR... | PID]",
		Short:   "Show where each rank of a running or dead job is, and why it hangs",
		Long: `For each rank: the call it is in, its call site, for how long, and for whom it
waits. If ranks wait for each other in a ring, or for something that nobody will
do any more, the program hangs. spoor names the ring, receives without a
message, messages without a receive, and collective calls that do not match.

Without an argument spoor looks at the job on this machine; a process id picks
one of several (a rank, its launcher, or spoor run). DIR is what a dead program
left. A running job is looked at twice; it is not stopped and notices nothing.
The verdict "hangs" is certain: a rank that might still act counts as one that
will.
More: docs/where.md`,
		Example: `  spoor where                          the job that runs on this machine
  spoor where app.spoor.partial        a job that was killed
  spoor where --watch=5s 4711          again, of one job: a rank, its launcher, or spoor run
  spoor where --json app.spoor | jq .verdict`,
		Args: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error { return runWhere(cmd, &o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.scratch, "scratch", "", "look for running jobs in this `folder` (default /dev/shm and TMPDIR)")
	f.DurationVar(&o.settle, "settle", 500*time.Millisecond, "the time between the two looks at a running job")
	f.DurationVar(&o.watch, "watch", 0, "print again after each such time, until the job ends")
	f.BoolVarP(&o.all, "all-ranks", "a", false, "print every rank, not only the first of each state")
	f.BoolVar(&o.json, "json", false, "print JSON")
	debugPathFlag(f, &o.debug)
	return cmd
}

func runWhere(cmd *cobra.Command, o *whereOptions, args []string) error {
	if len(args) == 1 {
		if st, err := os.Stat(args[0]); err == nil && !st.IsDir() {
			if o.watch > 0 {
				return &usageError{cmd, errors.New("--watch: a trace does not change")}
			}
			return whereTrace(cmd, o, args[0])
		}
	}
	if len(args) == 0 || len(args) == 1 && isNumber(args[0]) {
		job, err := o.job(args)
		if err != nil {
			return err
		}
		args = []string{job}
	}
	for {
		alive, err := whereDirs(cmd, cmd.OutOrStdout(), o, args)
		if err != nil || o.watch == 0 || !alive {
			return err
		}
		time.Sleep(o.watch)
		if len(args) == 1 && !exists(args[0]) {
			return nil // the job has ended: its scratch folder is gone
		}
		if !o.json {
			fmt.Fprintln(cmd.OutOrStdout())
		}
	}
}

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 32)
	return err == nil
}

// job finds the scratch folder of a running job: the job with the process id in args, else the only job on this
// machine.
func (o *whereOptions) job(args []string) (string, error) {
	parents := []string{"/dev/shm", os.TempDir()}
	if o.scratch != "" {
		parents = []string{o.scratch}
	}
	jobs, left := recover.FindJobs(parents), ""
	for _, j := range jobs {
		if !j.IsAlive() && strings.Count(left, "\n") < 8 {
			left += fmt.Sprintf("\n  spoor where %s   of one that has ended", j.Dir)
		}
	}
	jobs = slices.DeleteFunc(jobs, func(j recover.Job) bool { return !j.IsAlive() })
	if len(args) > 0 {
		pid, _ := strconv.Atoi(args[0])
		for _, j := range jobs {
			if j.HasProcess(pid) {
				return j.Dir, nil
			}
		}
		return "", fmt.Errorf("process %d: not of a job that spoor traces on this machine (looked for spoor-* in %s)", pid, strings.Join(parents, " and "))
	}
	switch len(jobs) {
	case 0:
		return "", fmt.Errorf("no job that spoor traces runs on this machine (looked for spoor-* in %s); name a trace or what a program left%s", strings.Join(parents, " and "), left)
	case 1:
		return jobs[0].Dir, nil
	}
	var list []string
	for _, j := range jobs {
		name, pid := j.Name()
		list = append(list, fmt.Sprintf("  spoor where %d   %s, %s here, in %s", pid, name, show.FormatPlural(max(len(j.RunningContexts), len(j.InitFinalizeMarks)), "rank"), j.Dir))
	}
	return "", fmt.Errorf("%d jobs run on this machine; which one?\n%s", len(jobs), strings.Join(list, "\n"))
}

func whereTrace(cmd *cobra.Command, o *whereOptions, path string) error {
	r, err := openTrace(path)
	if err != nil {
		return err
	}
	defer r.Close()
	return o.tell(cmd, cmd.OutOrStdout(), []world{{path, r, nil}}, nil, path)
}

// A world is the trace of one MPI_COMM_WORLD, with the states of its processes by rank.
type world struct {
	name    string
	r       *trace.Reader
	process func(rank int) hang.Process
}

// whereDirs analyses the records of process directories. alive reports whether any of their processes runs.
func whereDirs(cmd *cobra.Command, to io.Writer, o *whereOptions, args []string) (alive bool, err error) {
	if folder, done := fromNodes(args[0], cmp.Or(o.beside, ".")); folder != "" {
		defer done()
		args = append(slices.Clone(args), folder)
	}
	var arrivals []recover.InitFinalizeMark
	for _, arg := range args {
		arrivals = append(arrivals, recover.ReadInitFinalizeMarks(arg)...)
	}
	dirs, err := processDirs(cmd, args, len(arrivals) > 0 || len(args) > 1, func(string, []string) string { return "" })
	if err != nil {
		return false, err
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	alive = slices.ContainsFunc(arrivals, func(a recover.InitFinalizeMark) bool { return a.Alive })
	for _, d := range dirs {
		alive = alive || recover.IsAliveIn(d)
	}
	var before map[string]look
	if alive && o.settle > 0 {
		progress := newProgress(cmd.ErrOrStderr(), "processes read", len(dirs))
		before = looksAt(recover.ReadProcesses(dirs, progress.step))
		progress.end()
		time.Sleep(o.settle)
	}
	progress := newProgress(cmd.ErrOrStderr(), "processes read", len(dirs))
	processes := readWhole(dirs, progress.step)
	progress.end()
	for _, p := range processes {
		if p.Context == nil {
			complain(cmd, p.Damage)
		}
	}
	var list []world
	var failed error
	for _, w := range recover.GroupIntoWorlds(processes) {
		r, err := readWorld(w)
		if errors.Is(err, recover.ErrNoRecords) {
			for _, p := range w.Processes {
				failed = errors.Join(failed, p.Damage)
			}
			continue
		}
		if err != nil {
			return alive, err
		}
		name := args[0]
		if len(list) > 0 {
			name = fmt.Sprintf("%s, world %d", name, len(list)+1)
		}
		list = append(list, world{name, r, processesOf(w, before)})
	}
	if len(list) == 0 && len(arrivals) == 0 {
		return alive, errors.Join(recover.ErrNoRecords, failed)
	}
	if o.settle > 0 && alive { // processes may have entered or left MPI_Init or MPI_Finalize since arrivals was read
		arrivals = arrivals[:0]
		for _, arg := range args {
			arrivals = append(arrivals, recover.ReadInitFinalizeMarks(arg)...)
		}
	}
	return alive, o.tell(cmd, to, list, func(spawns int) []gathering { return gatheringsOf(arrivals, processes, spawns, time.Now()) }, args[0])
}

// readWhole reads process directories. If a directory's process wrote records while they were read, it reads that
// directory again.
func readWhole(dirs []string, step func()) []*recover.Process {
	list := recover.ReadProcesses(dirs, step)
	for i, p := range list {
		for try := 0; p.Damage != nil && recover.IsAlive(p.Context) && try < 8; try++ {
			p = recover.ReadProcesses([]string{p.Dir}, func() {})[0]
			list[i] = p
		}
	}
	return list
}

// processDirs lists the process directories in the folders that the arguments name. If a folder has links to other
// nodes with more records, it prints where these are, and the remedy that the function or returns.
func processDirs(cmd *cobra.Command, args []string, mayBeNone bool, or func(arg string, hosts []string) string) (dirs []string, err error) {
	for _, arg := range args {
		list, err := recover.ProcessDirs(arg)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 || ranksElsewhere(list) > 0 {
			complainElsewhere(cmd, arg, recover.UnreachableFolders(arg), or)
		}
		if len(list) == 0 && !mayBeNone {
			return nil, fmt.Errorf("%s: no process directories in it; those have a file ring.0", arg)
		}
		dirs = append(dirs, list...)
	}
	return dirs, nil
}

// complainElsewhere prints on which hosts and in which folders the other records of a directory are, as its links say.
func complainElsewhere(cmd *cobra.Command, dir string, links []recover.RemoteFolder, or func(arg string, hosts []string) string) {
	var hosts, folders []string
	here, _ := os.Hostname()
	for _, l := range links {
		if _, err := os.Stat(l.Folder); l.Host() == here && errors.Is(err, os.ErrNotExist) {
			complain(cmd, fmt.Errorf("%s: what ranks recorded was in %s, which is gone", dir, l.Folder))
			continue
		}
		hosts = append(hosts, l.Host())
		if !slices.Contains(folders, l.Folder) {
			folders = append(folders, l.Folder)
		}
	}
	if len(hosts) > 0 {
		on := strings.ReplaceAll(shortList(hosts), otherHosts, "other hosts")
		complain(cmd, fmt.Errorf("%s: what ranks recorded on %s is not here: it is in %s there; copy it to one place%s", dir, on, shortList(folders), or(dir, hosts)))
	}
}

// A look is the state of a process at the first of the two times at which it is looked at.
type look struct {
	calls int64 // number of calls that the process had entered, as madeBy counts them
	held  byte  // what recover.ProcStateIfStopped returned for the process
}

func looksAt(list []*recover.Process) map[string]look {
	looks := make(map[string]look)
	for _, p := range list {
		if p.Track != nil {
			looks[p.Dir] = look{madeBy(p), recover.ProcStateIfStopped(p.Context)}
		}
	}
	return looks
}

// madeBy returns how many calls a process has entered, without those that are no sign of progress: polls, and queries
// of local state.
func madeBy(p *recover.Process) (n int64) {
	for _, s := range p.Track.Streams {
		for i, count := range s.Grammar.TerminalCounts(len(p.Track.Signatures)) {
			if c, ok := mpi.CallByID(p.Track.Signatures[i].FunctionID); count > 0 && ok && hang.MayBeAwaited(c) {
				n += int64(count)
			}
		}
	}
	return n
}

// held returns why a process can't run, for a state that recover.ProcStateIfStopped returned; "": it can. Many processes wait
// for a disk for a moment, so a wait for one counts only if it was also seen at the first look. twice reports whether
// there was one.
func held(state byte, first look, twice bool) string {
	switch {
	case state == 'T':
		return hang.HeldByStopSignal
	case state == 't':
		return hang.HeldByDebugger
	case state == 'D' && (!twice || first.held == 'D'):
		return hang.HeldByKernelWait
	}
	return ""
}

// processesOf returns a function that gives the state of a world's process by rank. before has the first look at each
// process, by its directory.
func processesOf(w *recover.World, before map[string]look) func(rank int) hang.Process {
	list := make(map[int]hang.Process)
	any := false
	for _, p := range w.Processes {
		x := hang.Process{Host: p.Context.Host, PID: p.Context.PID, Alive: recover.IsAlive(p.Context), HasUnreadableRecords: p.Damage != nil}
		any = any || x.Alive
		first, twice := before[p.Dir]
		if x.HeldBy = held(recover.ProcStateIfStopped(p.Context), first, twice); twice && p.Track != nil && x.HeldBy == "" {
			x.MadeCalls = madeBy(p) != first.calls
		}
		list[p.Context.Rank] = x
	}
	host := hostname()
	for rank, x := range list {
		x.Ended = any && !x.Alive && host != "" && x.Host == host
		list[rank] = x
	}
	return func(rank int) hang.Process { return list[rank] }
}

// hostname returns this machine's name; "" if it isn't known.
func hostname() string {
	name, _ := os.Hostname()
	return name
}

// readWorld makes a trace of a world in memory, without times of single calls.
func readWorld(w *recover.World) (*trace.Reader, error) {
	for _, p := range w.Processes {
		if p.Track != nil {
			p.Track.TimeLog = nil
		}
	}
	c, err := w.Content(show.Version)
	if err != nil {
		return nil, err
	}
	b, err := sections.EncodeFile(c)
	if err != nil {
		return nil, err
	}
	return trace.ReadBytes(b, "records")
}

// A wheredWorld is the report on one MPI_COMM_WORLD, as spoor where --json prints it.
type wheredWorld struct {
	Name string `json:"name"`
	*hang.Report
	Gatherings []gathering `json:"gatherings,omitempty"` // those of the whole job; only the first world has them
}

// tell analyses worlds and prints the states of their ranks. It also prints which processes are in calls that no
// process leaves before all have entered, such as MPI_Init.
func (o *whereOptions) tell(cmd *cobra.Command, to io.Writer, list []world, gatherings func(spawns int) []gathering, name string) error {
	where := newPlaces(o.debug)
	var reports []wheredWorld
	spawns := 0
	for _, w := range list {
		if err := where.tellApart(w.r, true); err != nil {
			return err
		}
		progress := newProgress(cmd.ErrOrStderr(), "calls looked at", callsIn(w.r))
		rep, err := hang.Analyse(w.r, hang.Options{NameSite: where.call, NameThread: where.thread, ProcessOfRank: w.process, Progress: func(n uint64) { progress.steps(int(n)) }})
		progress.end()
		if err != nil {
			return err
		}
		reports = append(reports, wheredWorld{w.name, rep, nil})
		spawns = max(spawns, spawnsOf(rep))
	}
	if gatherings != nil {
		if len(reports) == 0 {
			reports = append(reports, wheredWorld{Name: name})
		}
		reports[0].Gatherings = gatherings(spawns)
	}
	return buffered(to, func(w io.Writer) error {
		switch {
		case o.json && len(reports) == 1:
			return writeJSON(w, reports[0])
		case o.json:
			return writeJSON(w, reports)
		}
		for _, x := range reports {
			if x.Report == nil {
				fmt.Fprintf(w, "%s: no rank has records\n", x.Name)
			} else {
				printWhere(w, x.Name, x.Report, o.all)
			}
		}
		for _, x := range reports {
			for i := range x.Gatherings {
				x.Gatherings[i].print(w, whereRoom(o.all))
			}
		}
		return nil
	})
}

func callsIn(r *trace.Reader) int {
	s, err := sums.SummariseBriefly(r)
	if err != nil {
		return 0
	}
	return int(s.Calls)
}

// watchHang prints the states of a run's ranks if no process on this machine has begun or ended an MPI call for
// patience. It prints again only after some process has. The returned function ends the watch.
func watchHang(cmd *cobra.Command, scratch, out string, patience time.Duration) (end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		look := time.NewTicker(min(max(patience/8, 50*time.Millisecond), 5*time.Second))
		defer look.Stop()
		var recorded uint64
		var arrived string
		since, told := time.Now(), false
		for {
			select {
			case <-stop:
				return
			case <-look.C:
			}
			dirs, err := recover.ProcessDirs(scratch)
			inside := recover.ReadInitFinalizeMarks(scratch)
			if err != nil || len(dirs)+len(inside) == 0 {
				since, told = time.Now(), false
				continue
			}
			if n, in := recover.RecordedBytes(dirs), fmt.Sprint(inside); n != recorded || in != arrived {
				recorded, arrived, since, told = n, in, time.Now(), false
			}
			if told || time.Since(since) < patience {
				continue
			}
			told = true
			fmt.Fprintf(cmd.ErrOrStderr(), "spoor: no rank here has begun or ended an MPI call for %s\n", time.Since(since).Round(time.Second/10))
			o := whereOptions{settle: 100 * time.Millisecond, beside: filepath.Dir(out)}
			if _, err := whereDirs(cmd, cmd.ErrOrStderr(), &o, []string{scratch}); err != nil {
				complain(cmd, err) // no reason to stop watching: ranks may have ended during the analysis
			}
		}
	}()
	return func() {
		close(stop)
		<-done
	}
}
