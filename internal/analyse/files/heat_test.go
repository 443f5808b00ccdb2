package files

import (
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/test/mergetest"
)

// Bytes go evenly over a call's time, and none is lost when a heat is cut to its time.
func TestHeat(t *testing.T) {
	h := NewHeatMap(300, 1000, 1000+heatBins*10)
	h.Add(0, "a", false, 100, 1000+500*10, 1000+504*10)
	h.Add(299, "b", true, 30, 1000+900*10+5, 1000+901*10+5)
	h.Add(1, "b", true, 7, 0, 0)                          // before it all
	h.Add(2, "b", false, 9, math.MaxInt64, math.MaxInt64) // and behind
	h.Add(3, "c", false, 0, 1000, 2000)
	if h.RanksPerRow != 3 || len(h.Ranks) != 100 || len(h.Files) != 2 {
		t.Fatalf("%d ranks a row, %d rows, %d files", h.RanksPerRow, len(h.Ranks), len(h.Files))
	}
	for i := 500; i < 504; i++ {
		if h.Files["a"].ReadBytes[i] != 25 || h.Ranks[0].ReadBytes[i] != 25 {
			t.Errorf("part %d: %g", i, h.Files["a"].ReadBytes[i])
		}
	}
	b := h.Files["b"]
	if math.Abs(b.WrittenBytes[900]-15) > 1e-9 || math.Abs(b.WrittenBytes[901]-15) > 1e-9 || b.WrittenBytes[0] != 7 || b.ReadBytes[heatBins-1] != 9 {
		t.Errorf("b: %g, %g, %g, %g", b.WrittenBytes[900], b.WrittenBytes[901], b.WrittenBytes[0], b.ReadBytes[heatBins-1])
	}
	if got := h.TopFilesByBytes(1); len(got) != 1 || got[0] != "a" {
		t.Errorf("hottest is %q", got)
	}

	h = NewHeatMap(2, 0, heatBins*10)
	h.Add(0, "x", true, 1000, 5000, 9990)
	h.Add(1, "x", false, 50, 7000, 7000)
	bins := h.TrimToActiveTime(100)
	if bins > 100 || bins < 80 || h.FromNs != 5000 || h.ToNs < 9990 || h.ToNs > 9990+100 {
		t.Errorf("%d parts from %d to %d", bins, h.FromNs, h.ToNs)
	}
	x := h.Files["x"]
	if len(x.WrittenBytes) != bins || math.Abs(x.TotalBytes()-1050) > 1e-6 || math.Abs(h.Ranks[0].TotalBytes()-1000) > 1e-6 {
		t.Errorf("%d parts with %g bytes", len(x.WrittenBytes), x.TotalBytes())
	}
	if n := NewHeatMap(1, 0, 10).TrimToActiveTime(5); n != 0 {
		t.Errorf("%d parts of nothing", n)
	}
}

// What a trace's calls moved is in its heat.
func TestHeatOfTrace(t *testing.T) {
	h := NewHeatMap(3, 0, 1<<40)
	if _, err := Analyse(mergetest.Run(t, 3, program), Options{Heat: h}); err != nil {
		t.Fatal(err)
	}
	out, all := h.Files["out.%05d"], h.Files["all.txt"]
	near := func(bytes, want float64) bool { return math.Abs(bytes-want) < 1e-6*want } // parts of calls are added up
	if out == nil || all == nil || !near(out.TotalBytes(), 3*(10*4096+100)) || !near(all.TotalBytes(), 3*(3000+17+30)) || out.ReadBytes != nil {
		t.Errorf("out.%%05d %+v, all.txt %+v", out, all)
	}
	if !near(h.Ranks[1].TotalBytes(), 10*4096+100+3000+17+30+9) {
		t.Errorf("rank 1: %g bytes", h.Ranks[1].TotalBytes())
	}
}
