package profile

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// What loops have of the critical path, with what is in no loop, is what call sites have; the program's loop is where its source has it.
func TestLoopsOfThePath(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := traceWith(t, m, "window.c", []string{"--timing", "lossless", "--stack", "8"}, "-g", "-O1")
			source, err := os.ReadFile("testdata/window.c")
			if err != nil {
				t.Fatal(err)
			}
			before, _, _ := strings.Cut(string(source), "for (int i")
			loop := fmt.Sprintf("window.c:%d", strings.Count(before, "\n")+1)
			var got struct {
				Path struct {
					Sites []struct {
						Compute int64 `json:"compute_ns"`
						MPI     int64 `json:"mpi_ns"`
					}
					Loops []struct {
						Function, Place string
						Depth           int
						Compute         int64 `json:"compute_ns"`
						MPI             int64 `json:"mpi_ns"`
					}
				}
			}
			if err := json.Unmarshal([]byte(spoor(t, dir, "waits", "--path", "--json", "app.spoor")), &got); err != nil {
				t.Fatal(err)
			}
			sites, loops := int64(0), int64(0)
			for _, s := range got.Path.Sites {
				sites += s.Compute + s.MPI
			}
			found := false
			for _, l := range got.Path.Loops {
				if l.Depth == 0 {
					loops += l.Compute + l.MPI
				}
				found = found || l.Function == "main" && l.Place == loop && l.MPI > 0
			}
			if sites == 0 || sites != loops {
				t.Errorf("call sites have %d ns of the path, loops %d", sites, loops)
			}
			if !found {
				t.Errorf("no loop at %s: %+v", loop, got.Path.Loops)
			}
			if out := spoor(t, dir, "waits", "--path", "--top", "0", "app.spoor"); !strings.Contains(out, "main "+loop) || !strings.Contains(out, "in no loop") {
				t.Errorf("it says %s", out)
			}
		})
	}
}
