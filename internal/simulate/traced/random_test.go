package traced

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/papers/goal"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// An action is something that a rank does: an MPI call, and what the simulation is to make of it.
type action struct {
	record func(r *recorder)
	gap    uint64
	ops    []dataflow.Op
}

// An author draws what ranks do, in an order in which all of it can be done.
type author struct {
	t     *rapid.T
	ranks [][]action
	open  [][]opened
	made  []int64 // requests
	no    bool    // synchronous sends
}

type opened struct {
	number    int64 // of the request among those that the rank made
	from, tag int64 // of a receive; -1: a send
}

func (a *author) add(r int, ops []dataflow.Op, record func(r *recorder)) {
	gap := rapid.SampledFrom([]uint64{0, 0, 300, 12_345}).Draw(a.t, "gap")
	a.ranks[r] = append(a.ranks[r], action{record, gap, ops})
}

// end has a rank wait for one of its requests.
func (a *author) end(r, i int) {
	o := a.open[r][i]
	a.open[r] = append(a.open[r][:i], a.open[r][i+1:]...)
	ago := a.made[r] - o.number
	ops := []dataflow.Op{{Kind: dataflow.OpWait, Request: inner + int32(o.number)}}
	a.add(r, ops, func(r *recorder) {
		if o.from < 0 {
			r.call("MPI_Wait", 14, 2*ago, 3)
			return
		}
		r.wait(ago, o.from, o.tag)
	})
}

// message has one rank send to another.
func (a *author) message(from, to int, bytes, tag int64) {
	bool := func(what string) bool { return rapid.Bool().Draw(a.t, what) }
	send := dataflow.Op{Kind: dataflow.OpSend, Peer: int32(to), Tag: tag, Bytes: bytes, Request: dataflow.NoRequest}
	switch {
	case bool("isend"):
		send.Request = inner + int32(a.made[from])
		a.open[from] = append(a.open[from], opened{a.made[from], -1, tag})
		a.made[from]++
		a.add(from, []dataflow.Op{send}, func(r *recorder) { r.isend(bytes, int64(to), tag) })
	case !a.no && bool("ssend"):
		send.IsSynchronous = true
		a.add(from, []dataflow.Op{send}, func(r *recorder) {
			r.call("MPI_Ssend", 18, 1, 0, bytes, byteType, int64(to), tag, tracktest.World)
		})
	default:
		a.add(from, []dataflow.Op{send}, func(r *recorder) { r.send(bytes, int64(to), tag) })
	}
	get := dataflow.Op{Kind: dataflow.OpReceive, Peer: int32(from), Tag: tag, Request: dataflow.NoRequest}
	asked, wanted := int64(from), tag
	if bool("any source") {
		asked = mpi.AnySource
	}
	if bool("any tag") {
		wanted = mpi.AnyTag
	}
	if bool("irecv") {
		get.Request = inner + int32(a.made[to])
		a.open[to] = append(a.open[to], opened{a.made[to], int64(from), tag})
		a.made[to]++
		a.add(to, []dataflow.Op{get}, func(r *recorder) { r.irecv(asked, wanted) })
		return
	}
	a.add(to, []dataflow.Op{get}, func(r *recorder) {
		r.call("MPI_Recv", 11, 1, 0, 1000, byteType, asked, wanted, tracktest.World, 1, int64(from), tag, bytes, 0)
	})
}

// exchange has two ranks send to each other in one call.
func (a *author) exchange(x, y int, bytes int64) {
	for _, r := range [][2]int{{x, y}, {y, x}} {
		a.add(r[0], []dataflow.Op{
			{Kind: dataflow.OpReceive, Peer: int32(r[1]), Tag: 3, Request: 0}, {Kind: dataflow.OpSend, Peer: int32(r[1]), Tag: 3, Bytes: bytes, Request: 1},
			{Kind: dataflow.OpWait, Request: 1}, {Kind: dataflow.OpWait, Request: 0},
		}, func(rec *recorder) { rec.sendrecv(bytes, int64(r[1])) })
	}
}

type list []dataflow.Op

func (l *list) Next() ([]dataflow.Op, error) {
	ops := *l
	*l = nil
	return ops, nil
}

// draw draws what ranks do, and makes a trace of it.
func draw(t *rapid.T, synchronous bool) (*author, *trace.Reader) {
	n := rapid.IntRange(2, 5).Draw(t, "ranks")
	a := &author{t: t, ranks: make([][]action, n), open: make([][]opened, n), made: make([]int64, n), no: !synchronous}
	for range rapid.IntRange(0, 30).Draw(t, "steps") {
		from := rapid.IntRange(0, n-1).Draw(t, "from")
		to := (from + rapid.IntRange(1, n-1).Draw(t, "distance")) % n
		bytes := rapid.SampledFrom([]int64{0, 8, 900, 5000}).Draw(t, "bytes")
		switch rapid.IntRange(0, 4).Draw(t, "what") {
		case 0:
			a.exchange(from, to, bytes)
		case 1:
			if len(a.open[from]) > 0 {
				a.end(from, rapid.IntRange(0, len(a.open[from])-1).Draw(t, "request"))
			}
		default:
			a.message(from, to, bytes, rapid.Int64Range(4, 5).Draw(t, "tag"))
		}
	}
	gaps := make([][]uint64, n)
	tracks := tracktest.RunAll(n, func(r *tracktest.Recorder) {
		for len(a.open[r.Rank]) > 0 {
			a.end(r.Rank, 0)
		}
		x := &recorder{Recorder: r}
		for _, y := range a.ranks[r.Rank] {
			x.compute(y.gap)
			y.record(x)
		}
		gaps[r.Rank] = x.gaps
	})
	for rank, tr := range tracks {
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) { return gaps[rank][i], took })
	}
	return a, mergetest.Open(t, tracks, nil)
}

