package profile

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/report"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	traces "github.com/spoor-hpc/spoor/trace"
)

// Names that the program gives to objects are shown with the calls that are about these objects, from then on, and not with others
// that have got the same handle.
func TestNames(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := trace(t, m, "names.c")
			var got []string
			for line := range strings.Lines(spoor(t, dir, "dump", "--json", "--rank", "1", "app.spoor")) {
				var c struct {
					Call, Function string
					Names          map[string]string
				}
				if err := json.Unmarshal([]byte(line), &c); err != nil {
					t.Fatal(err)
				}
				for _, name := range c.Names {
					got = append(got, c.Call+c.Function+" "+name)
				}
			}
			want := []string{
				"MPI_Comm_set_name halo", "MPI_Barrier halo", "MPI_Comm_free halo",
				"MPI_Type_set_name line", "MPI_Type_commit line", "MPI_Bcast line",
				"MPI_Win_set_name window on data", "MPI_Win_fence window on data", "MPI_Win_free window on data",
				"MPI_Type_free line",
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			if out := spoor(t, dir, "dump", "--rank", "0", "--call", "MPI_Bcast", "app.spoor"); !strings.Contains(out, `# datatype0 "line"`) {
				t.Errorf("dump says %s", out)
			}
			spoor(t, dir, "export", "--to", "csv", "app.spoor", "-o", "tables")
			if text, err := os.ReadFile(filepath.Join(dir, "tables", "communicators.csv")); err != nil || !strings.Contains(string(text), "1,MPI_Comm_dup,halo,") {
				t.Errorf("the table of communicators: %v\n%s", err, text)
			}
			spoor(t, dir, "export", "--to", "otf2", "app.spoor", "-o", "archive")
			if out, err := exec.Command(need.Command(t, "otf2-print"), "-G", filepath.Join(dir, "archive", "traces.otf2")).CombinedOutput(); err != nil || !strings.Contains(string(out), `"window on data (window 0)"`) {
				t.Errorf("the archive's windows: %v\n%s", err, out)
			}
			r, err := traces.Open(filepath.Join(dir, "app.spoor"))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			page, err := report.CollectData(r, report.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, about := range []string{"halo (comm 1)", `MPI_COMM_WORLD, datatype "line"`, `win "window on data"`} {
				if !slices.Contains(page.Timeline.SingleCalls.Comms, about) {
					t.Errorf("no call is about %s in the report: %q", about, page.Timeline.SingleCalls.Comms)
				}
			}
		})
	}
}
