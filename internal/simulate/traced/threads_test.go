package traced

import (
	"fmt"
	"iter"
	"testing"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track/trackwriter"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A team takes down what two threads of a rank do: calls of 50 ns, with gaps before them. The first gap of the second
// counts from the beginning of the run.
type team struct {
	*tracktest.Recorder
	gap  [2]uint64
	gaps [2][]uint64
}

func (m *team) compute(thread int, ns uint64) { m.gap[thread] += ns }

func (m *team) call(thread int, name string, site int, vals ...int64) {
	m.CallOn(thread, name, site, append([]int64{0}, vals...)...)
	m.gaps[thread] = append(m.gaps[thread], m.gap[thread])
	m.gap[thread] = 0
}

func (m *team) send(thread int, bytes, dest, tag int64) {
	m.call(thread, "MPI_Send", 10+thread, 1, 0, bytes, byteType, dest, tag, tracktest.World)
}

func (m *team) recv(thread int, source, tag int64) {
	m.call(thread, "MPI_Recv", 20+thread, 1, 0, 1000, byteType, source, tag, tracktest.World, 1, source, tag, 8, 0)
}

// recordTeams makes a trace of two ranks with the times of single calls.
func recordTeams(t *testing.T, program func(m *team)) *trace.Reader {
	t.Helper()
	var gaps [2][2][]uint64
	tracks := tracktest.RunAll(2, func(r *tracktest.Recorder) {
		m := &team{Recorder: r}
		m.call(0, "MPI_Init", 1)
		program(m)
		m.call(0, "MPI_Finalize", 2)
		gaps[r.Rank] = m.gaps
	})
	for rank, tr := range tracks {
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) { return gaps[rank][0][i], took })
		for len(tr.TimeLog.Streams) < len(tr.Streams) {
			tr.TimeLog.Streams = append(tr.TimeLog.Streams, iter.Seq2[[]timing.CallTicks, error](func(yield func([]timing.CallTicks, error) bool) {
				for _, gap := range gaps[rank][1] {
					if !yield([]timing.CallTicks{{Duration: took, Gap: gap}}, nil) {
						return
					}
				}
			}))
			for n := range tr.Streams[1].Grammar.All() {
				tr.Times[n].Gap.Add(0)
				tr.Times[n].Duration.Add(took)
			}
		}
	}
	return mergetest.Open(t, tracks, nil)
}

var teams = []struct {
	name    string
	program func(m *team)
	want    int64 // before the barrier at the end
	handed  bool  // one receives for the other
}{
	{"each for itself", func(m *team) {
		m.compute(1, took+300)
		m.send(1, 100, int64(1-m.Rank), 5)
		m.recv(1, int64(1-m.Rank), 5)
		m.compute(0, 9000)
		m.send(0, 100, int64(1-m.Rank), 6)
		m.compute(0, 700)
		m.recv(0, int64(1-m.Rank), 6)
	}, 9000 + 1300, false},
	{"the second takes longer", func(m *team) {
		m.compute(1, took+300)
		m.send(1, 100, int64(1-m.Rank), 5)
		m.recv(1, int64(1-m.Rank), 5)
		m.compute(1, 20_000)
		m.send(1, 100, int64(1-m.Rank), 5)
		m.recv(1, int64(1-m.Rank), 5)
		m.compute(0, 9000)
		m.send(0, 100, int64(1-m.Rank), 6)
		m.recv(0, int64(1-m.Rank), 6)
	}, 300 + 1300 + 20_000 + 1300, false},
	{"the second begins behind a message", func(m *team) {
		m.send(0, 100, int64(1-m.Rank), 5)
		m.compute(0, 400)
		m.recv(0, int64(1-m.Rank), 5) // ends after 3*50+400
		m.compute(0, 100_000)
		m.call(0, "MPI_Comm_rank", 30, tracktest.World, int64(m.Rank))
		m.compute(1, 3*took+400+2000)
		m.send(1, 100, int64(1-m.Rank), 6)
		m.recv(1, int64(1-m.Rank), 6)
	}, 1300 + 100_000 + took, false},
	{"what one has begun the other waits for", func(m *team) {
		m.call(0, "MPI_Irecv", 31, 1, 0, 1000, byteType, int64(1-m.Rank), 5, tracktest.World, 2)
		m.compute(0, 5000)
		m.send(0, 100, int64(1-m.Rank), 5)
		m.compute(1, 2*took+5000+1000)
		const newest = -2 // of the requests that the first thread made
		m.call(1, "MPI_Wait", 32, newest, 1, int64(1-m.Rank), 5, 8, 0)
		m.compute(1, 12_000)
		m.call(1, "MPI_Comm_rank", 33, tracktest.World, int64(m.Rank))
		m.compute(0, 13_100) // 150 less than the second needs
	}, 5000 + 1300 + 12_000 + took, true},
	{"from the first to the second, and back", func(m *team) {
		m.compute(0, 2000)
		m.send(0, 100, int64(1-m.Rank), 5)
		m.compute(1, took+300)
		m.recv(1, int64(1-m.Rank), 5)
		m.compute(1, 9000)
		m.send(1, 100, int64(1-m.Rank), 6)
		m.recv(0, int64(1-m.Rank), 6)
	}, 2000 + 1300 + 9000 + 1300, false},
}

