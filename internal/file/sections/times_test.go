package sections

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Few terminals keep their statistics as they are. Of many similar ones the
// shares add up to the whole.
func TestTimesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		similar, other := &SignatureGroup{}, &SignatureGroup{}
		classes := []*testClass{drawClass(t, similar, other, []int{4, 6, 7}), drawClass(t, similar, other, []int{1, 2, 9}), drawClass(t, similar, other, []int{3})}
		again := rapid.Bool().Draw(t, "again")
		if again {
			same := *classes[0]
			classes[1] = &same
		}
		index := func(i int) map[int32]uint64 {
			var of []int64
			for _, m := range classes[i].members {
				of = append(of, int64(m))
			}
			c := column.ColumnOf(of...)
			return indexes(&c)
		}
		var list []*ClassPools
		var codes []*TimeCodes
		for i, x := range classes {
			p := x.pool()
			list, codes = append(list, p), append(codes, p.Encode(index(i)))
		}
		stats := make([][2][]model.Stat, len(list))
		for i, p := range list {
			stats[i] = p.Stats
		}
		blobs := AppendTimes(list, codes, 10, index)
		read := make([]*TimeCodes, len(list))
		var decode func(i int) *TimeCodes
		decode = func(i int) *TimeCodes {
			if read[i] != nil {
				return read[i]
			}
			x, r := classes[i], wire.NewReader(blobs[i], "test")
			c := TimeCoder{Coder: wire.Coder{Reader: r}, Ranks: 10}
			x.base = r.Int(len(list)+1) - 2
			if c.IsBaseForOthers = x.base == -1; x.base >= 0 {
				c.BaseClass = decode(x.base)
			}
			of, q := NewClassPools(x.numbers(), nil, x.key, x.counts, len(x.members))
			read[i] = q.Decode(&c, x.members, func(string, int) {})
			if err := r.Finish(); err != nil {
				t.Fatal(err)
			}
			read[i].IndexAsBase(q)
			x.got, x.apart = q.Unpool(of, x.numbers(), x.counts, x.members), q.HasCrossClassExtremes
			return read[i]
		}
		for i := range classes {
			decode(i)
		}
		if again && len(blobs[1]) > len(blobs[0]) {
			t.Fatalf("%d bytes, of another like it %d", len(blobs[0]), len(blobs[1]))
		}
		for i, x := range classes {
			for k := range stats[i] {
				sum, kept, coarsest := 0.0, 0.0, 0.0
				for j, s := range stats[i][k] {
					sum += float64(s.Sum)
					kept += codes[i].PoolCodes[k][j].MeanNs() * float64(s.Count)
					coarsest = max(coarsest, float64(s.Sum))
				}
				if math.Abs(sum-kept) > coarsest/2000+1 {
					t.Fatalf("all times come to %v, before to %v", kept, sum)
				}
			}
			first := i
			if x.base >= 0 {
				first = x.base
			}
			together := []*testClass{classes[first]}
			for _, y := range classes {
				if y.base == first {
					together = append(together, y)
				}
			}
			x.check(t, together)
			ReconcileExtremes(x.got, x.numbers(), len(x.members), x.apart)
		}
		// No call of the classes together is longer than what some rank spent on all of its calls.
		for _, of := range []func(x *model.Times) (model.Stat, model.Spread){
			func(x *model.Times) (model.Stat, model.Spread) { return x.Duration, x.SiteDurationTotals },
			func(x *model.Times) (model.Stat, model.Spread) { return x.Gap, x.SiteGapTotals },
		} {
			for _, g := range []*SignatureGroup{similar, other} {
				var all model.Stat
				var totals model.Spread
				for _, x := range classes {
					first := -1
					for i := range x.got {
						if x.groups[i] == g {
							if first < 0 {
								first = i
							}
							s, _ := of(&x.got[i])
							all.Merge(s)
						}
					}
					if first >= 0 {
						_, s := of(&x.got[first])
						totals.Merge(s)
					}
				}
				if all.Count > 0 && all.Max > totals.Max+1 {
					t.Fatalf("a call of %d ns, totals up to %d", all.Max, totals.Max)
				}
			}
		}
	})
}

// A testClass has one call of a kind and some of another.
type testClass struct {
	members []int
	groups  []*SignatureGroup
	counts  []uint64
	times   []model.Times
	got     []model.Times
	apart   [2][]bool
	base    int
}

