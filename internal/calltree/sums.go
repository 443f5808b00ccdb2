package calltree

import (
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// Sums are the totals of a part of the program.
type Sums struct {
	Calls     uint64  `json:"calls"`
	ComputeNs float64 `json:"compute_ns"`         // outside MPI, before the calls
	MPINs     float64 `json:"mpi_ns"`             // inside the calls of MPI
	FileNs    float64 `json:"files_ns,omitempty"` // inside calls that work on files
	BytesOut  uint64  `json:"bytes_out"`
	BytesIn   uint64  `json:"bytes_in"`
	// Values are what was attached to the calls; of a class of several ranks a mean over these.
	Values []AttachedSum `json:"values,omitempty"`
}

// TotalNs is all of it.
func (s *Sums) TotalNs() float64 { return s.ComputeNs + s.InCallsNs() }

// InCallsNs is the time in the calls.
func (s *Sums) InCallsNs() float64 { return s.MPINs + s.FileNs }

// AddTime says how long calls of a function took.
func (s *Sums) AddTime(f *trace.Function, ns float64) {
	if f.Has(trace.AttrPosix) {
		s.FileNs = ns
	} else {
		s.MPINs = ns
	}
}

// InCallsText says of what kind the calls were that the time went by in.
func (s *Sums) InCallsText() string {
	text := show.FormatDuration(s.MPINs) + " in MPI"
	if s.FileNs > 0 {
		text += ", " + show.FormatDuration(s.FileNs) + " in files"
	}
	return text
}

func (s *Sums) Add(t *Sums) {
	s.Calls += t.Calls
	s.ComputeNs += t.ComputeNs
	s.MPINs += t.MPINs
	s.FileNs += t.FileNs
	s.BytesOut += t.BytesOut
	s.BytesIn += t.BytesIn
	s.Values = addAttached(s.Values, t.Values, 1)
}

func (s Sums) Scaled(n uint64) Sums {
	return Sums{s.Calls * n, s.ComputeNs * float64(n), s.MPINs * float64(n), s.FileNs * float64(n), s.BytesOut * n, s.BytesIn * n, addAttached(nil, s.Values, float64(n))}
}
