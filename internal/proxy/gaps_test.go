package proxy

import (
	"testing"

	"spoor/internal/timing/hist"
)

func TestGaps(t *testing.T) {
	h := hist.New(5, 0)
	for i := range uint64(100) {
		v := uint64(100)
		if i%10 == 0 {
			v = 5_000_000
		}
		h.Add(v)
	}
	short := hist.New(5, 0)
	short.Add(20)
	short.Add(80)
	g := &generator{tableOf: make(map[string]string), lines: make(map[string]*line)}
	for i, l := range []*line{{hist: h}, {hist: short}, {}} {
		l.order = i
		g.lines[string(rune('a'+i))] = l
		for range 4 {
			l.gap.Add(1500)
		}
	}
	g.gapTexts()
	for name, want := range map[string]string{"a": "drawn(2, table0)", "b": "1.5", "c": "1.5"} {
		if got := g.lines[name].gapText; got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
	if len(g.tables) != 1 || g.tables[0] != "static const struct gap table0[] = {{0.9, 0.1}, {0.1, 5000}};" {
		t.Errorf("%q", g.tables)
	}
}
