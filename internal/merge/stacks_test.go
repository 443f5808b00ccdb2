package merge_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// withStacks gives calls stacks: two sites of a track each become one place, called from two others.
func withStacks(tracks []*track.Track) {
	const outer = 1 << 60
	for _, t := range tracks {
		t.CallerSite, t.SiteWithoutStack = make(map[uint64]uint64), make(map[uint64]uint64)
		hashes := slices.Sorted(maps.Keys(t.Sites))
		for _, h := range hashes {
			s := t.Sites[h]
			n := s.Offset / 12
			around := outer + n%2
			t.Sites[around] = track.Site{Module: s.Module, BuildID: s.BuildID, Offset: 0x10 + n%2}
			s.Offset -= 12 * (n % 2)
			t.Sites[h], t.CallerSite[h], t.SiteWithoutStack[h] = s, around, outer<<1+s.Offset
		}
	}
}

// Ranks' calls come back with stacks, through lanes and classes of ranks that run loops unequally often; what ranks spent stands with the
// first call from a place, whatever called the function around it.
func TestStacks(t *testing.T) {
	programs := map[string]func(*tracktest.Recorder){
		"stencil": tracktest.Stencil(10), "workers": tracktest.Workers(60), "uneven": uneven,
	}
	for name, program := range programs {
		for _, size := range []int{1, 4, 7} {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				tracks := tracktest.RunAll(size, program)
				withStacks(tracks)
				same(t, file(t, throughTree(t, tracks)), tracks)
			})
		}
	}
}
