package trace

import (
	"math"
	"math/bits"

	"spoor/internal/column"
	"spoor/internal/timing"
	"spoor/internal/wire"
)

// PoolFrom is how many calls of a class that differ in nothing but values share
// one summary of their times. A program that sends from a thousand places of an
// array has a thousand terminals; what it knows of each is a few samples, and
// to keep them apart would take more room than all the rest of the trace.
const PoolFrom = 32

// pools tells which summary each terminal of a class goes into, and how many
// there are. groups is the number of each terminal's signature group.
func pools(groups []int32) (of []int32, n int) {
	members := make([]int, countGroups(groups))
	for _, g := range groups {
		members[g]++
	}
	of = make([]int32, len(groups))
	shared := make([]int32, len(members)) // 1 + pool
	for i, g := range groups {
		if members[g] < PoolFrom {
			of[i] = int32(n)
			n++
			continue
		}
		if shared[g] == 0 {
			n++
			shared[g] = int32(n)
		}
		of[i] = shared[g] - 1
	}
	return of, n
}

// numbersOf numbers groups by first occurrence.
func numbersOf(list []*group) []int32 {
	number := make(map[*group]int32)
	of := make([]int32, len(list))
	for i, g := range list {
		if i > 0 && g == list[i-1] {
			of[i] = of[i-1]
			continue
		}
		n, ok := number[g]
		if !ok {
			n = int32(len(number))
			number[g] = n
		}
		of[i] = n
	}
	return of
}

func countGroups(groups []int32) int {
	n := int32(0)
	for _, g := range groups {
		n = max(n, g+1)
	}
	return int(n)
}

// appendTimes and decodeTimes: statistics of the terminals of a class, pooled.
// counts is how often each terminal was called, ranks what a class's ranks are.
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
// A coarse number has six significant bits; ranks are numbers within the class.
// The mean of a spread is that of the sums of the group's stats. Groups stand in the
// order of their first terminals.
func appendTimes(b []byte, times func(n int) Times, groups []int32, counts []uint64, ranks *column.Column) []byte {
	of, n := pools(groups)
	sums, calls := make([]Times, n), make([]uint64, n)
	for i, p := range of {
		t := times(i)
		sums[p].Duration.Merge(t.Duration)
		sums[p].Gap.Merge(t.Gap)
		calls[p] += counts[i]
	}
	index := indexes(ranks)
	stats := make([]Stat, n)
	for i := range sums {
		stats[i] = sums[i].Duration
	}
	b = appendStats(b, stats, calls, index)
	for i := range sums {
		stats[i] = sums[i].Gap
	}
	b = appendStats(b, stats, calls, index)
	if ranks.Len() == 1 {
		return b
	}
	first, sites := firsts(groups, times)
	for i, t := range first {
		b = appendSpread(b, times(t).DurationTotals, sites[i].Duration.Sum, index)
	}
	for i, t := range first {
		b = appendSpread(b, times(t).GapTotals, sites[i].Gap.Sum, index)
	}
	return b
}

// decodeTimes reads times of a class of some ranks, in rising order.
func decodeTimes(r *wire.Reader, groups []*group, counts []uint64, ranks []int) []Times {
	return decodeTimesOf(r, groups, counts, ranks, func(string, int, int) {})
}

// decodeTimesOf does the same and tells what the bytes are.
func decodeTimesOf(r *wire.Reader, list []*group, counts []uint64, ranks []int, note func(what string, n, bytes int)) []Times {
	groups := numbersOf(list)
	of, n := pools(groups)
	rest := r.Rest()
	took := func(what string, n int) {
		note(what, n, rest-r.Rest())
		rest = r.Rest()
	}
	calls := make([]uint64, n)
	for i, p := range of {
		calls[p] += counts[i]
	}
	sums := make([]Times, n)
	for i, s := range decodeStats(r, calls, ranks) {
		sums[i].Duration = s
	}
	took("durations of a distinct call or of many alike", n)
	for i, s := range decodeStats(r, calls, ranks) {
		sums[i].Gap = s
	}
	took("gaps before these", n)
	times := make([]Times, len(counts))
	done := make([]uint64, n)
	for i, p := range of {
		from, to := done[p], done[p]+counts[i]
		times[i] = Times{Duration: share(sums[p].Duration, from, to, calls[p]), Gap: share(sums[p].Gap, from, to, calls[p])}
		done[p] = to
	}
	first, sites := firsts(groups, func(n int) Times { return times[n] })
	for i, t := range first {
		times[t].DurationTotals = decodeSpread(r, sites[i].Duration.Sum, ranks)
	}
	for i, t := range first {
		times[t].GapTotals = decodeSpread(r, sites[i].Gap.Sum, ranks)
	}
	took("how ranks differ in a call site's", 2*len(first))
	return times
}

