package traced

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// Short cuts change no digit of a prediction, and are taken.
func TestShortCuts(t *testing.T) {
	around := func(r *recorder) { // all do the same
		right, left := int64((r.Rank+1)%r.Size), int64((r.Rank+r.Size-1)%r.Size)
		for range 1000 {
			r.compute(700)
			r.irecv(left, 7)
			r.isend(64, right, 7)
			r.call("MPI_Waitall", 20, 2, 2, 4, 2, -5)
			r.call("MPI_Allreduce", 21, 1, 8192, 1, 16384, 4, byteType, 0x23, tracktest.World)
		}
	}
	for _, c := range []struct {
		name   string
		r      *trace.Reader
		rounds uint64
		ranks  int
	}{
		{"unequal work", record(t, 8, timing.ModeStats, rounds), 10, 8},
		{"around", record(t, 8, timing.ModeStats, around), 900, 1},
		{"around, lossless", record(t, 8, timing.ModeLossless, around), 0, 8},
		{"stencil", mergetest.Run(t, 9, tracktest.Stencil(400)), 300, 9},
		{"butterfly", mergetest.Run(t, 8, tracktest.Butterfly(400)), 300, 8},
		{"transpose", mergetest.Run(t, 9, tracktest.Transpose(400)), 300, 9},
	} {
		m, err := machine.LoadMachine("infiniband")
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Machine: m, SimulateEachRank: true, SimulateEachRound: true}
		want := predict(t, c.r, o)
		if want.ShortCuts.SkippedRounds > 0 || want.ShortCuts.SimulatedRanks != len(want.Ranks) {
			t.Errorf("%s: short cuts that are switched off: %+v", c.name, want.ShortCuts)
		}
		for _, o.SimulateEachRank = range []bool{false, true} {
			for _, o.SimulateEachRound = range []bool{false, true} {
				got := predict(t, c.r, o)
				if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Prediction{}, "ShortCuts")); diff != "" {
					t.Errorf("%s: %+v: %s", c.name, got.ShortCuts, diff)
				}
				if !o.SimulateEachRound && got.ShortCuts.SkippedRounds < c.rounds {
					t.Errorf("%s: %d rounds passed over", c.name, got.ShortCuts.SkippedRounds)
				}
				if !o.SimulateEachRank && got.ShortCuts.SimulatedRanks > c.ranks {
					t.Errorf("%s: %d ranks simulated", c.name, got.ShortCuts.SimulatedRanks)
				}
			}
		}
	}
}

// A large collective is a formula unless messages are asked for, and takes about as long either way.
func TestMessages(t *testing.T) {
	const ranks = 300
	r := record(t, ranks, timing.ModeStats, func(r *recorder) {
		r.call("MPI_Bcast", 20, 1, 0, 1<<20, byteType, 0, tracktest.World)
	})
	m, err := machine.LoadMachine("infiniband")
	if err != nil {
		t.Fatal(err)
	}
	formula, messages := predict(t, r, Options{Machine: m}), predict(t, r, Options{Machine: m, CollectivesAsMessages: true})
	if more := messages.Operations - formula.Operations; more < 2*(ranks-1)*ranks { // pieces go around
		t.Errorf("%d operations, %d by formulas", messages.Operations, formula.Operations)
	}
	if ratio := float64(messages.EndPs) / float64(formula.EndPs); ratio < 0.5 || ratio > 2 {
		t.Errorf("ends after %d ps, %d by formulas", messages.EndPs, formula.EndPs)
	}
}
