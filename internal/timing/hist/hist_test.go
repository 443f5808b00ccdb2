package hist

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

var update = flag.Bool("update", false, "rewrite golden files")

const samples = 20000

// distributions are shapes that times have, and some that they have only on
// bad days.
var distributions = []struct {
	name string
	next func(r *rand.Rand, i int) float64
}{
	{"normal", func(r *rand.Rand, i int) float64 { return 5000 + 300*r.NormFloat64() }},
	{"log-normal", func(r *rand.Rand, i int) float64 { return 2000 * math.Exp(0.5*r.NormFloat64()) }},
	{"heavy tail", func(r *rand.Rand, i int) float64 { return 1000 * math.Pow(1-r.Float64(), -1/1.2) }},
	{"bimodal", func(r *rand.Rand, i int) float64 {
		if r.IntN(3) == 0 {
			return 1e6 + 2e4*r.NormFloat64()
		}
		return 800 + 40*r.NormFloat64()
	}},
	{"three phases", func(r *rand.Rand, i int) float64 {
		return []float64{500, 90000, 7000}[3*i/samples] * (1 + 0.1*r.Float64())
	}},
	{"exponential", func(r *rand.Rand, i int) float64 { return 10000 * r.ExpFloat64() }},
	{"uniform", func(r *rand.Rand, i int) float64 { return 1e5 * r.Float64() }},
	{"constant", func(r *rand.Rand, i int) float64 { return 4242 }},
	{"one outlier", func(r *rand.Rand, i int) float64 {
		if i == samples/3 {
			return 3e9
		}
		return 900 + 30*r.NormFloat64()
	}},
	{"sorted", func(r *rand.Rand, i int) float64 { return float64(100 + i) }},
	{"falling", func(r *rand.Rand, i int) float64 { return float64(100 + samples - i) }},
	{"growing", func(r *rand.Rand, i int) float64 { return 50 * math.Exp(float64(i)/2500) * (1 + 0.05*r.Float64()) }},
	{"zeros, rarely more", func(r *rand.Rand, i int) float64 {
		if r.IntN(50) == 0 {
			return 1e4 * r.Float64()
		}
		return 0
	}},
}

func draw(next func(*rand.Rand, int) float64) []uint64 {
	r := rand.New(rand.NewPCG(7, 11))
	list := make([]uint64, samples)
	for i := range list {
		list[i] = uint64(max(next(r, i), 0))
	}
	return list
}

// errors returns how far quantiles are off: the greatest and the mean distance
// between the share asked for and the share that the answer really has, and the
// median relative error of the values.
func errors(sorted []uint64, quantile func(float64) float64) (most, mean, value float64) {
	var values []float64
	const steps = 99
	for i := 1; i <= steps; i++ {
		q := float64(i) / (steps + 1)
		got := quantile(q)
		n := float64(len(sorted))
		// A value that occurs often has all the shares from the first to the last.
		from, _ := slices.BinarySearchFunc(sorted, got, func(v uint64, x float64) int {
			if float64(v) < x-0.5 {
				return -1
			}
			return 1
		})
		to, _ := slices.BinarySearchFunc(sorted, got, func(v uint64, x float64) int {
			if float64(v) <= x+0.5 {
				return -1
			}
			return 1
		})
		off := max(float64(from)/n-q, q-float64(to)/n, 0)
		most, mean = max(most, off), mean+off/steps
		exact := float64(sorted[int(q*n)])
		values = append(values, math.Abs(got-exact)/max(exact, 1))
	}
	slices.Sort(values)
	return most, mean, values[len(values)/2]
}

