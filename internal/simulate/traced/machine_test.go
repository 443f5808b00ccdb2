package traced

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/timing"
)

func with(t *testing.T, more string) *machine.Machine {
	t.Helper()
	m, err := machine.ParseMachine("more", []byte(plain+more))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What tracing cost is taken out of gaps and of local calls, as far as they are that long; another
// machine than the simulated one may say how much it was.
func TestRecorder(t *testing.T) {
	program := func(r *recorder) {
		for range 10 {
			r.compute(500)
			r.call("MPI_Comm_rank", 20, 0x101, int64(r.Rank))
			r.compute(30)
			r.call("MPI_Comm_rank", 21, 0x101, int64(r.Rank))
		}
	}
	for _, mode := range []timing.Mode{timing.ModeLossless, timing.ModeStats} {
		r := record(t, 1, mode, program)
		m := with(t, "[recorder]\ngap_ns = 40\ncall_ns = 20")
		got := predict(t, r, Options{Machine: m}).Ranks[0]
		if got.ComputePs != 10*460_000 || got.OverheadPs != 10*2*30_000 {
			t.Errorf("%s: %+v", mode, got)
		}
		got = predict(t, r, Options{Machine: m, TracingCost: &machine.TracingCost{}}).Ranks[0]
		if got.ComputePs != 10*530_000 || got.OverheadPs != 10*2*50_000 {
			t.Errorf("%s, traced elsewhere: %+v", mode, got)
		}
	}
}

// A collective takes what the machine's table says, from when the last member has come.
func TestTables(t *testing.T) {
	m := with(t, "[[collective]]\nfunction = \"Barrier\"\nlevel = \"switch\"\nmembers = 4\ntimes = [[0, 7000]]")
	r := record(t, 4, timing.ModeLossless, func(r *recorder) {
		r.compute(uint64(1000 * r.Rank))
		r.barrier()
	})
	for rank, x := range predict(t, r, Options{Machine: m}).Ranks {
		if x.TransferPs < 7_000_000 || x.WaitPs != int64(3-rank)*1_000_000 {
			t.Errorf("rank %d: %+v", rank, x)
		}
	}
	r = record(t, 3, timing.ModeLossless, func(r *recorder) { r.barrier() }) // of as many there is no table
	if x := predict(t, r, Options{Machine: m}).Ranks[0]; x.OverheadPs == 0 || x.TransferPs >= 7_000_000 {
		t.Errorf("%+v", x)
	}
}

// Predictions side by side are those one after the other.
func TestPredictAll(t *testing.T) {
	r := record(t, 4, timing.ModeLossless, rounds)
	var list []Options
	for _, name := range []string{"infiniband", "ethernet", "ideal", "now", "infiniband"} {
		m, err := machine.LoadMachine(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, Options{Machine: m, Progress: func(uint64) {}})
	}
	all, _, err := PredictAll(r, list)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range list {
		want, err := Predict(r, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, all[i]); diff != "" {
			t.Errorf("%s: %s", o.Machine.Name, diff)
		}
	}
	list[2].UseMedianGaps = true // of what a trace of means doesn't have
	if _, failed, err := PredictAll(record(t, 2, timing.ModeStats, rounds), list); err == nil || failed != 2 {
		t.Errorf("%d: %v", failed, err)
	}
}
