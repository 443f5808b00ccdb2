package profile

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/calltree"
)

// Beside puts the times of another profile beside a profile's own: that of the same rank in a trace of the
// same calls, as they are predicted for a machine.
func (p *Profile) Beside(other *Profile, machine string) error {
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
	p.On = machine
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
