// Package profile shows where a program's time goes: the tree of its functions, loops and calls (package calltree) as
// text, in the notation of Grosclaude et al., Tracing MPI binaries for knowledge discovery, or as LaTeX; and a flat
// table of call sites over all ranks. Its cost follows the size of the compressed form, not the number of calls.
//
// The package does not find out which line a call site is (package symbolise does), and does not judge what it shows.
package profile

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/trace"
)

// A Profile is the tree of one rank of a class.
type Profile struct{ *calltree.Tree }

// OfRank is calltree.Of.
func OfRank(r *trace.Reader, rank int, o calltree.Options) (*Profile, error) {
	t, err := calltree.Build(r, rank, o)
	return &Profile{t}, err
}

// countedText says how many rounds of a loop the program counted, where that isn't known already.
func countedText(n *calltree.Node) string {
	if text := n.CountedRounds(); text != "" {
		return ", " + text + " counted"
	}
	return ""
}

func attachedOf(list []calltree.Value) (out []calltree.AttachedSum) {
	for _, v := range list {
		out = append(out, calltree.AttachedSum{Name: v.Name, LeafValue: trace.LeafValue{Count: float64(v.Count), Sum: float64(v.Sum)}})
	}
	return out
}

// AddPrediction puts the times of another profile beside a profile's own: that of the same rank in a trace of the
// same calls, as they are predicted for a machine.
func (p *Profile) AddPrediction(other *Profile, machine string) error {
	if len(p.Threads) != len(other.Threads) {
		return fmt.Errorf("rank %d: %d threads, the prediction has %d", p.Rank, len(p.Threads), len(other.Threads))
	}
	for i := range p.Threads {
		t, u := &p.Threads[i], &other.Threads[i]
		predicted(&t.Total, &u.Total)
		if !beside(t.Body, u.Body) {
			return fmt.Errorf("rank %d: the prediction has other loops", p.Rank)
		}
	}
	p.PredictedOn = machine
	return nil
}

func beside(list, other []*calltree.Node) bool {
	if len(list) != len(other) {
		return false
	}
	for i, n := range list {
		m := other[i]
		if n.Kind != m.Kind || n.Sums.Calls != m.Sums.Calls || !beside(n.Body, m.Body) {
			return false
		}
		predicted(&n.Sums, &m.Sums)
	}
	return true
}

func predicted(s, by *calltree.Sums) {
	s.PredictedCompute, s.PredictedMPI = by.Compute, by.Inside()
}
