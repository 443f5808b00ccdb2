package run

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A started is a run that goes on beside the test.
type started struct {
	*exec.Cmd
	s      *shell
	stderr string // file
}

// startTraced starts the program under spoor.
func (s *shell) startTraced(line ...string) *started {
	s.t.Helper()
	return s.start(append([]string{tool, "run", "--scratch", "scratch", "-o", "app.spoor"}, line...)...)
}

// start starts a command as a job of its own group.
func (s *shell) start(line ...string) *started {
	s.t.Helper()
	stderr := filepath.Join(s.t.TempDir(), "stderr")
	f, err := os.Create(stderr) // no pipe: ranks that live on would keep it open
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	c := exec.Command(line[0], line[1:]...)
	c.Dir, c.Stderr = s.dir, f
	env, err := s.mpi.Yielding(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	c.Env = append(s.mpi.Environ("TMPDIR="+s.t.TempDir()), env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	return &started{c, s, stderr}
}

// launcher waits until the ranks are there and returns the launcher's process.
func (r *started) launcher(ranks int) int {
	r.s.t.Helper()
	for range 400 {
		dirs, _ := filepath.Glob(filepath.Join(r.s.dir, "scratch", "*", "*", "maps"))
		if len(dirs) == ranks {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", r.Process.Pid, r.Process.Pid))
	if err != nil {
		r.s.t.Fatal(err)
	}
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", r.Process.Pid))
	for _, path := range all {
		more, _ := os.ReadFile(path)
		children = append(children, more...)
	}
	for _, word := range strings.Fields(string(children)) {
		name, _ := os.ReadFile("/proc/" + word + "/comm")
		if pid, err := strconv.Atoi(word); err == nil && string(name) != "cat\n" {
			return pid
		}
	}
	r.s.t.Fatalf("no launcher among %q", children)
	return 0
}

// end waits for spoor and returns its exit code and what it said.
func (r *started) end() (int, string) {
	r.s.t.Helper()
	done := make(chan error, 1)
	go func() { done <- r.Wait() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		r.s.t.Fatal("spoor goes on")
	}
	text, err := os.ReadFile(r.stderr)
	if err != nil {
		r.s.t.Fatal(err)
	}
	return r.ProcessState.ExitCode(), string(text)
}

// Where the launcher is killed and ranks live on, what they record later is kept.
func TestLauncherKilled(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/left.c", func(s *shell) {
		s.scratch()
		mark := filepath.Join(s.t.TempDir(), "mark")
		const calls = 400
		// The MPI's own launchers mostly take their ranks along.
		script := filepath.Join(s.t.TempDir(), "launcher")
		text := fmt.Sprintf("#!/bin/sh\nsetsid %s >/dev/null 2>&1 &\nwait\n", strings.Join(s.mpi.Command(2, "./app", mark, strconv.Itoa(calls)), " "))
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			s.t.Fatal(err)
		}
		r := s.startTraced(script)
		if err := syscall.Kill(r.launcher(2), syscall.SIGKILL); err != nil {
			s.t.Fatal(err)
		}
		code, stderr := r.end()
		if code != 128+9 {
			s.t.Errorf("code %d", code)
		}
		s.wants(stderr, "2 processes still run: ", " (rank 0)", "spoor recover app.spoor.partial")
		out, _ := s.spoor("recover", "-o", "early.spoor", "app.spoor.partial")
		s.wants(out, "still running on ")
		alive := regexp.MustCompile(`process (\d+)`).FindAllStringSubmatch(out, -1)
		if len(alive) != 2 {
			s.t.Errorf("not two processes:\n%s", out)
		}
		for _, m := range alive {
			for range 2400 { // until it has ended
				if _, err := os.Stat("/proc/" + m[1]); err != nil {
					break
				}
				time.Sleep(25 * time.Millisecond)
			}
		}
		out, _ = s.spoor("recover", "app.spoor.partial")
		s.wants(out, fmt.Sprintf("app.spoor: 2 ranks, %d calls", 2*(calls+3)), "ended without MPI_Finalize")
		if strings.Contains(out, "still running") {
			s.t.Errorf("they have ended:\n%s", out)
		}
	})
}

// A signal to spoor alone ends the job as one to the launcher would.
func TestSignalToSpoor(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/left.c", func(s *shell) {
		s.scratch()
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			mark := filepath.Join(s.t.TempDir(), "mark")
			job := s.mpi.Command(2, "./app", mark, "3000")
			plain := s.start(job...)
			for range 600 {
				if begun, _ := filepath.Glob(mark + ".begun.*"); len(begun) == 2 {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			_ = plain.Process.Signal(sig)
			want, _ := plain.end()
			if ws := plain.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
				want = 128 + int(ws.Signal())
			}
			r := s.startTraced(job...)
			r.launcher(2)
			begin := time.Now()
			if err := syscall.Kill(r.Process.Pid, sig); err != nil {
				s.t.Fatal(err)
			}
			code, stderr := r.end()
			// Hydra's code is 0, 2, 9 or 15, whatever it saw first.
			if code != want && s.mpi.Family != "mpich" || time.Since(begin) > 20*time.Second {
				s.t.Errorf("%v: code %d after %v, the launcher alone has code %d", sig, code, time.Since(begin), want)
			}
			s.wants(stderr, "spoor recover app.spoor.partial")
			if err := os.RemoveAll(filepath.Join(s.dir, "app.spoor.partial")); err != nil {
				s.t.Fatal(err)
			}
		}
	})
}
