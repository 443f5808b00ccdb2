package when

import "github.com/spoor-hpc/spoor/trace"

// A Part is what the ranks of a row did in some iterations, each rank in the mean, in ns.
type Part struct {
	First, Ranks int // lowest rank, and how many there are
	Ns           [trace.WhenStates]int64
	MPINs        int64 // in MPI, waiting for nobody
}

// PartOf adds up iterations from one on, to another which is not in it. Of a column that has more of them it takes the share. whole is how
// long they take.
func PartOf(w *trace.When, from, end uint64) (rows []Part, whole int64) {
	rows = make([]Part, len(w.Rows))
	for i := range rows {
		rows[i].First, rows[i].Ranks = w.Rows[i].First, w.Rows[i].Ranks
	}
	for column, width := range w.WidthNs {
		if !w.Inside(column) {
			continue
		}
		first, last := w.Iterations(column)
		if first >= end || last <= from {
			continue
		}
		share := float64(min(last, end)-max(first, from)) / float64(last-first)
		of := func(ns int64) int64 { return int64(share * float64(ns)) }
		whole += of(width)
		for i := range rows {
			left := width
			for state := range trace.WhenStates {
				ns := max(0, w.Ns(i, state, column))
				rows[i].Ns[state] += of(ns)
				left -= ns
			}
			rows[i].MPINs += of(max(0, left))
		}
	}
	return rows, whole
}

// Differs reports whether a finding is about some of these iterations alone.
func Differs(f *trace.WhenFinding, from, end uint64) bool {
	switch Kind(f.Kind) {
	case Slow, Delayed:
		return from <= f.From && f.From < end
	case Period:
		if f.From >= end {
			return false
		}
		n := max(from, f.From)
		return (n-f.From+f.Every-1)/f.Every*f.Every+f.From < end
	}
	return true
}
