package column

import "testing"

// TestAs: the form that is found gives the values, and says so in few words.
func TestAs(t *testing.T) {
	all := make([]int, 12)
	for i := range all {
		all[i] = i
	}
	kinds := []Kind{KindConst, KindRankPlus, KindRing, KindXor, KindLinear, KindScaledRing, KindPlane, KindMixedRadix}
	for _, c := range []struct {
		of   func(r int64) int64
		kind Kind
		text string
	}{
		{func(r int64) int64 { return 7 }, KindConst, "7"},
		{func(r int64) int64 { return r - 2 }, KindRankPlus, "rank-2"},
		{func(r int64) int64 { return (r + 11) % 12 }, KindRing, "(rank-1) mod 12"},
		{func(r int64) int64 { return r ^ 3 }, KindXor, "rank xor 3"},
		{func(r int64) int64 { return 5 - 3*r }, KindLinear, "-3·rank+5"},
		{func(r int64) int64 { return (r+1)%12*1000 + 7 }, KindScaledRing, ""},
		{func(r int64) int64 { return r%4*3 + r/4 }, KindPlane, ""},
		{func(r int64) int64 { return (r%4+3)%4 + 4*((r/4+1)%3) }, KindMixedRadix, "(x-1 mod 4, y+1 mod 3) of a grid 4 wide"},
	} {
		vals := make([]int64, len(all))
		for i := range vals {
			vals[i] = c.of(int64(i))
		}
		form, ok := FitKinds(all, vals, len(all), kinds...)
		if !ok || form.Kind != c.kind || form.Text(12) != c.text {
			t.Errorf("%v: %v %v, %q, want %v %q", vals, form, ok, form.Text(12), c.kind, c.text)
		}
	}
	if form, ok := FitKinds(all, []int64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}, 12, kinds...); ok {
		t.Errorf("%v for digits of pi", form)
	}
}
