package replay

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// A replay with gaps takes as long as the program. Here it sleeps where others
// compute. That gaps are kept is tested always; how long all of it takes depends
// on what else the machine does, and is tested when it does nothing else:
// SPOOR_TEST_REPLAY=all, the median of five. bench/replay has other programs.
func TestReplayTakesAsLong(t *testing.T) {
	steps, runs, alone := "50", 1, os.Getenv("SPOOR_TEST_REPLAY") == "all"
	modes := []string{"stats"}
	if alone {
		steps, runs, modes = "400", 5, []string{"stats", "lossless"}
	}
	m := installed(t)[0]
	binary, err := build(m, "testdata/paced.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range modes {
		t.Setenv("SPOOR_TIMING", mode)
		var off []float64
		for range runs {
			off = append(off, takes(t, m, binary, steps))
		}
		slices.Sort(off)
		if median := off[len(off)/2]; alone && math.Abs(median) > 15 {
			t.Errorf("%s: the replay takes %+.1f %% longer (median of %v)", mode, median, off)
		}
	}
}

// takes records a program and replays it, and returns by how many percent the replay
// takes longer.
func takes(t *testing.T, m *mpis.MPI, binary, steps string) float64 {
	t.Helper()
	dir := t.TempDir()
	if err := record(m, dir, 4, binary, steps); err != nil {
		t.Fatal(err)
	}
	out, err := spoor(m, dir, "replay", "--json", "--mpi", m.Name, "a.spoor")
	if err != nil {
		t.Fatalf("%v\n%s", err, mpis.Tail(out))
	}
	var rep struct {
		Wall     float64 `json:"wall_ns"`
		Original float64 `json:"original_wall_ns"`
		Ranks    []struct {
			Compute float64 `json:"compute_ns"`
			Wanted  float64 `json:"wanted_ns"`
		} `json:"ranks"`
	}
	if err := json.Unmarshal([]byte(out), &rep); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	for i, x := range rep.Ranks {
		// Each step sleeps for 5 ms at least, on average over the steps; a replay that
		// is late may leave out a tenth of it.
		if x.Wanted < 50*5e6*0.95 || x.Compute < 0.89*x.Wanted {
			t.Errorf("rank %d computed for %.3g ns, by the trace's gaps %.3g", i, x.Compute, x.Wanted)
		}
	}
	off := 100 * (rep.Wall/rep.Original - 1)
	t.Logf("original %.2f s, replay %.2f s: %+.1f %%", rep.Original/1e9, rep.Wall/1e9, off)
	return off
}