func drawClass(t *rapid.T, similar, other *SignatureGroup, members []int) *testClass {
	x := &testClass{members: members}
	n := rapid.IntRange(0, 2*MinPoolSize).Draw(t, "similar")
	draw := func(g *SignatureGroup) {
		c := rapid.Uint64Range(1, 1000).Draw(t, "count")
		var s, gap model.Stat
		for range rapid.Uint64Range(0, min(c, 4)).Draw(t, "samples") {
			s.Add(rapid.Uint64Range(0, 1e12).Draw(t, "ns"))
		}
		gap.Add(c)
		x.groups, x.counts = append(x.groups, g), append(x.counts, c)
		x.times = append(x.times, model.Times{Duration: s.OfRank(members[0]), Gap: gap.OfRank(members[len(members)-1])})
	}
	draw(other)
	for range n {
		draw(similar)
	}
	// What the calls come to is of one rank all, or shared among them.
	spread := func(sum, most uint64, rank int) (s model.Spread) {
		left := sum
		totals := make([]uint64, len(members))
		for i := range totals {
			if members[i] != rank {
				totals[i] = rapid.Uint64Range(0, left-min(most, left)).Draw(t, "total")
				left -= totals[i]
			}
		}
		for i := range totals {
			if members[i] == rank {
				totals[i] = left
			}
			s.Merge(model.SpreadOf(totals[i], members[i]))
		}
		return s
	}
	first, sums := SumGroups(x.numbers(), func(n int) model.Times { return x.times[n] })
	for i, k := range first {
		d, g := sums[i].Duration, sums[i].Gap
		x.times[k].SiteDurationTotals, x.times[k].SiteGapTotals = spread(d.Sum, d.Max, members[0]), spread(g.Sum, g.Max, members[len(members)-1])
	}
	return x
}

func (x *testClass) numbers() []int32 { return NumberGroups(x.groups) }

func (x *testClass) key(n int) PoolKey { return PoolKey{Group: x.groups[n], SignatureIndex: n} }

func (x *testClass) pool() *ClassPools {
	return poolTimes(func(n int) model.Times { return x.times[n] }, x.numbers(), nil, x.key, x.counts, len(x.members))
}

// check compares what was read with what was drawn; together are the classes with which it has extremes in common,
// where the first of them has some.
func (x *testClass) check(t *rapid.T, together []*testClass) {
	for n, g := range slices.Compact([]*SignatureGroup{x.groups[0], x.groups[len(x.groups)-1]}) {
		members := x.numbersIn(g)
		for k, of := range []func(x *model.Times) *model.Stat{func(x *model.Times) *model.Stat { return &x.Duration }, func(x *model.Times) *model.Stat { return &x.Gap }} {
			kind := []string{"duration", "gap"}[k]
			has := false
			for i, h := range together[0].groups {
				has = has || h == g && of(&together[0].times[i]).Count > 0
			}
			list := together
			if !has {
				list = []*testClass{x}
			}
			var want SiteExtremes
			for _, y := range list {
				pooled := y.numbersIn(g) >= MinPoolSize
				var all model.Stat
				for i := range y.times {
					if y.groups[i] == g {
						s := *of(&y.times[i])
						if all.Merge(s); !pooled {
							want.Merge(extremesOf(&s))
						}
					}
				}
				if pooled {
					want.Merge(extremesOf(&all))
				}
			}
			var sum, all model.Stat
			for i := range x.times {
				if x.groups[i] != g {
					continue
				}
				got, was := of(&x.got[i]), of(&x.times[i])
				if err := CheckStat(*got, x.counts[i]); err != nil {
					t.Fatalf("%s: share %v of %d calls: %v", kind, *got, x.counts[i], err)
				}
				all.Merge(*was)
				sum.Merge(*got)
				if members < MinPoolSize && !similarStats(*got, *was, &want, x.apart[k][n]) {
					t.Fatalf("%s of terminal %d: %v, want %v within %v", kind, i, *got, *was, want)
				}
			}
			if all.Count != sum.Count || math.Abs(float64(all.Sum)-float64(sum.Sum)) > float64(all.Sum)/1024+1 {
				t.Fatalf("%s: shares add up to %v, want %v", kind, sum, all)
			}
		}
	}
	for _, i := range []int{0, min(1, len(x.times)-1)} {
		if !similarSpreads(x.got[i].SiteDurationTotals, x.times[i].SiteDurationTotals, x.got[i].Duration.Max) || !similarSpreads(x.got[i].SiteGapTotals, x.times[i].SiteGapTotals, x.got[i].Gap.Max) {
			t.Fatalf("totals %v, want %v", x.got[i], x.times[i])
		}
	}
}

func (x *testClass) numbersIn(g *SignatureGroup) (n int) {
	for _, h := range x.groups {
		if h == g {
			n++
		}
	}
	return n
}

func extremesOf(s *model.Stat) *SiteExtremes {
	p := &ClassPools{ExtremesRowOfPool: []int{0}, ExtremesRowCount: 1}
	return &p.SiteExtremes([]model.Stat{*s})[0]
}

