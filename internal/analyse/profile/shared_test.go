package profile

import (
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A profile says at how many places it has a mean of calls that look alike: those of a thread
// other than the first that stand at several places, or of any of which that is not known, and those that differ from very many in values alone.
func TestSharedTimes(t *testing.T) {
	for name, c := range map[string]struct {
		program func(r *tracktest.Recorder)
		want    []int
	}{
		"own": {func(r *tracktest.Recorder) { r.Begin(); r.Allreduce(3, 1); r.End() }, []int{0}},
		"threads": {func(r *tracktest.Recorder) {
			for thread := range 2 {
				r.CallOn(thread, "MPI_Barrier", 5, 0, tracktest.World)
				for range 4 {
					r.CallOn(thread, "MPI_Comm_free", 6, 0, tracktest.World)
				}
				r.CallOn(thread, "MPI_Barrier", 5, 0, tracktest.World)
			}
		}, []int{2, 2}}, // these tracks do not say how times went on
		"pooled": {func(r *tracktest.Recorder) {
			r.Begin()
			for i := range trace.MinPoolSize {
				r.Send(4, int64(100+i*i), 0, 0)
			}
			r.End()
		}, []int{trace.MinPoolSize}},
	} {
		r := mergetest.Open(t, tracktest.RunAll(2, c.program), nil)
		p, err := RankProfile(r, 0, calltree.Options{Locate: nowhere})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, thread := range p.Threads {
			got = append(got, thread.SharedMeanCalls)
			if said := strings.Contains(p.HeadText(&thread), "the mean of equal calls"); said != (thread.SharedMeanCalls > 0) {
				t.Errorf("%s: %s", name, p.HeadText(&thread))
			}
		}
		if len(got) != len(c.want) || got[0] != c.want[0] || got[len(got)-1] != c.want[len(got)-1] {
			t.Errorf("%s: %v shared, want %v", name, got, c.want)
		}
	}
}
