package column

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// store encodes a column as a file would and reads every value back.
func store(t interface{ Fatalf(string, ...any) }, vals []int64, ranks Column, size int) Form {
	f := NewFitter(ranks, size)
	c := ColumnOf(vals...)
	form, payload := f.Fit(&c, true)
	var list FormList
	list.AddEncoded(form.AppendKey(nil))
	b := list.AppendCoefficients(list.AppendKinds(nil))
	r := wire.NewReader(b, "test")
	forms := DecodeForms(r, 1)
	forms.DecodeCoefficients(r)
	if err := r.Finish(); err != nil {
		t.Fatalf("%v", err)
	}
	v := StoredValue{Form: forms.At(0)}
	if v.Form.Kind.NeedsColumn() != (payload != nil) {
		t.Fatalf("form %v has payload %v", v.Form, payload)
	}
	if payload != nil {
		r := wire.NewReader(payload, "test")
		v.Column = DecodeSeq(r, len(vals))
		if err := r.Finish(); err != nil {
			t.Fatalf("%v", err)
		}
	}
	for i, want := range vals {
		if got := v.At(i, ranks.At(i), int64(size)); got != want {
			t.Fatalf("form %v: value of rank %d is %d, want %d", v.Form, ranks.At(i), got, want)
		}
	}
	return form
}

// The patterns of regular codes have closed forms.
func TestClosedForms(t *testing.T) {
	const side, size = 12, 144
	pattern := func(f func(x, y int64) int64) func(r int64) int64 {
		return func(r int64) int64 { return f(r%side, r/side) }
	}
	tests := map[string]struct {
		value func(rank int64) int64
		kind  Kind
	}{
		"constant":      {func(int64) int64 { return 7 }, KindConst},
		"next":          {func(r int64) int64 { return r + 1 }, KindRankPlus},
		"ring":          {func(r int64) int64 { return (r + 140) % size }, KindRing},
		"butterfly":     {func(r int64) int64 { return r ^ 8 }, KindXor},
		"torus x":       {pattern(func(x, y int64) int64 { return (x+1)%side + side*y }), KindBlockRing},
		"torus y":       {pattern(func(x, y int64) int64 { return x + side*((y+side-1)%side) }), KindRing},
		"transpose":     {pattern(func(x, y int64) int64 { return y + side*x }), KindMixedRadix},
		"skew":          {pattern(func(x, y int64) int64 { return (x+y)%side + side*y }), KindMixedRadix},
		"row":           {pattern(func(x, y int64) int64 { return y }), KindMixedRadix},
		"tag by column": {pattern(func(x, y int64) int64 { return 1000 + x }), KindMixedRadix},
		"open grid": {pattern(func(x, y int64) int64 {
			if x == side-1 {
				return -3
			}
			return x + 1 + side*y
		}), KindRankPlus | KindFlagEdge},
		"blocks": {pattern(func(x, y int64) int64 { return 3 * blockSize(100, side, x) * blockSize(200, side, y) }), KindBlockProduct},
		"blocks of an open grid": {pattern(func(x, y int64) int64 {
			if y == 0 {
				return 0
			}
			return 8 * blockSize(100, side, x)
		}), KindAsStored},
		"other way at the edge": {pattern(func(x, y int64) int64 {
			if y == side-1 {
				return x + side*(y-1)
			}
			return x + side*(y+1)
		}), KindRankPlus | KindFlagEdge},
		"some without": {func(r int64) int64 {
			if r%7 == 3 {
				return -3
			}
			return r + 1
		}, KindRankPlus | KindFlagMasked},
		"noise": {func(r int64) int64 { return (r*r*7919 + r*31) % 101 }, KindAsStored},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var ranks Column
			var vals []int64
			for r := range int64(size) {
				ranks.Append(r)
				vals = append(vals, tc.value(r))
			}
			if form := store(t, vals, ranks, size); form.Kind != tc.kind {
				t.Errorf("kind %d, want %d", form.Kind, tc.kind)
			}
		})
	}
}

