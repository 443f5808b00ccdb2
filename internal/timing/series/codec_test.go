package series

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// within tells whether v stands for x within the bound, without rounding.
func within(v, x uint64, bound Bound) bool {
	if v == x {
		return true
	}
	if bound.Absolute > 0 {
		return max(v, x)-min(v, x) <= bound.Absolute
	}
	d := new(big.Rat).SetInt(new(big.Int).SetUint64(max(v, x) - min(v, x)))
	b := new(big.Rat).SetFloat64(bound.Relative)
	return d.Cmp(b.Mul(b, new(big.Rat).SetInt(new(big.Int).SetUint64(x)))) <= 0
}

// codedTimes draws times as they are and as they should never be.
func codedTimes(n int) *rapid.Generator[[]uint64] {
	return rapid.Custom(func(t *rapid.T) []uint64 {
		list := make([]uint64, n)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		base := 1 << rapid.IntRange(0, 40).Draw(t, "base")
		for i := range list {
			switch kind {
			case 0:
				list[i] = r.Uint64()
			case 1:
				list[i] = []uint64{0, 1, 2, 3, 10, 1<<53 + 1, 1 << 63, 1<<63 - 1, math.MaxUint64, math.MaxUint64 - 1}[r.IntN(10)]
			case 2:
				list[i] = uint64(base)
			case 3:
				list[i] = uint64(float64(base) * math.Exp(r.NormFloat64()))
			case 4:
				list[i] = r.Uint64() >> r.IntN(64)
			default:
				list[i] = uint64(i) * uint64(base)
			}
		}
		return list
	})
}

var bounds = []Bound{
	{}, {}, RelativeBound(1e-9), RelativeBound(1e-6), RelativeBound(1e-4), RelativeBound(0.001), RelativeBound(0.01), RelativeBound(0.1), RelativeBound(0.5), RelativeBound(0.99), RelativeBound(1),
	{Absolute: 1}, {Absolute: 2}, {Absolute: 25_000}, {Absolute: 1 << 40}, {Absolute: 1<<63 - 1}, {Absolute: 1 << 63}, {Absolute: math.MaxUint64},
}

// Whatever the times, whatever codec: they come back within their bounds, and
// the bytes don't depend on how keys are numbered.
func TestBounds(t *testing.T) {
	for _, codec := range Codecs() {
		t.Run(codec.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := rapid.IntRange(0, 300).Draw(t, "n")
				c := &CallInfo{Keys: make([]uint32, n), Bound: rapid.SampledFrom(bounds).Draw(t, "bound")}
				kinds := rapid.IntRange(1, 20).Draw(t, "keys")
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "keys' seed"), 2))
				for i := range c.Keys {
					c.Keys[i] = uint32(r.IntN(kinds))
				}
				if rapid.Bool().Draw(t, "bounds by key") {
					c.Bins, c.SampleCalls = r.IntN(12), r.IntN(200)
					for range kinds {
						c.KeyBounds = append(c.KeyBounds, bounds[r.IntN(len(bounds))])
						c.KindOfKey = append(c.KindOfKey, uint32(r.IntN(3)))
					}
				}
				b := Batch{}
				lists := TimeLists(rapid.IntRange(0, 3).Draw(t, "lists"))
				if lists&TimeListGaps != 0 {
					b.Gaps = codedTimes(n).Draw(t, "gaps")
				}
				if lists&TimeListDurations != 0 {
					b.Durations = codedTimes(n).Draw(t, "durations")
				}
				gaps, durations := slices.Clone(b.Gaps), slices.Clone(b.Durations)
				data, err := codec.Append([]byte("x"), b, c)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(gaps, b.Gaps) || !slices.Equal(durations, b.Durations) {
					t.Fatal("the batch has changed")
				}
				// The reader's numbers of keys are others.
				d := *c
				d.Keys = slices.Clone(c.Keys)
				for i := range d.Keys {
					d.Keys[i] = uint32(kinds-1) - d.Keys[i]
				}
				d.KeyBounds, d.KindOfKey = slices.Clone(c.KeyBounds), slices.Clone(c.KindOfKey)
				slices.Reverse(d.KeyBounds)
				slices.Reverse(d.KindOfKey)
				for i := range d.KindOfKey {
					d.KindOfKey[i] = 7 - d.KindOfKey[i]
				}
				got, err := codec.Decode(data[1:], lists, &d)
				if err != nil {
					t.Fatal(err)
				}
				for i, pair := range [][2][]uint64{{b.Gaps, got.Gaps}, {b.Durations, got.Durations}} {
					if len(pair[0]) != len(pair[1]) {
						t.Fatalf("list %d: %d values became %d", i, len(pair[0]), len(pair[1]))
					}
					for j, x := range pair[0] {
						if v := pair[1][j]; !within(v, x, c.bound(c.Keys[j])) {
							t.Fatalf("list %d: value %d: %d became %d, bound %v", i, j, x, v, c.bound(c.Keys[j]))
						}
					}
				}
			})
		})
	}
}

