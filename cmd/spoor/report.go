package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/internal/record/capture"
	"github.com/spoor-hpc/spoor/internal/run/deliver"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/run/recover"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/trace"
)

// An ending is how the traced command ended.
type ending struct {
	program  string
	launcher launch.Launcher
	code     int      // exit code of the traced command, usually a launcher
	args     []string // the traced command with its arguments
	release  func()   // unlocks the scratch folder for other processes that move records
}

// report prints the outcome of a run: its trace, or where its records are, or why there are neither. old are the paths
// of traces that existed before the run.
func report(stderr io.Writer, o runOptions, old []string, out, scratch string, e ending) error {
	e.release, _ = recover.LockScratch(scratch, bringTime()) // waits for Slurm's epilog, which may be moving records
	defer e.release()
	sayInside(stderr, out, scratch)
	defer func() { recover.RemoveEmptyPartialFolder(recover.PartialFolder(out, scratch), scratch) }()
	made := o.made(out)
	traces := slices.DeleteFunc(tracesOf(made), func(path string) bool { return slices.Contains(old, path) || !ofRun(path, scratch) })
	for _, dir := range deliver.FallbackFolders(scratch) {
		// Rank 0 wrote the trace here, as out had no room, and printed this.
		traces = append(traces, tracesOf(filepath.Join(dir, filepath.Base(made)))...)
	}
	dirs, err := leftDirs(out, scratch)
	if err != nil {
		return err
	}
	if len(traces) > 0 { // a traced script that only started MPI programs made no MPI calls: drop its records
		dirs = slices.DeleteFunc(dirs, func(d string) bool { return isSerial(d) && os.RemoveAll(d) == nil })
	}
	if len(dirs) > 0 && !slices.ContainsFunc(dirs, func(d string) bool { return !recover.IsMarkedComplete(d) }) && ranksElsewhere(dirs) == 0 {
		// All of these records are complete, but the ranks made no trace of them. Programs that only use sessions have
		// no common end at which ranks could merge; in other programs, rank 0 could not write the file.
		list, err := writeSomewhere(stderr, recover.ReadProcesses(dirs, func() {}), o, made, scratch)
		for _, r := range list {
			traces = append(traces, r.Trace)
		}
		if err != nil {
			return errors.Join(err, complainLeft(stderr, dirs, out, scratch, e))
		}
		for _, d := range dirs {
			if err := os.RemoveAll(d); err != nil {
				return err
			}
		}
		dirs = nil
	}
	alone := 0
	for _, path := range traces {
		s, err := reportMade(stderr, o, path, out, false)
		if err != nil {
			return err
		}
		if s.Ranks == 1 {
			alone++
		}
	}
	if alone > 1 && alone == len(traces) {
		explainAlone(stderr, e.program, e.launcher)
	}
	if len(dirs) > 0 {
		return complainLeft(stderr, dirs, out, scratch, e)
	}
	if told := filepath.Join(scratch, "told"); exists(told) {
		_ = os.Remove(told) // this file says that the ranks have printed why there is no trace
	} else if len(traces) == 0 {
		// There are neither traces nor records here, but all ranks may have run on other hosts.
		if found, err := onlyElsewhere(stderr, out, scratch, e); found || err != nil {
			return err
		}
		explainNothing(stderr, e, o.io.whose != "")
	}
	return nil
}

// leftDirs lists the process directories of a run: those in its scratch folder on this host, and those in the folder
// beside the trace.
func leftDirs(out, scratch string) (dirs []string, err error) {
	for _, folder := range []string{scratch, recover.PartialFolder(out, scratch)} {
		list, err := recover.ProcessDirs(folder)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		dirs = append(dirs, list...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs), nil // the folder beside the trace may have a link to the scratch folder
}

// isSerial reports whether a process directory is of a program that made no MPI calls, only calls on files.
func isSerial(dir string) bool {
	c, err := capture.ReadContext(dir)
	return err == nil && c.SessionsOnly && c.Library == "" && recover.IsMarkedComplete(dir)
}

// onlyElsewhere has a failed job's launcher collect the records of other hosts, as no rank ran on this host. found
// says whether there were any.
func onlyElsewhere(stderr io.Writer, out, scratch string, e ending) (found bool, err error) {
	if e.code == 0 {
		return false, nil
	}
	home, err := recover.MakePartialFolder(out, scratch)
	line := bringCommand(e, scratch, home, nodesBeside(e, home, scratch, nil), true)
	if err != nil || line == nil {
		return false, nil
	}
	_ = bring(line, io.Discard)
	dirs, err := recover.ProcessDirs(home)
	if err != nil || len(dirs) == 0 {
		return false, nil
	}
	return true, complainLeft(stderr, dirs, out, scratch, e)
}

// tracesOf lists the files that may be traces of a run: out, and those of spawned worlds, which have a number in
// their name.
func tracesOf(out string) []string {
	ext := filepath.Ext(out)
	stem := strings.TrimSuffix(filepath.Base(out), ext)
	entries, _ := os.ReadDir(filepath.Dir(out))
	var list []string
	for _, e := range entries {
		number, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ext), stem)
		if ok && filepath.Ext(e.Name()) == ext && strings.Trim(number, "-0123456789") == "" && e.Type().IsRegular() {
			list = append(list, filepath.Join(filepath.Dir(out), e.Name()))
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return len(a) - len(b) })
	return list
}

