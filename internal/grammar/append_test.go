package grammar

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What is appended from a grammar is its sequence, renumbered, and what follows is
// compressed as if it had been appended call by call.
func TestAppendAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head, seq, tail := sequence(t), sequence(t), sequence(t)
		mod := rapid.Uint32Range(1, 9).Draw(t, "modulus")
		f := func(s uint32) uint32 { return s % mod }
		b := NewBuilder()
		var want []uint32
		for _, s := range head {
			b.Append(s)
			want = append(want, s)
		}
		if !b.AppendAll(build(seq).Grammar(), f, 1<<20) {
			t.Fatal("gave up")
		}
		for _, s := range seq {
			want = append(want, f(s))
		}
		if err := checkBuilder(b); err != nil {
			t.Fatalf("%v", err)
		}
		for _, s := range tail {
			b.Append(s)
			want = append(want, s)
		}
		mustHold(t, checkBuilder(b))
		if got := expand(b.Grammar()); !slices.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
		if b.Len() != uint64(len(want)) {
			t.Fatalf("length %d, want %d", b.Len(), len(want))
		}
	})
}

// A loop whose first iterations had numbers of their own becomes one loop, however long
// it is, and the budget says how much work that may be.
func TestAppendAllLoop(t *testing.T) {
	for _, every := range []int{1, 7, 10, 100, 1 << 20} {
		b, want := NewBuilder(), NewBuilder()
		both := func(s, t uint32) { b.Append(s); want.Append(t) }
		both(100, 100)
		for i := range 200_000 {
			for k := range uint32(3) {
				s := k
				if i < 16 {
					s += 3 * uint32(i+1)
				}
				both(s, k)
			}
			if i%every == every-1 {
				both(101, 101)
			}
		}
		both(102, 102)
		a := NewBuilder()
		f := func(s uint32) uint32 {
			if s < 100 {
				s %= 3
			}
			return s
		}
		if !a.AppendAll(b.Grammar(), f, 20_000) {
			t.Fatalf("every %d: gave up", every)
		}
		if g, w := a.Grammar(), want.Grammar(); !g.Equal(w) {
			t.Errorf("another call every %d iterations: %v, want %v", every, g, w)
		}
		if NewBuilder().AppendAll(b.Grammar(), f, 3) {
			t.Error("did not give up")
		}
	}
}

// A joined grammar has both sequences, rules in the order of their first use, and tokens
// that are as long as they can be.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := []*Grammar{{}}
		var want []uint32
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			seq := sequence(t)
			parts = append(parts, build(seq).Grammar())
			want = append(want, seq...)
		}
		g := Concatenate(parts...)
		if got := expand(g); !slices.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
		if h, _, err := Decode(g.AppendBinary(nil)); err != nil || !h.Equal(g) {
			t.Fatalf("written and read: %v, %v; want %v", h, err, g)
		}
		for i := 1; i < len(g.Rules[0]); i++ {
			if a, b := g.Rules[0][i-1], g.Rules[0][i]; a.TerminalOrRule == b.TerminalOrRule {
				t.Fatalf("%v and %v are neighbours", a, b)
			}
		}
	})
}

// Laps that are counted are as if they had been appended call by call.
func TestAppendLaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, want := NewBuilder(), NewBuilder()
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			lap := rapid.SliceOfN(rapid.Uint32Range(0, 3), 1, 6).Draw(t, "lap")
			laps := rapid.Uint64Range(1, 30).Draw(t, "laps")
			if rapid.Bool().Draw(t, "counted") {
				b.AppendRepeated(lap, laps)
			} else {
				for range laps {
					for _, s := range lap {
						b.Append(s)
					}
				}
			}
			for range laps {
				for _, s := range lap {
					want.Append(s)
				}
			}
			mustHold(t, checkBuilder(b))
		}
		if got, want := b.Grammar(), want.Grammar(); !slices.EqualFunc(got.Rules, want.Rules, slices.Equal) {
			t.Fatalf("got %v\nwant %v", got.Rules, want.Rules)
		}
	})
}
