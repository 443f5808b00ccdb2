package replay

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// What the table says that ranks computed is the sum over their gaps, in the original and in the replay: a program knows how much
// that was, a thousandth of its run. The difference of two rounded numbers, run time and time in MPI, would be nothing like it.
func TestReplaySumsComputing(t *testing.T) {
	for _, m := range installed(t) {
		binary, err := build(m, "testdata/knows.c")
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []string{"stats", "lossless"} {
			t.Run(m.Name+" "+mode, func(t *testing.T) {
				t.Setenv("SPOOR_TIMING", mode)
				mpis.Steady(t, func(complain func(string, ...any)) { // a rank that isn't running computes, too
					dir := t.TempDir()
					if err := record(m, dir, 2, binary, "20", "30"); err != nil {
						t.Fatal(err)
					}
					for _, flags := range [][]string{nil, {"--no-compute"}} {
						out, err := spoor(m, dir, append(append([]string{"replay", "--json", "--mpi", m.Name}, flags...), "a.spoor")...)
						if err != nil {
							t.Fatal(err)
						}
						var rep struct {
							Ranks []struct {
								Compute  float64 `json:"compute_ns"`
								Held     float64 `json:"held_ns"`
								Original struct {
									Compute float64 `json:"compute_ns"`
									Within  float64 `json:"compute_within_ns"`
									Known   bool    `json:"known"`
								} `json:"original"`
							} `json:"ranks"`
						}
						if err := json.Unmarshal([]byte(out), &rep); err != nil {
							t.Fatalf("%v in %s", err, out)
						}
						for rank, x := range rep.Ranks {
							text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("knows.%d", rank)))
							if err != nil {
								t.Fatal(err)
							}
							knows, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
							if err != nil {
								t.Fatal(err)
							}
							// Gaps reach from call to call, a little further than the program's clock.
							o := x.Original
							if !o.Known || o.Compute+o.Within < knows || o.Compute-o.Within > 1.5*knows+2e6 || o.Within > 0.02*o.Compute {
								complain("rank %d computed for %.0f ns, the table's original for %.0f ± %.0f", rank, knows, o.Compute, o.Within)
							}
							if flags == nil && x.Compute < 0.85*o.Compute || x.Compute < 0 || x.Held < 0 {
								complain("%q: rank %d computed for %.0f ns and was held for %.0f, the original computed for %.0f", flags, rank, x.Compute, x.Held, o.Compute)
							}
						}
					}
				})
			})
		}
	}
}
