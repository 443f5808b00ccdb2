package oracle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/trace"
)

// compareMatrix compares the traffic that the compressed form shows with that
// of all calls, one by one.
func compareMatrix(t *testing.T, r *trace.Reader) {
	t.Helper()
	o := matrix.Options{PointToPoint: true, Collectives: true, RMA: true}
	got, err := matrix.Compute(r, o)
	if err != nil {
		t.Error(err)
		return
	}
	want, err := matrix.ComputeCallByCall(r, o)
	if err != nil {
		t.Error(err)
		return
	}
	rows := func(m *matrix.Matrix) (all [][]matrix.RowEntry) {
		for i := range m.RowCount() {
			all = append(all, m.Row(i))
		}
		return all
	}
	if d := cmp.Diff(rows(want), rows(got), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("matrix of every call, and of the compressed form (-every +compressed):\n%s", d)
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(matrix.Matrix{})); d != "" {
		t.Errorf("totals of every call, and of the compressed form (-every +compressed):\n%s", d)
	}
	if got.UnknownPartnerCalls > 0 {
		t.Logf("matrix: %d calls with unknown partners, %d messages of unknown size", got.UnknownPartnerCalls, got.UnsizedMessages)
	}
}