// Errors of quantiles, in per cent, of the paper's histogram, ours, and ours
// after merging eight parts of the samples.
func TestErrors(t *testing.T) {
	var out strings.Builder
	fmt.Fprintf(&out, "%-20s %23s %23s %23s\n", "", "paper, 5 bins", "5 bins", "8 parts merged")
	fmt.Fprintf(&out, "%-20s %7s %7s %7s %7s %7s %7s %7s %7s %7s\n", "distribution",
		"worst", "mean", "value", "worst", "mean", "value", "worst", "mean", "value")
	for _, d := range distributions {
		list := draw(d.next)
		var p paper
		h := New(DefaultBins, 0)
		parts := make([]*Hist, 8)
		for i := range parts {
			parts[i] = New(DefaultBins, int32(i))
		}
		for i, v := range list {
			p.add(float64(v), DefaultBins)
			h.Add(v)
			parts[i%8].Add(v)
		}
		for step := 1; step < 8; step *= 2 {
			for i := 0; i < 8; i += 2 * step {
				parts[i].Merge(parts[i+step])
			}
		}
		slices.Sort(list)
		fmt.Fprintf(&out, "%-20s", d.name)
		for _, f := range []func(float64) float64{p.quantile, h.Quantile, parts[0].Quantile} {
			most, mean, value := errors(list, f)
			fmt.Fprintf(&out, " %7.1f %7.1f %7.1f", 100*most, 100*mean, 100*min(value, 99.99))
		}
		out.WriteByte('\n')
		for i, h := range []*Hist{h, parts[0]} {
			if most, _, _ := errors(list, h.Quantile); most > 0.2 {
				t.Errorf("%s: a quantile is off by %.2f", d.name, most)
			}
			valid(t, h)
			if total := h.Total(); total.Min != list[0] || total.Max != list[samples-1] || total.Count != samples {
				t.Errorf("%s: %d samples from %d to %d", d.name, total.Count, total.Min, total.Max)
			} else if m := mean(list); math.Abs(total.Mean-m) > []float64{1e-9, 1e-3}[i]*m {
				t.Errorf("%s: mean %g, want %g", d.name, total.Mean, m)
			} else if v := variance(list); math.Abs(total.Variance()-v) > 0.3*v {
				t.Errorf("%s: variance %g, want %g", d.name, total.Variance(), v)
			}
		}
	}
	golden(t, "testdata/errors.txt", out.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update rewrites it):\n%s", path, diff)
	}
}

func mean(list []uint64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += float64(v)
	}
	return sum / float64(len(list))
}

func variance(list []uint64) float64 {
	m, sum := mean(list), 0.0
	for _, v := range list {
		sum += (float64(v) - m) * (float64(v) - m)
	}
	return sum / float64(len(list))
}

// valid checks the invariants.
func valid(t interface {
	Helper()
	Fatalf(string, ...any)
}, h *Hist) {
	t.Helper()
	for i, b := range h.bins {
		switch {
		case b.Count == 0 || b.Min > b.Max || b.Count == 1 && b.Min != b.Max || b.Mean < float64(b.Min) || b.Mean > float64(b.Max):
			t.Fatalf("bin %d: %+v", i, b)
		case !(b.m2 >= 0):
			t.Fatalf("bin %d has m2 %g", i, b.m2)
		case i > 0 && b.Min <= h.bins[i-1].Max:
			t.Fatalf("bin %d begins at %d, the one before ends at %d", i, b.Min, h.bins[i-1].Max)
		case h.upto[i] < b.Max || i < len(h.bins)-1 && h.upto[i] >= h.bins[i+1].Min:
			t.Fatalf("bin %d to %d goes up to %d, the next begins at %d", i, b.Max, h.upto[i], h.bins[min(i+1, len(h.bins)-1)].Min)
		}
	}
}

// Whatever is added, by whichever ways: counts and extremes are exact, the
// extremes' ranks too, and the binary form says the same.
func TestProperties(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) uint64 {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom([]uint64{0, 1, 2, 1 << 63, 1<<63 - 1, math.MaxUint64, math.MaxUint64 - 1}).Draw(t, "extreme")
		case 1:
			return rapid.Uint64Range(0, 40).Draw(t, "small")
		case 2:
			return rapid.Uint64Range(1e6, 1e6+1000).Draw(t, "middle")
		default:
			return rapid.Uint64().Draw(t, "any")
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 9).Draw(t, "bins")
		total := New(k, NoRank)
		var all []uint64
		at := map[uint64][]int32{}
		for part := range rapid.IntRange(1, 5).Draw(t, "parts") {
			h := New(rapid.IntRange(2, 9).Draw(t, "its bins"), int32(part))
			for _, v := range rapid.SliceOfN(value, 0, 200).Draw(t, "samples") {
				h.Add(v)
				valid(t, h)
				all = append(all, v)
				at[v] = append(at[v], int32(part))
			}
			b := h.AppendBinary(nil)
			r := wire.NewReader(b, "test")
			g := Decode(r)
			if err := r.Finish(); err != nil {
				t.Fatal(err)
			}
			valid(t, g)
			if again := g.AppendBinary(nil); !bytes.Equal(again, b) {
				t.Fatalf("%x became %x", b, again)
			}
			total.Merge(g)
			valid(t, total)
		}
		if len(all) == 0 {
			return
		}
		if got, want := total.Total(), uint64(len(all)); got.Count != want || got.Min != slices.Min(all) || got.Max != slices.Max(all) ||
			!slices.Contains(at[got.Min], got.MinRank) || !slices.Contains(at[got.Max], got.MaxRank) {
			t.Fatalf("total %+v of %v", got, all)
		}
		last := 0.0
		for q := 0.0; q <= 1; q += 0.125 {
			v := total.Quantile(q)
			if v < last {
				t.Fatalf("quantile %g is %g, below %g", q, v, last)
			}
			last = v
		}
	})
}

