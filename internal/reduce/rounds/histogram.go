package rounds

import (
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

// mostBins is how many numbers of rounds a distribution has at most.
const mostBins = 64

// told is what goes into the trace of how often loops were run with how many rounds: numbers that merge at a
// precision are one, and where these are many still, neighbours are, about as often run each.
func told(rounds *stats.Numbers, precision int) trace.Drawn {
	merged := reduce.Bins(rounds.All(), precision, 1)
	var list []stats.Bin
	for _, x := range rounds.All() {
		for len(merged) > 0 && merged[0].High < x.Low {
			merged = merged[1:]
		}
		if len(merged) == 0 || x.Low < merged[0].Low {
			list = append(list, x)
		} else if m := merged[0]; x.Low == m.Low {
			list = append(list, stats.Bin{Low: m.Low, High: m.High, Sum: float64(m.Value) * float64(m.Count), Count: m.Count})
		}
	}
	return trace.Drawn{
		Precision: precision, Runs: rounds.Count,
		Distribution: trace.Distribution{Least: rounds.Least, Most: rounds.Most, Bins: stats.Values(stats.Balanced(list, mostBins))},
	}
}
