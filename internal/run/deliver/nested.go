package deliver

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// deepest bounds how many processes are between a program and one that it starts.
const deepest = 100

// Nested reports whether a recorded program that still runs started this one: a process that this one comes from has records beside dir,
// the process's own folder HOST-PID. The name of the run's trace is that program's.
func Nested(dir string) bool {
	host, ok := strings.CutSuffix(strings.TrimSuffix(filepath.Base(dir), filepath.Ext(dir)), "-"+strconv.Itoa(os.Getpid()))
	if !ok { // the name of a host has dots, too
		host, ok = strings.CutSuffix(filepath.Base(dir), "-"+strconv.Itoa(os.Getpid()))
	}
	if dir == "" || !ok {
		return false
	}
	for pid, n := os.Getppid(), 0; pid > 1 && n < deepest; pid, n = Parent(pid), n+1 {
		if _, err := os.Stat(filepath.Join(filepath.Dir(dir), host+"-"+strconv.Itoa(pid))); err == nil {
			return true
		}
	}
	return false
}

// Parent returns the number of the process that a process comes from, 0 if that isn't known.
func Parent(pid int) int {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	// The name, in parentheses, may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1])
	return n
}
