package profile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/analyse/hang"
	"github.com/spoor-hpc/spoor/internal/report"
	"github.com/spoor-hpc/spoor/test/mpis"
	traces "github.com/spoor-hpc/spoor/trace"
)

// Threads are known by the functions that they were made for, whichever of the recorder's streams they are in, with stacks and without.
func TestThreadsHaveNames(t *testing.T) {
	for _, m := range mpis.Need(t) {
		for _, flags := range [][]string{nil, {"--stack", "4"}, {"--timing", "lossless"}} {
			t.Run(strings.Join(append([]string{m.Name}, flags...), " "), func(t *testing.T) {
				dir := traceWith(t, m, "begun.c", flags, "-g", "-O1", "-fopenmp", "-pthread")
				var got []string
				for line := range strings.Lines(spoor(t, dir, "dump", "--rank", "1", "app.spoor")) {
					if call, of, is := strings.Cut(strings.TrimSpace(line), " # thread of "); is {
						_, call, _ = strings.Cut(call, " ")
						name, _, _ := strings.Cut(call, "(")
						got = append(got, name+" "+of)
					}
				}
				slices.Sort(got)
				want := []string{"MPI_Comm_rank worker", "MPI_Comm_rank worker", "MPI_Comm_size asker", "MPI_Finalized main._omp_fn.0"}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("-want +got:\n%s", d)
				}
				if out := spoor(t, dir, "calltree", "app.spoor"); !strings.Contains(out, ", thread 1 (worker, asker, main._omp_fn.0)") {
					t.Errorf("profile says %s", out)
				}
				r, err := traces.Open(filepath.Join(dir, "app.spoor"))
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				named := func(s traces.Site) string { return fmt.Sprintf("function at %#x", s.Offset) }
				page, err := report.CollectData(r, report.Options{})
				if err != nil {
					t.Fatal(err)
				}
				rows := 0
				for _, row := range page.Timeline.Rows {
					if (row.Thread > 0) != (row.StartFunction != "") {
						t.Errorf("the report's row of rank %d, thread %d, was made for %q", row.FirstRank, row.Thread, row.StartFunction)
					}
					rows += min(1, row.Thread)
				}
				at, err := hang.Analyse(r, hang.Options{NameThread: named})
				if err != nil {
					t.Fatal(err)
				}
				threads := at.States[0].Ranks[0].Threads
				if len(threads) < 2 || threads[0].ThreadFunction != "" || strings.Count(threads[1].ThreadFunction, "function at 0x") != 3 || rows != 2 {
					t.Errorf("where has threads %+v, the report %d rows of such", threads, rows)
				}
			})
		}
	}
}
