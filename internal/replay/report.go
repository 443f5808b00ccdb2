package replay

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// A Report is what a rank did, in nanoseconds.
type Report struct {
	Rank      int      `json:"rank"`
	Calls     int64    `json:"calls"`
	Wall      int64    `json:"wall_ns"`    // from MPI_Init to the end of the last call
	MPI       int64    `json:"mpi_ns"`     // in calls, all threads
	Compute   int64    `json:"compute_ns"` // outside of them without what calls were held, on the first thread
	Wanted    int64    `json:"wanted_ns"`  // what the trace says of that, on the first thread
	Held      int64    `json:"held_ns"`    // what its calls waited besides, as the program made them later
	Peak      int64    `json:"peak_bytes"` // most memory that was resident, the MPI's included
	Different int64    `json:"different"`  // calls that returned something else than recorded
	Examples  []string `json:"examples,omitempty"`
}

// Report sums up a replay that has ended.
func (p *Process) Report() Report {
	r := Report{Rank: p.rank.Number()}
	for i, s := range p.streams {
		r.Calls += s.Calls
		r.MPI += s.MPI
		r.Different += s.Different
		r.Examples = append(r.Examples, s.Examples...)
		if i == 0 {
			r.Wall = s.End - s.Begin
			r.Compute = r.Wall - s.MPI - s.Held
			r.Wanted, r.Held = s.Wanted, s.Held
		}
	}
	return r
}

// WriteReport writes the report into a directory, none if it is "".
func (p *Process) WriteReport(dir string) error {
	if dir == "" {
		return nil
	}
	r := p.Report()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err == nil {
		r.Peak = usage.Maxrss << 10
	}
	b, err := json.Marshal(&r)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, fmt.Sprintf("rank.%d", r.Rank))
	if err := os.WriteFile(name+".new", b, 0o666); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
