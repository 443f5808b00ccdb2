package replay

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// Ranks of a replay compute as unequally as those of the program, whatever the trace has
// of times.
func TestUnequalRanks(t *testing.T) {
	m := installed(t)[0]
	binary, err := build(m, mpis.Root("test", "proxy", "testdata", "uneven.c"))
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"stats", "hist", "lossless"} {
		t.Run(mode, func(t *testing.T) {
			t.Setenv("SPOOR_TIMING", mode)
			mpis.Steady(t, func(complain func(string, ...any)) {
				dir := t.TempDir()
				if err := record(m, dir, 3, binary); err != nil {
					t.Fatal(err)
				}
				out, err := spoor(m, dir, "replay", "--json", "--mpi", m.Name, "--pace", "gaps", "a.spoor")
				if err != nil {
					t.Fatalf("%v\n%s", err, mpis.Tail(out))
				}
				var rep struct {
					Ranks []struct {
						Compute float64 `json:"compute_ns"`
						Wanted  float64 `json:"wanted_ns"`
					} `json:"ranks"`
				}
				if err := json.Unmarshal([]byte(out), &rep); err != nil {
					t.Fatalf("%v in\n%s", err, out)
				}
				for rank, x := range rep.Ranks {
					want := computed(t, filepath.Join(dir, fmt.Sprintf("truth.%d", rank)))
					if math.Abs(x.Wanted-want) > 0.02*want+10e6 { // 10 ms: a rank may lose its core between its own clock and the recorder's
						complain("rank %d is to compute for %.4g s, the program's did for %.4g", rank, x.Wanted/1e9, want/1e9)
					}
					if x.Compute < 0.9*want {
						complain("rank %d computed for %.4g s, the program's for %.4g", rank, x.Compute/1e9, want/1e9)
					}
				}
			})
		})
	}
}

// computed is what a rank of uneven.c computed in all parts, in nanoseconds.
func computed(t *testing.T, path string) float64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := 0.0
	for line := range strings.Lines(string(text)) {
		var name string
		var n int
		var s float64
		if _, err := fmt.Sscan(line, &name, &n, &s); err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		if name != "entry" { // which is part of another
			all += s
		}
	}
	return all * 1e9
}
