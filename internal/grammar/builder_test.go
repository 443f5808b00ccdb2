package grammar

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sequence draws texts with the shapes that programs have: nested loops with
// varying counts and branches, and noise.
func sequence(t *rapid.T) []uint32 {
	var seq []uint32
	alphabet := rapid.Uint32Range(0, uint32(rapid.IntRange(0, 6).Draw(t, "alphabet")))
	var emit func(depth int)
	emit = func(depth int) {
		switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
		case kind <= 1 || depth == 0:
			seq = append(seq, rapid.SliceOfN(alphabet, 0, 12).Draw(t, "noise")...)
		case kind == 2:
			start := len(seq)
			emit(depth - 1)
			emit(depth - 1)
			body := slices.Clone(seq[start:])
			for range rapid.IntRange(0, 6).Draw(t, "trips") {
				if len(seq) > 4000 {
					return
				}
				if len(body) > 0 && rapid.IntRange(0, 5).Draw(t, "cut") == 0 {
					seq = append(seq, body[:rapid.IntRange(0, len(body)).Draw(t, "at")]...)
					continue
				}
				seq = append(seq, body...)
			}
		default:
			for range rapid.IntRange(1, 4).Draw(t, "pieces") {
				emit(depth - 1)
			}
		}
	}
	emit(5)
	return seq
}

func TestBuilderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seq := sequence(t)
		b := NewBuilder()
		b.plain = rapid.Bool().Draw(t, "plain")
		for i, s := range seq {
			b.Append(s)
			if err := checkBuilder(b); err != nil {
				t.Fatalf("after %v: %v", seq[:i+1], err)
			}
		}
		c := b.clone()
		c.finish()
		if err := checkBuilder(c); err != nil {
			t.Fatalf("finished %v: %v", seq, err)
		}
		if last := c.nodes[0].prev; c.nodes[last].id < 0 && open(c, last) {
			t.Fatalf("finished %v: the end is open", seq)
		}
		g := b.Grammar()
		mustHold(t, g.Check())
		if got := expand(g); !slices.Equal(got, seq) {
			t.Fatalf("got %v\nwant %v", got, seq)
		}
		if b.Len() != uint64(len(seq)) || g.Len() != b.Len() {
			t.Fatalf("lengths %d %d of %d", b.Len(), g.Len(), len(seq))
		}
	})
}

// TestShortSequences tries every short sequence over small alphabets: corner
// cases of Sequitur are short.
func TestShortSequences(t *testing.T) {
	lengths := map[int]int{2: 16, 3: 10, 4: 8}
	if testing.Short() {
		lengths = map[int]int{2: 10, 3: 7}
	}
	for letters, length := range lengths {
		seq := make([]uint32, length)
		for {
			for _, b := range []*Builder{build(seq), buildPlain(seq)} {
				if err := checkBuilder(b); err != nil {
					t.Fatalf("%v: plain %v: %v", seq, b.plain, err)
				}
				g := b.Grammar()
				if got := expand(g); !slices.Equal(got, seq) {
					t.Fatalf("plain %v: got %v, want %v", b.plain, got, seq)
				}
			}
			i := 0
			for i < length && int(seq[i]) == letters-1 {
				seq[i] = 0
				i++
			}
			if i == length {
				break
			}
			seq[i]++
		}
	}
}

// TestNoise runs long random sequences, where rules come and go most.
func TestNoise(t *testing.T) {
	for letters := range 20 {
		rng := rand.New(rand.NewPCG(1, uint64(letters)))
		seq := make([]uint32, 20000)
		for i := range seq {
			seq[i] = uint32(rng.IntN(letters + 2))
		}
		for _, plain := range []bool{false, true} {
			b := NewBuilder()
			b.plain = plain
			for i, s := range seq {
				b.Append(s)
				if i%512 == 0 {
					mustHold(t, checkBuilder(b))
				}
			}
			mustHold(t, checkBuilder(b))
			if !slices.Equal(expand(b.Grammar()), seq) {
				t.Fatalf("%d letters, plain %v: expansion differs", letters+2, plain)
			}
		}
	}
}

// TestAppendRun compares with appending one by one: the state must be the same.
func TestAppendRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := NewBuilder(), NewBuilder()
		runs := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Symbol {
			return Symbol{rapid.Int32Range(0, 3).Draw(t, "sym"), rapid.Uint64Range(0, 4).Draw(t, "n")}
		})).Draw(t, "runs")
		for range 3 {
			for _, r := range runs {
				a.AppendRun(uint32(r.TerminalOrRule), r.Count)
				for range r.Count {
					b.Append(uint32(r.TerminalOrRule))
				}
			}
		}
		if a.Len() != b.Len() || !a.Grammar().Equal(b.Grammar()) {
			t.Fatalf("runs give %v, single terminals %v", a.Grammar(), b.Grammar())
		}
	})
}

func TestHugeRuns(t *testing.T) {
	b := NewBuilder()
	for range 1000 {
		b.AppendRun(7, 1<<50)
		b.AppendRun(8, 1)
	}
	want := &Grammar{Rules: [][]Symbol{{{-1, 1000}}, {{7, 1 << 50}, {8, 1}}}}
	if g := b.Grammar(); !g.Equal(want) {
		t.Fatalf("got %v, want %v", g, want)
	}
	if b.Len() != 1000<<50+1000 {
		t.Fatal(b.Len())
	}
}

