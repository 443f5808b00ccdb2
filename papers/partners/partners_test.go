package partners_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/papers/partners"
	"github.com/spoor-hpc/spoor/papers/rounds"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/test/traffic"
	"github.com/spoor-hpc/spoor/trace"
)

// A sent is a message of a program.
type sent struct {
	from, to, tag, size int64
	interval, got       int  // in which it is sent, and received
	wait                int  // in which the receive is waited for
	any, blocks         bool // the receive is from any source, the send blocks
}

// A program has its messages in intervals of rounds, which collective calls end.
type program struct {
	ranks, intervals int
	rounds           []int
	messages         []sent
	other            []bool // by interval: pairs of ranks call a collective function in it, too
}

// filled is a status of a receive.
func (m *sent) filled() []int64 { return []int64{1, m.from, m.tag, 4 * m.size, 0} }

// record has a rank make its calls.
func (p *program) record(r *tracktest.Recorder) {
	const pair = trace.FirstCreatedHandle
	me := int64(r.Rank)
	r.Begin()
	r.Call("MPI_Comm_split", 3, tracktest.World, me/2, me, pair, 0, me&^1, me&1, 2, -1, 0, me/2)
	made := int64(0)
	type request struct {
		made int64
		of   *sent // that is received; nil: a send
		wait int
	}
	var open []request
	for interval := range p.intervals {
		for range p.rounds[interval] {
			for i := range p.messages {
				if m := &p.messages[i]; m.to == me && m.got == interval {
					from := m.from
					if m.any {
						from = mpi.AnySource
					}
					r.Call("MPI_Irecv", 10, 1<<8|1, 8000*int64(i), m.size, tracktest.IntType, from, m.tag, tracktest.World, 2)
					made++
					open = append(open, request{made, m, m.wait})
				}
			}
			for i := range p.messages {
				switch m := &p.messages[i]; {
				case m.from != me || m.interval != interval:
				case m.blocks:
					r.Send(11, m.size, m.to, m.tag)
				default:
					r.Isend(12, m.size, m.to, m.tag)
					made++
					open = append(open, request{made, nil, interval})
				}
			}
			if p.other[interval] {
				r.Call("MPI_Allreduce", 13, 5<<8|1, 0, 6<<8|1, 0, 1, tracktest.IntType, 0x23, pair)
			}
			var now []request
			open = slices.DeleteFunc(open, func(q request) bool {
				if q.wait <= interval {
					now = append(now, q)
				}
				return q.wait <= interval
			})
			vals := []int64{int64(len(now)), int64(len(now))}
			for _, q := range now {
				vals = append(vals, 2*(made-q.made+1))
			}
			vals = append(vals, int64(len(now)))
			for _, q := range now {
				if q.of == nil {
					vals = append(vals, 4, 0)
				} else {
					vals = append(vals, q.of.filled()...)
				}
			}
			r.Call("MPI_Waitall", 14, vals...)
		}
		r.Allreduce(15, 1)
	}
	r.Call("MPI_Waitall", 16, 0, 0, 0)
	r.End()
}

