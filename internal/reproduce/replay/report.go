package replay

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

// A Report is the result of one rank's replay, in nanoseconds. All times except Wall are sums over its threads.
type Report struct {
	Rank            int      `json:"rank"`
	Calls           int64    `json:"calls"`
	Wall            int64    `json:"wall_ns"`    // from MPI_Init to the end of the last call
	MPI             int64    `json:"mpi_ns"`     // in calls
	Compute         int64    `json:"compute_ns"` // between calls, without Held
	RecordedCompute int64    `json:"wanted_ns"`  // the trace's value of Compute
	Held            int64    `json:"held_ns"`    // additional waiting before calls that the program made later
	InitExcess      int64    `json:"longer_ns"`  // time of MPI_Init beyond the original's
	PeakMemory      int64    `json:"peak_bytes"` // largest resident memory, the MPI's included
	Different       int64    `json:"different"`  // calls that returned something different from the recorded result
	Examples        []string `json:"examples,omitempty"`
	Dropped         int64    `json:"dropped,omitempty"`  // calls of the trace that weren't made, as receives are derived
	Receives        int64    `json:"receives,omitempty"` // derived receives
}

// Report returns the report of a replay that has ended.
func (p *Process) Report() Report {
	r := Report{Rank: p.rank.Number()}
	for i, s := range p.streams {
		r.Calls += s.Calls
		r.MPI += s.MPINs
		r.Compute += s.ComputeNs
		r.RecordedCompute += s.RecordedComputeNs
		r.Held += s.HeldNs
		r.Different += s.DifferentResults
		r.Dropped += s.DroppedCalls
		r.Receives += s.DerivedReceives
		r.Examples = append(r.Examples, s.DifferenceExamples...)
		if i == 0 {
			r.Wall, r.InitExcess = s.End-s.Begin, s.longer
		}
	}
	return r
}

// SubtractInitWait subtracts from each rank's times its waiting in MPI_Init for ranks that prepared longer or got a
// core later. MPI_Init ends for all when the last rank arrives.
func SubtractInitWait(ranks []*Report) {
	least := int64(math.MaxInt64)
	for _, r := range ranks {
		least = min(least, r.InitExcess)
	}
	for _, r := range ranks {
		waited := r.InitExcess - least
		r.Wall, r.MPI = r.Wall-waited, r.MPI-waited
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
		r.PeakMemory = usage.Maxrss << 10
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
