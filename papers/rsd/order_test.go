package rsd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// parsed reads items as a test writes them: letters are events, 3(ab) is a loop.
func parsed(text string) []*item {
	list, _ := parsedTo(text)
	return list
}

func parsedTo(text string) (list []*item, rest string) {
	for text != "" {
		switch c := text[0]; {
		case c == ')':
			return list, text[1:]
		case c >= '0' && c <= '9':
			var rounds uint64
			fmt.Sscan(text[:strings.IndexByte(text, '(')], &rounds)
			var body []*item
			body, text = parsedTo(text[strings.IndexByte(text, '(')+1:])
			for _, x := range body {
				x.scale(rounds)
			}
			list = append(list, newLoop(body, rounds))
		default:
			list = append(list, &item{context: int(c), counts: map[int]uint64{0: 1}, hash: mixed(1, uint64(c))})
			text = text[1:]
		}
	}
	return list, ""
}

// written is the reverse, with the units of each shared item that not all have.
func written(list []*sharedItem, units int) string {
	var b strings.Builder
	for _, j := range list {
		if j.isLoop {
			fmt.Fprint(&b, j.least)
			if j.most > j.least {
				fmt.Fprintf(&b, "-%d", j.most)
			}
			fmt.Fprintf(&b, "(%s)", written(j.body, len(j.parts)))
		} else {
			b.WriteByte(byte(j.context))
		}
		if len(j.parts) < units {
			for _, p := range j.parts {
				fmt.Fprint(&b, p.unit)
			}
		}
	}
	return b.String()
}

// TestAlign: what is merged with what. Capitals are collective calls.
func TestAlign(t *testing.T) {
	for _, c := range []struct {
		precision int
		a, b      string
		want      string
	}{
		{100, "abc", "abc", "abc"},
		{100, "abd", "acd", "ab0c1d"},
		// The heavier match: the loop, not the one call.
		{100, "a5(b)", "5(b)a", "a05(b)a1"},
		{100, "aa5(b)", "5(b)aa", "a0a05(b)a1a1"},
		// Nests of the same depth with other counts.
		{100, "3(2(a)b)", "3(4(a)b)", "3(2(a)04(a)1b)"},
		{50, "3(2(a)b)", "3(4(a)b)", "3(2-4(a)b)"},
		{0, "3(2(a)b)", "9(4(a)b)", "3-9(2-4(a)b)"},
		{49, "2(ab)", "4(ab)", "2-4(ab)"},
		{51, "3(ab)", "7(ab)", "3(ab)07(ab)1"},
		// Rounds agree, bodies in part; rounds that don't agree ask for the whole body.
		{100, "4(axb)", "4(ayb)", "4(ax0y1b)"},
		{0, "4(axb)", "5(ayb)", "4(axb)05(ayb)1"},
		// From the innermost outward.
		{100, "2(3(4(ab)c)d)", "2(3(4(ae)c)d)", "2(3(4(ab0e1)c)d)"},
		// Collective calls are fences, though more others would match without.
		{100, "abcX", "Xabc", "a0b0c0Xa1b1c1"},
		{100, "3(aX)b", "3(X)ab", "3(a0X)a1b"},
		// What is one loop for a rank that does nothing else in the outer one.
		{100, "6(X)", "2(a3(X))", "2(a13(X))"},
		{100, "2(3(X)a)Y", "6(X)Y", "2(3(X)a0)Y"},
	} {
		units := []*unit{{items: parsed(c.a)}, {items: parsed(c.b)}}
		got, err := align(units, tolerance{precision: c.precision}, func(context int) bool { return context < 'a' })
		if text := written(got, 2); err != nil || text != c.want {
			t.Errorf("%s and %s at %d: %s, want %s", c.a, c.b, c.precision, text, c.want)
		}
	}
}

