package sections

import (
	"math"
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace/model"
)

// MinPoolSize is the least number of terminals of a class, differing in values only, that share one summary of times.
// A program that sends from a thousand places of an array has a thousand terminals. Each has a few samples, and
// separate summaries would take more room than the rest of the trace.
const MinPoolSize = 32

// pools returns, by terminal of a class, the number of its pool, and the number of pools. groups is each terminal's
// signature group. Terminals that differ only in their stacks share a pool, too: like is by terminal the first of them.
func pools(groups, like []int32) (of []int32, n int) {
	members := make([]int, countGroups(groups))
	for i, g := range groups {
		if like == nil || int(like[i]) == i {
			members[g]++
		}
	}
	of = make([]int32, len(groups))
	shared := make([]int32, len(members)) // by group: 1 + the pool that its terminals share; 0: none yet
	for i, g := range groups {
		if members[g] < MinPoolSize {
			if like != nil && int(like[i]) != i {
				of[i] = of[like[i]]
				continue
			}
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

// A CallKey is a distinct call of a class without the values that are in columns.
type CallKey struct {
	group any
	sig   int
	site  int // including its stack
}

// FirstsAlikeButForStack returns for each terminal the first one that differs from it only in its stack. Terminals with equal keys
// are matched by order of occurrence, as the values that distinguish them are in columns.
func FirstsAlikeButForStack(n int, key func(i int) CallKey) []int32 {
	type base struct {
		group any
		sig   int
		again int
	}
	again, first := make(map[CallKey]int), make(map[base]int32)
	list := make([]int32, n)
	for i := range list {
		k := key(i)
		b := base{k.group, k.sig, again[k]}
		again[k]++
		list[i] = once.GetOrMake(first, b, func() int32 { return int32(i) })
	}
	return list
}

// NumberGroups returns, for each element of list, the number of its group. Groups are numbered from 0 by first
// occurrence.
func NumberGroups(list []*SignatureGroup) []int32 {
	number := make(map[*SignatureGroup]int32)
	of := make([]int32, len(list))
	for i, g := range list {
		if i > 0 && g == list[i-1] {
			of[i] = of[i-1]
			continue
		}
		n, _ := once.NumberOf(number, g)
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

// ClassPools are the times of a class in the form of a file: summaries of durations and gaps for each pool, and
// spreads of both for each group.
type ClassPools struct {
	Stats                 [2][]model.Stat
	spreads               [2][]model.Spread
	OnlyPoolOfGroup       []int    // by group: its pool if it has only one, else -1
	sites                 []any    // by group: identifies its call site across classes
	GroupOfPool           []int    // by pool: its group
	Calls                 []uint64 // by pool: number of calls of all ranks
	keys                  []PoolKey
	Ranks                 int
	ExtremesRowOfPool     []int // by pool: the row with its extremes
	ExtremesRowCount      int
	exact                 [2][]SiteExtremes // by row: the class's own extremes, when writing
	HasCrossClassExtremes [2][]bool         // by group: its extremes include other classes
}

// A PoolKey identifies a pool across classes: by signature or, if SignatureIndex is shared, by group.
type PoolKey struct {
	Group          any
	SignatureIndex int
}

const shared = -1

// poolTimes merges times by pool. groups is each terminal's signature group, like the first terminal that differs
// in its stack only. key identifies a terminal's signature, and counts is by terminal the number of its calls.
func poolTimes(times func(n int) model.Times, groups, like []int32, key func(n int) PoolKey, counts []uint64, ranks int) *ClassPools {
	of, p := NewClassPools(groups, like, key, counts, ranks)
	for k := range p.Stats {
		p.Stats[k] = make([]model.Stat, len(p.Calls))
	}
	for i, n := range of {
		t := times(i)
		p.Stats[0][n].Merge(t.Duration)
		p.Stats[1][n].Merge(t.Gap)
	}
	first, sites := SumGroups(groups, times)
	for i, t := range first {
		x := times(t)
		x.SiteDurationTotals.Ranks, x.SiteDurationTotals.Sum = ranks, sites[i].Duration.Sum
		x.SiteGapTotals.Ranks, x.SiteGapTotals.Sum = ranks, sites[i].Gap.Sum
		p.spreads[0], p.spreads[1] = append(p.spreads[0], x.SiteDurationTotals), append(p.spreads[1], x.SiteGapTotals)
	}
	return p
}

// NewClassPools returns the pool of each terminal, and the pools without times.
func NewClassPools(groups, like []int32, key func(n int) PoolKey, counts []uint64, ranks int) ([]int32, *ClassPools) {
	of, n := pools(groups, like)
	p := &ClassPools{Calls: make([]uint64, n), keys: make([]PoolKey, n), GroupOfPool: make([]int, n), Ranks: ranks}
	for i := range p.keys {
		p.keys[i].SignatureIndex = shared - 1
	}
	site := make([]int, countGroups(groups)) // by group: 1 + its number in order of first occurrence; 0: not met yet
	for i, pool := range of {
		p.Calls[pool] += counts[i]
		k := key(i)
		if was := p.keys[pool]; was.SignatureIndex != shared-1 && was != k {
			k.SignatureIndex = shared
		}
		p.keys[pool] = k
		switch at := &site[groups[i]]; {
		case *at == 0:
			p.OnlyPoolOfGroup, p.sites = append(p.OnlyPoolOfGroup, int(pool)), append(p.sites, k.Group)
			*at = len(p.OnlyPoolOfGroup)
		case p.OnlyPoolOfGroup[*at-1] != int(pool):
			p.OnlyPoolOfGroup[*at-1] = -1
		}
		p.GroupOfPool[pool] = site[groups[i]] - 1
	}
	p.ExtremesRowOfPool, p.ExtremesRowCount = p.GroupOfPool, len(p.OnlyPoolOfGroup)
	return of, p
}

// rowKey returns a key of row i that is the same for the row of the same call site in other classes.
func (p *ClassPools) rowKey(i int) any {
	return p.sites[i]
}

// Unpool returns each terminal's share of the times of its pool.
func (p *ClassPools) Unpool(of, groups []int32, counts []uint64, ranks []int) []model.Times {
	times := make([]model.Times, len(counts))
	done := make([]uint64, len(p.Calls))
	for i, n := range of {
		from, to := done[n], done[n]+counts[i]
		times[i] = model.Times{
			Duration: ShareOfPool(p.Stats[0][n], from, to, p.Calls[n]), Gap: ShareOfPool(p.Stats[1][n], from, to, p.Calls[n]),
		}
		done[n] = to
	}
	first, sites := SumGroups(groups, func(n int) model.Times { return times[n] })
	for i, t := range first {
		if len(ranks) == 1 {
			times[t].SiteDurationTotals = model.SpreadOf(sites[i].Duration.Sum, ranks[0])
			times[t].SiteGapTotals = model.SpreadOf(sites[i].Gap.Sum, ranks[0])
			continue
		}
		times[t].SiteDurationTotals, times[t].SiteGapTotals = p.spreads[0][i], p.spreads[1][i]
	}
	return times
}

// SumGroups returns the first terminal of each group, in order, and the times of the
// whole group.
func SumGroups(groups []int32, times func(n int) model.Times) (first []int, sums []model.Times) {
	at := make([]int, countGroups(groups)) // by group: 1 + its index in first; 0: not met yet
	for i, g := range groups {
		if at[g] == 0 {
			first, sums = append(first, i), append(sums, model.Times{})
			at[g] = len(first)
		}
		t, sum := times(i), &sums[at[g]-1]
		sum.Duration.Merge(t.Duration)
		sum.Gap.Merge(t.Gap)
	}
	return first, sums
}

// ShareOfPool returns a terminal's share of s, the summary of its pool. all is the number of the pool's calls. Those of
// the terminal are numbered from from up to to, without to. The shares of a pool's terminals add up to s.
func ShareOfPool(s model.Stat, from, to, all uint64) model.Stat {
	if from == 0 && to == all || from > to || to > all {
		return s
	}
	from, to = portion(s.Count, from, all), portion(s.Count, to, all)
	if from == to {
		return model.Stat{}
	}
	return s.PartWithCountAndSum(to-from, portion(s.Sum, to, s.Count)-portion(s.Sum, from, s.Count))
}

// portion is v·part/all, for part ≤ all, without overflow.
func portion(v, part, all uint64) uint64 {
	hi, lo := bits.Mul64(v, part)
	q, _ := bits.Div64(hi, lo, all)
	return q
}

// indexes returns the index in the class of each rank; nil if the class has only one rank.
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

// codeRounded codes a number with keep bits after the leading one: a small one unchanged, others with an exponent.
func codeRounded[T int64 | float64](c *wire.Coder, v *T, keep int) {
	if c.Reader != nil {
		*v = T(unrounded(c.Reader.Int(mostRounded(keep)), keep))
	} else {
		c.Buf = wire.AppendUvarint(c.Buf, uint64(RoundToFloatCode(float64(*v), keep)))
	}
}

// mostRounded returns the largest code of a number that keeps this many bits after the leading one.
func mostRounded(keep int) int { return 62<<keep - 1 }

// RoundToFloatCode returns the code of the nearest value with this many mantissa bits after the leading one; unrounded
// is the inverse. Larger values have larger codes.
func RoundToFloatCode(f float64, keep int) int {
	if !(f > 0) {
		return 0
	}
	shift := 0
	if f >= float64(int(2)<<keep) {
		_, exp := math.Frexp(f)
		shift = exp - keep - 1
		f = math.Ldexp(f, -shift)
	}
	return shift<<keep + int(f+0.5)
}

func unrounded(v, keep int) float64 {
	shift := max(0, v>>keep-1)
	return math.Ldexp(float64(v-shift<<keep), shift)
}
