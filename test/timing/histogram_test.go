package timing

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
)

// What `spoor profile --histogram` says of a real run: the sweeps of wavefront.c begin behind three milliseconds
// of computation, and each receive but the first comes after a reduction or a send.
func TestHistograms(t *testing.T) {
	a := build(t, "wavefront.c", 2)
	for mode, c := range map[string]struct {
		times string
		least float64 // of the three milliseconds, in ns
	}{
		"hist": {"histogram", 3e6 * 0.999}, "lossless": {"exact", 3e6 * 0.999}, "hist-sig": {"bounded", 3e6 * 0.9},
	} {
		a.trace("--timing", mode)
		var rep profile.Histograms
		a.json(&rep, "profile", "--histogram", "--json", "--by-previous", "--call", "Recv", "t.spoor")
		if rep.TimesKind != c.times || len(rep.Ranks) != 2 || len(rep.Sites) != 1 || len(rep.Sites[0].CallsAfterEach) != 3 {
			t.Fatalf("%s: %+v", mode, rep)
		}
		s := &rep.Sites[0]
		if s.Duration.Count != 800 || s.Gap.Count != 800 {
			t.Errorf("%s: %d durations, %d gaps of 800 calls", mode, s.Duration.Count, s.Gap.Count)
		}
		calls, most := uint64(0), map[string]uint64{}
		for _, x := range s.CallsAfterEach {
			in := uint64(0)
			for _, b := range x.Gap.Bins {
				in += b.Count
			}
			if in != x.Gap.Count || in != x.Duration.Count {
				t.Errorf("%s: after %s: %d in bins of %d gaps, %d durations", mode, x.PrecedingFunction, in, x.Gap.Count, x.Duration.Count)
			}
			calls += in
			most[x.PrecedingFunction] = in
			if x.PrecedingFunction != "MPI_Send" && float64(x.Gap.MinNs) < c.least {
				t.Errorf("%s: after %s it computed %d ns", mode, x.PrecedingFunction, x.Gap.MinNs)
			}
		}
		if calls != 800 || most["MPI_Allreduce"] != 78 || most["MPI_Send"] != 720 || most["MPI_Comm_size"] != 2 {
			t.Errorf("%s: calls by what came before: %v", mode, most)
		}
	}
}
