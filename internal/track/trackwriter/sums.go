package trackwriter

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// leaveOut leaves out displacements that are sums of the counts before them, as a recorder does.
func leaveOut(function uint16, vals []int64) []int64 {
	def, ok := mpi.ByID(function)
	adds := false
	for i := 0; ok && i < len(def.Params); i++ {
		adds = adds || def.Adds(i)
	}
	if !adds {
		return vals
	}
	l := signature.LayoutOf(def)
	spans, err := l.Spans(nil, vals)
	if err != nil {
		return vals
	}
	vals = slices.Clone(vals)
	for i := 1; i < len(spans); i++ {
		if p := spans[i].Param; p > 0 && p < len(def.Params) && def.Adds(p) && spans[i-1].Param == p-1 {
			signature.LeaveOut(vals[spans[i-1].At:spans[i-1].End], vals[spans[i].At:spans[i].End])
		}
	}
	return vals
}
