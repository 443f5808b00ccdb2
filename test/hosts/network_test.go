// Package hosts makes several hosts of one machine, for tests of programs whose ranks are on more than one: each has a network, a
// name and a /dev/shm of its own, and shares all other files and the kernel. It needs root and iproute2; without them tests skip, and
// in CI they fail.
package hosts

import (
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
	"github.com/spoor-hpc/spoor/test/need"
)

// A Network is hosts that reach each other. They are numbered from 1.
type Network struct {
	SSH string // stands in for ssh: SSH ADDRESS COMMAND

	t   testing.TB
	dir string
	tag string // in the names of what the kernel has of it
	n   int
	pid []int // of the process that keeps each host
}

// Make makes hosts for a test.
func Make(t testing.TB, n int) *Network {
	t.Helper()
	if os.Geteuid() != 0 {
		need.Absent(t, "hosts need root")
	}
	for _, name := range []string{"ip", "unshare", "nsenter", "mount"} {
		need.Command(t, name)
	}
	w := &Network{t: t, dir: t.TempDir(), tag: strconv.FormatInt(int64(os.Getpid()), 36), n: n}
	if out, err := exec.Command("ip", "link", "add", w.bridge(), "type", "bridge").CombinedOutput(); err != nil {
		need.Absent(t, "no networks can be made here: %s", out)
	}
	t.Cleanup(w.remove)
	w.ip("link", "set", w.bridge(), "up")
	for i := 1; i <= n; i++ {
		w.add(i)
	}
	w.SSH = filepath.Join(w.dir, "ssh")
	script := "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nhost=${1##*.}; shift\n" +
		"exec nsenter -t \"$(cat " + w.dir + "/pid$host)\" -m -u -n sh -c \"$*\"\n"
	if err := os.WriteFile(w.SSH, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *Network) bridge() string          { return "sb" + w.tag }
func (w *Network) space(host int) string   { return fmt.Sprintf("spoor%s-%d", w.tag, host) }
func (w *Network) outside(host int) string { return fmt.Sprintf("se%s.%d", w.tag, host) }
func (w *Network) Name(host int) string    { return fmt.Sprintf("node%d", host) }
func (w *Network) subnet() string {
	return fmt.Sprintf("10.%d.%d", 64+os.Getpid()>>8&127, os.Getpid()&255)
}
func (w *Network) Address(host int) string { return fmt.Sprintf("%s.%d", w.subnet(), host) }
func (w *Network) keeper(host int) string  { return filepath.Join(w.dir, fmt.Sprintf("pid%d", host)) }

func (w *Network) ip(args ...string) {
	w.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		w.t.Fatalf("ip %q: %v\n%s", args, err, out)
	}
}

func (w *Network) add(host int) {
	w.t.Helper()
	space, inside := w.space(host), fmt.Sprintf("si%s.%d", w.tag, host)
	w.ip("netns", "add", space)
	w.ip("link", "add", inside, "type", "veth", "peer", "name", w.outside(host))
	w.ip("link", "set", inside, "netns", space)
	w.ip("link", "set", w.outside(host), "master", w.bridge())
	w.ip("link", "set", w.outside(host), "up")
	w.ip("-n", space, "addr", "add", w.Address(host)+"/24", "dev", inside)
	w.ip("-n", space, "link", "set", "lo", "up")
	w.ip("-n", space, "link", "set", inside, "up")
	script := fmt.Sprintf("mount --make-rprivate / && mount -t tmpfs -o size=300m tmpfs /dev/shm && hostname %s && echo $$ >%s.new && mv %[2]s.new %[2]s && exec sleep infinity",
		w.Name(host), w.keeper(host))
	c := exec.Command("ip", "netns", "exec", space, "unshare", "-m", "-u", "sh", "-c", script)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { _ = c.Wait() }()
	for {
		if text, err := os.ReadFile(w.keeper(host)); err == nil {
			pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			w.pid = append(w.pid, pid)
			return
		}
		if c.ProcessState != nil {
			w.t.Fatalf("host %d did not come up", host)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Vanish takes a host away at once: nobody hears of it any more, and what was in its memory is gone.
func (w *Network) Vanish(host int) {
	w.t.Helper()
	w.ip("link", "set", w.outside(host), "down")
	w.kill(host)
}

// kill ends all processes of a host.
func (w *Network) kill(host int) {
	out, _ := exec.Command("ip", "netns", "pids", w.space(host)).Output()
	for _, word := range strings.Fields(string(out)) {
		if pid, err := strconv.Atoi(word); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func (w *Network) remove() {
	for host := 1; host <= w.n; host++ {
		w.kill(host)
		_ = exec.Command("ip", "netns", "del", w.space(host)).Run()
		_ = exec.Command("ip", "link", "del", w.outside(host)).Run()
	}
	_ = exec.Command("ip", "link", "del", w.bridge()).Run()
}

// Launcher is the command that starts so many ranks on each of some hosts.
func (w *Network) Launcher(m *mpis.MPI, each int, hosts ...int) []string {
	var list []string
	for _, host := range hosts {
		name := w.Address(host)
		if m.Family == "openmpi" {
			name += ":" + strconv.Itoa(each)
		}
		list = append(list, name)
	}
	n := []string{"-n", strconv.Itoa(each * len(hosts))}
	if m.Family != "openmpi" {
		return append([]string{m.Launcher[0], "-launcher", "ssh", "-launcher-exec", w.SSH, "-hosts", strings.Join(list, ",")}, n...)
	}
	net := w.subnet() + ".0/24"
	return append([]string{m.Launcher[0], "--mca", "plm_rsh_agent", w.SSH, "--mca", "btl_tcp_if_include", net, "--mca", "oob_tcp_if_include", net,
		"--host", strings.Join(list, ",")}, n...)
}
