package trace

import (
	"errors"
	"reflect"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// withDrawn is the sample with the first repeated symbol of its first class drawn: five rounds.
func withDrawn(t testing.TB, change func(l *grammar.SyntheticLoop)) *sections.Content {
	c := sample(t)
	if grammar.CountRepeatedSymbols(c.Classes[0].Streams) == 0 {
		t.Fatal("nothing is repeated")
	}
	c.NoTimes, c.Classes[0].Lanes = true, nil // which are of as many calls as there were
	l := grammar.SyntheticLoop{DrawKeyOfRank: []int64{0, 2}}
	if change != nil {
		change(&l)
	}
	c.SyntheticLoops = &grammar.SyntheticTripCounts{Seed: 3, Loops: make([][]grammar.SyntheticLoop, len(c.Classes)), Families: []SyntheticLoops{{
		PrecisionPercent: 90, LoopRuns: 4, Distribution: Distribution{Least: Extreme{Value: 4}, Most: Extreme{Value: 6, Rank: 2}, Bins: []Bin{{Low: 4, High: 6, ReplacingValue: 5, Count: 4}}},
	}}}
	c.SyntheticLoops.Loops[0] = []grammar.SyntheticLoop{l}
	return c
}

// TestDrawn: numbers of rounds are drawn, and what they were comes back.
func TestDrawn(t *testing.T) {
	c := withDrawn(t, nil)
	before := c.Classes[0].Streams[0]
	b, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(r); err != nil {
		t.Fatal(err)
	}
	list, err := r.SyntheticLoops()
	if err != nil || !reflect.DeepEqual(list, c.SyntheticLoops.Families) {
		t.Errorf("%+v, error %v", list, err)
	}
	if seed, err := r.SyntheticSeed(); seed != 3 || err != nil {
		t.Errorf("seed %d, error %v", seed, err)
	}
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	some := 0
	for n := range k.Terminals() {
		was, is := before.TerminalCounts(k.Terminals())[n], k.TerminalCounts(0)[n]
		if in := k.SyntheticLoopsIndex(n) == 0; in != (was != is) || in && is%5 != 0 {
			t.Errorf("terminal %d in a drawn loop: %t; %d calls, were %d", n, in, is, was)
		} else if in {
			some++
		}
	}
	if some == 0 {
		t.Error("nothing is drawn")
	}
}

// TestDrawnLanes: values that go from call to call would be of another number of calls.
func TestDrawnLanes(t *testing.T) {
	c := withDrawn(t, nil)
	c.Classes[0].Lanes = sample(t).Classes[0].Lanes
	b, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(b)
	if err == nil {
		_, err = r.Rank(0)
	}
	if !errors.Is(err, ErrFormat) {
		t.Errorf("error %v", err)
	}
}

// TestBadDrawn: what can't be drawn is no trace.
func TestBadDrawn(t *testing.T) {
	for name, change := range map[string]func(l *grammar.SyntheticLoop){
		"symbol": func(l *grammar.SyntheticLoop) { l.RepeatedSymbol = 99 },
		"family": func(l *grammar.SyntheticLoop) { l.Family = 1 },
		"keys":   func(l *grammar.SyntheticLoop) { l.DrawKeyOfRank = []int64{0} },
	} {
		raw, err := sections.RawSections(withDrawn(t, nil), wire.EstimatePackedSize, true)
		if err != nil {
			t.Fatal(err)
		}
		raw[container.SectionSyntheticLoops] = withDrawn(t, change).AppendSyntheticLoops(nil)
		r, err := open(container.Assemble(raw, unpacked, nil))
		if err == nil {
			err = Check(r)
		}
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
