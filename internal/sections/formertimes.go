package sections

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// The section times up to version 3:
//
//	times = stats of durations, stats of gaps,
//	        if the class has more than one rank: per group: durations spread,
//	        then per group: gaps spread
//	stats = per pool: count as a difference to how often the class's ranks made the call,
//	        per pool, unless the count is 0: min,
//	        per pool, unless the count is 0 or 1: max-min; sum-count·min; deviation coarse,
//	        if the class has more than one rank, per pool unless the count is 0: rank of min; rank of max
//	spread = max-mean coarse, mean-min coarse, deviation coarse, rank of max, rank of min
//
// A coarse number has six significant bits.

// DecodeFormer reads the times of a class.
func (p *Pooled) DecodeFormer(r *wire.Reader, ranks []int, took func(what string, n int)) {
	p.Stats[0] = decodeFormerStats(r, p.Calls, ranks)
	took("durations of a distinct call or of many alike", len(p.Calls))
	p.Stats[1] = decodeFormerStats(r, p.Calls, ranks)
	took("gaps before these", len(p.Calls))
	if len(ranks) == 1 {
		return
	}
	for k := range p.spreads {
		sums := make([]uint64, len(p.Lone))
		for i, s := range p.Stats[k] {
			sums[p.Site[i]] += s.Sum
		}
		for _, sum := range sums {
			p.spreads[k] = append(p.spreads[k], decodeFormerSpread(r, sum, ranks))
		}
	}
	took("how ranks differ in a call site's", 2*len(p.Lone))
}

func decodeFormerStats(r *wire.Reader, calls []uint64, ranks []int) []model.Stat {
	stats := make([]model.Stat, len(calls))
	least := func(n uint64, decode func(s *model.Stat)) {
		for i := range stats {
			if stats[i].Count >= n && r.Err() == nil {
				decode(&stats[i])
			}
		}
	}
	for i := range stats {
		stats[i].Count = calls[i] + uint64(r.Varint())
	}
	least(1, func(s *model.Stat) {
		s.Min = r.Uvarint()
		s.Max, s.Sum = s.Min, s.Min
		s.SetDeviation(0)
	})
	least(2, func(s *model.Stat) { s.Max = s.Min + r.Uvarint() })
	least(2, func(s *model.Stat) { s.Sum = uint64(r.Varint()) + s.Count*s.Min })
	least(2, func(s *model.Stat) { s.SetDeviation(decodeCoarse(r)) })
	least(1, func(s *model.Stat) { s.MinRank = decodeMember(r, ranks) })
	least(1, func(s *model.Stat) { s.MaxRank = decodeMember(r, ranks) })
	if r.Err() != nil {
		return make([]model.Stat, len(calls))
	}
	return stats
}

func decodeFormerSpread(r *wire.Reader, sum uint64, ranks []int) model.Spread {
	s := model.Spread{Ranks: len(ranks), Sum: sum}
	s.Max = uint64(math.Min(s.Mean()+decodeCoarse(r)+0.5, math.MaxInt64))
	s.Min = uint64(math.Max(s.Mean()-decodeCoarse(r)+0.5, 0))
	s.SetDeviation(decodeCoarse(r))
	s.MaxRank, s.MinRank = decodeMember(r, ranks), decodeMember(r, ranks)
	return s
}

func decodeCoarse(r *wire.Reader) float64 { return DecodeRounded(r, CoarseBits) }
