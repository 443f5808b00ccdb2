package hist

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
	"pgregory.net/rapid"
)

// drawTime draws zeros, what a tally can hold and what it can't, and times of the usual kind.
var drawTime = rapid.OneOf(
	rapid.SampledFrom([]uint64{0, 0, 1, 1<<sampleBits - 1, 1 << sampleBits, 1<<32 - 1, 1 << 32, 1 << 63, math.MaxUint64}),
	rapid.Uint64Range(0, 3), rapid.Uint64Range(1000, 1200), rapid.Uint64Range(0, 1<<sampleBits), rapid.Uint64(),
)

// Whatever comes through a buffer, the summary of two histograms is exact, and so are their
// counts and extremes. Settled or saved on the way, too.
func TestPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bins := rapid.IntRange(2, 7).Draw(t, "bins")
		p, f := NewPair(bins, 4), new(CountBuffer)
		var sums, want [2]model.Stat
		var waiting []uint64
		room := rapid.IntRange(1, 40).Draw(t, "room")
		flush := func() {
			p.AddPacked(f, waiting)
			waiting = waiting[:0]
		}
		settle := func() {
			a, b := p.Flush(f)
			sums[0].Merge(a)
			sums[1].Merge(b)
			for i := range sums {
				if sums[i] != want[i] {
					t.Fatalf("summary %+v, want %+v", sums[i], want[i])
				}
				valid(t, &p.Hists[i])
				all := p.Hists[i].Total()
				if all.Count != want[i].Count || all.Min != want[i].Min || all.Max != want[i].Max || all.MinRank != 4 || all.MaxRank != 4 {
					t.Fatalf("histogram of %+v, want %+v", all, want[i])
				}
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "parts") {
			values := [2][]uint64{rapid.SliceOfN(drawTime, 1, 9).Draw(t, "durations"), rapid.SliceOfN(drawTime, 1, 9).Draw(t, "gaps")}
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			jitter := rapid.SampledFrom([]uint64{1, 3, 5000}).Draw(t, "jitter")
			for range rapid.IntRange(1, 700).Draw(t, "times") {
				var v [2]uint64
				for i := range v {
					v[i] = values[i][r.IntN(len(values[i]))]
					v[i] += min(r.Uint64N(jitter), math.MaxUint64-v[i])
					want[i].Add(v[i])
				}
				if both, ok := PackSamples(v[0], v[1]); !ok {
					flush()
					p.Add(f, v[0], v[1])
				} else if waiting = append(waiting, both); len(waiting) == room {
					flush()
				}
			}
			flush()
			switch rapid.IntRange(0, 2).Draw(t, "then") {
			case 1:
				settle()
			case 2:
				a, b := p.FlushForCheckpoint(f)
				sums[0].Merge(a)
				sums[1].Merge(b)
				var w, again wire.Coder
				p.SaveCheckpoint(&w, f)
				r := wire.NewReader(w.Buf, "histogram")
				f = new(CountBuffer)
				if p = LoadPairCheckpoint(r, f); r.Finish() != nil {
					t.Fatal(r.Err())
				}
				if p.SaveCheckpoint(&again, f); !bytes.Equal(w.Buf, again.Buf) {
					t.Fatalf("%x, loaded %x", w.Buf, again.Buf)
				}
			}
		}
		settle()
	})
}

// Through a buffer, histograms become what they become one sample at a time, but for the
// rounding of means.
func TestBuffer(t *testing.T) {
	for k, d := range distributions {
		lists := [2][]uint64{draw(d.next), draw(distributions[(k+1)%len(distributions)].next)}
		p, f := NewPair(DefaultBins, 4), new(CountBuffer)
		one := [2]*Hist{New(DefaultBins, 4), New(DefaultBins, 4)}
		for at := range lists[0] {
			a, b := lists[0][at], lists[1][at]
			p.Add(f, a, b)
			one[0].Add(a)
			one[1].Add(b)
		}
		p.Flush(f)
		for i, w := range one {
			alike(t, d.name, &p.Hists[i], w)
		}
	}
}

