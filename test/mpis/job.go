package mpis

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// A Job is the environment of a command.
type Job struct {
	MPI   *MPI
	Dir   string   // folder to run in
	Temp  string   // folder for the MPI's temporary files; "": Dir
	Env   []string // additional environment
	Bare  bool     // don't preload the yielding library, see Yielding
	Limit time.Duration
}

// A Result is how a command ended.
type Result struct {
	Stdout, Stderr string
	Code           int // -1 if a signal ended it
	Err            error
}

// perJob is the time limit of a job on a machine with more ranks than cores.
const perJob = 2 * time.Minute

// slots bounds the number of concurrent jobs of a test.
var slots = make(chan struct{}, 2)

// Run runs a command. At its time limit, it ends the command and everything that this started.
func (j Job) Run(line ...string) Result {
	env := j.Env
	if !j.Bare {
		var err error
		if env, err = j.MPI.Yielding(env); err != nil {
			return Result{Code: -1, Err: err}
		}
	}
	slots <- struct{}{}
	defer func() { <-slots }()
	c := exec.Command(line[0], line[1:]...)
	var stdout, stderr bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = j.Dir, &stdout, &stderr
	c.Env = append(j.MPI.Environ("TMPDIR="+cmp.Or(j.Temp, j.Dir)), env...)
	err := RunWithin(cmp.Or(j.Limit, perJob), c)
	return Result{stdout.String(), stderr.String(), c.ProcessState.ExitCode(), err}
}

// Baseline runs a command without spoor. If it hangs, the MPI or the machine is the cause, so it runs once more; told
// reports the first failure.
func (j Job) Baseline(told func(format string, args ...any), line ...string) Result {
	return j.unlessLate("this was without spoor", told, line)
}

// RunOf runs a command that starts a program. If it hangs and the program may hang without spoor, it runs once more.
func (j Job) RunOf(p *Program, told func(format string, args ...any), line ...string) Result {
	if p == nil || !p.MayHang(j.MPI) {
		return j.Run(line...)
	}
	return j.unlessLate("this may be the MPI's", told, line)
}

func (j Job) unlessLate(why string, told func(format string, args ...any), line []string) Result {
	r := j.Run(line...)
	if errors.Is(r.Err, ErrLate) {
		told("once more, as %s: %v: %v", why, line, r)
		r = j.Run(line...)
	}
	return r
}

// String shows the end of what a failed command printed.
func (r Result) String() string {
	return fmt.Sprintf("%v\n--- stdout\n%s--- stderr\n%s", r.Err, Tail(r.Stdout), Tail(r.Stderr))
}

// Tail shortens long output to its end.
func Tail(s string) string {
	const most = 4000
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}
