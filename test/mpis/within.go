package mpis

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrLate is the error of a command that exceeded its time.
var ErrLate = errors.New("still running")

// grace is how long a launcher may take to end after a signal.
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
	done, ended := make(chan struct{}), make(chan string, 1)
	go func() {
		defer close(ended)
		for times := 1; ; times++ {
			select {
			case <-done:
				return
			case <-time.After(limit):
			}
			if list := descendants(c.Process.Pid); times == patience || !starved(list, limit*time.Duration(times)) {
				end(c.Process)
				ended <- fmt.Sprintf("%v%s", limit*time.Duration(times), describe(list))
				return
			}
		}
	}()
	err = c.Wait()
	close(done)
	if late, ok := <-ended; ok {
		return fmt.Errorf("%w after %s", ErrLate, late)
	}
	return err
}

// patience is the factor by which the time limit grows for a command without a processor.
const patience = 4

// starved reports whether runnable processes had less than half a processor in the time. They are not late, as others
// use the processor. A deadlocked program waits, or spins at full speed.
func starved(list []process, in time.Duration) bool {
	used, wants := time.Duration(0), false
	for _, p := range list {
		used += p.used
		wants = wants || p.state == "R"
	}
	return wants && used < in/2
}

// outlive starts a process that ends another one if this process dies before over is called. It waits for a line from
// a pipe that only we can write to. The kernel's signal on a parent's death is sent for each thread of the parent,
// and Open MPI's launcher leaves its ranks running after a second signal.
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

// end ends a command that another goroutine waits for, and everything that it started.
func end(leader *os.Process) {
	tree := descendants(leader.Pid)
	_ = leader.Signal(syscall.SIGTERM)
	for began := time.Now(); time.Since(began) < grace && leader.Signal(syscall.Signal(0)) == nil; {
		time.Sleep(10 * time.Millisecond)
	}
	tree = append(tree, descendants(leader.Pid)...)
	_ = syscall.Kill(-leader.Pid, syscall.SIGKILL)
	for _, p := range tree {
		_ = p.handle.Kill()
	}
}

// A process is a process that a command started. Its handle still means it when it has ended and another one has its
// number.
type process struct {
	handle *os.Process
	name   string
	state  string        // R: runnable; S, D: waiting
	used   time.Duration // processor time
}

// descendants returns the processes below one.
func descendants(root int) []process {
	const tick = time.Second / 100 // unit of times in /proc
	children := make(map[int][]process)
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range list {
		text, _ := os.ReadFile(file)
		// 4711 (name) S parent …; a name may have spaces and parentheses in it.
		before, rest, _ := bytes.Cut(text, []byte(" ("))
		at := bytes.LastIndexByte(rest, ')')
		if at < 0 {
			continue
		}
		after := bytes.Fields(rest[at+1:])
		if len(after) < 13 {
			continue
		}
		number := func(b []byte) int { n, _ := strconv.Atoi(string(b)); return n }
		p := process{name: string(rest[:at]), state: string(after[0]), used: time.Duration(number(after[11])+number(after[12])) * tick}
		var err error
		if p.handle, err = os.FindProcess(number(before)); err == nil {
			children[number(after[1])] = append(children[number(after[1])], p)
		}
	}
	var found []process
	for waiting := children[root]; len(waiting) > 0; waiting = waiting[1:] {
		found = append(found, waiting[0])
		waiting = append(waiting, children[waiting[0].handle.Pid]...)
	}
	return found
}

// describe describes the state of processes, to distinguish starvation from deadlock.
func describe(list []process) string {
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "; %s %d: %s, %v of a processor", p.name, p.handle.Pid, p.state, p.used)
	}
	return b.String()
}
