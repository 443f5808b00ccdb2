package traced

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A recorder takes down calls with the gap before each. Each call takes 50 ns.
type recorder struct {
	*tracktest.Recorder
	gap  uint64
	gaps []uint64
}

const took = 50

func (r *recorder) compute(ns uint64) { r.gap += ns }

func (r *recorder) call(name string, site int, vals ...int64) {
	r.Call(name, site, vals...)
	r.gaps = append(r.gaps, r.gap)
	r.gap = 0
}

func (r *recorder) send(bytes, dest, tag int64) {
	r.call("MPI_Send", 10, 1, 0, bytes, byteType, dest, tag, tracktest.World)
}

func (r *recorder) recv(source, tag, from int64) {
	r.call("MPI_Recv", 11, 1, 0, 1000, byteType, source, tag, tracktest.World, 1, from, max(tag, 0), 8, 0)
}

func (r *recorder) isend(bytes, dest, tag int64) {
	r.call("MPI_Isend", 12, 1, 0, bytes, byteType, dest, tag, tracktest.World, 2)
}

func (r *recorder) irecv(source, tag int64) {
	r.call("MPI_Irecv", 13, 1, 0, 1000, byteType, source, tag, tracktest.World, 2)
}

// wait waits for a receive that was begun so many requests ago.
func (r *recorder) wait(ago, from, tag int64) {
	r.call("MPI_Wait", 14, 2*ago, 1, from, tag, 8, 0)
}

func (r *recorder) sendrecv(bytes, with int64) {
	r.call("MPI_Sendrecv", 16, 1, 0, bytes, byteType, with, 3, 1, 4096, 1000, byteType, with, 3, tracktest.World, 1, with, 3, bytes, 0)
}

// test looks for the newest request.
func (r *recorder) test(found bool, from, tag int64) {
	if !found {
		r.call("MPI_Test", 17, 2, 0, 0)
		return
	}
	r.call("MPI_Test", 17, 2, 1, 1, from, tag, 8, 0)
}

func (r *recorder) barrier() { r.call("MPI_Barrier", 15, tracktest.World) }

const byteType = 0x247 // MPI_BYTE

// record makes a trace with the times of single calls, or with statistics.
func record(t *testing.T, ranks int, mode timing.Mode, program func(r *recorder)) *trace.Reader {
	t.Helper()
	gaps := make([][]uint64, ranks)
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		x := &recorder{Recorder: r}
		x.call("MPI_Init", 1)
		program(x)
		x.call("MPI_Finalize", 2)
		gaps[r.Rank] = x.gaps
	})
	for rank, tr := range tracks {
		tracktest.Timed(tr, mode, func(i int) (gap, duration uint64) { return gaps[rank][i], took })
	}
	return mergetest.Open(t, tracks, nil)
}

// L = 1000 ns, o = 100 ns at either end, 1 ns for each byte.
const plain = `
[[level]]
name = "switch"
send_overhead_ns = 100
receive_overhead_ns = 100
gap_ns = 50
eager_limit = 1000
eager = [[0, 1200], [1000, 2200]]
rendezvous = [[0, 3200], [1000, 4200]]
`

