package timing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// With --timing none, the trace has the same calls as else and nothing of times; replay and
// proxy make do without.
func TestNone(t *testing.T) {
	a := build(t, "line.c", 2)
	a.args = []string{"50"}
	none := a.trace("--timing", "none")
	if err := os.Rename(filepath.Join(a.job.Dir, "t.spoor"), filepath.Join(a.job.Dir, "none.spoor")); err != nil {
		t.Fatal(err)
	}
	stats := a.trace()
	if none.HasTimes() || !stats.HasTimes() {
		t.Fatalf("times: %t without, %t with", none.HasTimes(), stats.HasTimes())
	}
	for _, s := range none.Sections() {
		switch s.Name {
		case "times", "series", "clocks", "places", "totals", "asides":
			t.Errorf("section %s of %d bytes", s.Name, s.StoredBytes)
		}
	}
	for rank := range 2 {
		k, err := none.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := k.Process(); err != nil || p.InitWallClockNs != 0 || p.FirstThreadNs != 0 || p.AllThreadsMPINs != 0 || p.Calls == 0 {
			t.Errorf("rank %d: %+v, %v", rank, p, err)
		}
	}
	if none.Meta()[trace.MetaStart] == "" {
		t.Error("it does not say when the run started")
	}
	a.spoor("diff", "none.spoor", "t.spoor")
	if out := a.job.Run(mpis.Root("bin", "spoor"), "dump", "--times", "none.spoor"); out.Err == nil || !strings.Contains(out.Stderr, trace.ErrNoTimes.Error()) {
		t.Errorf("dump --times: %v", out)
	}
	if out := a.spoor("replay", "-o", "again.spoor", "none.spoor"); !strings.Contains(out, trace.ErrNoTimes.Error()) {
		t.Errorf("replay: %s", out)
	}
	a.spoor("diff", "--any-address", "none.spoor", "again.spoor")
}
