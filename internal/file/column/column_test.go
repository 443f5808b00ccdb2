package column

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// someValues draws values such as parameters have: repeats, ramps, specials.
func someValues(t *rapid.T, label string) []int64 {
	var vals []int64
	for range rapid.IntRange(0, 8).Draw(t, label+" parts") {
		start := rapid.OneOf(rapid.Int64Range(-5, 20), rapid.Int64()).Draw(t, label)
		stride := rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64()).Draw(t, label+" stride")
		for i := range rapid.IntRange(1, 9).Draw(t, label+" count") {
			vals = append(vals, start+int64(i)*stride)
		}
	}
	return vals
}

// However a column is cut into pieces and put together, its runs are the same.
func TestConcatIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := someValues(t, "a"), someValues(t, "b"), someValues(t, "c")
		all := slices.Concat(a, b, c)
		want := ColumnOf(all...)
		left := ColumnOf(a...)
		left.Concat(ColumnOf(b...))
		left.Concat(ColumnOf(c...))
		tail := ColumnOf(b...)
		tail.Concat(ColumnOf(c...))
		right := ColumnOf(a...)
		right.Concat(tail)
		if !left.Equal(&want) || !right.Equal(&want) {
			t.Fatalf("runs %v and %v, want %v", left.runs, right.runs, want.runs)
		}
		if got := want.Values(); !slices.Equal(got, all) {
			t.Fatalf("values %v, want %v", got, all)
		}
		for i, v := range all {
			if want.At(i) != v {
				t.Fatalf("value %d is %d, want %d", i, want.At(i), v)
			}
		}
	})
}

func TestRunsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := ColumnOf(someValues(t, "v")...)
		b := c.AppendRuns(nil)
		r := wire.NewReader(b, "test")
		d := DecodeRuns(r, c.Len())
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		if !c.Equal(&d) {
			t.Fatalf("decoded %v, want %v", d.runs, c.runs)
		}
	})
}

func TestSeqRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := someValues(t, "v")
		vals := slices.Repeat(base, rapid.IntRange(1, 6).Draw(t, "times"))
		var ranks Column
		for i := range vals {
			ranks.Append(int64(i) * 3)
		}
		if rapid.Bool().Draw(t, "relative") {
			for i := range vals {
				vals[i] += int64(i) * 3
			}
		}
		checkSeq(t, vals, &ranks)
	})
}

func checkSeq(t interface{ Fatalf(string, ...any) }, vals []int64, ranks *Column) *Seq {
	c := ColumnOf(vals...)
	b := EncodeSeq(nil, &c, ranks)
	r := wire.NewReader(b, "test")
	s := DecodeSeq(r, len(vals))
	if err := r.Finish(); err != nil {
		t.Fatalf("%v", err)
	}
	for i, v := range vals {
		rank := int64(0)
		if ranks != nil {
			rank = ranks.At(i)
		}
		if got := s.At(i, rank); got != v {
			t.Fatalf("value %d is %d, want %d", i, got, v)
		}
	}
	return s
}

// Each codec wins where it should, so that none is dead weight.
func TestCodecChoice(t *testing.T) {
	repeat := func(n int, part ...int64) []int64 { return slices.Repeat(part, n) }
	var random, steps, near []int64
	x := uint64(1)
	for i := range int64(200) {
		x = x*6364136223846793005 + 1442695040888963407
		random = append(random, int64(x>>58))
		steps = append(steps, int64(1000*i)+[]int64{0, 7, 1, 90}[i%4])
		near = append(near, i+[]int64{3, -8, 1, 1, 5}[i%5])
	}
	var ranks Column
	for i := range 200 {
		ranks.Append(int64(i))
	}
	for name, tc := range map[string]struct {
		vals []int64
		tag  byte
	}{
		"ramp":          {[]int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, codecRuns},
		"random":        {random, codecPlain},
		"period":        {repeat(50, 5, 9, 2, 77), codecValues},
		"rising period": {steps, codecDeltas},
		"period + rank": {near, codecValues | relative},
	} {
		r := &ranks
		if len(tc.vals) != 200 {
			r = nil
		}
		c := ColumnOf(tc.vals...)
		if b := EncodeSeq(nil, &c, r); b[0] != tc.tag {
			t.Errorf("%s: codec %d, want %d (%d bytes)", name, b[0], tc.tag, len(b))
		}
		checkSeq(t, tc.vals, r)
	}
}