// TestFold: loops are found however the calls are told apart.
func TestFold(t *testing.T) {
	for _, c := range []struct {
		precision int
		text      string
		want      string
	}{
		{100, "aaaa", "4(a)"},
		{100, "abab", "2(ab)"},
		{100, "xababab", "x3(ab)"},
		{100, "aabaabaab", "3(2(a)b)"},
		{100, "aabaaab", "2(a)b3(a)b"},
		{0, "aabaaab", "2(2-3(a)b)"},
		{60, "aabaaab", "2(2-3(a)b)"},
		{70, "aabaaab", "2(a)b3(a)b"},
		{100, "4(a)aa", "6(a)"},
		{100, "a4(a)", "5(a)"},
		{100, "ab3(ab)", "4(ab)"},
		// Rounds that begin like those before, and go on.
		{0, "abbcabbbbcabc", "2(a2-4(b)c)abc"},
		{0, "4(xy)c2(xy)xyxyc3(xy)c", "3(3-4(xy)c)"},
		{0, "c2(xy)c6(xy)c3(xy)", "3(c2-6(xy))"},
		// Numbers of rounds that others link are one, in whatever order they come.
		{97, "39(xy)c42(xy)c40(xy)c41(xy)c39(xy)c", "5(39-42(xy)c)"},
		{97, "39(xy)c42(xy)c40(xy)c40(xy)c39(xy)c", "39(xy)c42(xy)3(c39-40(xy))c"},
		{98, "39(xy)c42(xy)c40(xy)c41(xy)c39(xy)c", "39(xy)c42(xy)c40(xy)c41(xy)c39(xy)c"},
	} {
		f := newFolder(tolerance{c.precision, make(map[uint64][]uint64)}, nil)
		f.learn(parsed(c.text))
		var out []*item
		for _, x := range parsed(c.text) {
			out = f.append(out, x)
		}
		if got := written(sharedItemsOf(f.closed(out), 0, func(int) bool { return false }), 1); got != c.want {
			t.Errorf("%s at %d: %s, want %s", c.text, c.precision, got, c.want)
		}
	}
}

// unrolled lists the contexts of items in order; counts are those of all rounds around.
func unrolled(list []*item, out *[]int) {
	for _, x := range list {
		if !x.loop() {
			*out = append(*out, x.context)
			continue
		}
		for range x.rounds() {
			unrolled(x.body, out)
		}
	}
}

// ofUnit returns what items have of a unit.
func ofUnit(t *rapid.T, list []*sharedItem, unit int) (out []*item) {
	for _, j := range list {
		for _, p := range j.parts {
			if p.unit != unit {
				continue
			}
			x := *p.item
			if x.loop() {
				x.body = ofUnit(t, j.body, unit)
			}
			out = append(out, &x)
		}
	}
	return out
}

// TestByOrder: folded and merged at precision 100, each rank still has each of its calls, in order, and at any precision as often.
func TestByOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := open(t)
		numbers := newNumbering(r)
		units, err := unitsOf(r, everyRank(r), 0, tolerance{precision: 100}, numbers)
		if err != nil {
			t.Fatal(err)
		}
		items, err := align(units, tolerance{precision: 100}, func(int) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		for i, u := range units {
			for _, rank := range u.ranks {
				k, err := r.Rank(rank)
				if err != nil {
					t.Fatal(err)
				}
				list, err := numbers.contexts(k)
				if err != nil {
					t.Fatal(err)
				}
				var want, folded, merged []int
				for c := range k.Sequence(0) {
					want = append(want, list[c])
				}
				unrolled(u.items, &folded)
				unrolled(ofUnit(t, items, i), &merged)
				if !slices.Equal(folded, want) || !slices.Equal(merged, want) {
					t.Fatalf("rank %d: %v folded, %v merged, want %v", rank, folded, merged, want)
				}
			}
		}
		all, err := ByOrder(r, everyRank(r), rapid.IntRange(0, 100).Draw(t, "precision"))
		if err != nil {
			t.Fatal(err)
		}
		var events []*Event
		flat(all[0].Nodes, &events, make(map[*Node]calltree.PositionInterval))
		got, want := make(map[trace.Site]uint64), make(map[trace.Site]uint64)
		for _, e := range events {
			got[e.Site] += uint64(e.CallsPerRank.Sum)
		}
		for rank := range r.Ranks() {
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			for c := range k.Calls(0) {
				want[c.Site]++
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("calls %v, want %v", got, want)
		}
		rounds(t, all[0].Nodes, 0)
	})
}

// rounds checks that each round of a loop has all that is directly in it once, on ranks that have it. around is how many
// rounds the loop around has, 0 for none.
func rounds(t *rapid.T, list []*Node, around uint64) {
	for _, n := range list {
		if around > 0 && (n.Executions > around || len(n.Ranks) == 1 && n.Executions == 0) {
			t.Fatalf("%d times in %d rounds", n.Executions, around)
		}
		if around == 0 && n.Executions != uint64(len(n.Ranks)) {
			t.Fatalf("%d times on %d ranks", n.Executions, len(n.Ranks))
		}
		if n.IsLoop() {
			rounds(t, n.Body, uint64(n.TripCounts.Sum))
		}
	}
}

