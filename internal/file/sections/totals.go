package sections

import "github.com/spoor-hpc/spoor/internal/timing"

// appendTotals writes the times of each rank, for classes with several ranks. rest returns the size of the rest of
// the file in bytes.
//
//	totals = per class blob
func appendTotals(classes []Class, rest func() int64) []byte {
	list := make([]*timing.TotalColumns, len(classes))
	for i := range classes {
		list[i] = &classes[i].RankTotals
	}
	blobs := timing.EncodeTotals(list, rest)
	if blobs == nil {
		return nil
	}
	return appendBlobs(nil, blobs)
}

// RankTotals is the time of each rank in MPI according to section totals, and whether the section has it.
type RankTotals struct {
	Ns    []float64
	Known []bool
}

// NewRankTotals returns a table for this many ranks, all unknown.
func NewRankTotals(ranks int) RankTotals {
	return RankTotals{make([]float64, ranks), make([]bool, ranks)}
}

// ranked returns what the section will contain, without its rounding.
func (c *Content) ranked() RankTotals {
	if c.NoTimes {
		return RankTotals{}
	}
	out := NewRankTotals(c.Ranks)
	for i := range c.Classes {
		x := &c.Classes[i]
		if len(x.RankTotals.Duration) < 2 || len(x.RankTotals.Duration) != x.Ranks.Len() {
			continue
		}
		at := 0
		for rank := range x.Ranks.All() {
			out.Ns[rank], out.Known[rank] = x.RankTotals.Duration[at].Ns(), true
			at++
		}
	}
	return out
}
