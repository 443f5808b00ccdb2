package when

import (
	"math/rand/v2"
	"testing"

	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// callsARound is how many calls an iteration of a made run has. The first and the last come after computing, three quarters and one; MPI_Init
// is before all.
const callsARound = 4

// What a rank had no processor for is the machine's, not the program's.
func TestDelays(t *testing.T) {
	m := noisyRun(rand.New(rand.NewPCG(3, 5)), 4, 60, 0)
	for _, i := range []int{12, 25, 40} {
		m[2][i] += 20 * typicalNs
	}
	r, logs := logged(t, m)
	logs[2].SchedulingDelays = [][]track.SchedulingDelay{nil}
	for _, i := range []uint64{12, 25} {
		first := 1 + i*callsARound
		logs[2].SchedulingDelays[0] = append(logs[2].SchedulingDelays[0], track.SchedulingDelay{CallIndex: first, BeforeCallNs: 15 * typicalNs}, track.SchedulingDelay{CallIndex: first + 3, BeforeCallNs: 5 * typicalNs})
	}
	_, got, err := AnalyseLogs(r, logs)
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[Kind]trace.WhenFinding)
	for _, f := range got.Findings {
		kinds[Kind(f.Kind)] = f
	}
	if d := kinds[KindWaitingForCPU]; len(got.Findings) != 2 || !oneRank(d, 2) || d.FirstIteration != 12 && d.FirstIteration != 25 || d.LongerNs < 19*typicalNs || d.CostNs < 36*typicalNs ||
		d.CostNs > 44*typicalNs {
		t.Errorf("%+v", got.Findings)
	}
	if s := kinds[KindSlow]; !oneRank(s, 2) || s.FirstIteration != 40 {
		t.Errorf("%+v", s)
	}
	ready := int64(0)
	for column := range got.ColumnWidthNs {
		ready += got.StateNs(2, trace.WhenStateRunnable, column)
	}
	if ready < 36*typicalNs || ready > 44*typicalNs {
		t.Errorf("the picture has rank 2 without a processor for %d ns", ready)
	}
}
