package grammar

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Two sequences begin to differ where their expansions do, however they are compressed.
func TestCommonAgainstExpansion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Uint32Range(0, 3), 1, 12).Draw(t, "body")
		var one []uint32
		for range rapid.IntRange(0, 30).Draw(t, "rounds") {
			one = append(one, body...)
		}
		two := slices.Clone(one)
		if len(two) > 0 && rapid.Bool().Draw(t, "changed") {
			two[rapid.IntRange(0, len(two)-1).Draw(t, "where")] = 3
		}
		two = append(two, rapid.SliceOfN(rapid.Uint32Range(0, 3), 0, 4).Draw(t, "tail")...)
		want := 0
		for want < len(one) && want < len(two) && one[want] == two[want] {
			want++
		}
		number := func(x uint32) uint64 { return uint64(x) }
		builder := NewBuilder()
		for _, x := range one {
			builder.Append(x)
		}
		flat := &Grammar{Rules: [][]Symbol{nil}}
		for _, x := range two {
			flat.Rules[0] = append(flat.Rules[0], Symbol{TerminalOrRule: int32(x), Count: 1})
		}
		p, q := NewPrefixFingerprints(builder.Grammar(), number), NewPrefixFingerprints(flat, number)
		if got := p.CommonPrefix(q); got != uint64(want) || q.CommonPrefix(p) != got {
			t.Fatalf("%v and %v have %d in common, want %d", one, two, got, want)
		}
	})
}

func TestCommonOfEndless(t *testing.T) {
	loop := func(rounds uint64) *PrefixFingerprints {
		return NewPrefixFingerprints(&Grammar{Rules: [][]Symbol{
			{{TerminalOrRule: -1, Count: rounds}, {TerminalOrRule: 2, Count: 1}}, {{TerminalOrRule: 0, Count: 1}, {TerminalOrRule: 1, Count: 1 << 20}},
		}}, func(x uint32) uint64 { return uint64(x) })
	}
	if got, want := loop(1<<30).CommonPrefix(loop(1<<30+7)), uint64(1<<30*(1<<20+1)); got != want {
		t.Errorf("%d in common, want %d", got, want)
	}
	if n := loop(1 << 30).CommonPrefix(loop(1 << 30)); n != loop(1<<30).Len() {
		t.Errorf("%d in common of the same %d", n, loop(1<<30).Len())
	}
}
