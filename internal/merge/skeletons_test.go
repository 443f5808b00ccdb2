package merge

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Skeletons come back with which ones are alike, whatever their order; an order that
// goes on takes no room.
func TestSkeletons(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) skeleton {
			n := rapid.IntRange(0, 5)
			k := skeleton{call: uint16(n.Draw(t, "call")), site: uint64(n.Draw(t, "site")) << 40, width: n.Draw(t, "width")}
			if k.inner = k.site; k.site>>40%2 > 0 {
				k.inner = k.site &^ (1 << 40)
			}
			return k
		}), 0, 60).Draw(t, "skeletons")
		list = slices.Repeat(list, rapid.IntRange(1, 3).Draw(t, "laps"))
		s := &shape{skeletons: list}
		r := wire.NewReader(s.appendSkeletons(nil), "skeletons")
		var got shape
		if got.decodeSkeletons(r, len(list)); r.Done() != nil {
			t.Fatal(r.Done())
		}
		if !slices.Equal(got.skeletons, list) || !slices.Equal(got.like, s.like) {
			t.Fatalf("%v, alike %v, became %v, %v", list, s.like, got.skeletons, got.like)
		}
		for i, first := range got.like {
			if first != slices.Index(list, list[i]) {
				t.Fatalf("skeleton %d of %v is first at %d", i, list, first)
			}
		}
	})
	lap := []skeleton{{1, 10, 10, 5}, {2, 20, 20, 7}, {1, 10, 10, 5}, {3, 30, 30, 5}}
	few, many := &shape{skeletons: slices.Repeat(lap, 3)}, &shape{skeletons: slices.Repeat(lap, 3000)}
	// Each lap, the first call is followed by two others in turn.
	if a, b := len(few.appendSkeletons(nil)), len(many.appendSkeletons(nil)); b > a+4*2997 {
		t.Errorf("3 laps take %d bytes, 3000 take %d", a, b)
	}
	straight := &shape{skeletons: slices.Repeat(lap[1:], 3000)}
	if n := len(straight.appendSkeletons(nil)); n > 50 {
		t.Errorf("%d bytes for 3000 laps of three calls", n)
	}
}
