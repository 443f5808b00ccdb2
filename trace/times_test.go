package trace

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"spoor/internal/column"
	"spoor/internal/timing"
	"spoor/internal/wire"
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
		b := appendTimes(nil, timesOf, numbers, counts, &ranks)
		r := wire.NewReader(b, "test")
		got := decodeTimes(r, groups, counts, members)
		if err := r.Done(); err != nil {
			t.Fatal(err)
		}
		if again := appendTimes(nil, func(n int) Times { return got[n] }, numbers, counts, &ranks); n < PoolFrom && !bytes.Equal(b, again) {
			t.Fatalf("written again: %x, first: %x", again, b)
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
		if all.Duration.Count != sum.Duration.Count || all.Gap.Sum != sum.Gap.Sum {
			t.Fatalf("shares add up to %v, want %v", sum, all)
		}
	})
}

// similarTimes compares times up to what a file rounds.
func similarTimes(a, b Times) bool {
	stats := func(a, b Stat) bool {
		return near(a.Deviation(), b.Deviation()) && a.Count == b.Count && a.Sum == b.Sum && a.Min == b.Min && a.Max == b.Max &&
			(a.Count == 0 || a.MinRank == b.MinRank && a.MaxRank == b.MaxRank)
	}
	spreads := func(a, b Spread) bool {
		mean := b.Mean()
		return a.Ranks == b.Ranks && a.Sum == b.Sum && near(float64(a.Max)-mean, float64(b.Max)-mean) &&
			near(mean-float64(a.Min), mean-float64(b.Min)) && near(a.Deviation(), b.Deviation()) &&
			a.MinRank == b.MinRank && a.MaxRank == b.MaxRank
	}
	return stats(a.Duration, b.Duration) && stats(a.Gap, b.Gap) &&
		spreads(a.DurationTotals, b.DurationTotals) && spreads(a.GapTotals, b.GapTotals)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1.5+b/60 }

// A coarse number is within one in 64, small ones are exact, and writing
// what was read changes nothing.
func TestCoarse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := float64(rapid.Uint64Range(0, 1<<62).Draw(t, "v") >> rapid.IntRange(0, 62).Draw(t, "shift"))
		b := appendCoarse(nil, v)
		r := wire.NewReader(b, "test")
		got := decodeCoarse(r)
		if err := r.Done(); err != nil {
			t.Fatal(err)
		}
		if v < 64 && got != v || math.Abs(got-v) > v/64 {
			t.Fatalf("%v became %v", v, got)
		}
		if again := appendCoarse(nil, got); !bytes.Equal(again, b) {
			t.Fatalf("%x, again %x", b, again)
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
			b := appendStats(nil, []Stat{s}, []uint64{s.Count}, indexes(&ranks))
			r := wire.NewReader(b, "stat")
			got := decodeStats(r, []uint64{s.Count}, []int{0, 1, 2, 3})[0]
			if err := r.Done(); err != nil {
				t.Fatal(err)
			}
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
