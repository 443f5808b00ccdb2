package recover

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/record/capture"
)

// ticksPerSecond is the unit of times in /proc, the same on all Linux systems.
const ticksPerSecond = 100

// Alive reports whether the process that left a context still runs on this machine.
func Alive(c *capture.Context) bool {
	host, err := os.Hostname()
	if err != nil || c == nil || c.Host != host || c.PID <= 0 {
		return false
	}
	state, started, ok := processStat(c.PID)
	// Another process may have got its number: that one began later.
	return ok && state != 'Z' && state != 'X' && started <= c.StartNs
}

// AliveIn is Alive for a process directory.
func AliveIn(dir string) bool {
	c, err := capture.ReadContext(dir)
	return err == nil && Alive(c)
}

// processStat returns what a process does and when it began, ns since 1970.
func processStat(pid int) (state byte, startedNs int64, ok bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0, false
	}
	// The name, in parentheses, may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return 0, 0, false
	}
	ticks, err := strconv.ParseInt(fields[19], 10, 64)
	boot, known := bootTime()
	if err != nil || !known {
		return 0, 0, false
	}
	return fields[0][0], boot*1e9 + ticks*(1e9/ticksPerSecond), true
}

// bootTime is in seconds since 1970, rounded down.
func bootTime() (int64, bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(string(text), "\nbtime ")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseInt(line, 10, 64)
	return n, ok && err == nil
}
