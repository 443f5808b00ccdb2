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

// RankMPITimes is, by rank, the time in MPI according to the section of totals, and whether the section has it.
type RankMPITimes struct {
	Ns    []float64
	Known []bool
}

// NewRankMPITimes returns a table for this many ranks, all unknown.
func NewRankMPITimes(ranks int) RankMPITimes {
	return RankMPITimes{make([]float64, ranks), make([]bool, ranks)}
}

// ranked returns the totals that readers will find in the section of totals, except that they are not rounded yet.
func (c *Content) ranked() RankMPITimes {
	if c.NoTimes {
		return RankMPITimes{}
	}
	out := NewRankMPITimes(c.Ranks)
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
