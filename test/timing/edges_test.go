package timing

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// MPI_Init and MPI_Finalize last until the last rank has come, which is waiting, and all verbs divide by the same run time.
func TestEdges(t *testing.T) {
	spoor := mpis.NeedSpoor(t)
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			const ranks = 4
			dir := t.TempDir()
			program := filepath.Join(dir, "edges")
			if err := m.Compile(program, mpis.Root("test", "timing", "testdata", "edges.c")); err != nil {
				t.Fatal(err)
			}
			line := append([]string{spoor, "run", "-q", "-o", "t.spoor", "--waits", "always"}, m.Command(ranks, program)...)
			if out := (mpis.Job{MPI: m, Dir: dir}).Run(line...); out.Err != nil {
				t.Fatal(out)
			}
			var came, began, ended [ranks]float64
			last := [2]float64{}
			for rank := range ranks {
				text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("truth.%d", rank)))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := fmt.Sscan(string(text), &came[rank], &began[rank], &ended[rank]); err != nil {
					t.Fatal(err)
				}
				last[0], last[1] = max(last[0], came[rank]), max(last[1], ended[rank])
			}
			want := map[waits.Kind]float64{}
			for rank := range ranks {
				want[waits.WaitAtInit] += last[0] - came[rank]
				want[waits.WaitAtFinalize] += last[1] - ended[rank]
			}
			ask := func(into any, args ...string) {
				t.Helper()
				c := exec.Command(spoor, append(args, "--json", "t.spoor")...)
				c.Dir = dir
				out, err := c.Output()
				if err == nil {
					err = json.Unmarshal(out, into)
				}
				if err != nil {
					t.Fatalf("%v: %v", args, err)
				}
			}
			var w waits.Report
			ask(&w, "waits")
			for _, k := range w.Kinds {
				if s, edge := want[k.Kind]; edge {
					// Ranks that are sent word one after the other leave at different times, and a loaded machine takes its time.
					if got := float64(k.WaitedNs) / 1e9; math.Abs(got-s) > 0.03*s+0.02 {
						t.Errorf("%v: %.3f s, the program measured %.3f s", k.Kind, got, s)
					}
					delete(want, k.Kind)
				}
			}
			if len(want) > 0 {
				t.Errorf("no %v among %+v", want, w.Kinds)
			}
			var p struct {
				SpanNs int64 `json:"span_ns"`
			}
			ask(&p, "profile")
			var i struct {
				TotalNs int64 `json:"total_ns"`
				SpanNs  int64 `json:"span_ns"`
			}
			ask(&i, "info")
			if a, b := float64(p.SpanNs), float64(w.ThreadRunNs); math.Abs(a-b) > 0.01*a {
				t.Errorf("the run is %.3f s of all ranks for profile, %.3f s for waits", a/1e9, b/1e9)
			}
			// From the first call of each rank until all have come to MPI_Finalize, but for the recorder's own time.
			all := 0.0
			for rank := range ranks {
				all += last[1] - came[rank]
			}
			if got := float64(p.SpanNs) / 1e9; math.Abs(got-all) > 0.1*all {
				t.Errorf("the run is %.3f s of all ranks, by the program %.3f s", got, all)
			}
		})
	}
}
