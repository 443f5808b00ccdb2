package trace

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// Few terminals keep their statistics as they are. Of many similar ones the
// shares add up to the whole.
func TestTimesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := []int{4, 6, 7}
		ranks := column.Of(4, 6, 7)
		similar, other := &group{}, &group{}
		n := rapid.IntRange(0, 2*PoolFrom).Draw(t, "similar")
		var groups []*group
		var counts []uint64
		var times []Times
		draw := func(g *group) {
			c := rapid.Uint64Range(1, 1000).Draw(t, "count")
			var s, gap Stat
			for range rapid.Uint64Range(0, min(c, 4)).Draw(t, "samples") {
				s.Add(rapid.Uint64Range(0, 1e12).Draw(t, "ns"))
			}
			gap.Add(c)
			x := Times{Duration: s.At(4), Gap: gap.At(7)}
			groups, counts, times = append(groups, g), append(counts, c), append(times, x)
		}
		draw(other)
		for range n {
			draw(similar)
		}
		spread := func(left uint64) (s Spread) {
			for i, rank := range members {
				total := left
				if i < 2 {
					total = rapid.Uint64Range(0, left).Draw(t, "total")
				}
				s.Merge(timing.SpreadOf(total, rank))
				left -= total
			}
			return s
		}
		numbers, timesOf := numbersOf(groups), func(n int) Times { return times[n] }
		first, sums := firsts(numbers, timesOf)
		for i, k := range first {
			times[k].DurationTotals, times[k].GapTotals = spread(sums[i].Duration.Sum), spread(sums[i].Gap.Sum)
		}
		key := func(n int) poolKey { return poolKey{groups[n], n} }
		p := poolTimes(timesOf, numbers, nil, key, counts, len(members))
		c := p.encode(indexes(&ranks))
		// The second class refers to the first, which is just the same.
		blobs := appendAll([]*pooled{p, p}, []*timeCodes{c, c})
		if len(blobs[1]) > len(blobs[0]) {
			t.Fatalf("%d bytes, of another like it %d", len(blobs[0]), len(blobs[1]))
		}
		read := func(b []byte, base *timeCodes) ([]Times, *timeCodes) {
			r := wire.NewReader(b, "test")
			if n := r.Int(1); base != nil && n == 0 {
				base = nil // none was shorter
			}
			of, q := newPooled(numbers, nil, key, counts, len(members))
			c := q.decode(r, base, members, func(string, int) {})
			if err := r.Done(); err != nil {
				t.Fatal(err)
			}
			c.index(q)
			return q.unpool(of, numbers, counts, members), c
		}
		got, base := read(blobs[0], nil)
		if second, _ := read(blobs[1], base); !slices.Equal(second, got) {
			t.Fatalf("%v, the same through another class %v", got, second)
		}
		for k := range p.stats {
			sum, kept, coarsest := 0.0, 0.0, 0.0
			for i := range p.stats[k] {
				s := p.stats[k][i]
				sum += float64(s.Sum)
				kept += float64(c.stats[k][i].meanNs()) * float64(s.Count)
				coarsest = max(coarsest, float64(s.Sum))
			}
			if math.Abs(sum-kept) > coarsest/2000+1 {
				t.Fatalf("all times come to %v, before to %v", kept, sum)
			}
		}
		if !similarTimes(got[0], times[0]) {
			t.Fatalf("the odd one is %v, want %v", got[0], times[0])
		}
		var all, sum Times
		for i := 1; i <= n; i++ {
			if n < PoolFrom && !similarTimes(got[i], times[i]) {
				t.Fatalf("terminal %d is %v, want %v", i, got[i], times[i])
			}
			all.Duration.Merge(times[i].Duration)
			all.Gap.Merge(times[i].Gap)
			sum.Duration.Merge(got[i].Duration)
			sum.Gap.Merge(got[i].Gap)
			for _, s := range []Stat{got[i].Duration, got[i].Gap} {
				if checkStat(s, counts[i]) != nil {
					t.Fatalf("share %v of %d calls", s, counts[i])
				}
			}
		}
		if all.Duration.Count != sum.Duration.Count || math.Abs(float64(all.Gap.Sum)-float64(sum.Gap.Sum)) > float64(all.Gap.Sum)/1024+1 {
			t.Fatalf("shares add up to %v, want %v", sum, all)
		}
	})
}

