package grammar

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// triangle returns what a loop of so many rounds leaves, each of which begins with a call
// and has an inner loop over two others that runs from, from+step, … times.
func triangle(rounds, call uint32, from, step int) (list []uint32) {
	for n := from; rounds > 0; rounds-- {
		list = append(list, call)
		for range n {
			list = append(list, call+1, call+2)
		}
		n += step
	}
	return list
}

// written returns the bytes of a grammar for a sequence, from which it was read again.
func written(t interface{ Fatalf(string, ...any) }, seq []uint32) int {
	b := build(seq)
	g := b.Grammar()
	for _, enc := range [][]byte{g.AppendBinary(nil), b.AppendBinary(nil)} {
		got, n, err := Decode(enc)
		if err != nil || n != len(enc) || !slices.Equal(got.Expand(nil), seq) {
			t.Fatalf("% x: %d bytes read, %v", enc, n, err)
		}
	}
	enc := g.AppendBinary(nil)
	if got, _, _ := Decode(enc); !got.Equal(g) {
		t.Fatalf("% x: %v, want %v", enc, got, g)
	}
	return len(enc)
}

func TestTriangles(t *testing.T) {
	outer := triangle(100, 0, 3, 1)
	for name, seq := range map[string][]uint32{
		"growing":      triangle(400, 0, 0, 1),
		"shrinking":    triangle(400, 0, 399, -1),
		"by three":     triangle(400, 0, 2, 3),
		"down by five": triangle(80, 0, 400, -5),
		"repeated":     slices.Concat(outer, []uint32{7}, outer, []uint32{7}, outer, []uint32{7}, outer, []uint32{7}, outer),
		"directly":     slices.Repeat(triangle(100, 0, 3, 1), 20),
		"and back":     slices.Concat(triangle(400, 0, 0, 1), triangle(400, 0, 399, -1)),
		"both":         slices.Concat(triangle(400, 0, 0, 1), triangle(400, 9, 399, -1)),
	} {
		if n := written(t, seq); n > 100 {
			t.Errorf("%s: %d bytes for %d terminals", name, n, len(seq))
		} else {
			t.Logf("%s: %d bytes", name, n)
		}
	}
}

// Two inner loops, one of which takes what the other leaves.
func TestTrianglesSideBySide(t *testing.T) {
	var seq []uint32
	for i := range 400 {
		seq = append(seq, 0)
		for range i {
			seq = append(seq, 1)
		}
		seq = append(seq, 2, 3)
		for range 399 - i {
			seq = append(seq, 4, 5)
		}
		seq = append(seq, 6)
	}
	if n := written(t, seq); n > 100 {
		t.Errorf("%d bytes", n)
	}
}

// In each round another call is made: it waits for one request more.
func TestTrianglesWithWaits(t *testing.T) {
	var seq []uint32
	for range 3 {
		seq = append(seq, 0)
		for i := range uint32(400) {
			for range i {
				seq = append(seq, 1, 2)
			}
			seq = append(seq, 5+i, 3)
		}
	}
	if n := written(t, seq); n > 100 {
		t.Errorf("%d bytes", n)
	}
}

func TestPlantedProgressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noise := rapid.SliceOfN(rapid.Uint32Range(0, 8), 0, 12)
		var all []uint32
		most := 60
		for range rapid.IntRange(1, 3).Draw(t, "repetitions") {
			for range rapid.IntRange(1, 3).Draw(t, "loops") {
				from, step := rapid.IntRange(0, 9).Draw(t, "from"), rapid.IntRange(-3, 3).Draw(t, "step")
				rounds := uint32(rapid.IntRange(1, 60).Draw(t, "rounds"))
				if step < 0 {
					from -= step * int(rounds)
				}
				list := noise.Draw(t, "before")
				all = append(all, list...)
				all = append(all, triangle(rounds, rapid.Uint32Range(0, 8).Draw(t, "call"), from, step)...)
				most += 40 + 3*len(list)
			}
		}
		if n := written(t, all); n > most {
			t.Fatalf("%d bytes for %d terminals, at most %d expected", n, len(all), most)
		}
	})
}

// A row of terminals goes on by one at each of its symbols, and is no progression: to find
// that out must not take all of it each time.
func TestLongRow(t *testing.T) {
	row := make([]uint32, 1<<19)
	for i := range row {
		row[i] = uint32(i)
	}
	if g := build(row).Grammar(); g.Len() != uint64(len(row)) {
		t.Errorf("%d of %d", g.Len(), len(row))
	}
}
