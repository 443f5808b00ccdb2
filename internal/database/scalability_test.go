package database

import (
	"math"
	"strings"
	"testing"
)

func compared(a, b map[string]float64) *Comparison {
	c := &Comparison{A: Run{Ranks: int(a["ranks"])}, B: Run{Ranks: int(b["ranks"])}}
	for _, name := range whole {
		va, known := a[name]
		vb, knownB := b[name]
		c.Totals = append(c.Totals, TotalPair{Name: name, A: va, B: vb, KnownA: known, KnownB: knownB})
	}
	return c
}

// A program that does a quarter more work on four times the ranks, half of whose time goes into MPI then.
func TestScalability(t *testing.T) {
	c := compared(
		map[string]float64{"ranks": 2, "span_ns": 1000, "parallel": 0.8, "load_balance": 1, "communication": 0.8},
		map[string]float64{"ranks": 8, "span_ns": 500, "parallel": 0.5, "load_balance": 0.625, "communication": 0.8})
	a, b := c.Scalability()
	if a.Speedup != 1 || a.Computation != 1 || math.Abs(a.Global()-0.8) > 1e-12 {
		t.Errorf("the first run beside itself: %+v", a)
	}
	if b.Speedup != 2 || math.Abs(b.Computation-1600./2000) > 1e-12 || math.Abs(b.Global()-0.4) > 1e-12 {
		t.Errorf("%+v", b)
	}
	// Global efficiency is what the speedup says, beside that of the first run.
	if want := a.Global() * b.Speedup * 2 / 8; math.Abs(b.Global()-want) > 1e-12 {
		t.Errorf("global efficiency %g, the speedup says %g", b.Global(), want)
	}
	if list := c.Regressions(0.3); len(list) != 2 || !strings.HasPrefix(list[0], "parallel got worse: -37.5 %") || !strings.HasPrefix(list[1], "load_balance got worse: -37.5 %") {
		t.Errorf("worse by more than 30 %%: %q", list)
	}
	if list := c.Regressions(0.4); len(list) != 0 {
		t.Errorf("worse by more than 40 %%: %q", list)
	}
	same := compared(map[string]float64{"ranks": 2, "span_ns": 1000}, map[string]float64{"ranks": 2, "span_ns": 1100})
	if list := same.Regressions(0.05); len(list) != 1 || !strings.HasPrefix(list[0], "span_ns got worse: +10.0 %") {
		t.Errorf("a tenth longer on as many ranks: %q", list)
	}
}