// someProgram draws one; whole has all messages begin and end in their intervals.
func someProgram(t *rapid.T, whole bool) *program {
	p := &program{ranks: 2 * rapid.IntRange(3, 5).Draw(t, "pairs"), intervals: rapid.IntRange(4, 8).Draw(t, "intervals")}
	most := rapid.IntRange(1, 4).Draw(t, "most")
	near := rapid.Bool().Draw(t, "near")
	for interval := range p.intervals {
		p.rounds = append(p.rounds, rapid.IntRange(1, 3).Draw(t, "rounds"))
		p.other = append(p.other, rapid.Bool().Draw(t, "other"))
		for from := range p.ranks {
			for range rapid.IntRange(0, most).Draw(t, "number") {
				to := rapid.IntRange(0, p.ranks-1).Draw(t, "to")
				if near {
					to = min(max(from+to%3-1, 0), p.ranks-1)
				}
				m := sent{from: int64(from), to: int64(to), tag: int64(rapid.IntRange(0, 2).Draw(t, "tag")), size: int64(rapid.IntRange(0, 2000).Draw(t, "size")), interval: interval, got: interval, wait: interval}
				m.blocks = from != to && rapid.Bool().Draw(t, "blocks")
				if m.any = rapid.Bool().Draw(t, "any"); m.any { // and a tag of its own, so that it is clear which one comes
					m.tag = int64(10 + len(p.messages))
				}
				if !whole && interval+1 < p.intervals && rapid.IntRange(0, 9).Draw(t, "beyond") == 0 && p.rounds[interval] == 1 {
					m.tag, m.wait = int64(10+len(p.messages)), interval+1
					if rapid.Bool().Draw(t, "late") {
						m.got = interval + 1
					}
				}
				p.messages = append(p.messages, m)
			}
		}
	}
	for i := range p.messages { // what is received in another interval is once
		if m := &p.messages[i]; m.got != m.interval {
			p.rounds[m.got] = 1
		}
	}
	for i := range p.messages {
		if m := &p.messages[i]; m.wait != m.interval && (p.rounds[m.wait] != 1 || p.rounds[m.interval] != 1) {
			p.rounds[m.wait], p.rounds[m.interval] = 1, 1
		}
	}
	return p
}

type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// drawn thins a trace, with partners drawn.
func drawn(t tester, r *trace.Reader, o reduce.Options, seed uint64) (*trace.Reader, *partners.PartnerDrawer, []byte) {
	t.Helper()
	d := partners.New(r, seed, func(int) {})
	o.PartnerDrawer = d
	x, err := reduce.ReduceTrace(r, o, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	out, b := mergetest.Written(t, x)
	return out, d, b
}

// comesToItsEnd has a trace's calls simulated, and all that is sent received.
func comesToItsEnd(t tester, r *trace.Reader) *traffic.Traffic {
	t.Helper()
	m, err := machine.LoadMachine("ideal")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := traced.Predict(r, traced.Options{Machine: m}); err != nil {
		t.Fatal(err)
	}
	x, err := traffic.Of(r)
	if err != nil {
		t.Fatal(err)
	}
	if x.Wild == 0 && len(x.Left) > 0 {
		t.Fatalf("not received: %v", x.Left)
	}
	return x
}

// collectives are the calls of a rank that aren't of messages.
func collectives(t tester, r *trace.Reader, rank int) (list []string) {
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range k.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		if name := c.Name(); !strings.Contains(name, "send") && !strings.Contains(name, "recv") && !strings.Contains(name, "Send") && name != "MPI_Waitall" {
			list = append(list, string(c.AppendText(nil)))
		}
	}
	return list
}

// TestRandomPrograms: whatever ranks send each other, and whatever of that is drawn, they come to their end, all that is sent is received,
// other calls are as they were, and the same seed gives the same.
func TestRandomPrograms(t *testing.T) {
	some, none := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.Bool().Draw(t, "whole")
		p := someProgram(t, whole)
		r := mergetest.Run(t, p.ranks, p.record)
		comesToItsEnd(t, r)
		seed := rapid.Uint64().Draw(t, "seed")
		o := reduce.Options{PrecisionPercent: rapid.SampledFrom([]int{100, 90, 0}).Draw(t, "precision")}
		if rapid.Bool().Draw(t, "rounds") {
			o.NewTripCountDrawer = func(r *trace.Reader) reduce.TripCountDrawer {
				return rounds.New(r, rounds.Options{PrecisionPercent: o.PrecisionPercent, Seed: seed})
			}
		}
		out, _, file := drawn(t, r, o, seed)
		comesToItsEnd(t, out)
		for rank := range p.ranks {
			if a, b := collectives(t, r, rank), collectives(t, out, rank); o.NewTripCountDrawer == nil && !slices.Equal(a, b) {
				t.Fatalf("rank %d: %v, were %v", rank, b, a)
			}
		}
		list, err := out.SyntheticMessages()
		if err != nil {
			t.Fatal(err)
		}
		if list == nil {
			none++
		} else {
			some++
		}
		if _, _, again := drawn(t, r, o, seed); !bytes.Equal(again, file) {
			t.Error("the same seed gives another trace")
		}
	})
	if some == 0 || none == 0 {
		t.Errorf("messages were drawn in %d programs, and not in %d", some, none)
	}
}

