package profile

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// The tables of single ranks add up to that of all: calls and bytes exactly, times as well as those of ranks are known. A table of all
// ranks that are named one by one is the same as that of all.
func TestFlatOfRanks(t *testing.T) {
	const ranks = 5
	r := mergetest.Run(t, ranks, tracktest.Counting(240))
	named := sites.NamingByAddress(nowhere)
	type sum struct{ calls, out, in, ns uint64 }
	sums := func(list []int, into map[uint64]sum) {
		t.Helper()
		f, err := CallSiteTableOfRanks(list)(r, named, func() {})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.RankRows) != len(list) || f.Ranks != len(list) {
			t.Errorf("of ranks %v: %d ranks", list, f.Ranks)
		}
		calls := uint64(0)
		for _, x := range f.RankRows {
			calls += x.Calls
		}
		if calls != f.Calls {
			t.Errorf("of ranks %v: %d calls of ranks, %d of places", list, calls, f.Calls)
		}
		for _, x := range f.Rows {
			s := into[x.Offset]
			into[x.Offset] = sum{s.calls + x.Calls, s.out + x.Bytes.BytesOut, s.in + x.Bytes.BytesIn, s.ns + x.Duration.Sum}
			if x.Duration.Count != x.Calls || x.TimePerRank.Ranks > len(list) {
				t.Errorf("of ranks %v at %#x: times of %d calls of %d ranks", list, x.Offset, x.Duration.Count, x.TimePerRank.Ranks)
			}
		}
	}
	each, pairs, all := make(map[uint64]sum), make(map[uint64]sum), make(map[uint64]sum)
	for rank := range ranks {
		sums([]int{rank}, each)
	}
	sums([]int{0, 2}, pairs)
	sums([]int{1, 3, 4}, pairs)
	sums([]int{0, 1, 2, 3, 4}, all)
	if len(all) == 0 {
		t.Fatal("no calls")
	}
	for at, want := range all {
		for _, got := range []sum{each[at], pairs[at]} {
			apart := max(got.ns, want.ns) - min(got.ns, want.ns)
			if got.ns = want.ns; got != want || apart > want.ns/50+16 {
				t.Errorf("at %#x: %+v, %d ns apart, want %+v", at, got, apart, want)
			}
		}
	}
}
