package rounds

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/reduce/thin"
	"github.com/spoor-hpc/spoor/trace"
)

// mostBins is how many numbers of rounds a distribution has at most.
const mostBins = 64

// A histogram is how often a family's loops were run with how many rounds.
type histogram struct {
	list        map[int64]*thin.Tally
	least, most trace.Extreme
}

// add takes the runs of a body.
func (h *histogram) add(n *node) {
	if h.list == nil {
		h.list = make(map[int64]*thin.Tally)
	}
	for _, rounds := range n.rounds {
		v := int64(rounds)
		x := h.list[v]
		if x == nil {
			x = &thin.Tally{Size: v}
			h.list[v] = x
		}
		x.Count++
		at := trace.Extreme{Value: v, Rank: n.rank.t.Rank}
		if h.least.Value == 0 || v < h.least.Value || v == h.least.Value && at.Rank < h.least.Rank {
			h.least = at
		}
		if v > h.most.Value || v == h.most.Value && at.Rank < h.most.Rank {
			h.most = at
		}
	}
}

// drawn is what goes into the trace: numbers that merge at a precision are one, and where these are many still,
// neighbours are, about as often run each.
func (h *histogram) drawn(precision int) trace.Drawn {
	out := trace.Drawn{Precision: precision, Least: h.least, Most: h.most}
	var list []thin.Tally
	for _, x := range h.list {
		list = append(list, *x)
		out.Runs += x.Count
	}
	slices.SortFunc(list, func(a, b thin.Tally) int { return int(a.Size - b.Size) })
	merged := thin.Bins(list, precision)
	for _, x := range list {
		if n := len(merged); n > 0 && merged[0].Low <= x.Size {
			if x.Size == merged[0].Low {
				out.Bins = append(out.Bins, merged[0])
			}
			if x.Size >= merged[0].High {
				merged = merged[1:]
			}
			continue
		}
		out.Bins = append(out.Bins, trace.Bin{Low: x.Size, High: x.Size, Value: x.Size, Count: x.Count})
	}
	if len(out.Bins) > mostBins {
		out.Bins = balanced(out.Bins, out.Runs)
	}
	return out
}

// balanced joins neighbours.
func balanced(list []trace.Bin, runs uint64) (out []trace.Bin) {
	var sum, done uint64
	total := float64(0)
	for i, x := range list {
		if sum == 0 {
			out = append(out, trace.Bin{Low: x.Low})
			total = 0
		}
		b := &out[len(out)-1]
		sum += x.Count
		total += float64(x.Value) * float64(x.Count)
		b.High, b.Count = x.High, sum
		b.Value = min(max(int64(total/float64(sum)+0.5), b.Low), b.High)
		if (done+sum)*mostBins >= runs*uint64(len(out)) || i == len(list)-1 {
			done, sum = done+sum, 0
		}
	}
	return out
}
