package grammar

import (
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
