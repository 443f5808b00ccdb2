package calltree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

func nowhere(_ string, s trace.Site) symbolise.Place {
	return symbolise.Place{Module: s.Module, Offset: s.Offset}
}

// shapeOf folds a sequence of sites, and checks that nothing is lost. Calls from one
// place differ in what they send.
func shapeOf(t *testing.T, sites ...int) string {
	t.Helper()
	return shapeOfCalls(t, 3, sites)
}

// shapeOfCalls is shapeOf with so many different calls from each place.
func shapeOfCalls(t *testing.T, different int, sites []int) string {
	t.Helper()
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		for i, s := range sites {
			r.Send(s, int64(1+i%different), 0, 0)
		}
	})
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	label := make([]int, k.Terminals())
	for i := range label {
		c, err := k.Terminal(i)
		if err != nil {
			t.Fatal(err)
		}
		label[i] = int(c.Site.Offset-0x1000) / 12
	}
	f := newFolder(label, func(label int) bool { return label == 1 || label == 2 })
	list := f.fold(k.Structure(0))
	got := make([]uint64, k.Terminals())
	var b strings.Builder
	for i, n := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		outline(&b, n, label)
		tally(item{n, 1}, got)
	}
	if want := k.TerminalCounts(0); !slices.Equal(got, want) {
		t.Errorf("%v: counts %v, want %v", sites, got, want)
	}
	return b.String()
}

func tally(x item, counts []uint64) {
	for _, t := range x.n.terms {
		counts[t.leaf] += t.count * x.times
	}
	for _, y := range x.n.body {
		tally(item{y.n, y.times * x.times}, counts)
	}
}

func outline(b *strings.Builder, n *node, label []int) {
	switch n.kind {
	case callKind:
		fmt.Fprint(b, string(rune('a'+label[n.terms[0].leaf])))
		return
	case partKind:
		b.WriteByte('P')
	}
	b.WriteByte('(')
	for i, x := range n.body {
		if i > 0 {
			b.WriteByte(' ')
		}
		outline(b, x.n, label)
	}
	b.WriteByte(')')
	if n.kind == loopKind {
		if n.least == n.most {
			fmt.Fprint(b, n.least)
		} else {
			fmt.Fprintf(b, "%d-%d", n.least, n.most)
		}
	}
}

func sequence(s string) []int {
	var list []int
	for _, c := range s {
		list = append(list, int(c-'a'))
	}
	return list
}

func TestFold(t *testing.T) {
	rep := strings.Repeat
	for _, tc := range []struct{ sites, want string }{
		{"a", "a"},
		{"ab", "a b"},
		{"aaaa", "(a)4"},
		{"ababab", "(a b)3"},
		{"abcbcbcd", "a (b c)3 d"},
		{rep("abbb", 10), "(a (b)3)10"},
		{rep(rep("ab", 3)+"c", 5), "((a b)3 c)5"},
		// Inner loops that run another number of times each time.
		{"abbcabcabbbbc", "(a (b)1-4 c)3"},
		{"cabababcababcabababab", "(c (a b)2-4)3"},
		{rep("a", 100) + "b" + rep("a", 50) + "b", "((a)50-100 b)2"},
		{"abc" + rep("abc"+rep("de", 4)+"f", 40) + "abc", "(a b c)2 ((d e)4 f a b c)40"},
		{rep(rep("abcdefghijklmnopq", 3)+rep("xy", 3), 50), "((a b c d e f g h i j k l m n o p q)3 (x y)3)50"},
		// What the compression cuts elsewhere.
		{"xx" + rep("abcd", 6) + "abx", "(x)2 (a b c d)6 a b x"},
		{rep("ab", 4) + "x" + rep("ab", 4) + "y" + rep("ab", 4), "(a b)4 x (a b)4 y (a b)4"},
	} {
		if got := shapeOf(t, sequence(tc.sites)...); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.sites, got, tc.want)
		}
	}
}

// Whatever the program does, each call is counted once.
func TestFoldKeepsCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		deep := rng.IntN(6)
		var list []int
		var emit func(depth int)
		emit = func(depth int) {
			for range 1 + rng.IntN(3) {
				site := rng.IntN(5)
				for range 1 + rng.IntN(4) {
					list = append(list, site)
				}
				if depth < deep && len(list) < 1000 {
					from := len(list)
					emit(depth + 1)
					// Repeat it, perhaps with other calls at its ends.
					for range rng.IntN(5) {
						again := slices.Clone(list[from:])
						if rng.IntN(3) == 0 {
							again = again[:1+rng.IntN(len(again))]
						}
						list = append(list, again...)
						if len(list) > 1500 {
							break
						}
					}
				}
			}
		}
		emit(0)
		shapeOf(t, list...)
	}
}

