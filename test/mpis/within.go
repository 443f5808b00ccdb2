package mpis

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// ErrLate is why a command was ended that took too long.
var ErrLate = errors.New("still running")

// grace is how long a launcher that was told to end may take over it.
const grace = 5 * time.Second

// RunWithin runs a command. When its time is up, or when this process dies first (a test
// that hits go test's own limit does), the command is told to end: a launcher then ends
// its ranks, and the tool removes its files. What is left of all it started when its time
// is up is killed after a while; the ranks are in groups and sessions of their own, out
// of the reach of a signal to the command's group.
func RunWithin(limit time.Duration, c *exec.Cmd) error {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = grace
	if err := c.Start(); err != nil {
		return err
	}
	over, err := outlive(c.Process.Pid)
	if err != nil {
		end(c.Process)
		_ = c.Wait()
		return err
	}
	defer over()
	ended := make(chan struct{})
	timer := time.AfterFunc(limit, func() {
		end(c.Process)
		close(ended)
	})
	err = c.Wait()
	if !timer.Stop() {
		<-ended
		return fmt.Errorf("%w after %v", ErrLate, limit)
	}
	return err
}

// outlive starts a process that tells another to end when this one dies before over is
// called: it waits for a line from a pipe that only we can write to. The kernel's own
// signal on a parent's death comes once for each thread of the parent, and Open MPI's
// launcher leaves its ranks behind when it is told twice.
func outlive(pid int) (over func(), err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c := exec.Command("sh", "-c", `read over || kill -TERM "$0"`, strconv.Itoa(pid))
	c.Stdin, c.SysProcAttr = r, &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		w.Close()
		return nil, err
	}
	return func() {
		_, _ = w.WriteString("\n")
		w.Close()
		_ = c.Wait()
	}, nil
}

// end ends a command, which another goroutine waits for, with all that it started.
func end(leader *os.Process) {
	tree := descendants(leader.Pid)
	_ = leader.Signal(syscall.SIGTERM)
	for began := time.Now(); time.Since(began) < grace && leader.Signal(syscall.Signal(0)) == nil; {
		time.Sleep(10 * time.Millisecond)
	}
	tree = append(tree, descendants(leader.Pid)...)
	_ = syscall.Kill(-leader.Pid, syscall.SIGKILL)
	for _, p := range tree {
		_ = p.Kill()
	}
}

// descendants returns the processes below one. What they are stays known when they
// have ended and others have got their numbers.
func descendants(root int) []*os.Process {
	children := make(map[int][]int)
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range list {
		text, _ := os.ReadFile(file)
		// 4711 (name) S parent …; a name may have spaces and parentheses in it.
		before, _, _ := bytes.Cut(text, []byte(" ("))
		after := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(after) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(string(before))
		parent, _ := strconv.Atoi(string(after[1]))
		children[parent] = append(children[parent], pid)
	}
	var found []*os.Process
	for waiting := children[root]; len(waiting) > 0; waiting = waiting[1:] {
		if p, err := os.FindProcess(waiting[0]); err == nil {
			found = append(found, p)
		}
		waiting = append(waiting, children[waiting[0]]...)
	}
	return found
}