// ofRun reports whether a trace is of the run with this scratch folder, not of another run that wrote it at the same
// time.
func ofRun(path, scratch string) bool {
	r, err := trace.Open(path)
	if err != nil {
		return true // reportTrace opens the file again and reports the error
	}
	defer r.Close()
	run, ok := r.Meta()[deliver.MetaRun]
	return !ok || run == deliver.RunName(scratch)
}

func reportTrace(stderr io.Writer, o runOptions, path string) (*sums.Summary, error) {
	r, err := trace.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if o.stack > 1 && !o.noCode {
		if err := addCode(r); err != nil {
			fmt.Fprintf(stderr, "spoor: %v\n", err) // the trace is whole without the code's functions and loops
		}
	}
	s, err := sums.SummariseBriefly(r)
	if err != nil {
		return nil, err
	}
	name := shortPath(path)
	if !o.quiet {
		fmt.Fprintf(stderr, "spoor: %s: %s, %s, %s (%s); see: spoor info %s\n", name, show.FormatPlural(s.Ranks, "rank"),
			show.FormatPlural(s.Calls, "call"), show.FormatBytes(s.FileBytes), density(s), name)
	}
	for _, p := range s.Problems {
		fmt.Fprintf(stderr, "spoor: %s: %s\n", name, p)
	}
	return s, nil
}

// shortPath returns a path relative to the working directory if it lies in there.
func shortPath(path string) string {
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
			return rel
		}
	}
	return path
}

