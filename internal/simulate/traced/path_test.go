package traced

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// What the end of a run depends on, worked out by hand: rank 0 computes before it sends, rank 1
// less before it receives; then rank 1 computes and rank 0 waits.
func TestCriticalPath(t *testing.T) {
	m, err := machine.ParseMachine("plain", []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, 2, timing.ModeLossless, beside(
		func(r *recorder) { r.compute(5000); r.send(0, 1, 5); r.compute(300); r.recv(1, 6, 1) },
		func(r *recorder) { r.compute(700); r.recv(0, 5, 0); r.compute(4000); r.send(0, 0, 6) }))
	p, err := FindCriticalPath(r, Options{Machine: m}, calltree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]PathTimes{}
	for _, s := range p.Sites {
		got[s.Function] = s.PathTimes
	}
	const ns = 1000
	// The second message leaves 4,000 after the first came in, and MPI_Finalize begins when it has
	// been received: a step of two ranks takes 1,200.
	want := map[string]PathTimes{
		"MPI_Init": {RecordedPs: 50 * ns}, "MPI_Send": {ComputePs: 9000 * ns},
		"MPI_Recv": {OverheadPs: 200 * ns, TransferPs: 2200 * ns}, "MPI_Finalize": {TransferPs: end * ns},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if whole := int64(50+5000+1100+100+4000+1100+100+end) * ns; p.EndPs != whole || p.Hops != 3 {
		t.Errorf("ends at %d ps after %d hops, want %d after 3", p.EndPs, p.Hops, whole)
	}
	ranks := map[int]int64{}
	for _, x := range p.Ranks {
		ranks[x.Rank] = x.SumPs()
	}
	if ranks[0]+ranks[1] != p.EndPs || ranks[1] != (1100+100+4000)*ns && ranks[1] != (1100+100+4000+end)*ns {
		t.Error(ranks)
	}
}

// A path by loops: what is in an inner one is in the outer one, too, and what is in none is left out.
func TestPathLoops(t *testing.T) {
	r := record(t, 2, timing.ModeLossless, func(r *recorder) {
		r.compute(7000)
		r.barrier()
		for range 4 {
			r.compute(1000)
			r.sendrecv(8, 1-int64(r.Rank))
			for range 3 {
				r.compute(100)
				r.call("MPI_Comm_rank", 70, tracktest.World, int64(r.Rank))
			}
		}
	})
	p, err := FindCriticalPath(r, Options{Machine: with(t, "")}, calltree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []PathLoop
	for _, l := range p.Loops {
		got = append(got, PathLoop{Loop: show.Loop{Depth: l.Depth, MaxRounds: l.MaxRounds, FirstCall: l.FirstCall}, PathTimes: PathTimes{ComputePs: l.ComputePs, RecordedPs: l.RecordedPs}})
	}
	if len(p.Loops) != 1 || !strings.HasPrefix(p.Loops[0].FirstCall, "MPI_Sendrecv ") {
		t.Fatalf("%+v", p.Loops)
	}
	want := []PathLoop{
		{Loop: show.Loop{Depth: 0, MaxRounds: 4, FirstCall: p.Loops[0].FirstCall}, PathTimes: PathTimes{ComputePs: 1000 * 4 * (1000 + 3*100)}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The same run by call: what calls take on both ranks together, and what is computed before them.
func TestSites(t *testing.T) {
	r := record(t, 2, timing.ModeLossless, beside(
		func(r *recorder) { r.compute(5000); r.send(0, 1, 5); r.compute(300); r.recv(1, 6, 1) },
		func(r *recorder) { r.compute(700); r.recv(0, 5, 0); r.compute(4000); r.send(0, 0, 6) }))
	p := predict(t, r, Options{WithTerminalTimes: true})
	got := map[string]dataflow.RankTime{}
	seen := map[int]bool{}
	for rank := range 2 {
		if seen[r.ClassOf(rank)] {
			continue
		}
		seen[r.ClassOf(rank)] = true
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for site, x := range p.TerminalTimes[r.ClassOf(rank)] {
			c, err := k.Terminal(site)
			if err != nil {
				t.Fatal(err)
			}
			sum := got[c.Name()]
			sum.ComputePs += x.ComputePs
			sum.OverheadPs += x.OverheadPs
			sum.WaitPs += x.WaitPs
			sum.TransferPs += x.TransferPs
			sum.RecordedPs += x.RecordedPs
			got[c.Name()] = sum
		}
	}
	delete(got, "MPI_Finalize")
	const ns = 1000
	want := map[string]dataflow.RankTime{
		"MPI_Init": {RecordedPs: 100 * ns}, "MPI_Send": {ComputePs: 9000 * ns, OverheadPs: 200 * ns},
		// Rank 1 waits from 750 until 5,050, rank 0 from 5,450 until 10,250.
		"MPI_Recv": {ComputePs: 1000 * ns, OverheadPs: 200 * ns, WaitPs: 9100 * ns, TransferPs: 2200 * ns},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
