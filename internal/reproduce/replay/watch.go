package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/trace"
)

// A Watchdog ends a replay in which a call takes too long. The first rank that notices leaves a mark, so that every
// rank reports its position.
type Watchdog struct {
	Timeout time.Duration
	Dir     string // directory that all ranks see, for the mark; "": each rank reports alone
	Exit    func(code int)
}

// startAndEnd is the least limit for MPI_Init and MPI_Finalize, which wait for the launcher and for processes without
// a core.
const startAndEnd = time.Minute

// limit returns how long a call may take; nil means an unknown call.
func (w Watchdog) limit(c *trace.Call) time.Duration {
	if c != nil {
		switch c.Name() {
		case "MPI_Init", "MPI_Init_thread", "MPI_Finalize":
			return max(w.Timeout, startAndEnd)
		}
	}
	return w.Timeout
}

// ExitCodeStuck is the exit code of a rank that a Watchdog ended.
const ExitCodeStuck = 75

const mark = "stuck"

// Start begins to watch the process, in the background.
func (w Watchdog) Start(p *Process, h MPIHost) {
	if w.Timeout <= 0 {
		return
	}
	if w.Exit == nil {
		w.Exit = os.Exit
	}
	go func() {
		for {
			time.Sleep(min(w.Timeout/4, 250*time.Millisecond))
			if w.look(p, h.ClockNs()) {
				return
			}
		}
	}()
}

// look reports the rank's position if this or another rank is stuck, and then ends the process.
func (w Watchdog) look(p *Process, now int64) bool {
	stuck := false
	for _, s := range p.streams {
		what, _ := s.State()
		stuck = stuck || (what == StateInCall || what == StateWaitingForThread) && now-s.from() > int64(w.limit(s.Call()))
	}
	path := filepath.Join(w.Dir, mark)
	if w.Dir != "" && !stuck {
		_, err := os.Stat(path)
		stuck = err == nil
	}
	if !stuck {
		return false
	}
	if w.Dir != "" {
		_ = os.WriteFile(path, nil, 0o666) // without the mark, other ranks report after their own limit
	}
	for _, line := range p.ThreadStatusLines(now) {
		fmt.Fprintln(os.Stderr, line)
	}
	// The launcher ends all ranks when one ends: give each time to report.
	time.Sleep(time.Second)
	w.Exit(ExitCodeStuck)
	return true
}

// ThreadStatusLines returns a line for each thread, with its activity at time now on the host's clock.
func (p *Process) ThreadStatusLines(now int64) []string {
	var list []string
	for i, s := range p.streams {
		what, _ := s.State()
		from := s.from()
		c := s.Call()
		name := fmt.Sprintf("spoor-replay: rank %d", p.rank.Number())
		if len(p.streams) > 1 {
			name += fmt.Sprintf(" thread %d", i)
		}
		taken := time.Duration(now - from).Round(time.Millisecond)
		switch {
		case what == StateEnded:
			list = append(list, name+": has made all its calls")
		case c == nil:
			list = append(list, name+": has made no call yet")
		case what == StateWaitingForThread:
			list = append(list, fmt.Sprintf("%s: waits for %v for another thread before call %d, %s", name, taken, c.Index, asMade(c)))
		case what == StateInCall && from > now:
			list = append(list, fmt.Sprintf("%s: computes before call %d, %s", name, c.Index, asMade(c)))
		case what == StateInCall:
			list = append(list, fmt.Sprintf("%s: waits for %v in call %d, %s", name, taken, c.Index, asMade(c)))
		default:
			list = append(list, fmt.Sprintf("%s: is after call %d, %s", name, c.Index, asMade(c)))
		}
	}
	return list
}

// asMade writes a call's inputs as the program passed them.
func asMade(c *trace.Call) string {
	text := c.Text()
	if i := strings.LastIndex(text, ") = "); i >= 0 {
		return text[:i+1]
	}
	return text
}
