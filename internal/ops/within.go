package ops

import (
	"math"

	"github.com/spoor-hpc/spoor/trace"
)

// A within tells of a thread's positions, in rising order, whether they are in a phase that is wanted.
// Of a nil one all are.
type within struct {
	phases *Phases
	at     Span
}

// phases returns what tells that of a thread, nil if all calls are wanted.
func (s *Source) phases(k *trace.Rank, stream int) (*within, error) {
	if s.o.Phase == "" {
		return nil, nil
	}
	p, err := PhasesOf(k, stream, s.o.Phase)
	return &within{phases: p}, err
}

func (w *within) has(index uint64) bool {
	if w == nil {
		return true
	}
	if index >= w.at.End {
		var ok bool
		if w.at, ok = w.phases.From(index); !ok {
			w.at = Span{First: math.MaxUint64, End: math.MaxUint64}
		}
	}
	return w.at.First <= index
}
