package calltree

import (
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// Sums are the totals of a node.
type Sums struct {
	Calls     uint64  `json:"calls"`
	ComputeNs float64 `json:"compute_ns"`         // time outside MPI, before the calls
	MPINs     float64 `json:"mpi_ns"`             // inside the calls of MPI
	FileNs    float64 `json:"files_ns,omitempty"` // time in I/O calls
	BytesOut  uint64  `json:"bytes_out"`
	BytesIn   uint64  `json:"bytes_in"`
	// Values are attached to the calls; means over the ranks of the class.
	Values []AttachedSum `json:"values,omitempty"`
}

// TotalNs returns the time in calls and before them.
func (s *Sums) TotalNs() float64 { return s.ComputeNs + s.InCallsNs() }

// InCallsNs is the time in the calls.
func (s *Sums) InCallsNs() float64 { return s.MPINs + s.FileNs }

// AddTime sets the time of calls of a function: FileNs if it works on files, else MPINs.
func (s *Sums) AddTime(f *trace.Function, ns float64) {
	if f.Has(trace.AttrPosix) {
		s.FileNs = ns
	} else {
		s.MPINs = ns
	}
}

// InCallsText renders the time in MPI and, if there is any, the time in calls on files.
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

// sums returns the sums of one occurrence of a node, cached.
func (b *builder) sums(n *node) Sums {
	total, known := b.known[n]
	if known {
		return total
	}
	if n.isEntry() {
		return total
	}
	for _, t := range n.terms {
		sum := b.each[t.leaf].Scaled(t.count)
		total.Add(&sum)
	}
	for _, x := range n.body {
		sum := b.sums(x.n).Scaled(x.times)
		total.Add(&sum)
	}
	b.known[n] = total
	return total
}