// Where ranks send many messages, about as many bytes go through the network as did, whatever the seed.
func TestBytes(t *testing.T) {
	p := &program{ranks: 12, intervals: 4, rounds: []int{1, 1, 1, 1}, other: make([]bool, 4)}
	random := rand.New(rand.NewPCG(1, 2))
	for interval := range p.intervals {
		for from := range p.ranks {
			for range 10 + random.IntN(5) {
				m := sent{from: int64(from), to: int64(random.IntN(p.ranks)), size: int64(random.IntN(2000)), interval: interval, got: interval, wait: interval}
				p.messages = append(p.messages, m)
			}
		}
	}
	r := mergetest.Run(t, p.ranks, p.record)
	before := comesToItsEnd(t, r)
	for seed := range uint64(5) {
		out, d, _ := drawn(t, r, reduce.Options{PrecisionPercent: 100}, seed)
		list, err := out.SyntheticMessages()
		if err != nil || len(list) != 1 {
			t.Fatalf("%d families were drawn: %v, %v", len(list), d.KeptReasons(), err)
		}
		told(t, p, &list[0])
		if off := comesToItsEnd(t, out).Off(before); off.Total < -0.05 || off.Total > 0.05 {
			t.Errorf("seed %d: all bytes are off by %+.2f", seed, off.Total)
		}
	}
}

// told holds what is said of the messages that were given up, all of a program's, against what ranks sent.
func told(t *testing.T, p *program, x *trace.SyntheticMessages) {
	t.Helper()
	distances, sizes, numbers := make(map[int64]uint64), make(map[int64]uint64), make(map[int64]uint64)
	sends := make(map[[2]int64]int64) // by interval and rank
	for _, m := range p.messages {
		distances[m.to-m.from]++
		sizes[4*m.size]++
		sends[[2]int64{int64(m.interval), m.from}]++
	}
	for _, n := range sends {
		numbers[n]++
	}
	for _, c := range []struct {
		what string
		got  trace.Distribution
		want map[int64]uint64
	}{{"relative ranks", x.RankDistances, distances}, {"sizes", x.Sizes, sizes}, {"tags", x.Tags, map[int64]uint64{0: uint64(len(p.messages))}}, {"numbers", x.MessagesPerInterval, numbers}} {
		values := slices.Sorted(maps.Keys(c.want))
		if c.got.Least.Value != values[0] || c.got.Most.Value != values[len(values)-1] {
			t.Errorf("%s: %d to %d, want %d to %d", c.what, c.got.Least.Value, c.got.Most.Value, values[0], values[len(values)-1])
		}
		for _, b := range c.got.Bins {
			count := uint64(0)
			for _, v := range values {
				if b.Low <= v && v <= b.High {
					count += c.want[v]
				}
			}
			if b.Count != count {
				t.Errorf("%s: %d of %d to %d, want %d", c.what, b.Count, b.Low, b.High, count)
			}
			for _, v := range values {
				if b.Low <= v && v <= b.High {
					delete(c.want, v)
				}
			}
		}
		if len(c.want) > 0 {
			t.Errorf("%s: in no bin: %v", c.what, c.want)
		}
	}
	if x.Intervals != uint64(p.intervals) {
		t.Errorf("%d intervals, want %d", x.Intervals, p.intervals)
	}
}
