package rsd

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A part of a random program is a call, or a loop; both may be left out by some ranks.
type program struct {
	site   int // of a call
	body   []program
	rounds int // more of them with the rank and with each time that the loop is run
	odd    bool
}

func drawn(t *rapid.T, depth int) (list []program) {
	for range rapid.IntRange(1, 4).Draw(t, "parts") {
		p := program{site: rapid.IntRange(10, 17).Draw(t, "site"), odd: rapid.IntRange(0, 3).Draw(t, "odd") == 0}
		if depth > 0 && rapid.Bool().Draw(t, "loop") {
			p.body, p.rounds = drawn(t, depth-1), rapid.IntRange(1, 4).Draw(t, "rounds")
		}
		list = append(list, p)
	}
	return list
}

// made makes a rank's calls. time counts what was run, for numbers that depend on data.
func made(r *tracktest.Recorder, list []program, time *int) {
	for _, p := range list {
		if *time++; p.odd && (r.Rank+*time)%2 == 0 {
			continue
		}
		if p.body == nil {
			r.Send(p.site, 1, int64((r.Rank+1)%r.Size), 3)
			continue
		}
		for range 1 + (p.rounds+r.Rank+*time)%5 {
			made(r, p.body, time)
		}
	}
}

func open(t *rapid.T) *trace.Reader {
	list := drawn(t, 3)
	ranks := rapid.IntRange(1, 4).Draw(t, "ranks")
	return mergetest.Run(t, ranks, func(r *tracktest.Recorder) {
		r.Begin()
		time := 0
		made(r, list, &time)
		r.End()
	})
}

func everyRank(r *trace.Reader) (list []int) {
	for rank := range r.Ranks() {
		list = append(list, rank)
	}
	return list
}

// flat lists events in order, and the loops with the places of what is in them.
func flat(list []*Node, events *[]*Event, loops map[*Node]calltree.PositionInterval) {
	for _, n := range list {
		if !n.IsLoop() {
			*events = append(*events, n.Event)
			continue
		}
		first := len(*events)
		flat(n.Body, events, loops)
		loops[n] = calltree.PositionInterval{First: first, Last: len(*events) - 1}
	}
}

// TestBySites compares rounds with those of each call looked at: every step back is another round of the innermost
// loop that has both calls, and a loop is over when a call outside of it comes.
func TestBySites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := open(t)
		all, err := BySites(r, everyRank(r))
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || len(all[0].Ranks) != r.Ranks() {
			t.Fatalf("%d threads", len(all))
		}
		var events []*Event
		loops := make(map[*Node]calltree.PositionInterval)
		flat(all[0].Nodes, &events, loops)
		place := make(map[trace.Site]int)
		for i, e := range events {
			if _, ok := place[e.Site]; ok {
				t.Fatalf("%v twice", e.Site)
			}
			place[e.Site] = i
		}
		innermost := func(a, b int) (in *Node) {
			for n, l := range loops {
				if l.Has(a) && l.Has(b) && (in == nil || l.Last-l.First < loops[in].Last-loops[in].First) {
					in = n
				}
			}
			return in
		}
		calls := make([]uint64, len(events))
		rounds := make(map[*Node]map[int64]uint64)
		ranks := make(map[*Node][]int)
		for rank := range r.Ranks() {
			open := make(map[*Node]int64)
			end := func(n *Node) {
				if rounds[n] == nil {
					rounds[n] = make(map[int64]uint64)
				}
				rounds[n][open[n]]++
				delete(open, n)
				if k := len(ranks[n]); k == 0 || ranks[n][k-1] != rank {
					ranks[n] = append(ranks[n], rank)
				}
			}
			last := -1
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			for c := range k.Calls(0) {
				at := place[c.Site]
				calls[at]++
				for n, l := range loops {
					_, under := open[n]
					switch {
					case under && !l.Has(at):
						end(n)
					case !under && l.Has(at):
						open[n] = 1
					}
				}
				if last >= at {
					n := innermost(last, at)
					if n == nil {
						t.Fatalf("rank %d: step from %d to %d in no loop", rank, last, at)
					}
					open[n]++
				}
				last = at
			}
			for n := range maps.Clone(open) {
				end(n)
			}
		}
		for i, e := range events {
			if uint64(e.CallsPerRank.Sum) != calls[i] {
				t.Errorf("%v: %v calls, want %d", e.Site, e.CallsPerRank.Sum, calls[i])
			}
		}
		for n, want := range rounds {
			got := make(map[int64]uint64)
			for _, b := range n.TripCounts.AllBins() {
				got[b.Min] = b.Count
			}
			if !maps.Equal(got, want) || !slices.Equal(n.Ranks, ranks[n]) {
				t.Errorf("places %v: rounds %v of ranks %v, want %v of %v", loops[n], got, n.Ranks, want, ranks[n])
			}
		}
		if len(rounds) != len(loops) {
			t.Errorf("%d loops, %d were run", len(loops), len(rounds))
		}
	})
}

