package launch

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// RunLauncher runs the launcher with our standard streams and forwards signals. It returns the exit code as a shell
// does: 128 plus the signal's number after a signal.
func RunLauncher(argv, env []string) (int, error) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Env = env
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	// A reader of our output, such as head(1), may end before the job. Then a message is lost, but no records. Notify
	// keeps SIGPIPE from ending this process; the job's processes still get it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if err := c.Start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	w := newWitness()
	defer func() { w.dismiss() }()
	for {
		select {
		case s := <-signals:
			if w.saw(s.(syscall.Signal)) {
				w.dismiss()
				w = newWitness()
			} else {
				_ = c.Process.Signal(s)
			}
		case err := <-done:
			var exit *exec.ExitError
			if err == nil {
				return 0, nil
			} else if !errors.As(err, &exit) {
				return 0, err
			}
			if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
				return 128 + int(ws.Signal()), nil
			}
			return exit.ExitCode(), nil
		}
	}
}

// A witness is an idle process in our process group. A signal that ends it was sent to the whole group, for instance
// by a terminal or timeout(1). Then the launcher got it, too, and must not get it twice: many launchers end at once
// on a second signal.
type witness struct {
	process *os.Process
	hold    io.Closer // standard input of the process; closing it ends the process, at the latest when we end
	died    chan syscall.Signal
}

func newWitness() *witness {
	c := exec.Command("cat")
	c.Env = []string{} // no LD_PRELOAD
	hold, err := c.StdinPipe()
	if err != nil || c.Start() != nil {
		return &witness{}
	}
	w := &witness{c.Process, hold, make(chan syscall.Signal, 1)}
	go func() {
		var exit *exec.ExitError
		if errors.As(c.Wait(), &exit) {
			if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
				w.died <- ws.Signal()
			}
		}
	}()
	return w
}

// saw reports whether the witness got the signal that we just got.
func (w *witness) saw(s syscall.Signal) bool {
	if w.died == nil {
		return s == syscall.SIGINT // without a witness, assume that the signal came from a terminal
	}
	select {
	case <-w.died:
		return true
	case <-time.After(100 * time.Millisecond):
		return false
	}
}

func (w *witness) dismiss() {
	if w.hold != nil {
		w.hold.Close()
		_ = w.process.Kill()
	}
}
