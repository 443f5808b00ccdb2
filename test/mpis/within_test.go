package mpis

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hangs is a rank that knows no MPI: nothing but a signal tells it that its launcher has
// ended. A stubborn one does not listen.
const (
	hangs    = `echo $$ >> pids; exec sleep 1000`
	stubborn = `trap "" TERM; ` + hangs
)

// What is still running when its time is up is ended with all that it started, also what
// is in a session of its own.
func TestWhatIsLateIsEnded(t *testing.T) {
	lines := map[string][]string{"session": {"sh", "-c", "setsid sh -c '" + stubborn + "' & wait"}}
	for _, m := range Installed() {
		lines[m.Name] = m.Command(2, "sh", "-c", stubborn)
	}
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var err error
			for d := 2 * time.Second; len(pids(dir)) == 0 && d < time.Minute; d *= 2 { // a busy machine takes long to start anything
				c := exec.Command(line[0], line[1:]...)
				c.Dir, c.Env = dir, environ(name)
				err = RunWithin(d, c)
			}
			if !errors.Is(err, ErrLate) || !strings.Contains(err.Error(), "; sleep ") {
				t.Errorf("ended with %v", err)
			}
			none(t, dir)
		})
	}
}

// Who is not let to run isn't late; who waits, or runs and runs, is.
func TestStarved(t *testing.T) {
	const minute = time.Minute
	for _, x := range []struct {
		list []process
		want bool
	}{
		{[]process{{state: "S", used: time.Second}, {state: "R", used: 3 * time.Second}}, true},
		{[]process{{state: "S", used: time.Second}, {state: "S", used: time.Second}}, false},
		{[]process{{state: "R", used: 14 * time.Second}, {state: "R", used: 8 * time.Second}}, true},
		{[]process{{state: "R", used: 50 * time.Second}, {state: "R", used: 40 * time.Second}}, false},
	} {
		if got := starved(x.list, minute); got != x.want {
			t.Errorf("%+v: %v", x.list, got)
		}
	}
}

// When the test dies first, its launchers end their ranks.
func TestWhatOutlivesTheTestIsEnded(t *testing.T) {
	const dying = "SPOOR_TEST_DYING"
	if name := os.Getenv(dying); name != "" {
		m, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		line := m.Command(2, "sh", "-c", hangs)
		c := exec.Command(line[0], line[1:]...)
		c.Env = m.Environ()
		go func() {
			for len(pids(".")) < 2 {
				time.Sleep(10 * time.Millisecond)
			}
			os.Exit(3)
		}()
		t.Fatal(RunWithin(time.Minute, c))
	}
	for _, m := range Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			test, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command(test, "-test.run=^TestWhatOutlivesTheTestIsEnded$")
			c.Dir, c.Env = t.TempDir(), append(os.Environ(), dying+"="+m.Name)
			out, _ := c.CombinedOutput()
			if c.ProcessState.ExitCode() != 3 {
				t.Fatalf("%v\n%s", c.ProcessState, out)
			}
			none(t, c.Dir)
		})
	}
}

func environ(name string) []string {
	if m, err := Find(name); err == nil {
		return m.Environ()
	}
	return nil
}

// pids returns what the processes of a job wrote of themselves.
func pids(dir string) []int {
	text, _ := os.ReadFile(filepath.Join(dir, "pids"))
	var list []int
	for _, s := range strings.Fields(string(text)) {
		pid, _ := strconv.Atoi(s)
		list = append(list, pid)
	}
	return list
}

// none fails if a process of a job is still there after a while.
func none(t *testing.T, dir string) {
	t.Helper()
	list := pids(dir)
	if len(list) == 0 {
		t.Error("nothing was started")
	}
	for _, pid := range list {
		for began := time.Now(); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Errorf("process %d is still there", pid)
				_ = syscall.Kill(pid, syscall.SIGKILL)
				break
			}
		}
	}
}
