package trace

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// FinishNs is how long rank 0 had been in MPI_Finalize when all was there that the trace
// holds: the recorder's time behind the end of the run, but for writing the file. 0 if it is not known.
func (r *Reader) FinishNs() (int64, error) {
	p, err := r.procs()
	if err != nil {
		return 0, err
	}
	return p.FinishNs, nil
}

// spreads is into how many parts time is taken of which it is only known that it was spent.
const spreads = 8

// asidesOf returns the asides of a stream, by call.
func (k *Rank) asidesOf(stream int) ([]Aside, error) {
	p, err := k.Process()
	if err != nil || stream > 0 {
		return nil, err
	}
	var list []Aside
	n := k.Len(stream)
	for _, a := range p.Asides {
		if a.Call != Scattered {
			list = append(list, a)
			continue
		}
		rest := a.Ns
		for i := range uint64(spreads) {
			part := a.Ns / spreads
			if i == spreads-1 {
				part = rest
			}
			rest -= part
			at := max(1, n/(spreads+1)*(i+1)+n%(spreads+1)*(i+1)/(spreads+1))
			list = append(list, Aside{Call: at, Ns: part, Off: a.Off})
		}
	}
	slices.SortStableFunc(list, sections.CompareAsides)
	return list, nil
}

// Stretches returns the asides of a stream as means place them on the time line. Where the trace has the time
// of each call, Timing.Asides places them exactly.
func (k *Rank) Stretches(stream int) ([]Stretch, error) {
	m, err := k.means(stream)
	if err != nil {
		return nil, err
	}
	return m.Stretches(), nil
}
