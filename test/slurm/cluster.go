// Package slurm runs a real Slurm on this machine, of daemons in namespaces, for tests of what a job leaves in a batch system. It needs
// root and the packages slurmctld, slurmd, slurm-client and munge; without them tests skip, and in CI they fail.
package slurm

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// A Cluster is a controller, host "ctl", and nodes "node1", "node2", … They share all files but those below /tmp and /dev/shm.
type Cluster struct {
	Dir string // that all hosts see; it ends with the cluster

	nodes int
	init  int // process 1 of ctl
	stop  func()
}

// ErrNone is why no cluster can be had on this machine.
var ErrNone = errors.New("no Slurm can be started here")

// Start starts a cluster.
func Start(nodes int) (*Cluster, error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: it needs root", ErrNone)
	}
	for _, name := range []string{"slurmctld", "slurmd", "srun", "munged", "ip", "unshare", "nsenter"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, fmt.Errorf("%w: %s is not installed", ErrNone, name)
		}
	}
	const space = "--mount --uts --net --ipc --pid --fork --kill-child --mount-proc"
	if out, err := exec.Command("unshare", append(strings.Fields(space), "ip", "link", "add", "bridge", "type", "bridge")...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: no namespaces: %s", ErrNone, out)
	}
	dir, err := os.MkdirTemp("/var/tmp", "spoor-slurm-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	c := exec.Command("unshare", append(strings.Fields(space), "sh", mpis.Root("test", "slurm", "testdata", "cluster.sh"), dir, strconv.Itoa(nodes), mpis.Root("bin"))...)
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it ends with its input
	hold, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	said, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	s := &Cluster{Dir: dir, nodes: nodes, stop: func() {
		hold.Close()
		_ = c.Wait()
		_ = os.RemoveAll(dir)
	}}
	if line, _ := bufio.NewReader(said).ReadString('\n'); line != "ready\n" {
		s.stop()
		return nil, errors.New("Slurm does not start")
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", c.Process.Pid))
	if err == nil {
		s.init, err = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// Stop ends all that runs in the cluster.
func (s *Cluster) Stop() { s.stop() }

// Command is a command on a host, in a folder.
func (s *Cluster) Command(host, dir string, line ...string) *exec.Cmd {
	line = append([]string{"sh", "-c", `cd "$0" && exec "$@"`, dir}, line...) // nsenter's own folder would be of the mounts out here
	if host != "ctl" {
		line = append([]string{filepath.Join(s.Dir, "on"), host}, line...)
	}
	return exec.Command("nsenter", append([]string{"-t", strconv.Itoa(s.init), "-m", "-u", "-n", "-i", "-p"}, line...)...)
}

// Nodes names the nodes.
func (s *Cluster) Nodes() (list []string) {
	for i := range s.nodes {
		list = append(list, fmt.Sprint("node", i+1))
	}
	return list
}
