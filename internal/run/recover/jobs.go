package recover

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spoor-hpc/spoor/internal/record/capture"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/run/deliver"
)

// A Job is the scratch folder of a run on this machine.
type Job struct {
	Dir               string
	RunningContexts   []*capture.Context // of processes that run; empty: all have ended, and left records
	InitFinalizeMarks []InitFinalizeMark // of processes that run
}

// IsAlive reports whether a process of the job runs.
func (j *Job) IsAlive() bool { return len(j.RunningContexts)+len(j.InitFinalizeMarks) > 0 }

// Name returns the name of the program that a living job runs, or else its folder's name. pid is the number of one of
// its processes.
func (j *Job) Name() (program string, pid int) {
	if len(j.RunningContexts) > 0 {
		return filepath.Base(j.RunningContexts[0].Exe), j.RunningContexts[0].PID
	}
	pid = j.InitFinalizeMarks[0].PID
	if exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe")); err == nil {
		return filepath.Base(exe), pid
	}
	return filepath.Base(j.Dir), pid
}

// FindJobs finds jobs by their scratch folders, which are directly below the given parents. Unreadable folders belong
// to other users.
func FindJobs(parents []string) []Job {
	var list []Job
	seen := make(map[string]bool)
	for _, parent := range parents {
		folders, _ := filepath.Glob(filepath.Join(parent, "spoor-*"))
		for _, dir := range folders {
			real, err := filepath.EvalSymlinks(dir)
			if err != nil || seen[real] {
				continue
			}
			seen[real] = true
			arrivals := slices.DeleteFunc(ReadInitFinalizeMarks(dir), func(a InitFinalizeMark) bool { return !a.Alive })
			if dirs, err := ProcessDirs(dir); err == nil && len(dirs)+len(arrivals) > 0 {
				list = append(list, Job{dir, living(dirs), arrivals})
			}
		}
	}
	return list
}

func living(dirs []string) (list []*capture.Context) {
	for _, d := range dirs {
		if c, err := capture.ReadContext(d); err == nil && IsAlive(c) {
			list = append(list, c)
		}
	}
	return list
}

// HasProcess reports whether a process belongs to the job, or started one that does.
func (j *Job) HasProcess(pid int) bool {
	var own []int
	for _, c := range j.RunningContexts {
		own = append(own, c.PID)
	}
	for _, a := range j.InitFinalizeMarks {
		own = append(own, a.PID)
	}
	for _, process := range own {
		const deep = 64 // no chain of parents is longer
		for n, at := 0, process; at > 1 && n < deep; n++ {
			if at == pid {
				return true
			}
			at = deliver.Parent(at)
		}
	}
	return false
}

// RecordedBytes returns the number of bytes that the processes of the directories have recorded so far. While it
// stays the same, no process has begun or ended an MPI call.
func RecordedBytes(dirs []string) (n uint64) {
	for _, dir := range dirs {
		rings, _ := filepath.Glob(filepath.Join(dir, "ring.*"))
		for _, path := range rings {
			head, _ := event.RingHead(path) // an unreadable ring is being made or was removed
			n += head
		}
	}
	return n
}

// ticksPerSecond is the unit of times in /proc, the same on all Linux systems.
const ticksPerSecond = 100

// IsAlive reports whether the process that wrote a context file still runs on this machine.
func IsAlive(c *capture.Context) bool {
	host, err := os.Hostname()
	if err != nil || c == nil || c.Host != host || c.PID <= 0 {
		return false
	}
	if c.PIDNamespace != 0 && c.PIDNamespace != ownNamespace() { // then PID is another process here, or none
		return isLocked(c.LockFile)
	}
	state, started, ok := processStat(c.PID)
	// If another process has this number now, it began after the context was written.
	return ok && state != 'Z' && state != 'X' && started <= c.StartNs
}

// ownNamespace is the number of the namespace in which this process sees process numbers; 0: not known.
var ownNamespace = sync.OnceValue(func() uint64 {
	text, _ := os.Readlink("/proc/self/ns/pid")
	_, text, _ = strings.Cut(text, "[")
	n, _ := strconv.ParseUint(strings.TrimSuffix(text, "]"), 10, 64)
	return n
})

func isLocked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	l := syscall.Flock_t{Type: syscall.F_WRLCK}
	return syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &l) == nil && l.Type != syscall.F_UNLCK
}

// IsAliveIn is IsAlive for the process of a process directory.
func IsAliveIn(dir string) bool {
	c, err := capture.ReadContext(dir)
	return err == nil && IsAlive(c)
}

// ProcStateIfStopped returns the state in /proc that stops a process of this host: T if a signal stopped it, t if a
// debugger holds it, D if one of its threads waits for a disk or another device; 0 if it can run, or its state is not
// known.
func ProcStateIfStopped(c *capture.Context) byte {
	if !IsAlive(c) {
		return 0
	}
	threads, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(c.PID), "task", "*", "stat"))
	held := byte(0)
	for _, path := range threads {
		switch state, _, _ := stat(path); {
		case state == 'T', state == 't':
			return state
		case state == 'D':
			held = state
		}
	}
	return held
}

// processStat returns a process's state, as a letter of /proc, and its start in ns since 1970.
func processStat(pid int) (state byte, startedNs int64, ok bool) {
	return stat(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
}

// stat does what processStat does, for the stat file of a process or thread in /proc.
func stat(path string) (state byte, startedNs int64, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, false
	}
	// The second field, the process's name, is in parentheses and may contain any character.
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

// bootTime returns when this machine was started, in seconds since 1970, rounded down.
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