// A bin of one sample that is no float64 has one end.
func TestBeyondFloats(t *testing.T) {
	h := New(3, 0)
	for _, v := range append(make([]uint64, 16), 1, 2, 1<<53+1) {
		h.Add(v)
		valid(t, h)
	}
	for range 600 {
		h.Add(2)
		valid(t, h)
	}
	r := wire.NewReader(h.AppendBinary(nil), "test")
	Decode(r)
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
}

// As long as there are no more distinct values than bins, all is exact.
func TestFewValues(t *testing.T) {
	h := New(5, 3)
	for i := range uint64(1000) {
		h.Add(10 * (i * i % 7))
	}
	var got []string
	for _, b := range h.Bins() {
		got = append(got, fmt.Sprintf("%d×%d", b.Count, b.Min))
		if b.Min != b.Max || b.Variance() != 0 || b.MinRank != 3 {
			t.Errorf("%+v", b)
		}
	}
	if diff := cmp.Diff([]string{"143×0", "285×10", "286×20", "286×40"}, got); diff != "" {
		t.Error(diff)
	}
}

// Samples that differ by less than octave tells apart: no bin matters, so none is split.
func TestLongAndAlike(t *testing.T) {
	h := New(DefaultBins, 0)
	for i := range uint64(10_000) {
		h.Add(10e9 + i%40)
	}
	valid(t, h)
	if all := h.Total(); all.Count != 10_000 || all.Min != 10e9 || all.Max != 10e9+39 {
		t.Errorf("%+v", all)
	}
}

func TestAddDoesNotAllocate(t *testing.T) {
	h := New(DefaultBins, 0)
	r := rand.New(rand.NewPCG(1, 1))
	if n := testing.AllocsPerRun(1000, func() { h.Add(r.Uint64N(1e6)) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// What is not a histogram is an error or a valid histogram, never more.
func FuzzDecode(f *testing.F) {
	for _, d := range distributions[:4] {
		h := New(DefaultBins, 2)
		for _, v := range draw(d.next)[:500] {
			h.Add(v)
		}
		f.Add(h.AppendBinary(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.NewReader(data, "fuzz")
		h := Decode(r)
		valid(t, h)
		if r.Err() == nil {
			g := Decode(wire.NewReader(h.AppendBinary(nil), "again"))
			if !bytes.Equal(g.AppendBinary(nil), h.AppendBinary(nil)) {
				t.Fatal("not stable")
			}
		}
		h.Add(17)
		other := New(3, 1)
		for i := range uint64(50) {
			other.Add(i * i * i)
		}
		if h.Count() < math.MaxUint64-100 {
			other.Merge(h)
			valid(t, other)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	for _, d := range distributions {
		list := draw(d.next)
		b.Run(strings.ReplaceAll(d.name, " ", "-"), func(b *testing.B) {
			h := New(DefaultBins, 0)
			for i := range b.N {
				h.Add(list[i%samples])
			}
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	x, y := New(DefaultBins, 0), New(DefaultBins, 1)
	list := draw(distributions[1].next)
	for i, v := range list {
		if i%2 == 0 {
			x.Add(v)
		} else {
			y.Add(2 * v)
		}
	}
	room := make([]Bin, DefaultBins)
	b.ReportAllocs()
	for b.Loop() {
		var h Hist
		h.Init(room, 0)
		h.Merge(x)
		h.Merge(y)
	}
}