// firsts returns the first terminal of each group, in order, and the times of the
// whole group.
func firsts(groups []int32, times func(n int) Times) (first []int, sums []Times) {
	at := make([]int, countGroups(groups)) // 1 + number
	for i, g := range groups {
		if at[g] == 0 {
			first, sums = append(first, i), append(sums, Times{})
			at[g] = len(first)
		}
		t, sum := times(i), &sums[at[g]-1]
		sum.Duration.Merge(t.Duration)
		sum.Gap.Merge(t.Gap)
	}
	return first, sums
}

// share is what a terminal has of a pooled summary if its calls are those from
// one number to another, of all. Shares add up to the whole.
func share(s Stat, from, to, all uint64) Stat {
	if from == 0 && to == all || from > to || to > all {
		return s
	}
	deviation := s.Deviation()
	from, to = portion(s.Count, from, all), portion(s.Count, to, all)
	if from == to {
		return Stat{}
	}
	s.Sum, s.Count = portion(s.Sum, to, s.Count)-portion(s.Sum, from, s.Count), to-from
	s.SetDeviation(deviation)
	return s
}

// portion is v·part/all, for part up to all.
func portion(v, part, all uint64) uint64 {
	hi, lo := bits.Mul64(v, part)
	q, _ := bits.Div64(hi, lo, all)
	return q
}

// indexes returns the number within the class of each of its ranks, nil if there
// is only one.
func indexes(ranks *column.Column) map[int32]uint64 {
	if ranks.Len() == 1 {
		return nil
	}
	m := make(map[int32]uint64, ranks.Len())
	for r := range ranks.All() {
		m[int32(r)] = uint64(len(m))
	}
	return m
}

func appendStats(b []byte, stats []Stat, calls []uint64, index map[int32]uint64) []byte {
	least := func(n uint64, append func(s *Stat)) {
		for i := range stats {
			if stats[i].Count >= n {
				append(&stats[i])
			}
		}
	}
	for i := range stats {
		b = wire.AppendVarint(b, int64(stats[i].Count-calls[i]))
	}
	least(1, func(s *Stat) { b = wire.AppendUvarint(b, s.Min) })
	least(2, func(s *Stat) { b = wire.AppendUvarint(b, s.Max-s.Min) })
	least(2, func(s *Stat) { b = wire.AppendVarint(b, int64(s.Sum-s.Count*s.Min)) })
	least(2, func(s *Stat) { b = appendCoarse(b, s.Deviation()) })
	if index != nil {
		least(1, func(s *Stat) { b = wire.AppendUvarint(b, index[s.MinRank]) })
		least(1, func(s *Stat) { b = wire.AppendUvarint(b, index[s.MaxRank]) })
	}
	return b
}

func decodeStats(r *wire.Reader, calls []uint64, ranks []int) []Stat {
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

func appendSpread(b []byte, s Spread, sum uint64, index map[int32]uint64) []byte {
	s.Ranks, s.Sum = len(index), sum
	b = appendCoarse(b, float64(s.Max)-s.Mean())
	b = appendCoarse(b, s.Mean()-float64(s.Min))
	b = appendCoarse(b, s.Deviation())
	b = wire.AppendUvarint(b, index[s.MaxRank])
	return wire.AppendUvarint(b, index[s.MinRank])
}

func decodeSpread(r *wire.Reader, sum uint64, ranks []int) Spread {
	if len(ranks) == 1 {
		return timing.SpreadOf(sum, ranks[0])
	}
	s := Spread{Ranks: len(ranks), Sum: sum}
	s.Max = uint64(math.Min(s.Mean()+decodeCoarse(r)+0.5, math.MaxInt64))
	s.Min = uint64(math.Max(s.Mean()-decodeCoarse(r)+0.5, 0))
	s.SetDeviation(decodeCoarse(r))
	s.MaxRank, s.MinRank = decodeMember(r, ranks), decodeMember(r, ranks)
	return s
}

// decodeMember reads which of a class's ranks is meant, unless there is but one.
func decodeMember(r *wire.Reader, ranks []int) int32 {
	switch {
	case len(ranks) == 0:
		return 0
	case len(ranks) == 1:
		return int32(ranks[0])
	}
	return int32(ranks[r.Int(len(ranks)-1)])
}

// coarseBits is how many bits behind the first one a coarse number keeps.
const coarseBits = 5

// appendCoarse writes a number with six significant bits.
func appendCoarse(b []byte, f float64) []byte { return appendRounded(b, f, coarseBits) }
func decodeCoarse(r *wire.Reader) float64     { return decodeRounded(r, coarseBits) }

// appendRounded writes a number with so many bits behind the first one: small ones as
// they are, others with an exponent.
func appendRounded(b []byte, f float64, keep int) []byte {
	if !(f > 0) {
		return append(b, 0)
	}
	v := uint64(math.Min(f+0.5, 1<<62))
	shift := max(0, bits.Len64(v)-keep-1)
	if shift > 0 {
		v = (v + 1<<(shift-1)) >> shift
	}
	return wire.AppendUvarint(b, uint64(shift)<<keep+v)
}

func decodeRounded(r *wire.Reader, keep int) float64 {
	v := r.Int(62<<keep - 1)
	shift := max(0, v>>keep-1)
	return math.Ldexp(float64(v-shift<<keep), shift)
}