// TestParts: ranks at a border leave the first or the last part of a round out, which makes no further loop.
func TestParts(t *testing.T) {
	r := mergetest.Run(t, 4, func(r *tracktest.Recorder) {
		r.Begin()
		for range 5 {
			if r.Rank > 0 {
				r.Send(20, 1, int64(r.Rank-1), 3)
			}
			for range 3 {
				r.Allreduce(21, 1)
			}
			if r.Rank < 3 {
				r.Send(22, 1, int64(r.Rank+1), 3)
			}
		}
		r.End()
	})
	all, err := BySites(r, everyRank(r))
	if err != nil {
		t.Fatal(err)
	}
	var events []*Event
	loops := make(map[*Node]calltree.PositionInterval)
	flat(all[0].Nodes, &events, loops)
	if len(loops) != 2 {
		t.Errorf("%d loops, want 2", len(loops))
	}
	for n, l := range loops {
		want := map[bool]int64{true: 5, false: 3}[l.Last > l.First]
		if v, same := n.TripCounts.SingleValue(); !same || v != want {
			t.Errorf("places %v: %+v, want %d rounds", l, n.TripCounts, want)
		}
	}
}

// TestEndless: what takes long is as quick as what is short.
func TestEndless(t *testing.T) {
	r := mergetest.Run(t, 3, tracktest.Endless)
	all, err := BySites(r, everyRank(r))
	if err != nil {
		t.Fatal(err)
	}
	var events []*Event
	loops := make(map[*Node]calltree.PositionInterval)
	flat(all[0].Nodes, &events, loops)
	if len(loops) != 12 {
		t.Errorf("%d loops", len(loops))
	}
	for n := range loops {
		if v, same := n.TripCounts.SingleValue(); !same || v != 17 {
			t.Errorf("rounds %+v", n.TripCounts)
		}
	}
}

// TestSpans: what is written is what was there, and shortly.
func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(rapid.IntRange(0, 80), 1, 60, rapid.ID).Draw(t, "ranks")
		slices.Sort(list)
		var got []int
		for _, s := range StridedRanges(list) {
			part := []int{s.Start}
			for _, d := range s.Dims {
				var next []int
				for n := range d.Count {
					for _, v := range part {
						next = append(next, v+n*d.Stride)
					}
				}
				part = next
			}
			got = append(got, part...)
		}
		if slices.Sort(got); !slices.Equal(got, list) {
			t.Fatalf("%v became %v", list, got)
		}
	})
	for want, list := range map[string][]int{
		"7": {7}, "0:1:4": {0, 1, 2, 3}, "0 4": {0, 4}, "1:2:3": {1, 3, 5}, "5:1:2:4:2": {5, 6, 9, 10}, "0:1:2:10:2:100:2": {0, 1, 10, 11, 100, 101, 110, 111},
	} {
		if got := RanksText(list); got != want {
			t.Errorf("%v: %s, want %s", list, got, want)
		}
	}
}

// TestFormulas: what holds for all ranks, and nothing that few ranks could have by chance.
func TestFormulas(t *testing.T) {
	all := make([]int, 12)
	for i := range all {
		all[i] = i
	}
	for _, c := range []struct {
		of   func(r int64) int64
		want string
	}{
		{func(r int64) int64 { return r + 3 }, "rank+3"},
		{func(r int64) int64 { return 100*r - 1 }, "100·rank-1"},
		{func(r int64) int64 { return (r + 11) % 12 }, "(rank-1) mod 12"},
		{func(r int64) int64 { return r ^ 3 }, "rank xor 3"},
		{func(r int64) int64 { return (r%4+1)%4 + 4*(r/4) }, "(x+1 mod 4, y) of a grid 4 wide"},
		{func(r int64) int64 { return r * r % 12 }, ""},
	} {
		s := &Slot{kind: mpi.KindRank}
		for _, r := range all {
			s.take(&taken{num: true, v: c.of(int64(r))}, 2, r)
		}
		if s.fit(12); s.Formula != c.want {
			t.Errorf("%q, want %q", s.Formula, c.want)
		}
	}
	s := &Slot{kind: mpi.KindCount}
	for _, r := range []int{0, 5} {
		s.take(&taken{num: true, v: int64(10 * r)}, 1, r)
	}
	if s.fit(12); s.Formula != "" {
		t.Errorf("two ranks gave %q", s.Formula)
	}
}
