package oracle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/test/opstest"
	"github.com/spoor-hpc/spoor/trace"
)

// what a place, or a rank, comes to.
type tally struct {
	Calls uint64
	Bytes ops.Amount
}

type codePlace struct {
	Function, Module string
	Offset           uint64
}

// compareProfile compares the flat profile, which comes from the compressed
// form, with what all calls come to, one by one; and the shape of each rank with
// how often it makes its calls.
func compareProfile(t *testing.T, r *trace.Reader) {
	t.Helper()
	where := func(_ string, s trace.Site) symbolise.Place {
		return symbolise.Place{Module: s.Module, Offset: s.Offset}
	}
	f, err := profile.CallSiteTableOf(r, sites.NamingByAddress(where), nil)
	if err != nil {
		t.Error(err)
		return
	}
	places, ranks := make(map[codePlace]tally), make(map[int]tally)
	for rank := range r.Ranks() {
		if r.ClassOf(rank) < 0 {
			continue
		}
		k, err := r.Rank(rank)
		if err != nil {
			t.Error(err)
			return
		}
		amounts, err := opstest.Expand(r, k)
		if err != nil {
			t.Error(err)
			return
		}
		seen := make(map[int]codePlace)
		for stream := range k.Streams() {
			for c, err := range k.Calls(stream) {
				if err != nil {
					t.Error(err)
					return
				}
				at := codePlace{c.Name(), c.Site.Module, c.Site.Offset}
				seen[c.Terminal] = at
				places[at], ranks[rank] = places[at].plus(1, ops.Amount{}), ranks[rank].plus(1, ops.Amount{})
			}
		}
		for terminal, a := range amounts {
			at := seen[terminal]
			places[at], ranks[rank] = places[at].plus(0, a), ranks[rank].plus(0, a)
		}
		compareShape(t, r, rank, ranks[rank], where)
	}
	gotPlaces, gotRanks := make(map[codePlace]tally), make(map[int]tally)
	for _, x := range f.Rows {
		gotPlaces[codePlace{x.FunctionSite.Function, x.Module, x.Offset}] = tally{x.Calls, x.Bytes}
	}
	for _, x := range f.RankRows {
		gotRanks[x.Rank] = tally{x.Calls, ops.Amount{BytesOut: x.BytesOut, BytesIn: x.BytesIn}}
	}
	if d := cmp.Diff(places, gotPlaces); d != "" {
		t.Errorf("places of every call, and of the compressed form (-every +compressed):\n%s", d)
	}
	if d := cmp.Diff(ranks, gotRanks); d != "" {
		t.Errorf("ranks of every call, and of the compressed form (-every +compressed):\n%s", d)
	}
}

func (a tally) plus(calls uint64, bytes ops.Amount) tally {
	a.Calls += calls
	a.Bytes.AddMultiple(bytes, 1)
	return a
}

// compareShape checks that loops and parts come to all that the rank did.
func compareShape(t *testing.T, r *trace.Reader, rank int, want tally, where calltree.Locator) {
	t.Helper()
	p, err := profile.RankProfile(r, rank, calltree.Options{Locate: where})
	if err != nil {
		t.Error(err)
		return
	}
	var calls uint64
	var count func(list []*calltree.Node) uint64
	count = func(list []*calltree.Node) (sum uint64) {
		for _, n := range list {
			if len(n.Body) > 0 {
				if below := count(n.Body); below != n.Sums.Calls {
					t.Errorf("rank %d: %s of %d calls has a body of %d", rank, n.Kind, n.Sums.Calls, below)
				}
			}
			if n.LeastRounds > n.MostRounds || n.Rounds < n.LeastRounds || n.Kind == "call" && n.Rounds != n.Sums.Calls {
				t.Errorf("rank %d: %s entered %d times, %d to %d rounds each, %d in all, %d calls", rank, n.Kind, n.Entries, n.LeastRounds,
					n.MostRounds, n.Rounds, n.Sums.Calls)
			}
			sum += n.Sums.Calls
		}
		return sum
	}
	for _, thread := range p.Threads {
		if n := count(thread.Body); n != thread.Total.Calls {
			t.Errorf("rank %d: thread of %d calls has a body of %d", rank, thread.Total.Calls, n)
		}
		calls += thread.Total.Calls
	}
	if calls != want.Calls {
		t.Errorf("rank %d: shape of %d calls, want %d", rank, calls, want.Calls)
	}
}