// similarTimes compares times up to what a file rounds.
func similarTimes(a, b Times) bool {
	stats := func(a, b Stat) bool {
		mean := b.Mean()
		deviation := near(a.Deviation(), b.Deviation())
		if b.Count == 2 { // it follows from the mean and the lower one
			deviation = math.Abs(a.Deviation()-b.Deviation()) <= 1.5+mean/40
		}
		return deviation && a.Count == b.Count && math.Abs(a.Mean()-mean) <= mean/1024+0.5/float64(max(b.Count, 1))+0.02 &&
			near(float64(a.Min), float64(b.Min)) && near(float64(a.Max), float64(b.Max)) &&
			(a.Count == 0 || a.MinRank == b.MinRank && a.MaxRank == b.MaxRank)
	}
	spreads := func(a, b Spread) bool {
		mean := b.Mean()
		return a.Ranks == b.Ranks && math.Abs(a.Mean()-mean) <= mean/1024+1 && near(float64(a.Max)-a.Mean(), float64(b.Max)-mean) &&
			near(a.Mean()-float64(a.Min), mean-float64(b.Min)) && near(a.Deviation(), b.Deviation()) &&
			a.MinRank == b.MinRank && a.MaxRank == b.MaxRank
	}
	return stats(a.Duration, b.Duration) && stats(a.Gap, b.Gap) &&
		spreads(a.DurationTotals, b.DurationTotals) && spreads(a.GapTotals, b.GapTotals)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1.5+b/60 }

// A rounded number is within half of its last bit, small ones are exact, greater ones have
// greater numbers, and writing what was read changes nothing.
func TestRounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := float64(rapid.Uint64Range(0, 1<<62).Draw(t, "v") >> rapid.IntRange(0, 62).Draw(t, "shift"))
		keep := rapid.IntRange(coarseBits, fineBits).Draw(t, "bits")
		b := appendRounded(nil, v, keep)
		r := wire.NewReader(b, "test")
		got := decodeRounded(r, keep)
		if err := r.Done(); err != nil {
			t.Fatal(err)
		}
		if v < float64(int(2)<<keep) && got != v || math.Abs(got-v) > v/float64(int(2)<<keep) {
			t.Fatalf("%v became %v", v, got)
		}
		if again := appendRounded(nil, got, keep); !bytes.Equal(again, b) {
			t.Fatalf("%x, again %x", b, again)
		}
		if w := v * rapid.Float64Range(1, 2).Draw(t, "factor"); rounded(w, keep) < rounded(v, keep) {
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
		ranks := column.Of(0, 1, 2, 3)
		var all Stat
		for rank := range rapid.IntRange(1, 4).Draw(t, "ranks") {
			var s Stat
			for range rapid.IntRange(1, 6).Draw(t, "times") {
				s.Add(base + rapid.SampledFrom([]uint64{0, width / 2, width}).Draw(t, "ticks"))
			}
			all.Merge(s.Scale(1 / rate).At(rank))
		}
		part := all.Part(rapid.Uint64Range(0, 7).Draw(t, "part"), 7)
		for _, s := range []Stat{all, part, all.Minus(part)} {
			if s.Count == 0 {
				continue
			}
			p := &pooled{stats: [2][]Stat{{s}}, calls: []uint64{s.Count}, site: []int{0}, lone: []int{0}, ranks: 4}
			c := p.encode(indexes(&ranks))
			got := c.stats[0][0].stat(4, func(i int) int32 { return int32(i) })
			for _, x := range []Stat{got, share(got, 0, 1, 2), share(got, 1, 2, 2)} {
				if err := checkStat(x, s.Count); err != nil && x.Count > 0 {
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
