package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/test/mpis"
)

const (
	count = 3 // hosts
	each  = 2 // ranks on one
)

// A site is where a test runs a program.
type site struct {
	*Network
	t   *testing.T
	mpi *mpis.MPI
	dir string
}

// onHosts runs a test under each MPI, with the program compiled and three hosts.
func onHosts(t *testing.T, test func(s *site)) {
	t.Helper()
	for _, m := range mpis.Need(t) {
		if m.Name != m.Family {
			continue // the same launcher
		}
		t.Run(m.Name, func(t *testing.T) {
			mpis.NeedSpoor(t)
			s := &site{Make(t, count), t, m, t.TempDir()}
			if err := m.Compile(filepath.Join(s.dir, "app"), filepath.Join("testdata", "ranks.c")); err != nil {
				t.Fatal(err)
			}
			test(s)
		})
	}
}

// command is a command on host 1, in the test's folder.
func (s *site) command(line ...string) *exec.Cmd {
	c := exec.Command(s.SSH, append([]string{s.Address(1), "cd", s.dir, "&&", "exec"}, line...)...)
	c.Env = s.mpi.Environ("TMPDIR=" + s.t.TempDir())
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = 10 * time.Second // ranks that live on keep its output open
	return c
}

// run runs a command there and returns what it printed on both streams.
func (s *site) run(line ...string) (string, error) {
	s.t.Helper()
	c := s.command(line...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := mpis.RunWithin(5*time.Minute, c)
	return out.String(), err
}

func (s *site) spoor(args ...string) string {
	s.t.Helper()
	out, err := s.run(append([]string{mpis.Root("bin", "spoor")}, args...)...)
	if err != nil {
		s.t.Fatalf("spoor %q: %v\n%s", args, err, out)
	}
	return out
}

func (s *site) traced(mode string) []string {
	line := append([]string{mpis.Root("bin", "spoor"), "run", "-o", "app.spoor"}, s.Launcher(s.mpi, each, 1, 2, 3)...)
	return append(line, "./app", mode)
}

// going starts the program, and waits until all ranks are in its loop.
func (s *site) going() (c *exec.Cmd, said func() string) {
	s.t.Helper()
	f, err := os.Create(filepath.Join(s.t.TempDir(), "said")) // no pipe: ranks that live on would keep it open
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	said = func() string {
		text, _ := os.ReadFile(f.Name())
		return string(text)
	}
	c = s.command(s.traced("go")...)
	c.Stdout, c.Stderr = f, f
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	for range 6000 {
		if _, err := os.Stat(filepath.Join(s.dir, "going")); err == nil {
			return c, said
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("the program does not begin: %s", said())
	return nil, nil
}

// left counts the process directories of a run that died.
func (s *site) left() (n int) {
	for _, depth := range []string{"*", "*/*"} { // those of a rank that still ran are behind a link
		list, _ := filepath.Glob(filepath.Join(s.dir, "app.spoor.partial", depth, "ring.0"))
		n += len(list)
	}
	return n
}

// recovered makes a trace of them and counts the ranks that have a track.
func (s *site) recovered(behind ...string) int {
	s.t.Helper()
	var list []struct {
		Trace   string
		Ranks   int
		Endings []struct{ End string }
	}
	out := s.spoor(append([]string{"recover", "--json", "app.spoor.partial"}, behind...)...)
	_, answer, _ := strings.Cut("\n"+out, "\n[\n") // what launchers say may have brackets, too
	if err := json.Unmarshal([]byte("["+answer), &list); err != nil || len(list) != 1 || list[0].Ranks != count*each {
		s.t.Fatalf("recovered %s, %v", out, err)
	}
	n := 0
	for _, e := range list[0].Endings {
		if e.End != "missing" {
			n++
		}
	}
	return n
}

// nothingIsLeft wants no records on hosts.
func (s *site) nothingIsLeft(hosts ...int) {
	s.t.Helper()
	for _, host := range hosts {
		if out, err := exec.Command(s.SSH, s.Address(host), "ls", "/dev/shm").Output(); err != nil || strings.Contains(string(out), "spoor-") {
			s.t.Errorf("on host %d: %s, %v", host, out, err)
		}
	}
}

// Three hosts that share a kernel: ranks of all are in the trace, and they have one clock.
func TestOneTrace(t *testing.T) {
	onHosts(t, func(s *site) {
		out, err := s.run(s.traced("end")...)
		if err != nil {
			s.t.Fatalf("%v\n%s", err, out)
		}
		var about struct {
			Ranks int
			Hosts []struct {
				Name  string
				Ranks int
			}
			Clocks *struct{ Count int }
		}
		if err := json.Unmarshal([]byte(s.spoor("info", "--json", "app.spoor")), &about); err != nil {
			s.t.Fatal(err)
		}
		if about.Ranks != count*each || len(about.Hosts) != count || about.Clocks == nil || about.Clocks.Count != 1 {
			s.t.Errorf("%+v", about)
		}
		for i, h := range about.Hosts {
			if h.Name != s.Name(i+1) || h.Ranks != each {
				s.t.Errorf("host %d is %+v", i+1, h)
			}
		}
		if text := s.spoor("info", "app.spoor"); !strings.Contains(text, "one: the hosts share a kernel") {
			s.t.Error(text)
		}
		s.spoor("check", "app.spoor")
		s.nothingIsLeft(1, 2, 3)
	})
}

// A rank crashes: the launcher brings what all hosts have to one place.
func TestCrash(t *testing.T) {
	onHosts(t, func(s *site) {
		out, err := s.run(s.traced("crash")...)
		if err == nil || !strings.Contains(out, "what 4 ranks recorded on other hosts is there, too") || s.left() != count*each {
			s.t.Fatalf("%d are left, %v\n%s", s.left(), err, out)
		}
		if n := s.recovered(); n != count*each {
			s.t.Errorf("%d ranks have a track", n)
		}
		s.nothingIsLeft(1, 2, 3)
	})
}

// Somebody kills the launcher, which can't clean up then.
func TestLauncherIsKilled(t *testing.T) {
	onHosts(t, func(s *site) {
		c, said := s.going()
		launcher := descendant(c.Process.Pid, "mpiexec", "mpirun", "orterun")
		if launcher == 0 {
			s.t.Fatal("no launcher")
		}
		if err := syscall.Kill(launcher, syscall.SIGKILL); err != nil {
			s.t.Fatal(err)
		}
		_ = c.Wait()
		if s.left() != count*each {
			s.t.Fatalf("%d are left\n%s", s.left(), said())
		}
		if n := s.recovered(); n != count*each {
			s.t.Errorf("%d ranks have a track", n)
		}
	})
}

// A host vanishes, and its records with it: what the others have can be brought together by a launcher that knows them alone.
func TestHostVanishes(t *testing.T) {
	t.Setenv("SPOOR_PATIENCE", "5") // there is nothing to wait for
	onHosts(t, func(s *site) {
		c, said := s.going()
		s.Vanish(3)
		done := make(chan error, 1)
		go func() { done <- c.Wait() }()
		select {
		case <-done:
		case <-time.After(5 * time.Second): // some launchers wait for it for ever
			_ = c.Process.Signal(syscall.SIGTERM) // it has become spoor
			select {
			case <-done:
			case <-time.After(30 * time.Second): // or wait for an answer from it
				if launcher := descendant(c.Process.Pid, "mpiexec", "mpirun", "orterun"); launcher > 0 {
					_ = syscall.Kill(launcher, syscall.SIGKILL)
				}
				select {
				case <-done:
				case <-time.After(4 * time.Minute):
					s.t.Fatalf("it doesn't end: %s", said())
				}
			}
		}
		if s.left() < each {
			s.t.Fatalf("%d are left\n%s", s.left(), said())
		}
		if n := s.left(); n < 2*each {
			if !strings.Contains(said(), "if they ran on other nodes, copy what is in /dev/shm/spoor-") || !strings.Contains(said(), "spoor bring /dev/shm/spoor-") {
				s.t.Errorf("nothing says how to bring the rest: %s", said())
			}
			behind := append([]string{"--"}, s.Launcher(s.mpi, 1, 1, 2)...)
			if n := s.recovered(behind...); n != 2*each {
				s.t.Errorf("%d ranks have a track", n)
			}
		} else if n := s.recovered(); n != 2*each {
			s.t.Errorf("%d ranks have a track", n)
		}
		s.nothingIsLeft(1, 2)
	})
}

// descendant finds a process that comes from another by its name; 0 if there is none.
func descendant(pid int, names ...string) int {
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range children {
		text, _ := os.ReadFile(path)
		for _, word := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				continue
			}
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", child))
			for _, name := range names {
				if strings.HasPrefix(string(comm), name) {
					return child
				}
			}
			if found := descendant(child, names...); found > 0 {
				return found
			}
		}
	}
	return 0
}
