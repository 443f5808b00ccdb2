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
		r := wire.NewReader(listed(list).append(nil), "skeletons")
		got := decodeSkeletons(r, len(list))
		if r.Finish() != nil || got.terminals() != len(list) {
			t.Fatal(r.Finish())
		}
		for i, k := range list {
			if *got.skeleton(i) != k || got.like(i) != slices.Index(list, k) {
				t.Fatalf("skeleton %d of %v is %v, first at %d", i, list, got.skeleton(i), got.like(i))
			}
		}
	})
	lap := []skeleton{{1, 10, 10, 5}, {2, 20, 20, 7}, {1, 10, 10, 5}, {3, 30, 30, 5}}
	few, many := listed(slices.Repeat(lap, 3)), listed(slices.Repeat(lap, 3000))
	// Each lap, the first call is followed by two others in turn.
	if a, b := len(few.append(nil)), len(many.append(nil)); b > a+4*2997 {
		t.Errorf("3 laps take %d bytes, 3000 take %d", a, b)
	}
	straight := listed(slices.Repeat(lap[1:], 3000))
	if n := len(straight.append(nil)); n > 50 {
		t.Errorf("%d bytes for 3000 laps of three calls", n)
	}
}

func listed(list []skeleton) *skeletons {
	s := &skeletons{}
	for _, k := range list {
		s.add(k)
	}
	return s
}
