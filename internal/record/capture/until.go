package capture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endedFile contains when a process was found to have ended, in ns since 1970. Nothing else in the directory of a
// killed process shows when it ended.
const endedFile = "ended"

// MarkProcessEnded records in a process directory that its process has ended by now, unless that is recorded already.
func MarkProcessEnded(dir string, now time.Time) error {
	f, err := os.OpenFile(filepath.Join(dir, endedFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, now.UnixNano())
	return errors.Join(err, f.Close())
}

// until returns the end of calls that never returned, in ns since 1970. It is when the process was found to have
// ended. For a live process it is now, otherwise when its ring was last written according to the file system. It is
// 0 if unknown, as for a copied process directory.
func until(dir string, ctx *Context) int64 {
	if b, err := os.ReadFile(filepath.Join(dir, endedFile)); err == nil {
		if ns, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil && ns > ctx.StartNs {
			return ns
		}
	}
	// The context is written when the recorder starts. If its time differs more, the directory is a copy.
	const near = 10 * time.Second
	st, err := os.Stat(filepath.Join(dir, "context"))
	if err != nil || st.ModTime().Sub(time.Unix(0, ctx.StartNs)).Abs() > near {
		return 0
	}
	if host, err := os.Hostname(); err == nil && host == ctx.Host && ctx.PID > 0 {
		if err := syscall.Kill(ctx.PID, 0); err == nil || errors.Is(err, syscall.EPERM) {
			return time.Now().UnixNano()
		}
	}
	if st, err := os.Stat(filepath.Join(dir, "ring.0")); err == nil {
		return st.ModTime().UnixNano()
	}
	return 0
}

// openUntil returns the clock reading that is used as the end of unfinished calls.
func (c *Capture) openUntil() uint64 {
	d := float64(c.until-c.cfg.StartNs) * c.cfg.TicksPerNs
	if c.until == 0 || d <= 0 || d > 1<<62 {
		return c.latest
	}
	return max(c.latest, c.cfg.StartTicks+uint64(d))
}