// Threads of a rank go on side by side; the second begins a while after a call of the first, and the end waits for both.
func TestTeams(t *testing.T) {
	for _, c := range teams {
		m, err := machine.ParseMachine("plain", []byte(plain))
		if err != nil {
			t.Fatal(err)
		}
		r := recordTeams(t, c.program)
		p := predict(t, r, Options{Machine: m})
		if len(p.Ranks) != 2 {
			t.Fatalf("%d ranks", len(p.Ranks))
		}
		for rank, x := range p.Ranks {
			if got := x.EndPs/1000 - took - end; got != c.want {
				t.Errorf("%s: rank %d ends after %d ns, want %d", c.name, rank, got, c.want)
			}
			if sum := x.ComputePs + x.OverheadPs + x.WaitPs + x.TransferPs + x.RecordedPs; sum != x.EndPs {
				t.Errorf("%s: the parts of %+v are %d", c.name, x, sum)
			}
		}
		for _, u := range p.Unmodelled {
			if u.Description != "MPI_Init" {
				t.Errorf("%s: not modelled: %+v", c.name, u)
			}
		}
		path, err := FindCriticalPath(r, Options{Machine: m}, calltree.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var sum int64
		for i := range path.Sites {
			sum += path.Sites[i].SumPs()
		}
		if sum != p.EndPs {
			t.Errorf("%s: the path has %d, the end is %d", c.name, sum, p.EndPs)
		}
	}
}

// A prediction written as a trace has each thread's calls when they were predicted, and simulated again it says the same.
func TestTeamsRetimed(t *testing.T) {
	for _, c := range teams {
		t.Run(c.name, func(t *testing.T) {
			m, err := machine.ParseMachine("plain", []byte(plain))
			if err != nil {
				t.Fatal(err)
			}
			r := recordTeams(t, c.program)
			times, err := trackwriter.NewRetimedTrace(r)
			if err != nil {
				t.Fatal(err)
			}
			defer times.Close()
			type call struct{ begin, end int64 }
			told := make(map[[2]int][]call)
			p := predict(t, r, Options{Machine: m, OnEachCall: func(rank, stream int, begin, end uint64) {
				told[[2]int{rank, stream}] = append(told[[2]int{rank, stream}], call{int64(begin), int64(end)})
				times.AddCallTimes(rank, stream, begin, end)
			}})
			there := traceOf(t, times)
			for rank := range p.Ranks {
				k, err := there.Rank(rank)
				if err != nil {
					t.Fatal(err)
				}
				latest := int64(0)
				for stream := range k.Streams() {
					want := told[[2]int{rank, stream}]
					if uint64(len(want)) != k.CallCount(stream) {
						t.Fatalf("rank %d, thread %d: %d calls were told of", rank, stream, len(want))
					}
					walk, err := k.TimedWalk(stream, 0)
					if err != nil {
						t.Fatal(err)
					}
					i := 0
					for ; walk.Next(); i++ {
						x := walk.Timed()
						if got := (call{x.StartNs, x.EndNs()}); got != want[i] {
							t.Errorf("rank %d, thread %d, call %d: from %d to %d, predicted %v", rank, stream, i, x.StartNs, x.EndNs(), want[i])
						}
						latest = max(latest, x.EndNs())
					}
					if i != len(want) {
						t.Errorf("rank %d, thread %d: %d calls, %d were predicted", rank, stream, i, len(want))
					}
				}
				if latest != p.Ranks[rank].EndPs/1000 {
					t.Errorf("rank %d ends at %d, predicted %d", rank, latest, p.Ranks[rank].EndPs/1000)
				}
			}
			again := predict(t, there, Options{Machine: m})
			if got, want := again.EndPs, p.EndPs; got > want+int64(p.Calls)*2000 || got < want-int64(p.Calls)*2000 {
				t.Errorf("predicted again it ends at %d ps, at first %d", got, want)
			}
		})
	}
}

// A schedule has a CPU for each thread. What one is to receive waits there until it has computed: no schedule says that another
// waits for it.
func TestTeamsGOAL(t *testing.T) {
	for _, c := range teams {
		for _, latency := range []uint64{0, 700} {
			if c.handed {
				continue
			}
			t.Run(fmt.Sprintf("%s, %d ns", c.name, latency), func(t *testing.T) { sameAsSchedule(t, recordTeams(t, c.program), latency) })
		}
	}
}
