package timing

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"pgregory.net/rapid"
)

func lineOf(values ...uint64) *PhaseTracker {
	l := new(PhaseTracker)
	for _, v := range values {
		l.Add(v)
	}
	return l
}

func noisy(r *rand.Rand, n int, mean, spread float64) (list []uint64) {
	for range n {
		list = append(list, uint64(mean*math.Exp(spread*r.NormFloat64())))
	}
	return list
}

// sumOf is what phases say of calls from one on up to another.
func sumOf(list []Phase, from, to uint64) uint64 {
	return upTo(list, times(to, 1), 1).Sum - upTo(list, times(from, 1), 1).Sum
}

// One long time, many short ones, a long one; a warm-up; and the same with noise:
// each part has its own time.
func TestPhases(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		parts  []int
		means  []float64
		spread float64
	}{
		{[]int{1, 50, 1}, []float64{40e6, 2e6, 40e6}, 0},
		{[]int{1, 50, 1}, []float64{40e6, 2e6, 40e6}, 0.05},
		{[]int{10, 1000}, []float64{8e6, 1e6}, 0.1},
		{[]int{100, 5000, 20, 5000}, []float64{500, 200, 10000, 300}, 0.2},
		{[]int{1, 100000}, []float64{30e6, 1000}, 0.3},
		{[]int{3, 30, 300, 3000, 7}, []float64{9e6, 1e6, 3e6, 1e6, 5e6}, 0.05},
	} {
		var values []uint64
		for i, n := range c.parts {
			values = append(values, noisy(r, n, c.means[i], c.spread)...)
		}
		list := lineOf(values...).Phases()
		at := 0
		for i, n := range c.parts {
			want := uint64(0)
			for _, v := range values[at : at+n] {
				want += v
			}
			got := sumOf(list, uint64(at), uint64(at+n))
			if off := math.Abs(float64(got) - float64(want)); off > 0.02*float64(want) {
				t.Errorf("%v: part %d comes to %d, want %d: %v", c.parts, i, got, want, list)
			}
			at += n
		}
	}
}

// On a busy machine one of twenty times is longer by that of waiting for a processor.
// The parts of a program come out all the same, within 2 %, in nearly all of many runs.
func TestInterrupted(t *testing.T) {
	parts := []struct {
		calls int
		ns    float64
	}{{1, 40e6}, {50, 2e6}, {1, 40e6}, {20, 6e6}, {60, 1e6}, {30, 3e6}}
	r := rand.New(rand.NewPCG(1, 2))
	const runs = 400
	for _, c := range []struct {
		few  bool
		most int // wrong parts
	}{{false, runs / 100}, {true, 2 * runs}} {
		wrong := 0
		for range runs {
			var p PhaseTrackerPair
			if c.few {
				p.UseReducedMaxPhases()
			}
			truth := make([]float64, len(parts))
			for i, part := range parts {
				for range part.calls {
					ns := part.ns * (1 + 0.02*r.Float64())
					if r.IntN(20) == 0 {
						ns += 6e6 * r.ExpFloat64()
					}
					p.Add(uint64(ns), 0)
					truth[i] += ns
				}
			}
			at, list := uint64(0), p.Phases(0)
			for i, part := range parts {
				got := float64(sumOf(list, at, at+uint64(part.calls)))
				if math.Abs(got-truth[i]) > 0.02*truth[i] {
					wrong++
				}
				at += uint64(part.calls)
			}
		}
		t.Logf("few phases: %v: %d of %d parts are wrong", c.few, wrong, runs*len(parts))
		if wrong > c.most {
			t.Errorf("few phases: %v: %d of %d parts are wrong, at most %d expected", c.few, wrong, runs*len(parts), c.most)
		}
	}
}

// Whatever comes, counts and sums are right, and phases few.
func TestTotals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.OneOf(rapid.Uint64Max(100), rapid.Uint64Max(1<<40), rapid.Just(uint64(1<<50)))).Draw(t, "values")
		l := lineOf(values...)
		sum := uint64(0)
		for _, v := range values {
			sum += v
		}
		want := Phase{uint64(len(values)), sum}
		if got := SumPhases(l.Phases()); got != want || len(l.Phases()) > MaxPhases {
			t.Fatalf("%v in %v, want %v", got, l.Phases(), want)
		}
		if got := SumPhases(ReducePhases(l.Phases(), 1, 0)); got != want {
			t.Fatalf("reduced to %v, want %v", got, want)
		}
		var m PhaseTracker
		err := wire.DecodeAll(wire.AppendEncoded(nil, l.line().code), "phases", m.line().code)
		if err != nil || !reflect.DeepEqual(m, *l) {
			t.Fatal(cmp.Diff(l.Phases(), m.Phases()), err)
		}
		other := lineOf(rapid.SliceOf(rapid.Uint64Max(1<<40)).Draw(t, "another rank")...)
		both := SumPhases(other.Phases())
		if got := SumPhases(MergePhases(slices.Clone(l.Phases()), other.Phases())); got != joined(want, both) {
			t.Fatalf("merged to %v, want %v", got, joined(want, both))
		}
	})
}

// Ranks with the same phases have them together, exactly; with other counts, in proportion.
func TestMerge(t *testing.T) {
	a := []Phase{{1, 40}, {50, 100}, {1, 40}}
	got := MergePhases(slices.Clone(a), []Phase{{1, 50}, {50, 150}, {1, 30}})
	if d := cmp.Diff([]Phase{{2, 90}, {100, 250}, {2, 70}}, got); d != "" {
		t.Error(d)
	}
	got = MergePhases([]Phase{{10, 100}, {90, 90}}, []Phase{{20, 200}, {180, 180}})
	if d := cmp.Diff([]Phase{{30, 300}, {270, 270}}, got); d != "" {
		t.Error(d)
	}
}

func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	values := noisy(r, 1<<16, 1000, 0.3)
	for b.Loop() {
		var l PhaseTracker
		for _, v := range values {
			l.Add(v)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(values)), "ns/time")
}

// Times that are taken in many at once are as those taken in one by one.
func TestAddEach(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var one, each PhaseTrackerPair
		for range 20 {
			step := 1 + r.IntN(4)
			mean := float64(1 + r.IntN(3000))
			a, b := noisy(r, step*(1+r.IntN(40)), mean, mean/10), noisy(r, step*40, mean, mean)
			b = b[:len(a)]
			each.AddEach(a, b, step)
			for i := 0; i < len(a); i += step {
				one.Add(a[i], b[i])
			}
		}
		for i := range 2 {
			if got, want := each.Phases(i), one.Phases(i); !slices.Equal(got, want) {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	}
}
