package grammar

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestBinaryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := build(sequence(t)).Grammar()
		enc := g.AppendBinary([]byte("before"))[6:]
		got, n, err := Decode(append(slices.Clip(enc), "behind"...))
		if err != nil || n != len(enc) || !got.Equal(g) {
			t.Fatalf("%x: %v %d %v, want %v", enc, got, n, err, g)
		}
		for i := range enc { // every prefix is refused
			if _, _, err := Decode(enc[:i]); err == nil {
				t.Fatalf("%x: accepted without %x", enc[:i], enc[i:])
			}
		}
	})
}

// TestBinaryGolden pins the bytes: they are part of the file format.
func TestBinaryGolden(t *testing.T) {
	for _, c := range []struct {
		g    *Grammar
		want string
	}{
		{&Grammar{}, "00"},
		{&Grammar{Rules: [][]Symbol{{}}}, "00"},
		{&Grammar{Rules: [][]Symbol{{{0, 1}, {1, 1}, {0, 3}}}}, "03 00 00 1101"},
		{&Grammar{Rules: [][]Symbol{{{5, 1}, {0, 1}, {6, math.MaxUint64 - 2}}}}, "03 2c 30 01fbffffffffffffffff01"},
		{&Grammar{Rules: [][]Symbol{{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {1, 1}}}}, "02 04 01 00 20"},
		{
			&Grammar{Rules: [][]Symbol{{{0, 1}, {-1, 100}, {2, 1}, {-2, 1}, {-2, 5}, {-1, 1}}, {{1, 1}, {2, 2}}, {{-1, 1}, {0, 1}}}},
			"06 00 0362 02 00 01 00 08 02 02 0a 18 0703 0a",
		},
		{
			&Grammar{Rules: [][]Symbol{{{0, 1}, {1, 7}, {0, 2}, {1, 6}, {0, 3}, {1, 5}, {0, 4}, {1, 4}, {2, 1}}}},
			"04 00 0105 05 04 03 02 01 00",
		},
		{ // each round has another terminal
			&Grammar{Rules: [][]Symbol{{{0, 1}, {1, 2}, {2, 1}, {1, 3}, {3, 1}, {1, 4}, {4, 1}, {1, 5}, {5, 1}, {0, 1}}}},
			"05 00 0100 00 05 05 03 02 00 00 02 30",
		},
		{ // the first round has a rule's body and a row of terminals
			&Grammar{Rules: [][]Symbol{{{-1, 4}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {-1, 3}, {1, 1}, {2, 1}, {3, 1}, {4, 1},
				{-1, 2}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {-1, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {-1, 3}}, {{0, 4}, {5, 1}}}},
			"04 0302 02 0102 24 04000a 05 0a 03 01 00 00 00 00 0701",
		},
	} {
		want, err := hex.DecodeString(strings.ReplaceAll(c.want, " ", ""))
		mustHold(t, err)
		if got := c.g.AppendBinary(nil); !bytes.Equal(got, want) {
			t.Errorf("%v: % x, want % x", c.g, got, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, src := range map[string]string{
		"nothing":                "",
		"no symbols":             "02 00",
		"long body":              "ffffffffffffffffff01 00",
		"bodies that add up":     "08 02 07 02 06 02 05 02 04",
		"more due than there is": "02 03 d210 cfcfcfcfcf30",
		"number too long":        "ffffffffffffffffffff01",
		"no such rule":           "01 06",
		"itself":                 "01 02 01 06",
		"an outer rule":          "01 02 01 02 02 0a 00",
		"empty rule":             "01 02 00",
		"below 0":                "01 04",
		"terminal too high":      "01 8080808040",
		"count wraps":            "01 01 feffffffffffffffff01",
		"rounds of one":          "03 00 00 05 04 04 00",
		"rounds of nothing":      "01 05 04 04 00 00",
		"no rounds":              "03 00 00 05 04 00 00 00",
		"rounds too many":        "03 00 00 05 04 8101 00 00",
		"rounds cut short":       "03 00 00 05 04 04 00",
		"rounds down to 0":       "03 0108 00 05 04 0a 01 00",
		"rounds below 0":         "03 00 00 05 05 04 00 00 00 01",
		"rounds too far up":      "03 00 00 05 05 04 00 00 00 feffffff0f",
		"rounds of other rules":  "03 02 01 00 00 05 05 04 00 00 02 00",
		"rounds too long":        "03 01 ffffffffffffffff3f 00 05 04 05 00 00",
		"length wraps":           "01 03 ffffffffffffffff7f 01 01 ffffffffffffffff7f",
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(src, " ", ""))
		mustHold(t, err)
		if g, _, err := Decode(b); err == nil {
			t.Errorf("%s: accepted as %v", name, g)
		} else if !strings.HasPrefix(err.Error(), "grammar: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDecodeDeep: neither Decode nor what follows may recurse.
func TestDecodeDeep(t *testing.T) {
	const depth = 1 << 20
	src := bytes.Repeat([]byte{1, 2}, depth)
	src = append(src, 1, 0)
	g, n, err := Decode(src)
	if err != nil || n != len(src) || len(g.Rules) != depth+1 {
		t.Fatal(n, err)
	}
	if g.Len() != 1 || g.TerminalCounts(1)[0] != 1 || len(g.Terminals()) != 1 || g.Cursor().Len() != 1 {
		t.Fatal("wrong")
	}
	b := ContinueGrammar(g)
	b.Append(0)
	want := &Grammar{Rules: [][]Symbol{{{0, 2}}}}
	if got := b.Grammar(); !got.Equal(want) || !bytes.Equal(g.AppendBinary(nil), src) {
		t.Fatal("wrong")
	}
}

// TestDecodeMemory: what the data announces costs no more than what it holds.
func TestDecodeMemory(t *testing.T) {
	const size = 1 << 17
	greedy := []byte{0x80, 0xf0, 7} // a body nearly as long as the data
	for len(greedy) < size {
		greedy = append(greedy, 2, 0x80, 0x80, 6) // a rule with a long body
	}
	deep := append(bytes.Repeat([]byte{1, 2}, size/2), 1, 0)
	rounds := append(binary.AppendUvarint(nil, 2+size/6), 0, 0)
	rounds = append(rounds, bytes.Repeat([]byte{codeRounds, 4, 0x80, 1, 2, 0}, size/6)...)
	most := map[string]uint64{"greedy": 200, "deep": 200, "rounds": 5000} // of them a fifth at a time
	for name, src := range map[string][]byte{"greedy": greedy, "deep": deep, "rounds": rounds} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Decode(src)
		runtime.ReadMemStats(&after)
		if (err == nil) != (name != "greedy") {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > most[name]*size {
			t.Errorf("%s: %d bytes allocated for %d", name, n, size)
		} else {
			t.Logf("%s: %d bytes allocated for %d", name, n, size)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seq := range [][]uint32{{}, {1}, {1, 1, 2}, {0, 1, 0, 1, 2, 0, 1, 2, 0, 1}, {9, 1 << 30, 9, 1 << 30}} {
		f.Add(build(seq).Grammar().AppendBinary(nil))
	}
	f.Add([]byte{1, 2, 1, 2, 2, 10, 0})
	f.Add(build(triangle(20, 0, 1, 5)).Grammar().AppendBinary(nil))
	f.Add([]byte{4, 0, 1, 200, 1, 5, 4, 40, 2, 1, 5, 5, 1, 2, 1, 2, 0})
	f.Fuzz(func(t *testing.T, src []byte) {
		g, n, err := Decode(src)
		if err != nil {
			return
		}
		mustHold(t, g.Check())
		enc := g.AppendBinary(nil)
		// Rounds may be of what is shorter one by one, or not be rounds of a progression.
		if n > len(src) || len(enc) > n && !bytes.Contains(src, []byte{codeRounds}) {
			t.Fatalf("read %d of %d bytes, written %d", n, len(src), len(enc))
		}
		h, _, err := Decode(enc)
		if err != nil || !h.Equal(g) {
			t.Fatalf("% x: %v, %v", enc, h, err)
		}
		c := g.Cursor()
		i := uint64(0)
		for want := range g.All() {
			if got, ok := c.Next(); !ok || got != want {
				t.Fatalf("at %d: %d %v, want %d", i, got, ok, want)
			}
			if i++; i == 1000 {
				break
			}
		}
		if i != min(g.Len(), 1000) {
			t.Fatalf("ends at %d of %d", i, g.Len())
		}
		b := ContinueGrammar(g)
		if g.Len() < math.MaxUint64-1 {
			b.Append(3)
			b.Append(3)
		}
		mustHold(t, b.Grammar().Check())
		if b.Grammar().Len() != b.Len() {
			t.Fatalf("length %d, want %d", b.Grammar().Len(), b.Len())
		}
	})
}