// similarStats compares times up to what a file rounds, extremes with those of all that have them in common.
func similarStats(a, b model.Stat, e *SiteExtremes, common bool) bool {
	mean := b.Mean()
	if a.Count != b.Count || math.Abs(a.Mean()-mean) > mean/1024+0.5/float64(max(b.Count, 1))+0.02 {
		return false
	}
	if b.Count == 0 {
		return true
	}
	if b.Count == 1 {
		return a.Min == a.Sum && a.Max == a.Sum
	}
	if !near(float64(a.Min), float64(e.Min)) || !near(float64(a.Max), float64(e.Max)) || common && float64(a.Max) > max(float64(e.Max), a.Mean())*(1+1.0/1024)+1 || a.MinRank != e.MinRank || a.MaxRank != e.MaxRank {
		return false
	}
	if !common && e.Count == 2 { // it follows from the mean and the lower one
		return math.Abs(a.Deviation()-b.Deviation()) <= 1.5+mean/40
	}
	return near(a.Deviation(), min(e.DeviationFromPoolMeans, float64(a.Max-a.Min)/2))
}

// similarSpreads does so with totals, the largest of which is no less than a call.
func similarSpreads(a, b model.Spread, call uint64) bool {
	mean := b.Mean()
	most := near(float64(a.Max)-a.Mean(), float64(b.Max)-mean) || a.Max >= call && math.Abs(float64(a.Max)-float64(b.Max)) <= 1.5+float64(b.Max)/30
	return a.Ranks == b.Ranks && math.Abs(a.Mean()-mean) <= mean/1024+1 && most &&
		near(a.Mean()-float64(a.Min), mean-float64(b.Min)) && near(a.Deviation(), b.Deviation()) &&
		a.MinRank == b.MinRank && a.MaxRank == b.MaxRank
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1.5+b/60 }

// A rounded number is within half of its last bit, small ones are exact, greater ones have
// greater numbers, and writing what was read changes nothing.
func TestRounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := float64(rapid.Uint64Range(0, 1<<62).Draw(t, "v") >> rapid.IntRange(0, 62).Draw(t, "shift"))
		keep := rapid.IntRange(CoarseMantissaBits, FineMantissaBits).Draw(t, "bits")
		b := wire.AppendEncoded(nil, func(c *wire.Coder) { codeRounded(c, &v, keep) })
		var got float64
		if err := wire.DecodeAll(b, "test", func(c *wire.Coder) { codeRounded(c, &got, keep) }); err != nil {
			t.Fatal(err)
		}
		if v < float64(int(2)<<keep) && got != v || math.Abs(got-v) > v/float64(int(2)<<keep) {
			t.Fatalf("%v became %v", v, got)
		}
		if again := wire.AppendEncoded(nil, func(c *wire.Coder) { codeRounded(c, &got, keep) }); !bytes.Equal(again, b) {
			t.Fatalf("%x, again %x", b, again)
		}
		if w := v * rapid.Float64Range(1, 2).Draw(t, "factor"); RoundToFloatCode(w, keep) < RoundToFloatCode(v, keep) {
			t.Fatalf("%v has a lower number than %v", w, v)
		}
	})
}

// Whatever ticks are measured on whichever ranks, in clocks of any rate: once they are
// nanoseconds, merged, shared out, written and read, the summary passes.
func TestDeviationsPass(t *testing.T) {
	closest := 1e9
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]uint64{0, 3, 1000, 1 << 33}).Draw(t, "base")
		width := rapid.SampledFrom([]uint64{0, 1, 2, 5, 200, 1 << 20}).Draw(t, "width")
		rate := rapid.Float64Range(0.5, 5).Draw(t, "ticks per ns")
		ranks := column.ColumnOf(0, 1, 2, 3)
		var all model.Stat
		for rank := range rapid.IntRange(1, 4).Draw(t, "ranks") {
			var s model.Stat
			for range rapid.IntRange(1, 6).Draw(t, "times") {
				s.Add(base + rapid.SampledFrom([]uint64{0, width / 2, width}).Draw(t, "ticks"))
			}
			all.Merge(s.Scale(1 / rate).OfRank(rank))
		}
		part := all.Fraction(rapid.Uint64Range(0, 7).Draw(t, "part"), 7)
		for _, s := range []model.Stat{all, part, all.WithoutPart(part)} {
			if s.Count == 0 {
				continue
			}
			p := &ClassPools{Stats: [2][]model.Stat{{s}}, Calls: []uint64{s.Count}, GroupOfPool: []int{0}, ExtremesRowOfPool: []int{0}, ExtremesRowCount: 1, OnlyPoolOfGroup: []int{0}, Ranks: 4}
			c := p.Encode(indexes(&ranks))
			got := p.decodeStats(c, 0, nil, ownNumber)[0]
			for _, x := range []model.Stat{got, ShareOfPool(got, 0, 1, 2), ShareOfPool(got, 1, 2, 2)} {
				if err := CheckStat(x, s.Count); err != nil && x.Count > 0 {
					t.Fatal(err)
				}
				if x.Count > 0 {
					closest = min(closest, mostDeviation(x.Min, x.Max)-x.Deviation())
				}
			}
		}
	})
	t.Logf("the closest to the limit is %.2f ns away from it", closest)
}
