package model

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the order of merging, a summary is the same to the last bit, and its
// variance is that of the samples.
func TestMergeOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Uint64Range(0, 1<<40), 1, 60).Draw(t, "samples")
		base := rapid.SampledFrom([]uint64{0, 1 << 20, 1 << 50}).Draw(t, "base")
		var parts []Stat
		for i, v := range samples {
			samples[i] = v + base
			if i == 0 || rapid.Bool().Draw(t, "cut") {
				parts = append(parts, Stat{})
			}
			parts[len(parts)-1].Add(samples[i])
		}
		for i := range parts {
			parts[i] = parts[i].OfRank(i % 7)
		}
		var forth, back, tree Stat
		for i := range parts {
			forth.Merge(parts[i])
			back.Merge(parts[len(parts)-1-i])
		}
		for len(parts) > 1 {
			i := rapid.IntRange(0, len(parts)-2).Draw(t, "at")
			parts[i].Merge(parts[i+1])
			parts = append(parts[:i+1], parts[i+2:]...)
		}
		tree = parts[0]
		if forth != back || forth != tree {
			t.Fatalf("summaries %v, %v and %v", forth, back, tree)
		}
		if got, want := forth.Variance(), variance(samples); math.Abs(got-want) > 1e-12*want {
			t.Fatalf("variance %g, want %g", got, want)
		}
	})
}

func variance(samples []uint64) float64 {
	n := big.NewRat(int64(len(samples)), 1)
	mean, sum := new(big.Rat), new(big.Rat)
	for _, v := range samples {
		mean.Add(mean, new(big.Rat).SetInt(new(big.Int).SetUint64(v)))
	}
	mean.Quo(mean, n)
	for _, v := range samples {
		d := new(big.Rat).SetInt(new(big.Int).SetUint64(v))
		d.Sub(d, mean)
		sum.Add(sum, d.Mul(d, d))
	}
	f, _ := sum.Quo(sum, n).Float64()
	return f
}

// Large and similar samples: what floating point would lose.
func TestVarianceOfSimilar(t *testing.T) {
	var s Stat
	for i := range uint64(1000) {
		s.Add(1<<52 + i%2)
	}
	if v := s.Variance(); v != 0.25 {
		t.Errorf("variance %v, want 0.25", v)
	}
	ns := s.Scale(1 / 3.0)
	if v := ns.Deviation(); math.Abs(v-0.5/3) > 0.02 {
		t.Errorf("deviation in another unit %v, want %v", v, 0.5/3)
	}
}

// Extremes that several ranks have are those of the lowest.
func TestRanksOfExtremes(t *testing.T) {
	var all Stat
	for rank, v := range []uint64{5, 9, 3, 9, 3} {
		var s Stat
		s.Add(v)
		all.Merge(s.OfRank(rank))
	}
	if all.MinRank != 2 || all.MaxRank != 1 {
		t.Errorf("least at rank %d, most at %d; want 2 and 1", all.MinRank, all.MaxRank)
	}
}

// Parts add up to the whole, and scatter as the whole does.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Stat
		base := rapid.SampledFrom([]uint64{0, 1e6, 1 << 44}).Draw(t, "base")
		width := rapid.SampledFrom([]uint64{0, 1, 100, 1 << 45}).Draw(t, "width")
		for range rapid.IntRange(1, 20).Draw(t, "samples") {
			s.Add(base + rapid.Uint64Range(0, width).Draw(t, "ns"))
		}
		den := rapid.Uint64Range(1, 1000).Draw(t, "den")
		p := s.Fraction(rapid.Uint64Range(0, den).Draw(t, "num"), den)
		rest := s.WithoutPart(p)
		sum := p
		sum.Merge(rest)
		if sum.Count != s.Count || sum.Sum != s.Sum || sum.Min != s.Min || sum.Max != s.Max {
			t.Fatalf("%v and %v make %v, want %v", p, rest, sum, s)
		}
		for _, x := range []Stat{p, rest} {
			if x.Count == 0 {
				continue
			}
			if math.Abs(x.Mean()-s.Mean()) > 1/float64(x.Count)+1e-9*s.Mean() {
				t.Fatalf("%v of %v: mean %v, want %v", x, s, x.Mean(), s.Mean())
			}
			if v := s.Variance() + 1/float64(x.Count); x.Variance() > v*(1+1e-9) {
				t.Fatalf("%v of %v: variance %v, more than %v", x, s, x.Variance(), v)
			}
		}
	})
}

func TestSpread(t *testing.T) {
	var s Spread
	for rank, total := range []uint64{100, 300, 200, 0} {
		s.Merge(SpreadOf(total, rank))
	}
	if s.Ranks != 4 || s.Min != 0 || s.MinRank != 3 || s.Max != 300 || s.MaxRank != 1 || s.Mean() != 150 {
		t.Errorf("spread %+v", s)
	}
	if s.Imbalance() != 0.5 {
		t.Errorf("imbalance %v, want 0.5", s.Imbalance())
	}
	if d, want := s.Deviation(), math.Sqrt(12500); math.Abs(d-want) > 1e-9 {
		t.Errorf("deviation %v, want %v", d, want)
	}
}

func BenchmarkAdd(b *testing.B) {
	var s Stat
	for i := range b.N {
		s.Add(uint64(i) & 1023)
	}
}

// Few samples have a way of their own to the same numbers, whatever these are.
func TestPartOfSmall(t *testing.T) {
	wide := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 1<<40), rapid.Just[uint64](0), rapid.Just[uint64](math.MaxUint64))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, smallCount-1).Draw(t, "count")
		s := Stat{Count: n, Sum: wide.Draw(t, "sum"), Squares: Uint128{wide.Draw(t, "high"), wide.Draw(t, "low")}}
		p := Stat{Count: rapid.Uint64Range(1, n).Draw(t, "part"), Sum: wide.Draw(t, "sum of part")}
		if got, want := partOfSmall(s, p), partOfLarge(s, p); got != want {
			t.Fatalf("%v of %v: %v, want %v", p, s, got, want)
		}
	})
}

// Samples that are put in many at once are as those put in one by one.
func TestAddEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var each, one Stat
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			samples, step := rapid.SliceOfN(rapid.Uint64(), 1, 20).Draw(t, "samples"), rapid.IntRange(1, 4).Draw(t, "step")
			each.AddEveryNth(samples, step)
			for i := 0; i < len(samples); i += step {
				one.Add(samples[i])
			}
		}
		if each != one {
			t.Fatalf("got %+v, want %+v", each, one)
		}
	})
}
