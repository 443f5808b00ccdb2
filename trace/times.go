package trace

import (
	"math/bits"

	"spoor/internal/wire"
)

// PoolFrom is how many calls of a class that differ in nothing but values share
// one summary of their times. A program that sends from a thousand places of an
// array has a thousand terminals; what it knows of each is a few samples, and
// to keep them apart would take more room than all the rest of the trace.
const PoolFrom = 32

// pools tells which summary each terminal of a class goes into, and how many
// there are. groups is the signature group of each terminal.
func pools(groups []*group) (of []int, n int) {
	members := make(map[*group]int)
	for _, g := range groups {
		members[g]++
	}
	of = make([]int, len(groups))
	shared := make(map[*group]int)
	for i, g := range groups {
		if members[g] < PoolFrom {
			of[i] = n
			n++
			continue
		}
		if _, ok := shared[g]; !ok {
			shared[g] = n
			n++
		}
		of[i] = shared[g]
	}
	return of, n
}

// appendTimes and decodeTimes: statistics of the terminals of a class, pooled,
// all durations, then all gaps. counts is how often each terminal was called.
//
//	stat = count as a difference to how often the class's ranks made the call,
//	       then unless 0: min; unless 1: max-min, sum-count·min
func appendTimes(b []byte, times []Times, groups []*group, counts []uint64) []byte {
	of, n := pools(groups)
	sums, calls := make([]Times, n), make([]uint64, n)
	for i := range times {
		sums[of[i]].Duration.Merge(times[i].Duration)
		sums[of[i]].Gap.Merge(times[i].Gap)
		calls[of[i]] += counts[i]
	}
	for i := range sums {
		b = appendStat(b, sums[i].Duration, calls[i])
	}
	for i := range sums {
		b = appendStat(b, sums[i].Gap, calls[i])
	}
	return b
}

func decodeTimes(r *wire.Reader, groups []*group, counts []uint64) []Times {
	of, n := pools(groups)
	calls := make([]uint64, n)
	for i, p := range of {
		calls[p] += counts[i]
	}
	sums := make([]Times, n)
	for i := range sums {
		sums[i].Duration = decodeStat(r, calls[i])
	}
	for i := range sums {
		sums[i].Gap = decodeStat(r, calls[i])
	}
	times := make([]Times, len(counts))
	done := make([]uint64, n)
	for i, p := range of {
		from, to := done[p], done[p]+counts[i]
		times[i] = Times{share(sums[p].Duration, from, to, calls[p]), share(sums[p].Gap, from, to, calls[p])}
		done[p] = to
	}
	return times
}

// share is what a terminal has of a pooled summary if its calls are those from
// one number to another, of all. Shares add up to the whole.
func share(s Stat, from, to, all uint64) Stat {
	if from == 0 && to == all || from > to || to > all {
		return s
	}
	from, to = portion(s.Count, from, all), portion(s.Count, to, all)
	if from == to {
		return Stat{}
	}
	sum := portion(s.Sum, to, s.Count) - portion(s.Sum, from, s.Count)
	return Stat{Count: to - from, Sum: sum, Min: s.Min, Max: s.Max}
}

// portion is v·part/all, for part up to all.
func portion(v, part, all uint64) uint64 {
	hi, lo := bits.Mul64(v, part)
	q, _ := bits.Div64(hi, lo, all)
	return q
}

func appendStat(b []byte, s Stat, count uint64) []byte {
	b = wire.AppendVarint(b, int64(s.Count-count))
	if s.Count == 0 {
		return b
	}
	b = wire.AppendUvarint(b, s.Min)
	if s.Count == 1 {
		return b
	}
	b = wire.AppendUvarint(b, s.Max-s.Min)
	return wire.AppendVarint(b, int64(s.Sum-s.Count*s.Min))
}

func decodeStat(r *wire.Reader, count uint64) Stat {
	s := Stat{Count: count + uint64(r.Varint())}
	if s.Count == 0 || r.Err() != nil {
		return Stat{}
	}
	s.Min = r.Uvarint()
	s.Max, s.Sum = s.Min, s.Min
	if s.Count > 1 {
		s.Max = s.Min + r.Uvarint()
		s.Sum = uint64(r.Varint()) + s.Count*s.Min
	}
	return s
}