// What is not a batch gives an error or some times, never more.
func FuzzDecode(f *testing.F) {
	keys := make([]uint32, 200)
	list := make([]uint64, len(keys))
	r := rand.New(rand.NewPCG(3, 4))
	for i := range keys {
		keys[i] = uint32(i * i % 7)
		list[i] = uint64(1000 * math.Exp(r.NormFloat64()))
	}
	for i, codec := range Codecs() {
		for j, bound := range []Bound{{}, RelativeBound(0.01), RelativeBound(0.1), {Absolute: 100}} {
			data, err := codec.Append(nil, Batch{list, list}, &CallInfo{Keys: keys, Bound: bound})
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), uint8(j), data)
		}
	}
	f.Fuzz(func(t *testing.T, which, bound uint8, data []byte) {
		codecs := Codecs()
		c := &CallInfo{Keys: keys, Bound: bounds[int(bound)%len(bounds)]}
		b, err := codecs[int(which)%len(codecs)].Decode(data, TimeListBoth, c)
		if err == nil && (len(b.Gaps) != len(keys) || len(b.Durations) != len(keys)) {
			t.Fatalf("%d and %d times", len(b.Gaps), len(b.Durations))
		}
	})
}

// Cells cover all numbers without gaps and keep to their bounds.
func TestLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := RelativeBound(rapid.SampledFrom([]float64{1e-7, 1e-5, 0.001, 0.00097, 0.01, 0.1, 1.0 / 3, 0.5, 0.9, 0.999, 1}).Draw(t, "bound"))
		l := levelsOf(bound)
		x := rapid.Uint64().Draw(t, "x") >> rapid.IntRange(0, 63).Draw(t, "shift")
		i := l.of(x)
		if i < 0 || i >= l.count() {
			t.Fatalf("%d is in cell %d of %d", x, i, l.count())
		}
		if v := l.at(i); !within(v, x, bound) {
			t.Fatalf("%d stands for %d, bound %g", v, x, bound.Relative)
		}
		if x > 0 && (l.of(x-1) > i || l.of(x-1) < i-1) {
			t.Fatalf("%d is in cell %d, the one before in %d", x, i, l.of(x-1))
		}
	})
}

func BenchmarkCodecs(b *testing.B) {
	const n = 1 << 16
	r := rand.New(rand.NewPCG(3, 4))
	c := &CallInfo{Keys: make([]uint32, n), Bound: RelativeBound(0.1)}
	batch := Batch{make([]uint64, n), make([]uint64, n)}
	for i := range n {
		k := i % 7
		c.Keys[i] = uint32(k)
		batch.Gaps[i] = uint64(float64(300*(k+1)) * math.Exp(0.3*r.NormFloat64()))
		batch.Durations[i] = uint64(float64(3000*(k+1)) * math.Exp(0.6*r.NormFloat64()))
	}
	for _, codec := range Codecs() {
		var data []byte
		b.Run(codec.Name()+"/encode", func(b *testing.B) {
			for b.Loop() {
				data, _ = codec.Append(data[:0], batch, c)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*n), "ns/value")
			b.ReportMetric(float64(16*n)/float64(len(data)), "ratio")
		})
		b.Run(codec.Name()+"/decode", func(b *testing.B) {
			for b.Loop() {
				if _, err := codec.Decode(data, TimeListBoth, c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*n), "ns/value")
		})
	}
}
