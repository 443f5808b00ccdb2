package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/run/recover"
)

// newBring makes the verb that the launcher runs on the hosts of a job that has died.
func newBring() *cobra.Command {
	return &cobra.Command{
		Use:    "bring SCRATCH... DIR",
		Hidden: true, // nobody types it: spoor run prints the command
		Short:  "Move what ranks left on this host to one place",
		Long: `Move the records that the ranks of a job left on this host, in its scratch
folders, into a directory that all hosts see. "spoor run" has the launcher do
this on all hosts of a job that died, or says the command. One of several
processes on a host does it.`,
		Example: `  mpiexec -hosts node1,node2 -n 2 spoor bring /dev/shm/spoor-17 $PWD/app.spoor.partial`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return &usageError{cmd, errors.New("the scratch folder and a directory")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[len(args)-1]
			for _, scratch := range args[:len(args)-1] {
				dirs, err := recover.Dirs(scratch)
				if errors.Is(err, os.ErrNotExist) {
					continue // no rank ran here
				}
				if err != nil {
					return err
				}
				if alive := waitForEnd(dirs); len(alive) > 0 {
					complain(cmd, fmt.Errorf("%s: %s; what they record stays in %s", hostname(), stillRun(len(alive)), scratch))
				}
				if _, err := recover.Bring(scratch, dir); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// bringTime is how long the launcher may take to bring together what a job left on its hosts. One of them may be gone, and some launchers
// wait for it.
func bringTime() time.Duration {
	if n, err := strconv.Atoi(os.Getenv("SPOOR_PATIENCE")); err == nil && n > 0 {
		return min(time.Minute, time.Duration(n)*time.Second)
	}
	return time.Minute
}

// bringCommand is the command that brings what the ranks left to one place; nil if the launcher isn't known.
func bringCommand(e ending, scratch, dir string) []string {
	return launch.Instead(e.launcher, e.args, []string{ownPath(), "bring", scratch, dir})
}

// ownPath is where this program is: hosts needn't have the same PATH.
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

// otherHosts is the name of the link to the scratch folder in what `spoor run` leaves, while there may be more on other hosts.
const otherHosts = "other-hosts"

// bringWith has a launcher bring what a directory's links say is elsewhere.
func bringWith(line []string, dir string) error {
	var folders []string
	links := recover.Elsewhere(dir)
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
	if err := bring(slices.Concat(line, []string{ownPath(), "bring"}, folders, []string{abs})); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(line, " "), err)
	}
	for _, l := range links {
		if err := os.Remove(filepath.Join(dir, l.Link)); err != nil {
			return err
		}
	}
	return nil
}

// bring runs that command. What the launcher says is of no interest: it may not be able to.
func bring(line []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), bringTime())
	defer cancel()
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = 5 * time.Second
	return c.Run()
}