// blockSize is what the i-th of p gets of n.
func blockSize(n, p, i int64) int64 { return (n + p - 1 - i) / p }

// A count is found again in bytes, and where only some ranks have it.
func TestBlocksAgain(t *testing.T) {
	const side, size = 12, 144
	var ranks, counts, bytes Column
	for r := range int64(size) {
		ranks.Append(r)
		n := blockSize(100, side, r%side) * blockSize(200, side, r/side)
		counts.Append(n)
		if r%side == side-1 {
			n = 0
		}
		bytes.Append(8 * n)
	}
	f := NewFitter(ranks, size)
	if form, _ := f.Fit(&counts, false); form.Kind != KindBlockProduct {
		t.Errorf("counts have kind %v", form.Kind)
	}
	form, _ := f.Fit(&bytes, false)
	if form.Kind != KindBlockProduct|KindFlagEdge {
		t.Fatalf("bytes have kind %v", form.Kind)
	}
	for i, want := range bytes.Values() {
		if got := form.Eval(int64(i), size); got != want {
			t.Fatalf("rank %d: %d, want %d", i, got, want)
		}
	}
	f = NewFitter(ranks, size)
	f.ExcludeBlockSizes = true
	if form, _ := f.Fit(&counts, false); form.Kind == KindBlockProduct {
		t.Error("block sizes in spite of Plain")
	}
}

// Edges are found on ranks with gaps between them, too.
func TestEdgeOfSome(t *testing.T) {
	const side, size = 16, 1024
	for name, in := range map[string]func(r int64) bool{
		"odd":       func(r int64) bool { return r%2 == 1 },
		"not first": func(r int64) bool { return r > 0 },
		"inner":     func(r int64) bool { return r >= 256 && r%side > 0 && r%side < side-1 },
	} {
		for _, last := range []bool{false, true} {
			var ranks Column
			var vals []int64
			for r := range int64(size) {
				if !in(r) {
					continue
				}
				ranks.Append(r)
				y := r / side % side
				if last {
					y = side - 1 - y
				}
				v := r - side
				if y == 0 {
					v = r + 256
				}
				vals = append(vals, v)
			}
			if form := store(t, vals, ranks, size); form.Kind != KindRankPlus|KindFlagEdge {
				t.Errorf("%s: kind %v", name, form.Kind)
			}
		}
	}
}

func TestAnyColumnSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 60).Draw(t, "size")
		var ranks Column
		var vals []int64
		a, b := rapid.Int64Range(-3, 9).Draw(t, "a"), rapid.Int64().Draw(t, "b")
		for r := range int64(size) {
			if rapid.IntRange(0, 4).Draw(t, "member") > 0 {
				ranks.Append(r)
				v := r*a + b
				if rapid.IntRange(0, 6).Draw(t, "odd one") == 0 {
					v = rapid.Int64().Draw(t, "value")
				}
				vals = append(vals, v)
			}
		}
		if len(vals) > 0 {
			store(t, vals, ranks, size)
		}
	})
}

func FuzzDecodeForms(f *testing.F) {
	f.Add([]byte{0, 2}, uint8(1))
	f.Add([]byte{4, 2, 0, 2, 2, 2, 2, 2, 2, 2, 2}, uint8(1))
	f.Add([]byte{7, 8, 2}, uint8(1))
	f.Add([]byte{8, 2, 8, 2, 20, 0, 4, 20}, uint8(1))
	f.Add([]byte{17, 2, 16, 2, 6, 3}, uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		r := wire.NewReader(b, "fuzz")
		forms := DecodeForms(r, int(n))
		forms.DecodeCoefficients(r)
		if r.Err() != nil {
			return
		}
		for i := range int(n) {
			form := forms.At(i)
			form.Eval(int64(i), 5)
			form.Eval(1<<62, 0)
		}
	})
}