// TestTerminalRange: Symbol.TerminalOrRule has no room for the upper half.
func TestTerminalRange(t *testing.T) {
	for _, prefix := range [][]uint32{{}, {1}, {1, 2, 1, 2, 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic after %v", prefix)
				}
			}()
			build(prefix).Append(1 << 31)
		}()
	}
}

func TestNestedLoopsStaySmall(t *testing.T) {
	b, plain := NewBuilder(), NewBuilder()
	plain.plain = true
	emit := func(s uint32) { b.Append(s); plain.Append(s) }
	for range 100 { // time steps
		emit(0)
		for range 100 { // rows
			for range 50 { // planes
				emit(1)
				emit(2)
				emit(2)
			}
			emit(3)
			for range 20 {
				emit(4)
			}
		}
		emit(5)
	}
	for _, b := range []*Builder{b, plain} {
		g := b.Grammar()
		if n := symbols(g); n > 9 {
			t.Errorf("plain %v: %d symbols for nested loops: %v", b.plain, n, g)
		}
		if g.Len() != b.Len() || b.Len() != 100*(2+100*(150+1+20)) {
			t.Errorf("plain %v: length %d", b.plain, g.Len())
		}
		if size := b.HeldBytes(); size > 8<<10 {
			t.Errorf("plain %v: %d bytes held", b.plain, size)
		}
	}
}

// TestVaryingTripCounts: while a count grows it passes other counts that stand
// in the grammar; taking those for matches would tear the loop apart.
func TestVaryingTripCounts(t *testing.T) {
	b := NewBuilder()
	for i := range 600 {
		for range 10 + 10*(i%3) {
			b.Append(1)
			b.Append(2)
		}
		b.Append(3)
	}
	if g := b.Grammar(); symbols(g) > 9 {
		t.Errorf("%d symbols: %v", symbols(g), g)
	}
}

// TestFollowsSoon: when the end of a body is a repeated rule, the next terminal
// must both close it and start to follow what that completes.
func TestFollowsSoon(t *testing.T) {
	b := NewBuilder()
	for range 2 {
		b.Append(0)
		for range 5 {
			b.Append(1)
			b.Append(2)
		}
	}
	for range 10 {
		b.Append(0)
		if b.mode != following {
			t.Fatal("does not follow in the third iteration")
		}
		for range 5 {
			b.Append(1)
			b.Append(2)
		}
	}
	want := &Grammar{Rules: [][]Symbol{{{-1, 12}}, {{0, 1}, {-2, 5}}, {{1, 1}, {2, 1}}}}
	if g := b.Grammar(); !g.Equal(want) {
		t.Fatalf("got %v, want %v", g, want)
	}
}

// TestSteadyStateAllocatesNothing: the grammar of a regular program is complete
// after a few iterations.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	b := NewBuilder()
	step := func() {
		for i := range uint32(30) {
			b.Append(i % 7)
			b.Append(i % 3)
		}
		b.AppendRun(9, 12)
	}
	step()
	step()
	step()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations an iteration", n)
	}
}

// TestGrammarLeavesBuilderAlone takes snapshots at every length.
func TestGrammarLeavesBuilderAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seq := sequence(t)
		seq = seq[:min(len(seq), 300)]
		b := NewBuilder()
		for i, s := range seq {
			b.Append(s)
			if got := expand(b.Grammar()); !slices.Equal(got, seq[:i+1]) {
				t.Fatalf("after %v: %v", seq[:i+1], got)
			}
		}
		if !b.Grammar().Equal(build(seq).Grammar()) {
			t.Fatal("snapshots changed the outcome")
		}
	})
}

// TestResume: a rule that is followed from its first digram on costs no symbols. Only where it has rules in it the grammar may be another.
func TestResume(t *testing.T) {
	got, want := 0, 0
	for i := range 2000 {
		rng := rand.New(rand.NewPCG(7, uint64(i)))
		a, b := NewBuilder(), NewBuilder()
		b.undoing = true
		for _, s := range phrases(rng) {
			a.Append(s)
			b.Append(s)
		}
		g := a.Grammar()
		if !slices.Equal(expand(g), expand(b.Grammar())) {
			t.Fatalf("%v: wrong expansion", g.Rules)
		}
		mustHold(t, checkBuilder(a))
		got, want = got+symbols(g), want+symbols(b.Grammar())
	}
	if got > want {
		t.Errorf("%d symbols, without %d", got, want)
	}
}

// phrases returns some phrases again and again in any order, broken off at times.
func phrases(rng *rand.Rand) (seq []uint32) {
	list := make([][]uint32, 1+rng.IntN(12))
	for p := range list {
		list[p] = make([]uint32, 1+rng.IntN(14))
		for j := range list[p] {
			list[p][j] = uint32(rng.IntN(30))
		}
		for range rng.IntN(3) * rng.IntN(2) {
			list[p] = slices.Concat(list[p], list[p])
		}
	}
	for range 100 {
		p := list[rng.IntN(len(list))]
		if rng.IntN(4) == 0 {
			p = p[:rng.IntN(len(p)+1)]
		}
		seq = append(seq, p...)
	}
	return seq
}
