package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/record/capture"
	"github.com/spoor-hpc/spoor/internal/run/deliver"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/run/recover"
	"github.com/spoor-hpc/spoor/internal/show"
)

// newBring makes the hidden verb that a launcher runs on the hosts of a job that has died.
func newBring() *cobra.Command {
	var copies bool
	cmd := &cobra.Command{
		Use:    "bring SCRATCH... DIR",
		Hidden: true, // users don't type it: spoor run prints the command
		Short:  "Move what ranks left on this host to one place",
		Long: `Move the records that the ranks of a job left on this host, in its scratch
folders, into a directory that all hosts see. "spoor run" has the launcher do
this on all hosts of a job that died, or prints the command. One of several
processes on a host does it.`,
		Example: `  srun -w node2,node3 -N 2 -n 2 spoor bring /dev/shm/spoor-node1-17 $PWD/app.spoor.partial
  mpiexec -hosts node2,node3 -n 2 spoor bring /dev/shm/spoor-node1-17 $PWD/app.spoor.partial`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return &usageError{cmd, errors.New("the scratch folder and a directory")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[len(args)-1]
			if args = slices.DeleteFunc(args[:len(args)-1], func(s string) bool { return !exists(s) }); len(args) == 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: nothing is there to bring to %s\n", hostname(), shortPath(dir))
			}
			for _, scratch := range args {
				if copies {
					if err := recover.CopyRecords(scratch, dir); err != nil {
						return err
					}
					continue
				}
				if err := bringHome(cmd, scratch, dir); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&copies, "copy", false, "copy them, also those of processes that still run")
	return cmd
}

// fromNodes has the other nodes of this Slurm job copy the records made so far, if ranks of a running job are on such
// nodes. It returns a folder that all nodes see; done removes it.
func fromNodes(scratch, beside string) (folder string, done func()) {
	done = func() {}
	dirs, err := recover.ProcessDirs(scratch)
	if err != nil || ranksElsewhere(dirs) == 0 || !slices.ContainsFunc(dirs, recover.IsAliveIn) {
		return "", done
	}
	nodes := slices.DeleteFunc(launch.JobNodes(), func(node string) bool { return launch.SameHost(node, hostname()) })
	if len(nodes) == 0 {
		return "", done
	}
	if folder, err = os.MkdirTemp(beside, ".spoor-where-"); err == nil {
		if folder, err = filepath.Abs(folder); err == nil {
			done = func() { os.RemoveAll(folder) }
			err = bring(launch.CommandOnNodes(nodes, true, ownPath(), "bring", "--copy", scratch, folder), io.Discard)
		}
	}
	if err != nil { // no complaint: spoor where says which ranks' records are missing
		done()
		return "", func() {}
	}
	return folder, done
}

// bringHome moves the records in a scratch folder of this host to the trace's folder, unless another process is doing
// so.
func bringHome(cmd *cobra.Command, scratch, dir string) error {
	unlock, ok := recover.LockScratch(scratch, 0)
	defer unlock()
	dirs, _, err := recover.LocalRecords(scratch)
	if !ok || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if alive := waitForEnd(dirs); len(alive) > 0 {
		complain(cmd, fmt.Errorf("%s: %s; what they record stays in %s", hostname(), stillRun(len(alive)), scratch))
	}
	n, err := recover.MoveEndedProcesses(scratch, dir)
	if err == nil || n > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s brought to %s\n", hostname(), show.FormatPlural(n, "process"), shortPath(dir))
	}
	return err
}

// homeOf is the environment variable with the trace's path. The task epilog of Slurm moves records to a folder beside
// the trace.
const homeOf = "SPOOR_HOME_OF"

// epilog runs on a host after each task of a Slurm step. After the host's last task it moves the remaining records,
// as nothing else runs on the hosts of a job whose time limit has passed.
func epilog(stderr io.Writer) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGXCPU) // they are meant for the tasks
	scratch, out := os.Getenv("SPOOR_SCRATCH"), os.Getenv(homeOf)
	dirs, marks, err := recover.LocalRecords(scratch)
	isDead := func(dir string) bool { return !recover.IsAliveIn(dir) }
	hasEnded := func(a recover.InitFinalizeMark) bool { return !a.Alive }
	if err != nil || out == "" || !slices.ContainsFunc(dirs, isDead) && !slices.ContainsFunc(marks, hasEnded) || anotherTask(dirs, marks) {
		return
	}
	// spoor run may hold the lock while it moves the records. If it is killed, the lock becomes free.
	unlock, ok := recover.LockScratch(scratch, 3*time.Second)
	defer unlock()
	if !ok || len(waitForEnd(dirs)) > 0 || !exists(scratch) {
		return // the process with the lock, or a task that still runs, moves the records
	}
	home, err := recover.MakePartialFolder(out, scratch, launch.EpilogStepNodes()...)
	if err == nil {
		_, err = recover.MoveEndedProcesses(scratch, home)
	}
	if said := filepath.Join(scratch, ".said"); err != nil && os.Mkdir(said, 0o700) == nil {
		fmt.Fprintf(stderr, "spoor: %s: what ranks recorded stays in %s: can't bring it to %s.partial: %v\n", hostname(), scratch, out, deliver.CauseWithoutTempNames(err))
	}
}

