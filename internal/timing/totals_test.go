package timing

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// decodeAll reads the one class that was written.
func decodeAll(t interface {
	Helper()
	Fatal(args ...any)
}, b []byte, ranks, terminals int) *ClassTotals {
	t.Helper()
	r := wire.NewReader(b, "class")
	c := DecodeTotals(r, ranks, terminals)
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	return c
}

func stepsOf(list []float64) []LogTime {
	out := make([]LogTime, len(list))
	for i, v := range list {
		out[i] = LogTimeOf(uint64(v))
	}
	return out
}

// What was measured comes back within the error that is told with it, whatever the forms.
func TestRoundTrip(t *testing.T) {
	shapes := map[string]func(i, n int) float64{
		"same":     func(i, n int) float64 { return 5e6 },
		"nearly":   func(i, n int) float64 { return 5e6 * (1 + 0.004*float64(i%2)) },
		"linear":   func(i, n int) float64 { return 1e6 * float64(i+1) },
		"parity":   func(i, n int) float64 { return 1e6 + 3e7*float64(i%2) },
		"edge":     func(i, n int) float64 { return 1e6 + 5e6*math.Floor(float64(i)/float64(n-1)) },
		"small":    func(i, n int) float64 { return float64(i % 7) },
		"zero":     func(i, n int) float64 { return 0 },
		"longest":  func(i, n int) float64 { return 1e18 },
		"repeated": func(i, n int) float64 { return 1000 * float64(1+i*i%17) },
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 90).Draw(t, "ranks")
		var names []string
		for name := range shapes {
			names = append(names, name)
		}
		slices.Sort(names)
		draw := func(label string) []float64 {
			list := make([]float64, n)
			if rapid.Bool().Draw(t, "random") {
				scale := rapid.Float64Range(1, 1e12).Draw(t, "scale")
				for i := range list {
					list[i] = math.Floor(scale * rapid.Float64Range(0.5, 1.5).Draw(t, label))
				}
				return list
			}
			f := shapes[rapid.SampledFrom(names).Draw(t, label)]
			for i := range list {
				list[i] = f(i, n)
			}
			return list
		}
		add := func(to, list []float64) {
			for i := range list {
				to[i] += list[i]
			}
		}
		total := [kinds][]float64{make([]float64, n), make([]float64, n)}
		sites := rapid.IntRange(0, 5).Draw(t, "sites")
		truth := make([][kinds][]float64, sites)
		c := &TotalColumns{}
		for s := range sites {
			for kind := range kinds {
				truth[s][kind] = draw("site")
				add(total[kind], truth[s][kind])
			}
			c.Sites = append(c.Sites, SiteTotals{3 * s, stepsOf(truth[s][GapKind]), stepsOf(truth[s][DurationKind])})
		}
		c.Gap, c.Duration = stepsOf(total[GapKind]), stepsOf(total[DurationKind])
		if err := c.Check(n, 3*sites+1); err != nil {
			t.Fatal(err)
		}
		rest := rapid.SampledFrom([]int64{0, 1000, 1e6}).Draw(t, "rest")
		got := decodeAll(t, EncodeTotals([]*TotalColumns{c}, func() int64 { return rest })[0], n, 3*sites+1)
		for i := range n {
			all := 0.0
			for kind := range kinds {
				ns, within := got.RankTotalNs(kind, i)
				want := min(total[kind][i], math.MaxUint64)
				if math.Abs(ns-want) > within+1e-6*want || within > 0.0102*ns && within > 1 {
					t.Fatalf("total of rank %d: %g within %g, truth %g", i, ns, within, want)
				}
				all = max(all, want)
			}
			for s, terminal := range got.KnownSiteTerminals() {
				for kind := range kinds {
					ns, within, ok := got.RankSiteTotalNs(s, kind, i)
					want := truth[terminal/3][kind][i]
					if ok && (math.Abs(ns-want) > within+1e-6*want || within > max(0.0102*ns, 0.0011*total[kind][i], 8)) {
						t.Fatalf("site %d of rank %d: %g within %g, truth %g of %g", terminal/3, i, ns, within, want, total[kind][i])
					}
				}
			}
		}
		if rest == 1e6 && len(got.sites) < len(c.Sites) {
			for _, s := range c.Sites[len(got.sites):] {
				for kind := range kinds {
					if !slices.Contains(got.KnownSiteTerminals(), s.FirstTerminal) && c.mostPart(s.of(kind), kind, -1) >= leastPart {
						t.Fatalf("site of terminal %d is not there", s.FirstTerminal)
					}
				}
			}
		}
	})
}

// Columns of ranks that are alike take a few bytes on any number of ranks, as do patterns;
// and where a call site looks random, it is left out rather than doubling a file.
func TestSizes(t *testing.T) {
	const n = 16384
	fill := func(f func(i int) float64) []LogTime {
		list := make([]float64, n)
		for i := range list {
			list[i] = f(i)
		}
		return stepsOf(list)
	}
	random := uint64(1)
	noise := func(i int) float64 {
		random = random*6364136223846793005 + 1442695040888963407
		return 1e6 * (1 + float64(random>>40)/(1<<24))
	}
	same := fill(func(int) float64 { return 5e8 })
	parity := fill(func(i int) float64 { return 1e8 + 5e7*float64(i%2) })
	noisy := fill(noise)
	packed := func(c *TotalColumns) int {
		return wire.EstimatePackedSize(EncodeTotals([]*TotalColumns{c}, func() int64 { return 5000 })[0])
	}
	if n := packed(&TotalColumns{Gap: same, Duration: parity, Sites: []SiteTotals{{0, same, parity}, {1, parity, same}}}); n > 60 {
		t.Errorf("regular ranks take %d bytes", n)
	}
	c := &TotalColumns{Gap: same, Duration: same, Sites: []SiteTotals{{0, noisy, same}, {1, same, nil}}}
	if n := packed(c); n > 60 {
		t.Errorf("times that look random take %d bytes", n)
	}
	if got := decodeAll(t, EncodeTotals([]*TotalColumns{c}, func() int64 { return 5000 })[0], n, 2); len(got.KnownSiteTerminals()) != 2 {
		t.Errorf("sites %v", got.KnownSiteTerminals())
	}
}

// FuzzDecode: what is no class is an error; every time of one that is can be told.
func FuzzDecode(f *testing.F) {
	even := stepsOf([]float64{1e6, 2e6, 1e6, 2e6, 5e6})
	odd := stepsOf([]float64{9e6, 8e6, 9e6, 8e6, 5e6})
	for _, c := range []*TotalColumns{
		{Gap: even, Duration: odd},
		{Gap: odd, Duration: odd, Sites: []SiteTotals{{2, even, odd}, {4, nil, even}}},
	} {
		f.Add(EncodeTotals([]*TotalColumns{c}, func() int64 { return 1e6 })[0])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.NewReader(data, "class")
		c := DecodeTotals(r, 5, 7)
		if r.Finish() != nil {
			return
		}
		check := func(ns, within float64) {
			if !(ns >= 0) || !(within >= 0) || math.IsInf(ns, 0) || math.IsInf(within, 0) {
				t.Fatalf("%g within %g", ns, within)
			}
		}
		for i := range 5 {
			for kind := range kinds {
				check(c.RankTotalNs(kind, i))
				for s := range c.KnownSiteTerminals() {
					ns, within, _ := c.RankSiteTotalNs(s, kind, i)
					check(ns, within)
				}
			}
		}
	})
}
