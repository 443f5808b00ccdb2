package replay

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

// A Report is the result of one rank's replay, in nanoseconds. All times except WallNs are sums over its threads.
type Report struct {
	Rank              int   `json:"rank"`
	Calls             int64 `json:"calls"`
	WallNs            int64 `json:"wall_ns"`    // from the beginning of MPI_Init to the end of the last call
	MPINs             int64 `json:"mpi_ns"`     // time in calls
	ComputeNs         int64 `json:"compute_ns"` // time between calls, without HeldNs
	RecordedComputeNs int64 `json:"wanted_ns"`  // ComputeNs as recorded, scaled by Options.Speed
	// Time that calls waited after their gaps because the program made them later.
	HeldNs           int64    `json:"held_ns"`
	InitExcessNs     int64    `json:"longer_ns"`  // time of MPI_Init beyond the original's
	PeakMemoryBytes  int64    `json:"peak_bytes"` // largest resident memory, the MPI's included
	DifferentResults int64    `json:"different"`  // calls that returned something different from the recorded result
	Examples         []string `json:"examples,omitempty"`
	DroppedCalls     int64    `json:"dropped,omitempty"`  // calls of the trace that weren't made, as receives are derived
	DerivedReceives  int64    `json:"receives,omitempty"` // receives derived from other ranks' sends
}

// Report returns the report of a replay that has ended.
func (p *Process) Report() Report {
	r := Report{Rank: p.rank.Number()}
	for i, s := range p.streams {
		r.Calls += s.Calls
		r.MPINs += s.MPINs
		r.ComputeNs += s.ComputeNs
		r.RecordedComputeNs += s.RecordedComputeNs
		r.HeldNs += s.HeldNs
		r.DifferentResults += s.DifferentResults
		r.DroppedCalls += s.DroppedCalls
		r.DerivedReceives += s.DerivedReceives
		r.Examples = append(r.Examples, s.DifferenceExamples...)
		if i == 0 {
			r.WallNs, r.InitExcessNs = s.LastCallEndNs-s.InitializedAtNs, s.longer
		}
	}
	return r
}

// SubtractInitWait subtracts from each rank's times its waiting in MPI_Init for ranks that prepared longer or got a
// core later. MPI_Init ends for all when the last rank arrives.
func SubtractInitWait(ranks []*Report) {
	least := int64(math.MaxInt64)
	for _, r := range ranks {
		least = min(least, r.InitExcessNs)
	}
	for _, r := range ranks {
		waited := r.InitExcessNs - least
		r.WallNs, r.MPINs = r.WallNs-waited, r.MPINs-waited
	}
}

// WriteReport writes the report into a directory; "": it writes nothing.
func (p *Process) WriteReport(dir string) error {
	if dir == "" {
		return nil
	}
	r := p.Report()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err == nil {
		r.PeakMemoryBytes = usage.Maxrss << 10
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
