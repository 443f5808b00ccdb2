package grammar

import (
	"fmt"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/trace/model"
)

func family(values ...int64) model.SyntheticLoops {
	var x model.SyntheticLoops
	for _, v := range values {
		x.Bins = append(x.Bins, model.Bin{Low: v, High: v, ReplacingValue: v, Count: 3})
	}
	return x
}

// TestRounds: numbers are a key's and a seed's own, and each set of them is spread as the distribution is.
func TestRounds(t *testing.T) {
	values := []int64{1, 2, 5, 9}
	d := &SyntheticTripCounts{Seed: 7, Families: []model.SyntheticLoops{family(values...), family(values...)}}
	all := make(map[string]int)
	for f := range d.Families {
		for key := range int64(20) {
			list := d.DrawTripCounts(f, key, 40)
			if !slices.Equal(list, d.DrawTripCounts(f, key, 40)) {
				t.Fatalf("key %d draws others each time", key)
			}
			all[fmt.Sprint(list)]++
			for _, v := range values {
				n := 0
				for _, x := range list {
					if x == v {
						n++
					}
				}
				if n < 9 || n > 11 {
					t.Errorf("key %d: %d of 40 are %d", key, n, v)
				}
			}
		}
	}
	if len(all) != 2*20 {
		t.Errorf("%d different of 40", len(all))
	}
}

// loops is t0, five times (t1 drawn, t2 as often as varies, t3³), t3.
func loops() *Grammar {
	return &Grammar{Rules: [][]Symbol{
		{{TerminalOrRule: 0, Count: 1}, {TerminalOrRule: -1, Count: 5}, {TerminalOrRule: -3, Count: 1}},
		{{TerminalOrRule: -2, Count: 2}, {TerminalOrRule: 2, Count: 4}, {TerminalOrRule: -3, Count: 1}},
		{{TerminalOrRule: 1, Count: 1}},
		{{TerminalOrRule: 3, Count: 3}},
	}}
}

func TestUnroll(t *testing.T) {
	d := &SyntheticTripCounts{Families: []model.SyntheticLoops{family(7)}}
	u, err := d.UnrollStreams([]*Grammar{loops()}, []int{2}, []SyntheticLoop{{1, 0, []int64{4, 4}}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	g := u.Streams[0]
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	if want := loops(); !slices.Equal(g.Expand(nil), want.Expand(nil)) {
		t.Errorf("%v, want %v", g.Rules, want.Rules)
	}
	n := 0
	for i, from := range u.OriginalSymbols {
		if from == 0 {
			if u.DrawnCounts[i] != nil {
				t.Errorf("%d varies and is drawn", i)
			}
			continue
		}
		n++
		if !slices.Equal(u.DrawnCounts[i], []int64{7, 7}) {
			t.Errorf("run %d: %v", i, u.DrawnCounts[i])
		}
	}
	if n != 5 || len(u.OriginalSymbols) != 10 {
		t.Errorf("%d runs drawn, %v", n, u.OriginalSymbols)
	}
	if of := LoopFamiliesOfTerminals([]*Grammar{loops()}, []SyntheticLoop{{1, 0, nil}}, 4); !slices.Equal(of, []int{0, 1, 0, 0}) {
		t.Errorf("families %v", of)
	}
}

// TestBounds: what would be too much, or isn't one thing for all ranks, is refused.
func TestBounds(t *testing.T) {
	d := &SyntheticTripCounts{Families: []model.SyntheticLoops{family(7)}}
	g := loops()
	g.Rules[0][1].Count = 1 << 40
	deep := &Grammar{Rules: [][]Symbol{{{TerminalOrRule: -1, Count: 1}}}}
	for r := range int32(2 * mostNested) {
		deep.Rules = append(deep.Rules, []Symbol{{TerminalOrRule: -r - 2, Count: 1}})
	}
	deep.Rules = append(deep.Rules, []Symbol{{TerminalOrRule: 0, Count: 2}})
	for name, x := range map[string]struct {
		g       *Grammar
		varying []int
		loop    SyntheticLoop
	}{
		"many":    {g, nil, SyntheticLoop{1, 0, []int64{1}}},
		"deep":    {deep, nil, SyntheticLoop{0, 0, []int64{1}}},
		"symbol":  {loops(), nil, SyntheticLoop{9, 0, []int64{1}}},
		"family":  {loops(), nil, SyntheticLoop{1, 1, []int64{1}}},
		"keys":    {loops(), nil, SyntheticLoop{1, 0, nil}},
		"around":  {loops(), []int{0}, SyntheticLoop{1, 0, []int64{1}}},
		"varying": {loops(), []int{1}, SyntheticLoop{1, 0, []int64{1}}},
		"outer":   {loops(), nil, SyntheticLoop{0, 0, []int64{1}}},
	} {
		loops := []SyntheticLoop{x.loop}
		if name == "outer" { // a drawn loop in a drawn loop
			loops = append(loops, SyntheticLoop{1, 0, []int64{1}})
		}
		ranks := 1
		if name == "many" {
			ranks = mostDrawn >> 8
		}
		if _, err := d.UnrollStreams([]*Grammar{x.g}, x.varying, loops, ranks); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
