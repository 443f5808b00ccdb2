package main

import (
	"testing"

	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
	"github.com/spoor-hpc/spoor/internal/timing"
)

// Statistics and histograms take room by distinct calls. Sixteen times the ranks add
// little, as extremes get larger and histograms that had a few values fill up; ten
// times the calls the same.
func TestSizeClass(t *testing.T) {
	for _, tc := range []struct {
		program string
		again   bool // can be repeated without making new communicators and types
	}{{"st2d", false}, {"st3d", false}, {"cg", true}} {
		p, _ := skeleton.ByName(tc.program)
		for _, mode := range sizeModes {
			get := func(ranks, iterations int) size {
				x, err := sizeOf(p, mode, ranks, iterations)
				if err != nil {
					t.Fatal(err)
				}
				return x
			}
			each := func(x size) float64 { return float64(x.times) / float64(x.sites) }
			small, large := get(16, 1), get(256, 1)
			t.Logf("%s, %s: %d bytes of %d calls, %d of %d", tc.program, mode, small.times, small.calls, large.times, large.calls)
			if a, b := each(small), each(large); b > 1.35*a {
				t.Errorf("%s, %s: %.1f bytes a distinct call on 16 ranks, %.1f on 256", tc.program, mode, a, b)
			}
			// Five bins of two histograms, by two places before on the average.
			if most := map[timing.Mode]float64{timing.ModeStats: 30, timing.ModeHist: 150}[mode]; each(large) > most {
				t.Errorf("%s, %s: %.1f bytes a distinct call", tc.program, mode, each(large))
			}
			if !tc.again {
				continue
			}
			if more := get(16, 10); more.sites != small.sites || more.calls < 9*small.calls || each(more) > 1.1*each(small) {
				t.Errorf("%s, %s: %+v, ten times over %+v", tc.program, mode, small, more)
			}
		}
	}
}

// What was measured is not measured again, unless it is to be measured otherwise.
func TestCache(t *testing.T) {
	path := t.TempDir() + "/sub/cache.json"
	c := openCache(path, "so")
	if c.program("cg") != nil {
		t.Error("a program from nowhere")
	}
	if err := c.add(&program{Name: "cg", Calls: 7, Results: []result{{Codec: "sz", Ratio: 2}}}); err != nil {
		t.Fatal(err)
	}
	if p := openCache(path, "so").program("cg"); p == nil || p.Calls != 7 || p.Results[0].Ratio != 2 {
		t.Errorf("%+v", p)
	}
	if p := openCache(path, "otherwise").program("cg"); p != nil {
		t.Errorf("%+v, measured otherwise", p)
	}
}
