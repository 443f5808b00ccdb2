package column

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A pattern that wanders over a grid is stored once, in other units as well.
func TestLike(t *testing.T) {
	const side = 16
	size := int64(side * side)
	var ranks Column
	for r := range size {
		ranks.Append(r)
	}
	f := NewFitter(ranks, int(size))
	var stored []*Seq
	for step := range int64(10) {
		for _, unit := range []int64{22, 80} {
			var c Column
			for r := range size {
				x, y := mod(r%side-step, side), r/side
				v := (x*x + 3*y*y) % 37
				c.Append(5 + unit*v)
			}
			form, payload := f.Fit(&c, false)
			var seq *Seq
			switch {
			case form.Kind == KindAsStored:
				seq = DecodeSeq(wire.NewReader(payload, "test"), int(size))
				stored = append(stored, seq)
			case form.Kind == KindOtherColumn && form.ReferencesValid(len(stored), int(size), int(size)):
				of, _ := form.ReferredColumns()
				seq = stored[of]
			default:
				t.Fatalf("step %d: form %+v", step, form)
			}
			v := StoredValue{Form: form, Column: seq}
			for i, want := range c.Values() {
				if got := v.At(i, int64(i), size); got != want {
					t.Fatalf("step %d, rank %d: %d, want %d", step, i, got, want)
				}
			}
		}
	}
	if len(stored) != 1 {
		t.Errorf("%d columns stored", len(stored))
	}
}

// A reference has to stay within the class and the world.
func TestLikeWithin(t *testing.T) {
	form := Form{Kind: KindOtherColumn, Coefficients: Coefficients{lRef: 1, lD: 4, lDX: 1, lMul: 1, lDiv: 1}}
	for _, tc := range []struct {
		stored, ranks, size int
		want                bool
	}{{2, 16, 16, true}, {1, 16, 16, false}, {2, 15, 16, false}, {2, 3, 3, false}} {
		if got := form.ReferencesValid(tc.stored, tc.ranks, tc.size); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}
