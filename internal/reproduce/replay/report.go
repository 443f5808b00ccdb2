package replay

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

// A Report is what a rank did, in nanoseconds. What isn't wall time is that of all its threads.
type Report struct {
	Rank            int      `json:"rank"`
	Calls           int64    `json:"calls"`
	Wall            int64    `json:"wall_ns"`    // from MPI_Init to the end of the last call
	MPI             int64    `json:"mpi_ns"`     // in calls
	Compute         int64    `json:"compute_ns"` // between calls, without what these were held
	RecordedCompute int64    `json:"wanted_ns"`  // what the trace says of that
	Held            int64    `json:"held_ns"`    // what its calls waited besides, as the program made them later
	InitExcess      int64    `json:"longer_ns"`  // what MPI_Init took beyond what it took in the original
	PeakMemory      int64    `json:"peak_bytes"` // most memory that was resident, the MPI's included
	Different       int64    `json:"different"`  // calls that returned something else than recorded
	Examples        []string `json:"examples,omitempty"`
	Dropped         int64    `json:"dropped,omitempty"`  // calls of the trace that weren't made, as receives are derived
	Receives        int64    `json:"receives,omitempty"` // that were derived
}

// Report sums up a replay that has ended.
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

// SubtractInitWait subtracts from the ranks' times what they waited in MPI_Init for others that needed longer to prepare or
// got a core later. MPI_Init ends for all when the last rank arrives.
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

// WriteReport writes the report into a directory, none if it is "".
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