// freeName returns out if no such file exists, else the first numbered name (e.g. app-2.spoor) that doesn't exist.
func freeName(out string) string {
	for n := 1; ; n++ {
		if name := deliver.NumberedName(out, n); !exists(name) {
			return name
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// writeSomewhere makes the traces of a run from its processes' records. They are written to out, or to another folder
// if that fails.
func writeSomewhere(stderr io.Writer, processes []*recover.Process, o runOptions, out, scratch string) ([]recovered, error) {
	list, err := writeWorlds(processes, freeName(out), o.force, o.tags)
	if err == nil || len(list) > 0 {
		return list, err
	}
	for _, dir := range deliver.FallbackFolders(scratch) {
		if os.MkdirAll(dir, 0o700) != nil {
			continue
		}
		list, e := writeWorlds(processes, filepath.Join(dir, filepath.Base(out)), false, o.tags)
		if e == nil {
			for _, r := range list {
				fmt.Fprintf(stderr, "spoor: can't write %s: %v; the trace is %s\n", out, deliver.CauseWithoutTempNames(err), r.Trace)
				fmt.Fprintf(stderr, "spoor: bring it home: %s\n", deliver.MoveTraceCommand(r.Trace, filepath.Join(filepath.Dir(out), filepath.Base(r.Trace))))
			}
			return list, nil
		}
		os.Remove(dir) // fails, as it should, if the folder had other files
	}
	return nil, err
}

// complainLeft moves the records of a run without a whole trace to the folder beside the trace. It prints where they
// are, and the command that makes a trace of them.
func complainLeft(stderr io.Writer, dirs []string, out, scratch string, e ending) error {
	processes := show.FormatPlural(len(dirs), "process")
	elsewhere, alive := ranksElsewhere(dirs), waitForEnd(dirs)
	what := show.FormatPlural(len(dirs)-len(alive), "process") + " ended without the others; what they recorded is in"
	// "Without the others" is wrong if no process still runs and none is on another host, or if all records are complete.
	if len(alive)+elsewhere == 0 || !slices.ContainsFunc(dirs, func(d string) bool { return !recover.IsMarkedComplete(d) }) {
		what = "what " + processes + " recorded is in"
	}
	partial, err := recover.MakePartialFolder(out, scratch)
	if err == nil {
		err = recover.MoveProcessDirs(slices.DeleteFunc(slices.Clone(dirs), func(d string) bool { return filepath.Dir(d) == partial }), partial)
	} else {
		partial = out + ".partial"
	}
	e.release()
	if err != nil {
		fmt.Fprintf(stderr, "spoor: no whole trace: %s %s\n", what, scratch)
		fmt.Fprintf(stderr, "spoor: which can't be moved to %s: %v\n", shortPath(partial), deliver.CauseWithoutTempNames(err))
		from := []string{scratch}
		home := recover.PartialFolder(out, scratch)
		if list, err := recover.ProcessDirs(home); err == nil && len(list) > 0 {
			from = append(from, shortPath(home)) // records of other hosts, or moved there before the disk was full
		}
		command := show.QuoteCommand(append([]string{"spoor", "recover", "-o", shortPath(out)}, from...))
		if len(alive) == 0 {
			command += " && " + show.QuoteCommand(append([]string{"rm", "-r"}, from...))
		}
		fmt.Fprintf(stderr, "spoor: make a trace of it, where there is room: %s\n", command)
		return nil
	}
	name := shortPath(partial)
	if len(dirs) > len(alive) {
		fmt.Fprintf(stderr, "spoor: no whole trace: %s %s\n", what, name)
	}
	if len(alive) > 0 {
		fmt.Fprintf(stderr, "spoor: %s: %s; what they record stays in %s, where %s leads to\n", stillRun(len(alive)), shortList(alive), scratch, name)
	}
	if elsewhere == 0 {
		recover.SetPendingHosts(partial, scratch)
	} else {
		sayElsewhere(stderr, elsewhere, hostsOf(dirs), partial, scratch, e)
	}
	fmt.Fprintf(stderr, "spoor: make a trace of it: %s\n", show.QuoteCommand([]string{"spoor", "recover", name}))
	fmt.Fprintf(stderr, "spoor: where its ranks were, and for whom they waited: %s\n", show.QuoteCommand([]string{"spoor", "where", name}))
	return nil
}

// epilogTime is how long spoor run waits for Slurm's epilogs to move records. It can't wait longer, as Slurm soon kills
// a job whose time is over.
const epilogTime = 3 * time.Second

// sayElsewhere has the launcher collect the records of ranks on other hosts; elsewhere is the number of these ranks. If
// some remain there, it prints the command that collects them.
func sayElsewhere(stderr io.Writer, elsewhere int, hosts []string, partial, scratch string, e ending) {
	for begin := time.Now(); elsewhere > 0 && launch.EpilogVariables(e.args, "") != nil && time.Since(begin) < epilogTime; time.Sleep(50 * time.Millisecond) {
		if dirs, err := recover.ProcessDirs(partial); err == nil { // Slurm's epilogs may have moved more records here
			elsewhere = min(elsewhere, ranksElsewhere(dirs))
		}
	}
	name, nodes := shortPath(partial), nodesBeside(e, partial, scratch, hosts)
	line := bringCommand(e, scratch, partial, nodes, true)
	if elsewhere > 0 && line != nil {
		all, begin := elsewhere, time.Now()
		err := bring(line, io.Discard)
		// Launchers may crash when their processes end, so an early failure is tried again. A late one means that a
		// host is down.
		if err != nil && time.Since(begin) < bringTime()/4 {
			err = bring(line, io.Discard)
		}
		if dirs, failed := recover.ProcessDirs(partial); failed == nil {
			elsewhere, nodes = min(elsewhere, ranksElsewhere(dirs)), nodesBeside(e, partial, scratch, hostsOf(dirs))
		}
		if elsewhere < all {
			fmt.Fprintf(stderr, "spoor: what %s recorded on other hosts is there, too\n", show.FormatPlural(all-elsewhere, "rank"))
		}
		if elsewhere > 0 && err != nil {
			fmt.Fprintf(stderr, "spoor: the launcher could not bring it from all hosts: %v\n", err)
		}
	}
	if elsewhere == 0 {
		recover.SetPendingHosts(partial, scratch)
		return
	}
	if nodes == nil {
		recover.SetPendingHosts(partial, scratch, otherHosts)
	} else {
		recover.SetPendingHosts(partial, scratch, nodes...)
	}
	fmt.Fprintf(stderr, "spoor: %s left nothing here; if they ran on other nodes, copy what is in %s there into %s\n", show.FormatPlural(elsewhere, "rank"), scratch, name)
	if line = bringCommand(e, scratch, partial, nodes, false); line != nil {
		fmt.Fprintf(stderr, "spoor: or, on hosts that see that folder: %s\n", show.QuoteCommand(line))
	}
}

// hostsOf lists the hosts on which the processes of process directories ran.
func hostsOf(dirs []string) (hosts []string) {
	for _, d := range dirs {
		if c, err := capture.ReadContext(d); err == nil && !slices.Contains(hosts, c.Host) {
			hosts = append(hosts, c.Host)
		}
	}
	return hosts
}

// waitForEnd waits up to a second for processes that are about to end, as their launcher has. It lists those that still
// run, as text.
func waitForEnd(dirs []string) []string {
	for try := 0; ; try++ {
		var alive []string
		for _, d := range dirs {
			if c, err := capture.ReadContext(d); err == nil && recover.IsAlive(c) {
				alive = append(alive, fmt.Sprintf("%d (rank %d)", c.PID, c.Rank))
			}
		}
		if len(alive) == 0 || try == 20 {
			return alive
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func shortList(list []string) string {
	const room = 8
	if len(list) > room {
		return strings.Join(list[:room], ", ") + ", …"
	}
	return strings.Join(list, ", ")
}

func stillRun(n int) string {
	if n == 1 {
		return "1 process still runs"
	}
	return fmt.Sprintf("%d processes still run", n)
}

// ranksElsewhere returns how many ranks of MPI_COMM_WORLD have none of the process directories dirs.
func ranksElsewhere(dirs []string) int {
	ranks, here := 0, 0
	for _, d := range dirs {
		if c, err := capture.ReadContext(d); err == nil && !c.Spawned {
			ranks = max(ranks, c.Ranks)
			here++
		}
	}
	return max(0, ranks-here)
}

// explainAlone prints that each process had an MPI_COMM_WORLD of its own, and why if program and launcher belong to
// different MPIs.
func explainAlone(stderr io.Writer, program string, l launch.Launcher) {
	fmt.Fprintf(stderr, "spoor: every process was a world of one rank\n")
	r, err := launch.InspectProgram(lookPath(program))
	if err == nil && len(r.MPI) > 0 && !launch.FitsFamily(l, r.MPI[0].Family) {
		fmt.Fprintf(stderr, "spoor: because %s uses another MPI (%s) than its launcher (%s)\n", program, r.MPI[0].Family, l)
	}
}

func lookPath(program string) string {
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	return program
}

// explainNothing prints why a run may have recorded nothing. files says whether calls on files were to be recorded.
func explainNothing(stderr io.Writer, e ending, files bool) {
	more := ""
	why := []string{"the program did not call MPI_Init, or stopped before it"}
	if e.launcher != launch.NoLauncher {
		why = append(why, "the launcher did not hand the environment to the ranks; try: "+filepath.Base(e.args[0])+" ... spoor run "+e.program)
		if e.code != 0 {
			why = append([]string{fmt.Sprintf("the launcher failed: it ended with code %d, see what it said", e.code)}, why...)
		}
	}
	if r, err := launch.InspectProgram(lookPath(e.program)); err == nil {
		switch {
		case r.Obstacle != "":
			why = []string{r.Obstacle}
		case r.Kind == "executable" && len(r.MPI) == 0:
			// The shim sees each library that a program loads, except through dlmopen. So the program called no
			// MPI_Init.
			why = []string{"it links with no MPI library, and called MPI_Init of none that it loads (what dlmopen loads can't be followed)"}
			if e.launcher != launch.NoLauncher && e.code != 0 {
				why = append(why, fmt.Sprintf("the launcher failed: it ended with code %d, see what it said", e.code))
			}
			if files && e.launcher != launch.NoLauncher {
				more = "without a launcher, what a program without MPI does with files is recorded: spoor run --io " + e.program
			}
		case len(r.Missing) > 0:
			why = append([]string{"libraries it needs were not found: " + strings.Join(r.Missing, ", ")}, why...)
		}
	}
	if libraries, sets := launch.PreloadSetBy(e.args); sets {
		libraries = cmp.Or(libraries, "LIBRARY")
		why = []string{"the command sets LD_PRELOAD for the ranks, which takes the recorder out of them; set it for spoor, which passes it on: " +
			"LD_PRELOAD=" + show.QuoteCommand([]string{libraries}) + " spoor run ..."}
	}
	if option := launch.WhatBlocksEnvironment(e.args); option != "" && e.code == 0 {
		why = []string{option + " keeps the environment, and with it the recorder, from the ranks; give srun --export=ALL, or try: srun ... spoor run " + e.program}
	}
	fmt.Fprintf(stderr, "spoor: nothing was recorded of %s\n", e.program)
	lead := "because"
	if len(why) > 1 {
		lead = "perhaps"
	}
	for _, w := range why {
		fmt.Fprintf(stderr, "spoor: %s %s\n", lead, w)
	}
	if more != "" {
		fmt.Fprintf(stderr, "spoor: %s\n", more)
	}
	fmt.Fprintf(stderr, "spoor: more: spoor doctor %s\n", e.program)
}
