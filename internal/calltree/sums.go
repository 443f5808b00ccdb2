package calltree

import (
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// Sums are the totals of a part of the program.
type Sums struct {
	Calls    uint64  `json:"calls"`
	Compute  float64 `json:"compute_ns"`         // outside MPI, before the calls
	MPI      float64 `json:"mpi_ns"`             // inside the calls of MPI
	Files    float64 `json:"files_ns,omitempty"` // inside calls that work on files
	BytesOut uint64  `json:"bytes_out"`
	BytesIn  uint64  `json:"bytes_in"`
	// Values are what was attached to the calls; of a class of several ranks a mean over these.
	Values []AttachedSum `json:"values,omitempty"`
}

// Time is all of it.
func (s *Sums) Time() float64 { return s.Compute + s.Inside() }

// Inside is the time in the calls.
func (s *Sums) Inside() float64 { return s.MPI + s.Files }

// AddTime says how long calls of a function took.
func (s *Sums) AddTime(f *trace.Function, ns float64) {
	if f.Has(trace.Posix) {
		s.Files = ns
	} else {
		s.MPI = ns
	}
}

// InsideText says of what kind the calls were that the time went by in.
func (s *Sums) InsideText() string {
	text := show.Duration(s.MPI) + " in MPI"
	if s.Files > 0 {
		text += ", " + show.Duration(s.Files) + " in files"
	}
	return text
}

func (s *Sums) Add(t *Sums) {
	s.Calls += t.Calls
	s.Compute += t.Compute
	s.MPI += t.MPI
	s.Files += t.Files
	s.BytesOut += t.BytesOut
	s.BytesIn += t.BytesIn
	s.Values = addAttached(s.Values, t.Values, 1)
}

func (s Sums) Scaled(n uint64) Sums {
	return Sums{s.Calls * n, s.Compute * float64(n), s.MPI * float64(n), s.Files * float64(n), s.BytesOut * n, s.BytesIn * n, addAttached(nil, s.Values, float64(n))}
}