// alike holds a histogram against another of the same samples. Where bins were cut, a mean
// that is rounded the other way makes the ends others.
func alike(t *testing.T, name string, got, want *Hist) {
	t.Helper()
	if got.left != want.left || got.every != want.every || len(got.bins) != len(want.bins) {
		t.Fatalf("%s: %d bins, balanced in %d of %d, want %d, %d of %d", name, len(got.bins), got.left, got.every, len(want.bins), want.left, want.every)
	}
	for i, w := range want.Bins() {
		g := got.Bins()[i]
		near := func(a, b, part float64) bool { return math.Abs(a-b) <= part*b }
		if g.Count != w.Count || !near(float64(g.Min), float64(w.Min), 0.01) || !near(float64(g.Max), float64(w.Max), 0.01) ||
			g.MinRank != w.MinRank || g.MaxRank != w.MaxRank || !near(g.Mean, w.Mean, 1e-9) || !near(g.Variance(), w.Variance(), 0.05) {
			t.Errorf("%s: bin %d is %+v with variance %g, want %+v with %g", name, i, g, g.Variance(), w, w.Variance())
		}
	}
}

func TestPairDoesNotAllocate(t *testing.T) {
	p, f := NewPair(DefaultBins, 0), new(CountBuffer)
	r, list := rand.New(rand.NewPCG(1, 1)), make([]uint64, 32)
	if n := testing.AllocsPerRun(5000, func() {
		for i := range list {
			v := r.Uint64N(1e6)
			list[i], _ = PackSamples(v, v/2)
		}
		p.AddPacked(f, list)
		p.Add(f, r.Uint64(), r.Uint64())
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// In another unit counts and extremes stay exact, and the mean where the unit allows.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := New(rapid.IntRange(2, 7).Draw(t, "bins"), 1)
		for _, v := range rapid.SliceOfN(drawTime, 1, 300).Draw(t, "samples") {
			h.Add(v)
		}
		f := rapid.SampledFrom([]float64{1, 0.4, 0.3846, 1e-3, 2, 1e3}).Draw(t, "unit")
		s := h.Scale(f)
		valid(t, s)
		was, is := h.Total(), s.Total()
		if is.Count != was.Count || is.Min != scaled(was.Min, f) || is.Max != scaled(was.Max, f) || is.MinRank != 1 || is.MaxRank != 1 {
			t.Fatalf("%+v times %g is %+v", was, f, is)
		}
		if want := was.Mean * f; is.Max < math.MaxUint64 && math.Abs(is.Mean-want) > 1+1e-9*want {
			t.Fatalf("mean %g times %g is %g", was.Mean, f, is.Mean)
		}
		if f == 1 && was.Max < 1<<52 && !bytes.Equal(s.AppendBinary(nil), h.AppendBinary(nil)) {
			t.Fatalf("%+v times 1 is %+v", h, s)
		}
	})
}

// BenchmarkPair is what a sample of each of two histograms costs, of histograms that have had
// as many samples as a short program makes and a long one.
func BenchmarkPair(b *testing.B) {
	list := draw(distributions[1].next)
	for _, calls := range []int{200, 2000, 20000, 200000} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) {
			const pairs = 8
			n := 0
			for b.Loop() {
				var buffers [pairs]CountBuffer
				var own [pairs]*Pair
				for i := range own {
					own[i] = NewPair(DefaultBins, 0)
				}
				var waiting [pairs][]uint64
				for i := range calls {
					k := i % pairs
					both, _ := PackSamples(list[i*7%samples], list[i*13%samples])
					if waiting[k] = append(waiting[k], both); len(waiting[k]) == 32 || i >= calls-pairs {
						own[k].AddPacked(&buffers[k], waiting[k])
						waiting[k] = waiting[k][:0]
					}
				}
				n += calls
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/pair")
		})
	}
}
