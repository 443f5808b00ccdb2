package recover

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/record/capture"
	"github.com/spoor-hpc/spoor/internal/run/launch"
)

// An InitFinalizeMark is a process in a call that waits for all ranks of its job: MPI_Init, MPI_Session_init or
// MPI_Finalize. The shim marks it by a file beside process directories (shim/arrive.c), as there are no records
// before the first two and after the last.
type InitFinalizeMark struct {
	Call       string
	Host       string
	PID        int
	StartNs    int64  // start of the process, in ns since 1970
	space      uint64 // number of the namespace of process numbers that PID is in; 0: not known
	Rank       int    // rank of the process; -1: not known
	Ranks      int    // number of ranks of the job; 0: not known
	LocalRanks int    // number of the job's ranks on the host; 0: not known
	Job        string
	Alive      bool // the process still runs, on this machine

	path string
}

// arrivalSuffix is the suffix of the names of files that are arrival marks.
const arrivalSuffix = ".in"

// ReadInitFinalizeMarks reads the arrival marks in a job's folder, or in scratch folders directly below path. Other files are
// skipped.
func ReadInitFinalizeMarks(path string) []InitFinalizeMark {
	files, _ := filepath.Glob(filepath.Join(path, "*"+arrivalSuffix))
	below, _ := filepath.Glob(filepath.Join(path, "spoor-*", "*"+arrivalSuffix))
	var list []InitFinalizeMark
	for _, file := range append(files, below...) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process may have left the call, which removes the file
		}
		if a, err := ReadInitFinalizeMark(text); err == nil {
			a.path = file
			a.Alive = IsAlive(&capture.Context{Host: a.Host, PID: a.PID, PIDNamespace: a.space, LockFile: file, StartNs: a.StartNs})
			list = append(list, *a)
		}
	}
	slices.SortFunc(list, func(a, b InitFinalizeMark) int {
		return slices.Compare([]int64{int64(a.Rank), a.StartNs}, []int64{int64(b.Rank), b.StartNs})
	})
	return list
}

// RemoveEndedMarks removes the files of those marks whose processes have ended.
func RemoveEndedMarks(list []InitFinalizeMark) {
	for i := range list {
		if !list[i].Alive {
			_ = os.Remove(list[i].path)
		}
	}
}

// ReadInitFinalizeMark parses the text of an arrival mark's file.
func ReadInitFinalizeMark(text []byte) (*InitFinalizeMark, error) {
	a := &InitFinalizeMark{Rank: -1}
	env := make(map[string]string)
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		key, value, _ := strings.Cut(lines.Text(), " ")
		var err error
		switch {
		case n == 1 && (key != "spoor-arrival" || value != "1"):
			return nil, fmt.Errorf("arrival: bad first line %q", lines.Text())
		case n == 1:
		case key == "call":
			a.Call = value
		case key == "host":
			a.Host = value
		case key == "pid":
			a.PID, err = strconv.Atoi(value)
		case key == "namespace":
			a.space, err = strconv.ParseUint(value, 10, 64)
		case key == "start":
			a.StartNs, err = strconv.ParseInt(value, 10, 64)
		case key == "rank":
			a.Rank, err = strconv.Atoi(value)
		case key == "ranks":
			a.Ranks, err = strconv.Atoi(value)
		case key == "env":
			name, value, _ := strings.Cut(value, "=")
			env[name] = value
		}
		if err != nil {
			return nil, fmt.Errorf("arrival:%d: %s: %w", n, key, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("arrival: %w", err)
	}
	if a.Call == "" || a.Host == "" || a.PID <= 0 {
		return nil, fmt.Errorf("arrival: not complete")
	}
	of := launch.ReadJobPlace(func(name string) string { return env[name] })
	if a.Rank < 0 {
		a.Rank = of.Rank
	}
	if a.Ranks <= 0 {
		a.Ranks = of.Ranks
	}
	a.LocalRanks, a.Job = of.LocalRanks, of.JobName
	if a.Rank >= a.Ranks && a.Ranks > 0 || a.Ranks < 0 {
		return nil, fmt.Errorf("arrival: rank %d of %d", a.Rank, a.Ranks)
	}
	return a, nil
}
