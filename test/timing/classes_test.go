package timing

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// Classes of ranks that are alike share the extremes of their call sites: over all of them these are the shortest and
// the longest call, with their ranks, as the same trace has each call by itself.
func TestExtremesOfClasses(t *testing.T) {
	const ranks = 9
	m := mpis.Need(t)[0]
	dir := t.TempDir()
	app, _ := compile.ByName("cg")
	binary, err := app.Build(m, dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "cg.spoor")
	line := append([]string{mpis.NeedSpoor(t), "run", "-q", "--timing", "lossless", "-o", file}, m.Command(ranks, append([]string{binary}, app.Quick...)...)...)
	if out := (mpis.Job{MPI: m, Dir: dir}).Run(line...); out.Err != nil {
		t.Fatal(out)
	}
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Classes() < 2 {
		t.Fatalf("%d class of ranks", r.Classes())
	}
	type extreme struct {
		min, max float64
		of       [ranks]float64 // the longest of each rank
		calls    int64
	}
	seen := make(map[string]*extreme)
	for rank := range ranks {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range k.TimedCalls(0) {
			if err != nil {
				t.Fatal(err)
			}
			x := seen[c.Name()]
			if x == nil {
				x = &extreme{min: math.Inf(1), max: -1}
				seen[c.Name()] = x
			}
			x.calls++
			ns := float64(c.Timing.Duration.Ns)
			if ns < x.min {
				x.min = ns
			}
			x.max, x.of[rank] = max(x.max, ns), max(x.of[rank], ns)
		}
	}
	s, err := sums.Summarise(r)
	if err != nil {
		t.Fatal(err)
	}
	near := func(got uint64, want float64) bool { return math.Abs(float64(got)-want) <= 1.5+0.016*want }
	for _, f := range s.Functions {
		x := seen[f.Name]
		if f.Name == "MPI_Finalize" { // nothing is known of it
			continue
		}
		if x == nil || x.calls != f.Calls || !near(f.MinNs, x.min) || !near(f.MaxNs, x.max) || !near(f.MaxNs, x.of[f.MaxRank]) {
			t.Errorf("%s: %+v, want %+v", f.Name, f, x)
		}
	}
}
