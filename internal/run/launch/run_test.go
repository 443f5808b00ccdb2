package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is also the process that the signals below are sent to.
func TestMain(m *testing.M) {
	if script := os.Getenv("LAUNCH_TEST_SCRIPT"); script != "" {
		code, err := RunLauncher([]string{"/bin/sh", script}, os.Environ())
		if err != nil {
			panic(err)
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// The launcher gets each signal once, whether it is sent to us or to all of our group.
func TestSignalsReachTheLauncherOnce(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for _, group := range []bool{false, true} {
			dir := t.TempDir()
			script := filepath.Join(dir, "launcher")
			log := filepath.Join(dir, "log")
			text := "trap 'echo INT >>" + log + "' INT\ntrap 'echo TERM >>" + log + "' TERM\necho ready >>" + log + "\n" +
				"i=0; while [ $i -lt 30 ]; do sleep 0.1; i=$((i+1)); [ -s " + log + ".end ] && exit 7; done\nexit 9\n"
			if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "LAUNCH_TEST_SCRIPT="+script)
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			wait(t, log, "ready")
			time.Sleep(50 * time.Millisecond) // the witness starts beside the launcher
			pid := c.Process.Pid
			if group {
				pid = -pid
			}
			if err := syscall.Kill(pid, s); err != nil {
				t.Fatal(err)
			}
			name := map[syscall.Signal]string{syscall.SIGINT: "INT", syscall.SIGTERM: "TERM"}[s]
			wait(t, log, name)
			time.Sleep(300 * time.Millisecond)
			if err := os.WriteFile(log+".end", []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			got, _ := os.ReadFile(log)
			if want := "ready\n" + name + "\n"; string(got) != want || c.ProcessState.ExitCode() != 7 {
				t.Errorf("%v, group %v: code %d, the launcher got %q", s, group, c.ProcessState.ExitCode(), got)
			}
		}
	}
}

func wait(t *testing.T, path, text string) {
	t.Helper()
	for range 200 {
		if got, _ := os.ReadFile(path); strings.Contains(string(got), text) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("no %q in %s", text, path)
}