// anotherTask reports whether a process that left records or an arrival mark on this host is a running task of the same
// Slurm step. Then that task's epilog moves the records. Waiting for it here would be useless: Slurm kills epilogs
// together with running tasks.
func anotherTask(dirs []string, marks []recover.InitFinalizeMark) bool {
	task := func(pid int) bool { return deliver.Parent(pid) == os.Getppid() }
	return slices.ContainsFunc(marks, func(a recover.InitFinalizeMark) bool { return a.Alive && task(a.PID) }) ||
		slices.ContainsFunc(dirs, func(dir string) bool {
			c, err := capture.ReadContext(dir)
			return err == nil && recover.IsAlive(c) && task(c.PID)
		})
}

// bringTime is how long the launcher may take to collect records from a job's hosts. A host may be down, and some
// launchers wait for it.
func bringTime() time.Duration {
	if n, err := strconv.Atoi(os.Getenv("SPOOR_PATIENCE")); err == nil && n > 0 {
		return min(time.Minute, time.Duration(n)*time.Second)
	}
	return time.Minute
}

// bringCommand returns the command that collects the records of other hosts, or nil if no command can. In Slurm it runs
// on the given nodes: in a step of this job if within is set, else in a new job.
func bringCommand(e ending, scratch, dir string, nodes []string, within bool) []string {
	program := []string{ownPath(), "bring", scratch, dir}
	switch {
	case !launch.StartsThroughSlurm(e.args):
		return launch.ReplaceCommand(e.launcher, e.args, program)
	case len(nodes) == 0:
		return nil
	}
	return launch.CommandOnNodes(nodes, within, program...)
}

// nodesBeside lists the Slurm nodes whose records may be missing: the nodes for which home, the folder beside the
// trace, has links. Without links, they are all nodes of this job except hosts.
func nodesBeside(e ending, home, scratch string, hosts []string) []string {
	if !launch.StartsThroughSlurm(e.args) {
		return nil
	}
	if nodes := recover.PendingHosts(home, scratch); len(nodes) > 0 {
		return nodes
	}
	return slices.DeleteFunc(launch.JobNodes(), func(node string) bool {
		return slices.ContainsFunc(hosts, func(host string) bool { return launch.SameHost(node, host) })
	})
}

// ownPath returns the absolute path of this program: other hosts may have a different PATH.
func ownPath() string {
	self := os.Args[0]
	if path, err := exec.LookPath(self); err == nil {
		self = path
	}
	if path, err := filepath.Abs(self); err == nil {
		self = path
	}
	return self
}

// otherHosts is the name of a link to the scratch folder, in the folder beside the trace. spoor run leaves the link
// while unknown hosts may have more records.
const otherHosts = "other-hosts"

// bringWith has the launcher command line collect, on its hosts, the records in the scratch folders that links in dir
// point to.
func bringWith(cmd *cobra.Command, line []string, dir string) error {
	var folders []string
	links := recover.UnreachableFolders(dir)
	for _, l := range links {
		if !slices.Contains(folders, l.Folder) {
			folders = append(folders, l.Folder)
		}
	}
	if folders == nil {
		return fmt.Errorf("%s: nothing in it says that there is more on other hosts", dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	before, err := recover.ProcessDirs(dir)
	if err != nil {
		return err
	}
	if err := bring(slices.Concat(line, []string{ownPath(), "bring"}, folders, []string{abs}), cmd.ErrOrStderr()); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(line, " "), err)
	}
	dirs, err := recover.ProcessDirs(dir)
	if err != nil {
		return err
	}
	if len(dirs) == len(before) {
		return fmt.Errorf("%s: it brought nothing; it has to start a process on each host where ranks were", strings.Join(line, " "))
	}
	hosts := hostsOf(dirs)
	for _, l := range links {
		come := slices.ContainsFunc(hosts, func(host string) bool { return launch.SameHost(host, l.Host()) })
		if !come && ranksElsewhere(dirs) > 0 {
			continue
		}
		if err := os.Remove(filepath.Join(dir, l.Link)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// bring runs a command that collects records of other hosts, and copies its output to out.
func bring(line []string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), bringTime())
	defer cancel()
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.Stdout, c.Stderr = out, out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = 5 * time.Second
	return c.Run()
}
