package trace

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/wire"
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

// decodeFormer reads the times of a class.
func (p *pooled) decodeFormer(r *wire.Reader, ranks []int, took func(what string, n int)) {
	p.stats[0] = decodeFormerStats(r, p.calls, ranks)
	took("durations of a distinct call or of many alike", len(p.calls))
	p.stats[1] = decodeFormerStats(r, p.calls, ranks)
	took("gaps before these", len(p.calls))
	if len(ranks) == 1 {
		return
	}
	for k := range p.spreads {
		sums := make([]uint64, len(p.lone))
		for i, s := range p.stats[k] {
			sums[p.site[i]] += s.Sum
		}
		for _, sum := range sums {
			p.spreads[k] = append(p.spreads[k], decodeFormerSpread(r, sum, ranks))
		}
	}
	took("how ranks differ in a call site's", 2*len(p.lone))
}

func decodeFormerStats(r *wire.Reader, calls []uint64, ranks []int) []Stat {
	stats := make([]Stat, len(calls))
	least := func(n uint64, decode func(s *Stat)) {
		for i := range stats {
			if stats[i].Count >= n && r.Err() == nil {
				decode(&stats[i])
			}
		}
	}
	for i := range stats {
		stats[i].Count = calls[i] + uint64(r.Varint())
	}
	least(1, func(s *Stat) {
		s.Min = r.Uvarint()
		s.Max, s.Sum = s.Min, s.Min
		s.SetDeviation(0)
	})
	least(2, func(s *Stat) { s.Max = s.Min + r.Uvarint() })
	least(2, func(s *Stat) { s.Sum = uint64(r.Varint()) + s.Count*s.Min })
	least(2, func(s *Stat) { s.SetDeviation(decodeCoarse(r)) })
	least(1, func(s *Stat) { s.MinRank = decodeMember(r, ranks) })
	least(1, func(s *Stat) { s.MaxRank = decodeMember(r, ranks) })
	if r.Err() != nil {
		return make([]Stat, len(calls))
	}
	return stats
}

func decodeFormerSpread(r *wire.Reader, sum uint64, ranks []int) Spread {
	s := Spread{Ranks: len(ranks), Sum: sum}
	s.Max = uint64(math.Min(s.Mean()+decodeCoarse(r)+0.5, math.MaxInt64))
	s.Min = uint64(math.Max(s.Mean()-decodeCoarse(r)+0.5, 0))
	s.SetDeviation(decodeCoarse(r))
	s.MaxRank, s.MinRank = decodeMember(r, ranks), decodeMember(r, ranks)
	return s
}

func decodeCoarse(r *wire.Reader) float64 { return decodeRounded(r, coarseBits) }