// TestCollectivesAligned: what ranks do between collective calls may differ; these are events of all ranks.
func TestCollectivesAligned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		site := 20
		var draw func(depth int) []program
		draw = func(depth int) (list []program) {
			for range rapid.IntRange(1, 3).Draw(t, "parts") {
				site++
				p := program{site: site, rounds: rapid.IntRange(2, 4).Draw(t, "rounds"), odd: rapid.Bool().Draw(t, "odd")}
				if depth > 0 && rapid.Bool().Draw(t, "loop") {
					p.body = draw(depth - 1)
				}
				list = append(list, p)
			}
			return list
		}
		list := draw(3)
		ranks := rapid.IntRange(2, 4).Draw(t, "ranks")
		var do func(r *tracktest.Recorder, list []program)
		do = func(r *tracktest.Recorder, list []program) {
			for _, p := range list {
				switch {
				case p.body != nil:
					for range p.rounds {
						do(r, p.body)
					}
				case !p.odd:
					r.Allreduce(p.site, 1)
				case (r.Rank+p.site)%2 == 0:
					r.Send(p.site, 1, 0, 3)
				}
			}
		}
		r := mergetest.Run(t, ranks, func(r *tracktest.Recorder) {
			r.Begin()
			do(r, list)
			r.End()
		})
		all, err := ByOrder(r, everyRank(r), 100)
		if err != nil {
			t.Fatal(err)
		}
		var events []*Event
		flat(all[0].Nodes, &events, make(map[*Node]calltree.PositionInterval))
		for _, e := range events {
			if e.Func.Has(trace.AttrCollective) && len(e.Ranks) != ranks {
				t.Errorf("%s at %v: ranks %v", e.Func.Name, e.Site, e.Ranks)
			}
		}
	})
}

// TestWide: an order without loops is refused, not written out.
func TestWide(t *testing.T) {
	r := mergetest.Run(t, 2, tracktest.Endless)
	if _, err := ByOrder(r, everyRank(r), 100); !errors.Is(err, ErrTooFewLoops) {
		t.Errorf("error %v", err)
	}
}

// TestFences: a collective call on a communicator of the rank alone is no fence: the loop matches, as it weighs more. On one of all
// ranks it is.
func TestFences(t *testing.T) {
	for _, c := range []struct {
		comm int64
		want string
	}{
		{mpi.HandleCommSelf, "Init Allreduce(2) loop(4) Allreduce(2) Finalize"},
		{tracktest.World, "Init loop(2) Allreduce(4) loop(2) Finalize"},
	} {
		r := mergetest.Run(t, 4, func(r *tracktest.Recorder) {
			all := func() {
				r.Call("MPI_Allreduce", 3, 1<<8|1, 0, 1<<8|2, 0, 1, tracktest.IntType, 0, c.comm)
			}
			r.Begin()
			if r.Rank%2 == 0 {
				all()
			}
			for range 5 {
				r.Send(4, 8, int64(r.Rank^1), 1)
			}
			if r.Rank%2 == 1 {
				all()
			}
			r.End()
		})
		list, err := ByOrder(r, everyRank(r), 100)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range list[0].Nodes {
			switch {
			case n.IsLoop():
				got = append(got, fmt.Sprintf("loop(%d)", len(n.Ranks)))
			case len(got) == 0 || n == list[0].Nodes[len(list[0].Nodes)-1]:
				got = append(got, strings.TrimPrefix(n.Event.Func.Name, "MPI_"))
			default:
				got = append(got, fmt.Sprintf("%s(%d)", strings.TrimPrefix(n.Event.Func.Name, "MPI_"), len(n.Ranks)))
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("on %d: %s, want %s", c.comm, text, c.want)
		}
	}
}

// TestSets: values that not all ranks have are shown with those that have them.
func TestSets(t *testing.T) {
	for _, ranks := range []int{8, 1024} {
		r := mergetest.Run(t, ranks, func(r *tracktest.Recorder) {
			r.Begin()
			for step := range 3 {
				r.Send(4, int64(90+2*(r.Rank/2%2)), int64(r.Rank^1), 1)
				r.Send(5, int64(90+2*(step%2)), int64(r.Rank^1), 1)
			}
			r.End()
		})
		list, err := BySites(r, everyRank(r))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		list[0].WriteText(&b, func(trace.Site) string { return "here" })
		for _, want := range []string{fmt.Sprintf("count={90 {0:1:2:4:%d}, 92 {2:1:2:4:%[1]d}}", ranks/4), "count={90, 92}"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%d ranks: no %s in\n%s", ranks, want, b.String())
			}
		}
	}
}
