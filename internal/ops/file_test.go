package ops_test

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// sought takes down where seeks go, once they are left.
type sought struct {
	ops.NopSink
	at []int64
}

func (s *sought) Enter(*ops.Call) error { return nil }

func (s *sought) Leave(c *ops.Call) error {
	for i := range c.Acts {
		if a := &c.Acts[i]; a.Kind == ops.ActFileSought {
			s.at = append(s.at, a.Call.Param("offset").In.Num)
		}
	}
	return nil
}

// Of seeks in a row, each has its own offset when it is left, also if these are in a lane.
func TestSeeks(t *testing.T) {
	const many = 1000
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Call("MPI_File_open", 1, tracktest.World, r.String("data"), 9, 1, trace.FirstCreatedHandle)
		for i := range int64(many) {
			r.LaneOn(0, "MPI_File_seek", 2, []int{2}, 0, trace.FirstCreatedHandle, 8*i, 600)
		}
	})
	s, err := ops.NewSource(r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime})
	if err != nil {
		t.Fatal(err)
	}
	var got sought
	if err := s.Run(&got); err != nil {
		t.Fatal(err)
	}
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	if k.Terminals() != 2 {
		t.Errorf("%d distinct calls: no lane", k.Terminals())
	}
	if len(got.at) != many {
		t.Errorf("%d seeks, want %d; lost: %v", len(got.at), many, s.Losses)
	}
	for i, at := range got.at {
		if at != int64(8*i) {
			t.Fatalf("seek %d to %d", i, at)
		}
	}
}
