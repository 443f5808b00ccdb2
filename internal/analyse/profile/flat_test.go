package profile

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/opstest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// Calls and bytes of the table are those of all calls, one by one, also where tags
// and offsets are in lanes.
func TestFlatCounts(t *testing.T) {
	const ranks = 5
	r := mergetest.Run(t, ranks, tracktest.Counting(240))
	f, err := CallSiteTableOf(r, sites.NamingByAddress(nowhere), func() {})
	if err != nil {
		t.Fatal(err)
	}
	type sum struct{ calls, out, in uint64 }
	want := make(map[uint64]sum)
	for rank := range ranks {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			s := want[c.Site.Offset]
			s.calls++
			want[c.Site.Offset] = s
		}
		amounts, err := opstest.Expand(r, k)
		if err != nil {
			t.Fatal(err)
		}
		for terminal, a := range amounts {
			c, err := k.Terminal(terminal)
			if err != nil {
				t.Fatal(err)
			}
			s := want[c.Site.Offset]
			s.out, s.in = s.out+a.BytesOut, s.in+a.BytesIn
			want[c.Site.Offset] = s
		}
	}
	got := make(map[uint64]sum)
	for _, row := range f.Rows {
		got[row.Offset] = sum{row.Calls, row.Bytes.BytesOut, row.Bytes.BytesIn}
	}
	if len(got) != len(want) {
		t.Errorf("%d places, want %d", len(got), len(want))
	}
	for at, s := range want {
		if got[at] != s {
			t.Errorf("place %#x: %+v, want %+v", at, got[at], s)
		}
	}
}

func nowhere(_ string, s trace.Site) symbolise.Place {
	return symbolise.Place{Module: s.Module, Offset: s.Offset}
}
