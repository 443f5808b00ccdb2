package report

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/trace"
)

// A PerRankNumber is a quantity of each rank.
type PerRankNumber struct {
	Name         string `json:"name"`
	Unit         string `json:"unit"`  // "ns", "bytes", or "" for a plain number
	PackedValues string `json:"each"`  // float32 by rank, little endian, NaN where it is not known; packed
	HasEstimates bool   `json:"guess"` // some ranks have their class's mean
	Site         string `json:"site"`  // call site as in tables; "": the whole rank
}

// Bounds of numbers.
const (
	maxNumbers  = 1 << 16 // largest number of values: quantities × ranks
	mostNumbers = 60
)

// numbers collects quantities by which ranks can be compared: the totals, then call sites by time.
func numbers(r *trace.Reader, perRank []sums.RankSums, waited *WaitTable, o Options) ([]PerRankNumber, error) {
	ranks := r.Ranks()
	room := max(3, min(mostNumbers, maxNumbers/max(1, ranks)))
	list := []PerRankNumber{}
	add := func(name, unit, site string, guess bool, of func(values []float32)) {
		if len(list) == room {
			return
		}
		values := slices.Repeat([]float32{float32(math.NaN())}, ranks)
		of(values)
		list = append(list, PerRankNumber{name, unit, packedFloats(values), guess, site})
	}
	total := func(name, unit string, of func(p *sums.RankSums) float32) {
		add(name, unit, "", false, func(values []float32) {
			for i := range perRank {
				if p := &perRank[i]; r.ClassOf(p.Rank) >= 0 {
					values[p.Rank] = of(p)
				}
			}
		})
	}
	if r.HasTimes() {
		total("time in MPI", "ns", func(p *sums.RankSums) float32 { return float32(p.MPINs) })
		total("time outside of MPI", "ns", func(p *sums.RankSums) float32 { return float32(max(0, p.ThreadTimeNs-p.MPINs-p.PosixIONs)) })
		if slices.ContainsFunc(perRank, func(p sums.RankSums) bool { return p.PosixIONs > 0 }) {
			total("time in files", "ns", func(p *sums.RankSums) float32 { return float32(p.PosixIONs) })
		}
		total("run time", "ns", func(p *sums.RankSums) float32 { return float32(p.SpanNs) })
	}
	if waited != nil {
		for _, x := range []struct {
			name string
			of   func(i int) int64
		}{
			{"time waited for others", func(i int) int64 { return waited.ByRank[i].WaitedNs }},
			{"time that others waited for it", func(i int) int64 { return waited.ByRank[i].CausedWaitNs }},
		} {
			add(x.name, "ns", "", false, func(values []float32) {
				for i := range waited.ByRank {
					values[waited.ByRank[i].Rank] = float32(x.of(i))
				}
			})
		}
	}
	total("calls", "", func(p *sums.RankSums) float32 { return float32(p.Calls) })
	total("bytes out", "bytes", func(p *sums.RankSums) float32 { return float32(p.BytesOut) })
	total("bytes in", "bytes", func(p *sums.RankSums) float32 { return float32(p.BytesIn) })
	if !r.HasTimes() || len(list) == room {
		return list, nil
	}
	each, err := efficiency.TotalsByRank(r, efficiency.Options{NameSite: func(s trace.Site) string { return o.called("", s) }})
	if err != nil {
		return nil, err
	}
	for _, c := range efficiency.SiteTimeColumns(each) {
		name := c.Function + " at " + c.Place
		if !c.IsTimeInCalls {
			name += ", time before it"
		}
		if c.SumNs > 0 {
			add(name, "ns", c.Place, c.HasEstimatedTimes, func(values []float32) {
				for rank, t := range c.ByRank {
					values[rank] = float32(t.Ns)
				}
			})
		}
	}
	return list, nil
}

func packedFloats(values []float32) string {
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return packed(b)
}