func FuzzDecodeSeq(f *testing.F) {
	for _, vals := range [][]int64{{1, 2, 3}, {5, 9, 2, 5, 9, 2, 5, 9, 2, 5, 9, 2}, {1, 50, 7, 9000, 3}} {
		c := ColumnOf(vals...)
		f.Add(EncodeSeq(nil, &c, nil), uint16(len(vals)))
	}
	f.Fuzz(func(t *testing.T, b []byte, n uint16) {
		r := wire.NewReader(b, "fuzz")
		s := DecodeSeq(r, int(n))
		if (s == nil) != (r.Err() != nil) {
			t.Fatalf("sequence %v with error %v", s, r.Err())
		}
		if s == nil {
			return
		}
		bounded := s.IsBoundedBy(-100, 100)
		for i := range int(n) {
			if v := s.At(i, 0); bounded && (v < -100 || v > 100) {
				t.Fatalf("value %d is %d, out of the bounds it claims", i, v)
			}
		}
	})
}

// Columns with the pattern of another come back from it.
func TestPattern(t *testing.T) {
	for _, tc := range []struct{ a, b Column }{
		{ColumnOf(1, 5, 9, 2, 2, 2, 7), ColumnOf(80, 112, 144, 88, 88, 88, 128)},
		{ColumnOf(1, 5, 9, 2, 2, 2, 7), ColumnOf(-3, -7, -11, -4, -4, -4, -9)},
		{ColumnOf(0, 0, 1, 0, 1), ColumnOf(1<<62, 1<<62, -1<<62, 1<<62, -1<<62)},
	} {
		p, ok := AffinePatternOf(&tc.a)
		q, ok2 := AffinePatternOf(&tc.b)
		if !ok || !ok2 {
			if tc.b.At(0) != 1<<62 {
				t.Errorf("%v, %v: no pattern", tc.a, tc.b)
			}
			continue
		}
		if p.Key() != q.Key() {
			t.Errorf("%v and %v have patterns %v and %v", tc.a, tc.b, p, q)
			continue
		}
		r := wire.NewReader(q.AppendScale(nil), "scale")
		got := DecodeScaled(r, &tc.a)
		if err := r.Finish(); err != nil || !got.Equal(&tc.b) {
			t.Errorf("%v, want %v: %v", got, tc.b, err)
		}
	}
	if c := ColumnOf(3, 3, 3); c.Len() > 0 {
		if _, ok := AffinePatternOf(&c); ok {
			t.Error("a constant has a pattern")
		}
	}
}

// A Reader gives the values of all places that come in order, those left out and those
// asked for twice included.
func TestReader(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		vals := rapid.SliceOfN(rapid.Int64Range(0, 3), 1, 50).Draw(r, "values")
		c := ColumnOf(vals...)
		read := c.Reader()
		for i := 0; i < len(vals); i += rapid.IntRange(1, 4).Draw(r, "further") {
			if got, again := read.At(i), read.At(i); got != vals[i] || again != got {
				t.Fatalf("%v: %d and %d at %d", vals, got, again, i)
			}
		}
	})
}

// A column of numbers has the runs that appending them one by one makes.
func TestOfNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.Uint32Range(0, 3)).Draw(t, "numbers")
		var want Column
		for _, x := range list {
			want.Append(int64(x))
		}
		if got := ColumnOfFunc(len(list), func(i int) uint32 { return list[i] }); !got.Equal(&want) {
			t.Fatalf("%v has runs %v, want %v", list, got.Runs(), want.Runs())
		}
	})
}
