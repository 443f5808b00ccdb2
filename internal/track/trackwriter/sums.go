package trackwriter

import (
	"slices"
	"sync"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// leaveOut leaves out displacements that are sums of the counts before them, as a recorder does.
func leaveOut(function uint16, vals []int64) []int64 {
	pairs, ok := summing.Load(function)
	if !ok {
		pairs = summed(function)
		summing.Store(function, pairs)
	}
	list := pairs.([]int)
	if len(list) == 0 {
		return vals
	}
	def, _ := mpi.ByID(function)
	l := signature.LayoutOf(def)
	spans, err := l.Spans(nil, vals)
	if err != nil {
		return vals
	}
	vals = slices.Clone(vals)
	for i := 1; i < len(spans); i++ {
		if p := spans[i].Param; slices.Contains(list, p) && spans[i-1].Param == p-1 {
			signature.LeaveOut(vals[spans[i-1].At:spans[i-1].End], vals[spans[i].At:spans[i].End])
		}
	}
	return vals
}

var summing sync.Map // by function: which parameters are displacements behind counts

func summed(function uint16) (list []int) {
	def, ok := mpi.ByID(function)
	if !ok {
		return nil
	}
	for i := range def.Params {
		c := &def.Params[i].Content
		if at := def.Index(c.Displs); c.Displs != "" && at > 0 && def.Index(c.Count) == at-1 && def.Params[at-1].Array {
			list = append(list, at)
		}
	}
	return list
}
