package grammar

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// nested returns what loops in each other leave that run from, from+step, … times, step for step of the loop around: depth of them
// below the outermost, which has so many rounds. Each round begins with so many calls.
func nested(list []uint32, depth int, rounds int, from, step []int, calls int) []uint32 {
	for i := range rounds {
		for c := range calls {
			list = append(list, uint32(depth*calls+c))
		}
		if depth > 0 {
			list = nested(list, depth-1, max(from[depth-1]+i*step[depth-1], 0), from, step, calls)
		}
	}
	return list
}

func TestTrianglesInTriangles(t *testing.T) {
	for name, c := range map[string]struct {
		rounds, most int
		from, step   []int
	}{
		"three":           {100, 400, []int{0, 0}, []int{1, 1}},
		"three by two":    {60, 400, []int{0, 0}, []int{2, 1}},
		"three from five": {100, 400, []int{5, 0}, []int{1, 1}},
	} {
		seq := nested(nil, 2, c.rounds, c.from, c.step, 1)
		if n := written(t, seq); n > c.most {
			t.Errorf("%s: %d bytes for %d terminals", name, n, len(seq))
		} else {
			t.Logf("%s: %d bytes for %d terminals", name, n, len(seq))
		}
	}
}

// Whatever loops are in each other, what is written is read.
func TestNestedLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []uint32
		for range rapid.IntRange(1, 3).Draw(t, "nests") {
			depth := rapid.IntRange(1, 3).Draw(t, "depth")
			from := rapid.SliceOfN(rapid.IntRange(0, 6), depth, depth).Draw(t, "from")
			step := rapid.SliceOfN(rapid.IntRange(-1, 2), depth, depth).Draw(t, "step")
			nest := nested(nil, depth, rapid.IntRange(1, 14-3*depth).Draw(t, "rounds"), from, step, rapid.IntRange(1, 2).Draw(t, "calls"))
			all = append(append(all, nest...), rapid.SliceOfN(rapid.Uint32Range(0, 9), 0, 6).Draw(t, "behind")...)
		}
		written(t, all)
	})
}

// A grammar of any rules that go on from others, or nearly so, is read as it was written.
func TestOnwardRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &Grammar{Rules: make([][]Symbol, 1)}
		n := rapid.IntRange(3, 40).Draw(t, "rules")
		back := rapid.IntRange(1, maxBack+1).Draw(t, "back")
		for r := 1; r <= n; r++ {
			var body []Symbol
			if r > 2*back && rapid.IntRange(0, 5).Draw(t, "how") > 0 {
				body = onward(g.Rules[r-2*back], g.Rules[r-back])
				if body != nil && (rapid.IntRange(0, 9).Draw(t, "off") == 0 || !settled(r, body)) {
					body[0] = Symbol{7, 2}
				}
				if body != nil && !settled(r, body) {
					body = nil
				}
			}
			for len(body) < 2 || body == nil {
				s := Symbol{rapid.Int32Range(-int32(r)+1, 5).Draw(t, "symbol"), rapid.Uint64Range(1, 9).Draw(t, "count")}
				body = append(body, s)
			}
			g.Rules = append(g.Rules, body)
			g.Rules[0] = append(g.Rules[0], Symbol{-int32(r), rapid.Uint64Range(1, 2).Draw(t, "uses")})
		}
		if g.Check() != nil {
			t.Skip("drawn too long; rapid draws another")
		}
		enc := g.AppendBinary(nil)
		got, read, err := Decode(enc)
		if err != nil || read != len(enc) || !got.Equal(g) {
			t.Fatalf("% x: %d read, %v: %v, want %v", enc, read, err, got, g)
		}
	})
}

func TestOnward(t *testing.T) {
	a, b := []Symbol{{-1, 1}, {4, 2}, {9, 7}}, []Symbol{{-3, 1}, {4, 4}, {9, 4}}
	if got, want := onward(a, b), []Symbol{{-5, 1}, {4, 6}, {9, 1}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, c := range [][2][]Symbol{
		{{{1, 1}}, {{1, 1}, {2, 1}}},   // of other lengths
		{{{-1, 1}}, {{1, 1}}},          // of other kinds
		{{{1, 4}}, {{1, 2}}},           // no times
		{{{4, 1}}, {{5, 2}}},           // other terminals
		{{{-3, 1}}, {{-1, 2}}},         // a rule that becomes a terminal
		{{{-1, 1}}, {{-1<<31 + 1, 2}}}, // too many rules
		{{{-1, 2}}, {{-2, 2}}},         // no count steps
		{slices.Repeat([]Symbol{{1, 1}}, maxOnward+1), slices.Repeat([]Symbol{{1, 2}}, maxOnward+1)},
	} {
		if got := onward(c[0], c[1]); got != nil {
			t.Errorf("%v, %v: %v", c[0], c[1], got)
		}
	}
}

// Rules in each other aren't known to their end when the innermost begins.
func TestOnwardWithin(t *testing.T) {
	g := &Grammar{Rules: [][]Symbol{{{-1, 1}}, {{-2, 1}, {5, 1}}, {{-3, 1}, {5, 2}}, {{-4, 1}, {5, 3}}, {{-5, 1}, {5, 4}}, {{0, 1}, {5, 5}}}}
	if got, _, err := Decode(g.AppendBinary(nil)); err != nil || !got.Equal(g) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestOnwardErrors(t *testing.T) {
	// Four new rules; the first three are terminal 0 and terminal 1, which comes once more in each.
	with := func(last ...byte) []byte {
		enc := []byte{4, flagRule, 2, 0, 0}
		enc = append(enc, flagRule, 2, 4<<flagBits, 2<<flagBits|flagRepeated, 0)
		enc = append(enc, flagRule, 2, 4<<flagBits, 2<<flagBits|flagRepeated, 1)
		return append(append(enc, flagRule), last...)
	}
	g, _, err := Decode(with(0, 1))
	if err != nil || len(g.Rules) != 5 || !slices.Equal(g.Rules[4], []Symbol{{0, 1}, {1, 4}}) {
		t.Fatalf("%v, %v", g, err)
	}
	for _, back := range []byte{0, 2, maxBack + 1} {
		if _, _, err := Decode(with(0, back)); !errors.Is(err, errOnward) {
			t.Errorf("from %d back: %v", back, err)
		}
	}
	if _, _, err := Decode(with(0)); !errors.Is(err, errShort) {
		t.Errorf("cut short: %v", err)
	}
	// The third rule is within the second, which isn't read to its end.
	open := []byte{1, flagRule, 2, flagRule, 2, 0, 0, flagRule, 2, 4 << flagBits, flagRule, 0, 1}
	if _, _, err := Decode(open); !errors.Is(err, errOnward) {
		t.Errorf("from a rule that is open: %v", err)
	}
}
