package trace

import (
	"testing"

	"pgregory.net/rapid"

	"spoor/internal/wire"
)

// Few terminals keep their statistics as they are. Of many similar ones the
// shares add up to the whole.
func TestTimesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
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
			groups, counts, times = append(groups, g), append(counts, c), append(times, Times{s, gap})
		}
		draw(other)
		for range n {
			draw(similar)
		}
		b := appendTimes(nil, times, groups, counts)
		r := wire.NewReader(b, "test")
		got := decodeTimes(r, groups, counts)
		if err := r.Done(); err != nil {
			t.Fatal(err)
		}
		if got[0] != times[0] {
			t.Fatalf("the odd one is %v, want %v", got[0], times[0])
		}
		var all, sum Times
		for i := 1; i <= n; i++ {
			if n < PoolFrom && got[i] != times[i] {
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
		if all.Duration.Count != sum.Duration.Count || all.Gap != sum.Gap {
			t.Fatalf("shares add up to %v, want %v", sum, all)
		}
	})
}
