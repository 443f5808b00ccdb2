package model

import (
	"math"
	"testing"
)

func TestValueStat(t *testing.T) {
	var s, u AttachedStat
	for _, v := range []int64{-5, 3, 11} {
		s.Add(v)
	}
	if want := (AttachedStat{3, 9, -5, 11}); s != want || s.Mean() != 3 {
		t.Errorf("%+v, want %+v", s, want)
	}
	u.Merge(s)
	u.Merge(AttachedStat{})
	if u != s {
		t.Errorf("%+v, want %+v", u, s)
	}
	u.Add(math.MaxInt64)
	if u.Sum != math.MaxInt64 || u.Max != math.MaxInt64 || u.Count != 4 {
		t.Errorf("too large: %+v", u)
	}
	u = AttachedStat{}
	u.Add(math.MinInt64)
	u.Add(-1)
	if u.Sum != math.MinInt64 {
		t.Errorf("too small: %+v", u)
	}
}
