package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
)

// Every program comes back call by call, on grids that divide evenly and on
// others; measure compares all ranks.
func TestRoundTrip(t *testing.T) {
	for _, p := range skeleton.All {
		for _, ranks := range []int{1, 2, 9, 16, 30, 64} {
			if p.Fits != nil && !p.Fits(ranks) {
				continue
			}
			r, err := measure(p, ranks, ranks == 16, "")
			if err != nil {
				t.Errorf("%s on %d ranks: %v", p.Name, ranks, err)
				continue
			}
			if r.Verified != ranks {
				t.Errorf("%s: %d of %d ranks compared", p.Name, r.Verified, ranks)
			}
			if r.Events == 0 || r.Classes == 0 || r.Content >= r.File {
				t.Errorf("%s on %d ranks: %+v", p.Name, ranks, r)
			}
			if ranks == 16 && (!r.Pilgrim.Known || r.Pilgrim.Packed >= r.Pilgrim.Plain) {
				t.Errorf("%s: Pilgrim's scheme: %+v", p.Name, r.Pilgrim)
			}
		}
	}
}

// What is regular stays a handful of classes and hardly grows; and nothing
// takes more room than in Pilgrim's scheme with the same entropy coder behind.
func TestFlat(t *testing.T) {
	for _, tc := range []struct {
		name    string
		classes int
	}{{"st2d", 1}, {"st3d", 1}, {"cg", 1}, {"ft", 1}, {"lu", 9}, {"bfly", 1}, {"cannon", 1}, {"bt", 1}, {"sp", 1}} {
		p, _ := skeleton.ByName(tc.name)
		size := func(ranks int) int {
			r, err := measure(p, ranks, true, "")
			if err != nil {
				t.Fatal(err)
			}
			if r.Classes != tc.classes {
				t.Errorf("%s on %d ranks: %d classes, want %d", tc.name, ranks, r.Classes, tc.classes)
			}
			if r.Content > r.Pilgrim.Packed {
				t.Errorf("%s on %d ranks: %d bytes, Pilgrim's scheme %d", tc.name, ranks, r.Content, r.Pilgrim.Packed)
			}
			return r.Content
		}
		if small, large := size(16), size(256); large > 4*small {
			t.Errorf("%s: %d bytes on 16 ranks, %d on 256", tc.name, small, large)
		}
	}
}

func TestOutput(t *testing.T) {
	p, _ := skeleton.ByName("ft")
	var results []*Result
	for _, ranks := range []int{16, 64} {
		r, err := measure(p, ranks, true, "")
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	path := filepath.Join(t.TempDir(), "plot.svg")
	if err := writePlot(path, results); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(svg), "<polyline"); n != len(lines) {
		t.Errorf("%d lines in the plot", n)
	}
	var b strings.Builder
	printHead(&b)
	printRow(&b, results[0])
	again, err := readTable(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(again) != 1 || again[0].Content != results[0].Content || again[0].Ranks != 16 {
		t.Errorf("read back %+v", again)
	}
	printSections(&b, results[0])
	printSummary(&b, results)
	for _, want := range []string{"ft", "signatures", "to root"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %q", want, b.String())
		}
	}
}
