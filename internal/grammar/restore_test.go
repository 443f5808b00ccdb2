package grammar

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRestoreContinues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seq := sequence(t)
		b := NewBuilder()
		for at := 0; at < len(seq); {
			n := rapid.IntRange(1, len(seq)-at).Draw(t, "piece")
			for _, s := range seq[at : at+n] {
				b.Append(s)
			}
			at += n
			b = reborn(t, b, rapid.Bool().Draw(t, "quick"))
			if err := checkBuilder(b); err != nil {
				t.Fatalf("restored %v: %v", seq[:at], err)
			}
			if b.Len() != uint64(at) {
				t.Fatalf("length %d, want %d", b.Len(), at)
			}
			if got := expand(b.Grammar()); !slices.Equal(got, seq[:at]) {
				t.Fatalf("restored %v as %v", seq[:at], got)
			}
		}
		if got := expand(b.Grammar()); !slices.Equal(got, seq) {
			t.Fatalf("got %v\nwant %v", got, seq)
		}
		mustHold(t, checkBuilder(b))
	})
}

// TestRestorePhrases: a rule that is being followed from its first digram on is written as far as it got.
func TestRestorePhrases(t *testing.T) {
	resumed := 0
	for i := range 300 {
		rng := rand.New(rand.NewPCG(8, uint64(i)))
		seq := phrases(rng)
		b := NewBuilder()
		for at, s := range seq {
			b.Append(s)
			if rng.IntN(50) > 0 {
				continue
			}
			if b.mode == following && b.nodes[b.root].count == 0 {
				resumed++
			}
			b = reborn(t, b, rng.IntN(2) == 0)
			mustHold(t, checkBuilder(b))
			if got := expand(b.Grammar()); !slices.Equal(got, seq[:at+1]) {
				t.Fatalf("restored %v as %v", seq[:at+1], got)
			}
		}
	}
	if resumed < 100 {
		t.Errorf("only %d of the states were in such a rule", resumed)
	}
}

// reborn is what a grammar that was written and read again makes of a Builder.
func reborn(t rapid.TB, b *Builder, quick bool) *Builder {
	if !quick {
		return ContinueGrammar(b.Grammar())
	}
	before := b.Grammar()
	data := b.AppendBinary(nil)
	g, n, err := Decode(data)
	if err != nil || n != len(data) {
		t.Fatalf("decoded %d of %d bytes: %v", n, len(data), err)
	}
	if !before.Equal(b.Grammar()) {
		t.Fatalf("writing changed %v into %v", before, b.Grammar())
	}
	return ContinueGrammar(g)
}

// TestRestoreLong: a start rule of many parts is written whole, and so are rows of new
// terminals that go on from one part to the next.
func TestRestoreLong(t *testing.T) {
	rising, random := make([]uint32, 5*startPart), make([]uint32, 100*startPart)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range random {
		random[i] = r.Uint32N(64)
	}
	for i := range rising {
		rising[i] = uint32(i)
	}
	for _, all := range [][]uint32{rising, random} {
		for _, n := range []int{startPart - 1, startPart, startPart + 1, startPart + 2, 2 * startPart, len(all)} {
			seq := slices.Concat(all[:n], all[:7])
			b := reborn(t, build(seq), true)
			mustHold(t, checkBuilder(b))
			if got := expand(b.Grammar()); !slices.Equal(got, seq) {
				t.Errorf("%d terminals: wrong expansion", n)
			}
		}
	}
}

// TestRestoreInsideLoop: a checkpoint at any place of a loop must not cost
// symbols.
func TestRestoreInsideLoop(t *testing.T) {
	body := []uint32{0, 1, 1, 2, 3, 2, 3, 2, 3, 4, 0, 5}
	want := symbols(build(slices.Repeat(body, 50)).Grammar())
	for cut := range 4 * len(body) {
		seq := slices.Repeat(body, 50)
		for _, quick := range []bool{false, true} {
			b := reborn(t, build(seq[:cut]), quick)
			for _, s := range seq[cut:] {
				b.Append(s)
			}
			mustHold(t, checkBuilder(b))
			g := b.Grammar()
			if !slices.Equal(expand(g), seq) {
				t.Fatalf("cut at %d: wrong expansion", cut)
			}
			if n := symbols(g); n > want+1 {
				t.Errorf("cut at %d: %d symbols, %d without a cut: %v", cut, n, want, g)
			}
		}
	}
}