func predict(t *testing.T, r *trace.Reader, o Options) *Prediction {
	t.Helper()
	if o.Machine == nil {
		m, err := machine.ParseMachine("plain", []byte(plain))
		if err != nil {
			t.Fatal(err)
		}
		o.Machine = m
	}
	p, err := Predict(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// beside is what two ranks do.
func beside(first, second func(r *recorder)) func(r *recorder) {
	return func(r *recorder) {
		if r.Rank == 0 {
			first(r)
		} else {
			second(r)
		}
	}
}

// end is what MPI_Finalize takes when the last rank comes: a barrier of two.
const end = 1200

// Times worked out by hand, in ns: end, compute, overhead, wait, transfer of two ranks. MPI_Init
// takes 50, as recorded, and MPI_Finalize is a barrier.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second func(r *recorder)
		want          [2][5]int64
	}{
		{"ping-pong",
			func(r *recorder) { r.send(0, 1, 5); r.recv(1, 6, 1) },
			func(r *recorder) { r.recv(0, 5, 0); r.send(0, 0, 6) },
			[2][5]int64{{50 + 2400 + end, 0, 200, 1100, 1100 + end}, {50 + 2400 + end, 0, 200, 1100, 1100 + end}}},
		{"late sender",
			func(r *recorder) { r.compute(5000); r.send(100, 1, 5) },
			func(r *recorder) { r.recv(0, 5, 0) },
			[2][5]int64{{50 + 6300 + end, 5000, 100, 1200, end}, {50 + 6300 + end, 0, 100, 5000, 1200 + end}}},
		{"late receiver of a large message",
			func(r *recorder) { r.send(2000, 1, 5) },
			func(r *recorder) { r.compute(5000); r.recv(0, 5, 0) },
			[2][5]int64{{50 + 9100 + end, 0, 100, 4900 + 1100, 3000 + end}, {50 + 9100 + end, 5000, 100, 0, 4000 + end}}},
		{"overlap",
			func(r *recorder) { r.send(500, 1, 5) },
			func(r *recorder) { r.irecv(0, 5); r.compute(1000); r.wait(1, 0, 5) },
			[2][5]int64{{50 + 1700 + end, 0, 100, 1600, end}, {50 + 1700 + end, 1000, 100, 0, 600 + end}}},
		// The receive from any rank was begun first and gets the first message, though it ends last.
		{"from any rank",
			func(r *recorder) { r.send(500, 1, 5); r.send(0, 1, 5) },
			func(r *recorder) { r.irecv(mpi.AnySource, mpi.AnyTag); r.recv(0, 5, 0); r.wait(1, 0, 5) },
			[2][5]int64{{50 + 1800 + end, 0, 200, 1600, end}, {50 + 1800 + end, 0, 200, 500, 1100 + end}}},
		{"to nobody, and from nobody",
			func(r *recorder) { r.send(0, mpi.ProcNull, 5) },
			func(r *recorder) {},
			[2][5]int64{{50 + took + end, 0, took, 0, end}, {50 + took + end, 0, 0, took, end}}},
		{"barrier after unequal work",
			func(r *recorder) { r.compute(3000); r.barrier() },
			func(r *recorder) { r.compute(7000); r.barrier() },
			// The second finds the message of the first there, and waits for it at the end.
			[2][5]int64{{50 + 8200 + end, 3000, 200, 3900, 1100 + end}, {50 + 8200 + end, 7000, 200, 1000, end}}},
		{"exchange",
			func(r *recorder) { r.sendrecv(100, 1) },
			func(r *recorder) { r.compute(400); r.sendrecv(100, 0) },
			[2][5]int64{{50 + 1700 + end, 0, 200, 300, 1200 + end}, {50 + 1700 + end, 400, 200, 400, 700 + end}}},
	} {
		r := record(t, 2, timing.ModeLossless, beside(c.first, c.second))
		p := predict(t, r, Options{})
		var got [2][5]int64
		for i, x := range p.Ranks {
			got[i] = [5]int64{x.EndPs / 1000, x.ComputePs / 1000, x.OverheadPs / 1000, x.WaitPs / 1000, x.TransferPs / 1000}
			if x.RecordedPs != 50_000 {
				t.Errorf("%s: %d ps as recorded", c.name, x.RecordedPs)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// A program in rounds, with the same gaps each time but the first.
func rounds(r *recorder) {
	right, left := int64((r.Rank+1)%r.Size), int64((r.Rank+r.Size-1)%r.Size)
	for i := range 30 {
		if r.compute(uint64(1000 * (1 + r.Rank))); i == 0 {
			r.compute(50_000)
		}
		r.irecv(left, 7)
		r.isend(64, right, 7)
		r.compute(300)
		r.call("MPI_Waitall", 20, 2, 2, 4, 2, -5)
		r.call("MPI_Allreduce", 21, 1, 8192, 1, 16384, 4, byteType, 0x23, tracktest.World)
	}
}

// Where each call's own gap is known and where there is a mean of places alone, ranks that
// compute the same each time take the same.
func TestMeans(t *testing.T) {
	series := record(t, 4, timing.ModeLossless, rounds)
	own, mean := predict(t, series, Options{}), predict(t, series, Options{UseMeanGaps: true})
	if own.GapsKind != "each call's own" || mean.GapsKind != "means of call paths" {
		t.Errorf("gaps are %s, and %s", own.GapsKind, mean.GapsKind)
	}
	stats := predict(t, record(t, 4, timing.ModeStats, rounds), Options{})
	for i := range own.Ranks {
		for _, other := range []*Prediction{mean, stats} {
			a, b := float64(own.Ranks[i].ComputePs), float64(other.Ranks[i].ComputePs)
			if math.Abs(a-b) > 0.01*a {
				t.Errorf("rank %d computes for %.0f ps by single gaps, %.0f by means", i, a, b)
			}
		}
	}
	if a, b := float64(own.EndPs), float64(stats.EndPs); math.Abs(a-b) > 0.02*a {
		t.Errorf("%.0f ps by single gaps, %.0f by means", a, b)
	}
	if half := predict(t, series, Options{CPUSpeedup: 2}); 2*half.Ranks[3].ComputePs != own.Ranks[3].ComputePs {
		t.Errorf("twice as fast: %d ps of %d", half.Ranks[3].ComputePs, own.Ranks[3].ComputePs)
	}
}

// Medians worked out by hand, of the places of each rank: where the loop is entered, in its rounds, of
// an even number of times and an odd one. What is not modelled has its share of what was traced.
func TestMedians(t *testing.T) {
	first, second := []uint64{5000, 100, 900, 100, 200}, []uint64{10, 10, 70, 20, 30}
	r := record(t, 2, timing.ModeLossless, func(r *recorder) {
		for i := range first {
			r.compute(first[i] * uint64(1+r.Rank))
			r.call("MPI_Comm_rank", 20, 0x101, int64(r.Rank))
			r.compute(second[i])
			r.call("MPI_Comm_rank", 21, 0x101, int64(r.Rank))
		}
	})
	for _, one := range []bool{false, true} {
		p := predict(t, r, Options{UseMedianGaps: true, single: one})
		for rank, x := range p.Ranks {
			if want := int64(1000 * ((5000+4*150)*(1+rank) + 5*20)); x.ComputePs != want {
				t.Errorf("rank %d computes for %d ps, want %d", rank, x.ComputePs, want)
			}
		}
		mean := predict(t, r, Options{UseMeanGaps: true, single: one})
		for rank, x := range mean.Ranks {
			if want := int64(1000 * ((5000+1300)*(1+rank) + 140)); x.ComputePs != want {
				t.Errorf("rank %d computes for %d ps by means, want %d", rank, x.ComputePs, want)
			}
		}
		if diff := cmp.Diff(mean.Unmodelled, p.Unmodelled); p.GapsKind != "medians of places" || len(p.Unmodelled) == 0 || diff != "" {
			t.Error(p.GapsKind, p.Unmodelled, diff)
		}
	}
}

// On a machine where messages take no time the end is that of the longest path of gaps: here in
// each round that of the slowest rank.
func TestIdeal(t *testing.T) {
	m, err := machine.LoadMachine("ideal")
	if err != nil {
		t.Fatal(err)
	}
	p := predict(t, record(t, 4, timing.ModeLossless, rounds), Options{Machine: m})
	if want := int64(1000 * (50 + 50_000 + 30*(4*1000+300))); p.EndPs != want {
		t.Errorf("%d ps, the longest path takes %d", p.EndPs, want)
	}
	for i, x := range p.Ranks {
		if x.OverheadPs+x.TransferPs != 0 || x.EndPs != p.EndPs {
			t.Errorf("rank %d: %+v", i, x)
		}
	}
}

// A loop that looks for a message computes nothing, but before it and behind it.
func TestPolling(t *testing.T) {
	r := record(t, 2, timing.ModeLossless, beside(
		func(r *recorder) { r.compute(100_000); r.send(0, 1, 5) },
		func(r *recorder) {
			r.irecv(0, 5)
			r.compute(700)
			for range 90 {
				r.test(false, 0, 0)
				r.compute(1000)
			}
			r.compute(20_000) // is too long to be nothing
			r.test(true, 0, 5)
			r.compute(30)
		}))
	p := predict(t, r, Options{})
	if got := p.Ranks[1].ComputePs; got != 1000*(700+21_000+30) {
		t.Errorf("computes for %d ps", got)
	}
	want := Unmodelled{Description: foundNothing, Calls: 90, RecordedNs: 90*took + 89*1000}
	got := p.Unmodelled[0]
	got.RecordedShare = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What has no model keeps its time and is named.
func TestUnmodelled(t *testing.T) {
	p := predict(t, record(t, 2, timing.ModeLossless, func(r *recorder) {
		for range 3 {
			r.call("MPI_Win_fence", 30, 0, 1<<20)
		}
	}), Options{})
	var names []string
	for _, u := range p.Unmodelled {
		if u.KeepsRecordedTime {
			names = append(names, fmt.Sprint(u.Description, " ", u.Calls, " ", u.RecordedNs))
		}
	}
	if diff := cmp.Diff([]string{"MPI_Win_fence 6 300", "MPI_Init 2 100"}, names); diff != "" {
		t.Error(diff)
	}
	if got := p.Ranks[1].RecordedPs; got != 4*took*1000 {
		t.Errorf("%d ps as recorded", got)
	}
	if share := p.Unmodelled[0].RecordedShare; math.Abs(share-0.6) > 1e-9 { // 3 of 5 calls, and no gaps
		t.Errorf("share %v", share)
	}
}

// Non-blocking collectives overlap with what is computed; in a schedule they take place where
// they are waited for, in any order.
func TestNonblocking(t *testing.T) {
	r := record(t, 3, timing.ModeLossless, func(r *recorder) {
		r.call("MPI_Ibarrier", 40, tracktest.World, 2)
		r.call("MPI_Ibarrier", 41, tracktest.World, 2)
		r.compute(uint64(1000 * (1 + r.Rank)))
		first := int64(1 + r.Rank%2)
		r.call("MPI_Wait", 42, 2*first, 3)
		r.call("MPI_Wait", 43, 2*(3-first), 3)
	})
	p := predict(t, r, Options{})
	// Two steps take 2,400, less than the last rank computes; MPI_Finalize the same behind that.
	if want := int64(1000 * (50 + 3000 + 2400)); p.EndPs != want {
		t.Errorf("%d ps, want %d", p.EndPs, want)
	}
	sameAsSchedule(t, r, 0)
}

// What a ping-pong and the end of the run, three messages one after the other, depend on.
func TestVary(t *testing.T) {
	m, err := machine.ParseMachine("plain", []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, 2, timing.ModeLossless, beside(
		func(r *recorder) { r.compute(1100); r.send(0, 1, 5); r.recv(1, 6, 1) },
		func(r *recorder) { r.recv(0, 5, 0); r.compute(2200); r.send(0, 0, 6) }))
	o := Options{Machine: m}
	p := predict(t, r, o)
	s, err := PredictVariations(r, o, p)
	if err != nil {
		t.Fatal(err)
	}
	const whole = 50 + 3300 + 3*1200
	want := []Variation{
		{"latency 10 % less", 1000 * (whole - 3*100)}, {"bandwidth 10 % more", 1000 * whole},
		{"overhead of messages 10 % less", 1000 * (whole - 3*20)}, {"cores 10 % faster", 1000 * (whole - 300)},
		// 1,100 and 2,200, one after the other, are 55 more and 55 less.
		{"imbalance 10 % less", 1000 * whole}, {"messages take no time", 1000 * (50 + 3300)},
	}
	if diff := cmp.Diff(want, s.Variations); diff != "" {
		t.Error(diff)
	}
	for _, x := range [][2]float64{{s.TransferEfficiency, 3350. / whole}, {s.SerialisationEfficiency, 2200. / 3350}, {s.LoadBalance, 1650. / 2200}} {
		if math.Abs(x[0]-x[1]) > 1e-9 {
			t.Errorf("%v, want %v", x[0], x[1])
		}
	}

	// What tracing cost was taken out of gaps where the trace was made, whatever machine is simulated: here of each.
	o.Machine = with(t, "[recorder]\ngap_ns = 100")
	p = predict(t, r, o)
	if s, err = PredictVariations(r, o, p); err != nil {
		t.Fatal(err)
	}
	if last := s.Variations[len(s.Variations)-1]; p.EndPs != 1000*(whole-200) || last.EndPs != 1000*(50+3100) {
		t.Errorf("%d ps, %+v", p.EndPs, last)
	}
}

// The same run with several factors of each property.
func TestSweep(t *testing.T) {
	r := record(t, 2, timing.ModeLossless, beside(
		func(r *recorder) { r.compute(1100); r.send(500, 1, 5); r.recv(1, 6, 1) },
		func(r *recorder) { r.recv(0, 5, 0); r.compute(2200); r.send(500, 0, 6) }))
	m, err := machine.ParseMachine("plain", []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	// Three messages one after the other, the last of no bytes: each 1,000 of latency and 200 of overhead.
	const latency, bandwidth, overhead, computed = 3 * 1000, 2 * 500, 3 * 200, 3300
	for what, want := range map[string][]int64{
		"latency=1:9:3":      {latency, 3 * latency, 9 * latency},
		"bandwidth=0.25:4:3": {4 * bandwidth, bandwidth, bandwidth / 4},
		"overhead=1:4:3":     {overhead, 2 * overhead, 4 * overhead},
		"cpu=1:4:2":          {computed, computed / 4},
	} {
		x, err := ParsePropertyRange(what)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Sweep(r, Options{Machine: m}, x)
		if err != nil || len(rows) != len(want) {
			t.Fatal(rows, err)
		}
		rest := int64(50 + latency + bandwidth + overhead + computed - map[string]int64{"latency": latency, "bandwidth": bandwidth, "overhead": overhead, "cpu": computed}[x.Property])
		for i, v := range rows {
			if v.EndPs != 1000*(rest+want[i]) {
				t.Errorf("%s, × %v: %d ps, want %d", what, v.Factor, v.EndPs, 1000*(rest+want[i]))
			}
		}
	}
}

// Receives from any rank don't keep all that comes behind them in memory.
func TestHeld(t *testing.T) {
	const messages = 3 * most
	r := record(t, 2, timing.ModeStats, beside(
		func(r *recorder) {
			for range messages {
				r.send(8, 1, 5)
			}
			r.send(8, 1, 9)
		},
		func(r *recorder) {
			r.irecv(mpi.AnySource, 9)
			for range messages {
				r.recv(0, 5, 0)
			}
			r.wait(1, 0, 9)
		}))
	p := predict(t, r, Options{})
	if len(p.Ranks) != 2 || p.Calls != 2*messages+2+5 {
		t.Errorf("%d calls", p.Calls)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		program func(r *recorder)
		want    string
	}{
		{func(r *recorder) { r.recv(int64(1-r.Rank), 5, int64(1-r.Rank)) }, "deadlock: 2 ranks don't end; rank 0 waits in a receive from rank 1 with tag 5"},
	} {
		m, err := machine.ParseMachine("plain", []byte(plain))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Predict(record(t, 2, timing.ModeStats, c.program), Options{Machine: m})
		if err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
