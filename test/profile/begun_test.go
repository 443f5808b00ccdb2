package profile

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/mpis"
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
				if out := spoor(t, dir, "profile", "app.spoor"); !strings.Contains(out, ", thread 1 (worker, asker, main._omp_fn.0)") {
					t.Errorf("profile says %s", out)
				}
			})
		}
	}
}