// handMade draws grammars that no Builder would make: equal neighbours, rules
// used once or never, bodies of one symbol, duplicates.
func handMade(t *rapid.T) *Grammar {
	n := rapid.IntRange(1, 6).Draw(t, "rules")
	g := &Grammar{}
	for r := range n {
		g.Rules = append(g.Rules, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Symbol {
			return Symbol{
				TerminalOrRule: below(rapid.Int32Range(-int32(n-1-r), 2).Draw(t, "id"), r),
				Count:          rapid.Uint64Range(1, 3).Draw(t, "count"),
			}
		}), min(r, 1), 5).Draw(t, "body"))
	}
	return g
}

// below turns a negative id into a rule after r, so that there are no cycles.
func below(id int32, r int) int32 {
	if id < 0 {
		return id - int32(r)
	}
	return id
}

func TestRestoreHandMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := handMade(t)
		mustHold(t, g.Check())
		if g.Len() > 20000 {
			t.Skip("drawn too long; rapid draws another")
		}
		seq := expand(g)
		b := ContinueGrammar(g)
		for _, s := range rapid.SliceOf(rapid.Uint32Range(0, 3)).Draw(t, "more") {
			b.Append(s)
			seq = append(seq, s)
			if b.Len() != uint64(len(seq)) {
				t.Fatalf("length %d, want %d", b.Len(), len(seq))
			}
			if got := expand(b.Grammar()); !slices.Equal(got, seq) {
				t.Fatalf("got %v\nwant %v", got, seq)
			}
		}
	})
}

// TestRestoreTidies: what breaks the invariants is put right where that is
// cheap, in cases that no sequence of terminals is known to lead to.
func TestRestoreTidies(t *testing.T) {
	for name, c := range map[string]struct{ give, want [][]Symbol }{
		"rule used once": {
			[][]Symbol{{{0, 1}, {-1, 1}, {0, 2}}, {{1, 1}, {2, 1}}},
			[][]Symbol{{{0, 1}, {1, 1}, {2, 1}, {0, 2}}},
		},
		"rule never used": {
			[][]Symbol{{{0, 1}, {1, 1}}, {{1, 1}, {2, 1}}},
			[][]Symbol{{{0, 1}, {1, 1}}},
		},
		"equal rules side by side": {
			[][]Symbol{{{-1, 1}, {-1, 3}, {5, 1}}, {{1, 1}, {2, 1}}},
			[][]Symbol{{{-1, 4}, {5, 1}}, {{1, 1}, {2, 1}}},
		},
		"last symbol underused": {
			[][]Symbol{{{0, 1}, {-1, 1}, {7, 1}, {0, 1}, {-1, 1}, {8, 1}}, {{3, 1}, {4, 1}}},
			[][]Symbol{{{-1, 1}, {7, 1}, {-1, 1}, {8, 1}}, {{0, 1}, {3, 1}, {4, 1}}},
		},
		"body seen before its rule": {
			[][]Symbol{{{-1, 2}, {7, 1}, {0, 1}, {1, 1}, {8, 1}}, {{0, 1}, {1, 1}}},
			[][]Symbol{{{-1, 2}, {7, 1}, {-1, 1}, {8, 1}}, {{0, 1}, {1, 1}}},
		},
		"body seen after its rule": {
			[][]Symbol{{{-1, 2}, {7, 1}, {-2, 3}, {8, 1}}, {{0, 1}, {1, 1}}, {{0, 1}, {1, 1}, {6, 1}}},
			[][]Symbol{{{-1, 2}, {7, 1}, {-2, 3}, {8, 1}}, {{0, 1}, {1, 1}}, {{-1, 1}, {6, 1}}},
		},
		"overlapping digrams": {
			[][]Symbol{{{0, 1}, {0, 1}, {0, 1}, {1, 1}}},
			[][]Symbol{{{0, 1}, {0, 1}, {0, 1}, {1, 1}}},
		},
	} {
		give, want := &Grammar{c.give}, &Grammar{c.want}
		mustHold(t, give.Check())
		b := NewBuilder()
		b.load(give)
		b.tidy()
		if err := checkBuilder(b); err != nil && name != "overlapping digrams" {
			t.Errorf("%s: %v", name, err)
		}
		if got := ContinueGrammar(give).Grammar(); !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if got := ContinueGrammar(&Grammar{}).Grammar(); got.Len() != 0 || len(got.Rules) != 1 {
		t.Errorf("empty: %v", got)
	}
}

func TestRestoreHugeCounts(t *testing.T) {
	b := NewBuilder()
	b.AppendRun(1, math.MaxUint64-1)
	b = ContinueGrammar(b.Grammar())
	b.Append(1)
	if b.Len() != math.MaxUint64 || b.Grammar().Len() != math.MaxUint64 {
		t.Fatal(b.Len(), b.Grammar())
	}
}