// What comes out of a trace is what the ranks did: simulated from the trace they take the same
// time, to the picosecond, as simulated from what they were told to do.
func TestRandom(t *testing.T) {
	near, err := machine.ParseMachine("plain", []byte("[[level]]\nname = \"node\"\nranks = 2\nsend_overhead_ns = 30\neager = [[0, 70]]\n"+plain))
	if err != nil {
		t.Fatal(err)
	}
	ideal, err := machine.LoadMachine("ideal")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, r := draw(t, true)
		for _, m := range []*machine.Machine{near, ideal} {
			programs := make([]dataflow.Program, len(a.ranks))
			for rank := range programs {
				var l list
				for _, x := range a.ranks[rank] {
					l = append(append(l, dataflow.Op{TimePs: int64(x.gap * 1000)}), x.ops...)
				}
				programs[rank] = &l
			}
			want, err := dataflow.Simulate(programs, m.PlaceRanks(len(programs), machine.MappingCyclic), dataflow.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Predict(r, Options{Machine: m, Mapping: machine.MappingCyclic})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Ranks, got.Ranks); diff != "" {
				t.Fatal(m.Name, diff)
			}
			sameOneByOne(t, r, Options{Machine: m, Mapping: machine.MappingCyclic, UseMeanGaps: rapid.Bool().Draw(t, "means")})
		}
	})
}

// A trace and the schedule that is made of it take the same on a machine that has nothing but
// latency: two engines that have nothing in common say so.
func TestGOAL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, r := draw(t, false)
		sameAsSchedule(t, r, rapid.SampledFrom([]uint64{0, 700}).Draw(t, "latency"))
	})
	sameAsSchedule(t, record(t, 7, timing.ModeLossless, rounds), 0) // the schedule has messages for the end of the run
}

func sameAsSchedule(t interface {
	Helper()
	Fatal(...any)
}, r *trace.Reader, latency uint64) {
	t.Helper()
	m, err := machine.ParseMachine("m", fmt.Appendf(nil, "[[level]]\nname = \"switch\"\neager = [[0, %d]]\n", latency))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Predict(r, Options{Machine: m})
	if err != nil {
		t.Fatal(err)
	}
	calls, err := ops.NewSource(r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, FindBytesPerMember: true})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := WriteGOAL(calls, &text); err != nil {
		t.Fatal(err)
	}
	s, err := goal.Read(&text, "x.goal")
	if err != nil {
		t.Fatal(err)
	}
	x, err := goal.Simulate(s, goal.Parameters{Latency: latency, Eager: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	for rank, end := range x.End {
		if got := uint64((p.Ranks[rank].EndPs + 500) / 1000); got != end {
			t.Fatal("rank", rank, "ends at", got, "ns, by its schedule at", end)
		}
	}
}

// sameOneByOne compares what comes of distinct calls with what comes of all calls one by one.
func sameOneByOne(t interface {
	Helper()
	Fatal(...any)
}, r *trace.Reader, o Options) {
	t.Helper()
	got, err := Predict(r, o)
	if err != nil {
		t.Fatal(err)
	}
	o.single = true
	want, err := Predict(r, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Ranks, got.Ranks); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(want.Unmodelled, got.Unmodelled, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Fatal(diff)
	}
}

func TestCompiled(t *testing.T) {
	m, err := machine.LoadMachine("infiniband")
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]func(r *tracktest.Recorder){
		"stencil": tracktest.Stencil(10), "butterfly": tracktest.Butterfly(10), "transpose": tracktest.Transpose(10), "workers": tracktest.Workers(50),
		"counting": tracktest.Counting(2000),
	} {
		ranks := 9
		if name == "counting" {
			ranks = 2
		}
		r := mergetest.Run(t, ranks, p)
		sameOneByOne(t, r, Options{Machine: m})
		s, err := NewProgramSource(r, Options{Machine: m})
		if err != nil {
			t.Fatal(err)
		}
		k, err := r.Rank(1)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.compile(k)
		if err != nil {
			t.Fatal(err)
		}
		if want := name != "counting"; (c != nil) != want { // its tags are others each time
			t.Errorf("%s: compiled: %v", name, c != nil)
		}
	}
}