// A program without any loop doubles itself in each rule: it must not be
// expanded.
func TestFoldDoesNotExpand(t *testing.T) {
	var thue []int
	for i := range 1 << 14 {
		n := 0
		for x := i; x > 0; x &= x - 1 {
			n++
		}
		thue = append(thue, n%2)
	}
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		for _, s := range thue {
			r.Call("MPI_Barrier", s, tracktest.World)
			r.Call("MPI_Barrier", 7+s, tracktest.World)
		}
	})
	p, err := Build(r, 0, Options{Locate: nowhere})
	if err != nil {
		t.Fatal(err)
	}
	nodes := 0
	var count func(list []*Node)
	count = func(list []*Node) {
		for _, n := range list {
			nodes++
			count(n.Body)
		}
	}
	count(p.Threads[0].Body)
	if p.Threads[0].Total.Calls != 1<<15 || nodes > 1<<13 {
		t.Errorf("%d calls in %d nodes", p.Threads[0].Total.Calls, nodes)
	}
}

// The sums of a profile are those of the class's statistics.
func TestSums(t *testing.T) {
	for name, program := range map[string]func(r *tracktest.Recorder){
		"stencil": tracktest.Stencil(10), "workers": tracktest.Workers(50), "butterfly": tracktest.Butterfly(4),
	} {
		r := mergetest.Run(t, 4, program)
		for rank := range 4 {
			p, err := Build(r, rank, Options{Locate: nowhere})
			if err != nil {
				t.Fatal(err)
			}
			times, err := r.Times(p.Class)
			if err != nil {
				t.Fatal(err)
			}
			var want Sums
			for i := range times {
				want.Calls += times[i].Duration.Count
				want.MPINs += float64(times[i].Duration.Sum)
				want.ComputeNs += float64(times[i].Gap.Sum)
			}
			if p.TripCountsVary {
				continue
			}
			n := float64(len(p.ClassRanks))
			got := p.Threads[0].Total
			if got.Calls != want.Calls/uint64(n) || !near(got.MPINs, want.MPINs/n) || !near(got.ComputeNs, want.ComputeNs/n) {
				t.Errorf("%s: rank %d: %+v, want %+v / %v", name, rank, got, want, n)
			}
			var sum Sums
			for _, x := range p.Threads[0].Body {
				checkSums(t, x)
				sum.Add(&x.Sums)
			}
			if !near(sum.TotalNs(), got.TotalNs()) || sum.Calls != got.Calls {
				t.Errorf("%s: lines come to %+v, all to %+v", name, sum, got)
			}
		}
	}
}

func checkSums(t *testing.T, n *Node) {
	t.Helper()
	if len(n.Body) == 0 {
		return
	}
	var sum Sums
	for _, x := range n.Body {
		checkSums(t, x)
		sum.Add(&x.Sums)
	}
	if !near(sum.TotalNs(), n.Sums.TotalNs()) || sum.Calls != n.Sums.Calls {
		t.Errorf("%s: body comes to %+v, all to %+v", n.Kind, sum, n.Sums)
	}
}

func near(a, b float64) bool { return a-b < 1+b/1e9 && b-a < 1+b/1e9 }

// Where frames of the stack were recorded, a site shows them all.
func TestStack(t *testing.T) {
	site := trace.Site{Module: "/a/lib.so", Offset: 1, Caller: &trace.Site{Module: "/a/app", Offset: 2, Caller: &trace.Site{Module: "/a/app", Offset: 3}}}
	where := Locator(func(_ string, s trace.Site) symbolise.Place {
		return symbolise.Place{
			Module: s.Module, Offset: s.Offset, Precision: symbolise.PrecisionSymbol,
			Frames: []symbolise.Frame{{Function: fmt.Sprintf("f%d", s.Offset), OffsetInFunction: 9}},
		}
	})
	frames, text := where.Stack("", site)
	if want := "f1+0x9 (lib.so) < f2+0x9 (app) < f3+0x9 (app)"; text != want || len(frames) != 3 {
		t.Errorf("%q in %d frames, want %q", text, len(frames), want)
	}
}
