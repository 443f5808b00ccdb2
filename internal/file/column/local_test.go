package column

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A partner some places on in a communicator refers to the own rank and the size there,
// be the size the same on all ranks or not.
func TestLocal(t *testing.T) {
	const size = 60
	for name, teams := range map[string]func(rank int64) int64{
		"unequal": func(r int64) int64 { return r * r * 7919 % 101 % 4 },
		"equal":   func(r int64) int64 { return (r*r + r/7) % 3 },
	} {
		var members [4][]int64
		var own, sizes Column
		for r := range int64(size) {
			members[teams(r)] = append(members[teams(r)], r)
		}
		for r := range int64(size) {
			team := members[teams(r)]
			for i, m := range team {
				if m == r {
					own.Append(int64(i))
				}
			}
			sizes.Append(int64(len(team)))
		}
		var all Column
		for r := range int64(size) {
			all.Append(r)
		}
		f := NewFitter(all, size)
		var stored []*Seq
		check := func(c *Column, want ...Kind) {
			t.Helper()
			form, payload := f.Fit(c, true)
			v := StoredValue{Form: form}
			switch form.Kind {
			case KindAsStored:
				v.Column = DecodeSeq(wire.NewReader(payload, "test"), size)
				stored = append(stored, v.Column)
			case KindOtherColumn, KindOwnRankInColumn:
				if !form.ReferencesValid(len(stored), size, size) {
					t.Fatalf("%s: %+v of %d columns", name, form, len(stored))
				}
				of, n := form.ReferredColumns()
				if v.Column = stored[of]; n >= 0 {
					v.SizesColumn = stored[n]
				}
			}
			found := len(want) == 0
			for _, k := range want {
				found = found || form.Kind == k
			}
			if !found {
				t.Errorf("%s: form %v", name, form.Kind)
			}
			for i, want := range c.Values() {
				if got := v.At(i, int64(i), size); got != want {
					t.Fatalf("%s, rank %d: %d, want %d", name, i, got, want)
				}
			}
		}
		check(&own, KindAsStored)
		check(&sizes)
		for _, d := range []int64{1, -1, 3} {
			var partner Column
			n := sizes.Values()
			for i, v := range own.Values() {
				partner.Append(mod(v+d, n[i]))
			}
			check(&partner, KindOwnRankInColumn)
		}
	}
	form := Form{Kind: KindOwnRankInColumn, Coefficients: Coefficients{oOwn: 1, oSize: 3}}
	for stored, want := range map[int]bool{1: false, 2: false, 3: true} {
		if form.ReferencesValid(stored, 9, 9) != want {
			t.Errorf("of %d columns: %v", stored, !want)
		}
	}
}
