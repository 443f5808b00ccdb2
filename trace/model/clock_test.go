package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Errors of the comparisons that look like more drift than there can be make no time
// worse than they are themselves.
func TestErrorsLookLikeDrift(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const bound = 500_000
	for range 10_000 {
		apart := int64(math.Exp2(20 + 15*random.Float64())) // 1 ms to half a minute
		drift := (2*random.Float64() - 1) * maxDrift
		offset := func(at int64) int64 { return -3e9 + int64(drift*float64(at)) }
		l := Clock{ComparedAtNs: [2]int64{0, apart}, ErrorNs: bound}
		for i, at := range l.ComparedAtNs {
			l.Rank0MinusThisNs[i] = offset(at) + random.Int64N(2*bound+1) - bound
		}
		for _, at := range []int64{0, apart / 3, apart / 2, apart} {
			if off := l.ToTimeLine(at) - at - offset(at); max(off, -off) > bound+2 {
				t.Fatalf("%+v: with a drift of %g, %d is off by %d ns", l, drift, at, off)
			}
		}
	}
	// As it was seen where three ranks shared a core.
	l := Clock{ComparedAtNs: [2]int64{0, 1_742_000_000}, Rank0MinusThisNs: [2]int64{-2_999_556_923, -3_001_461_421}, ErrorNs: 523_204}
	if d := l.Drift(); d != -maxDrift {
		t.Errorf("drift %g", d)
	}
}

func TestClock(t *testing.T) {
	now := int64(1_763_000_000_000_000_000)
	for _, l := range []Clock{
		{},
		{ComparedAtNs: [2]int64{now, now + 1e12}, Rank0MinusThisNs: [2]int64{3e9, 3e9 + 3e8}},
		{ComparedAtNs: [2]int64{now, now + 1e12}, Rank0MinusThisNs: [2]int64{-3e9, -3e9 - 5e6}},
		{ComparedAtNs: [2]int64{now, now}, Rank0MinusThisNs: [2]int64{10, 20}},
	} {
		for _, at := range []int64{now - 1e9, now, now + 5e11, now + 2e12} {
			if got := l.FromTimeLine(l.ToTimeLine(at)); got < at-2 || got > at+2 {
				t.Errorf("%+v: %d becomes %d", l, at, got)
			}
		}
	}
	l := Clock{ComparedAtNs: [2]int64{now, now + 1e12}, Rank0MinusThisNs: [2]int64{3e9, 3e9 + 3e8}}
	if d := l.Drift(); math.Abs(d-3e-4) > 1e-12 {
		t.Errorf("drift %g", d)
	}
	if got := l.ToTimeLine(now + 1e12); got != now+1e12+3e9+3e8 {
		t.Errorf("end is at %d", got-now)
	}
	// Somebody set the clock by a minute: half of it everywhere, no drift.
	l = Clock{ComparedAtNs: [2]int64{now, now + 1e9}, Rank0MinusThisNs: [2]int64{0, 60e9}}
	if l.Drift() != 0 || l.ToTimeLine(now) != now+30e9 {
		t.Errorf("drift %g, start %d", l.Drift(), l.ToTimeLine(now)-now)
	}
	// Nonsense of a damaged file is answered with some number.
	l = Clock{ComparedAtNs: [2]int64{math.MinInt64, math.MaxInt64}, Rank0MinusThisNs: [2]int64{math.MaxInt64, math.MinInt64}}
	l.FromTimeLine(l.ToTimeLine(math.MaxInt64))
}
