package goal

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slow is the model as one would write it down: every event is looked at whenever something
// may have changed for it, and what there is to search is searched from its beginning.
type slow struct {
	p                           Parameters
	ranks                       int
	cpu                         [][]uint64 // by rank and CPU
	nicOut, nicIn               []uint64
	in                          map[*slowOp]uint8 // the CPU that takes a message in
	events                      []*slowEvent
	posted, unexpected, waiting [][]*slowOp // by rank
	made                        int
}

type slowOp struct {
	Op
	rank                 int
	needs                int
	afterStart, afterEnd []*slowOp
	ended                bool
	since                uint64 // when what it waits for happened
}

type slowEvent struct {
	time    uint64
	made    int
	op      *slowOp
	message bool
}

// simulateSlowly returns when ranks end; false if operations or messages are left over.
func simulateSlowly(s *Schedule, p Parameters) ([]uint64, bool) {
	n := s.Ranks()
	x := &slow{
		p: p, ranks: n, cpu: make([][]uint64, n), in: make(map[*slowOp]uint8), nicOut: make([]uint64, n), nicIn: make([]uint64, n),
		posted: make([][]*slowOp, n), unexpected: make([][]*slowOp, n), waiting: make([][]*slowOp, n),
	}
	ops := make([]*slowOp, len(s.Ops))
	for i, o := range s.Ops {
		ops[i] = &slowOp{Op: o}
	}
	for rank := range n {
		x.cpu[rank] = make([]uint64, 256)
		from, to := s.Rank(rank)
		for i := from; i < to; i++ {
			ops[i].rank = rank
			for _, d := range s.AfterStart(i) {
				ops[i].afterStart = append(ops[i].afterStart, ops[d])
				ops[d].needs++
			}
			for _, d := range s.AfterEnd(i) {
				ops[i].afterEnd = append(ops[i].afterEnd, ops[d])
				ops[d].needs++
			}
		}
	}
	for _, o := range ops {
		if o.needs == 0 {
			x.waiting[o.rank] = append(x.waiting[o.rank], o)
		}
		if o.Kind == Send {
			x.in[o] = takenIn(ops, o)
		}
	}
	x.begin()
	for len(x.events) > 0 {
		slices.SortFunc(x.events, func(a, b *slowEvent) int {
			if a.time != b.time {
				return int(int64(a.time) - int64(b.time))
			}
			return a.made - b.made
		})
		e := x.events[0]
		if until := x.freeFrom(e); until > e.time {
			e.time = until
			continue
		}
		x.events = x.events[1:]
		x.happen(e)
		x.begin()
	}
	for _, list := range x.unexpected {
		if len(list) > 0 {
			return nil, false
		}
	}
	var ends []uint64
	for _, cpus := range x.cpu {
		ends = append(ends, slices.Max(cpus))
	}
	return ends, !slices.ContainsFunc(ops, func(o *slowOp) bool { return !o.ended })
}

// takenIn is the CPU that takes a message in: that of the receives that may get it, or of all those of a rank that has such
// with a wildcard; if these are on several, that with the sender's number.
func takenIn(ops []*slowOp, send *slowOp) uint8 {
	wild := slices.ContainsFunc(ops, func(o *slowOp) bool {
		return o.Kind == Recv && o.rank == int(send.Peer) && (o.Peer == AnyPeerOrTag || o.Tag == AnyPeerOrTag)
	})
	cpus := make(map[uint8]bool)
	for _, o := range ops {
		if o.Kind == Recv && o.rank == int(send.Peer) && (wild || takes(o, send)) {
			cpus[o.CPU] = true
		}
	}
	if len(cpus) == 1 {
		for cpu := range cpus {
			return cpu
		}
	}
	return send.CPU
}

// begin makes events of operations that wait for nothing any more.
func (x *slow) begin() {
	for rank := range x.ranks {
		for _, kind := range []Kind{Send, Recv, Calc} {
			for _, o := range x.waiting[rank] {
				if o.Kind == kind {
					time := max(o.since, x.cpu[rank][o.CPU])
					if kind == Send {
						time = max(time, x.nicOut[rank])
					}
					x.events = append(x.events, &slowEvent{time, x.made, o, false})
					x.made++
				}
			}
		}
		x.waiting[rank] = nil
	}
}

func (x *slow) freeFrom(e *slowEvent) uint64 {
	switch {
	case e.message:
		return max(x.cpu[e.op.Peer][x.in[e.op]], x.nicIn[e.op.Peer])
	case e.op.Kind == Send:
		return max(x.cpu[e.op.rank][e.op.CPU], x.nicOut[e.op.rank])
	case e.op.Kind == Calc:
		return x.cpu[e.op.rank][e.op.CPU]
	}
	return 0
}

func (x *slow) happen(e *slowEvent) {
	o, p := e.op, x.p
	more := max(o.Size, 1) - 1
	switch {
	case e.message:
		x.cpu[o.Peer][x.in[o]] = e.time + p.Overhead + max(more*p.ByteOverhead, more*p.ByteGap)
		x.nicIn[o.Peer] = e.time + p.MessageGap + more*p.ByteGap
		for i, r := range x.posted[o.Peer] {
			if takes(r, o) {
				x.posted[o.Peer] = slices.Delete(x.posted[o.Peer], i, i+1)
				x.met(o, r, e.time, x.cpu[o.Peer][x.in[o]])
				return
			}
		}
		x.unexpected[o.Peer] = append(x.unexpected[o.Peer], o)
	case o.Kind == Calc:
		x.cpu[o.rank][o.CPU] = e.time + o.Size
		x.release(o.afterStart, e.time)
		x.end(o, x.cpu[o.rank][o.CPU])
	case o.Kind == Send:
		x.cpu[o.rank][o.CPU] = e.time + p.Overhead + more*p.ByteOverhead
		x.nicOut[o.rank] = e.time + p.MessageGap + more*p.ByteGap
		x.events = append(x.events, &slowEvent{e.time + p.Overhead + p.Latency, x.made, o, true})
		x.made++
		x.release(o.afterStart, e.time)
		if o.Size <= p.Eager {
			x.end(o, x.cpu[o.rank][o.CPU])
		}
	default:
		x.release(o.afterStart, e.time)
		for i, send := range x.unexpected[o.rank] {
			if takes(o, send) {
				x.unexpected[o.rank] = slices.Delete(x.unexpected[o.rank], i, i+1)
				x.met(send, o, e.time, e.time)
				return
			}
		}
		x.posted[o.rank] = append(x.posted[o.rank], o)
	}
}

func takes(recv, send *slowOp) bool {
	return (recv.Peer == AnyPeerOrTag || int(recv.Peer) == send.rank) && (recv.Tag == AnyPeerOrTag || recv.Tag == send.Tag)
}

func (x *slow) met(send, recv *slowOp, time, end uint64) {
	if send.Size > x.p.Eager {
		x.cpu[send.rank][send.CPU] = max(x.cpu[send.rank][send.CPU], time)
		x.nicOut[send.rank] = max(x.nicOut[send.rank], time)
		x.end(send, x.cpu[send.rank][send.CPU])
	}
	x.end(recv, end)
}

func (x *slow) end(o *slowOp, time uint64) {
	o.ended = true
	x.release(o.afterEnd, time)
}

func (x *slow) release(list []*slowOp, time uint64) {
	for _, o := range list {
		o.since = max(o.since, time)
		if o.needs--; o.needs == 0 {
			x.waiting[o.rank] = append(x.waiting[o.rank], o)
		}
	}
}

// drawSchedule draws messages between a few ranks, and calculations; some operations wait for
// others before them. With few dependencies it mostly comes to its end, with many it may not.
func drawSchedule(t *rapid.T) *Schedule {
	ranks := rapid.IntRange(1, 5).Draw(t, "ranks")
	number := func(most int, what string) int { return rapid.IntRange(0, most).Draw(t, what) }
	lists := make([][]Op, ranks)
	cpus := number(2, "further CPUs")
	insert := func(rank int, o Op) {
		o.CPU = uint8(number(cpus, "CPU"))
		at := len(lists[rank]) - number(min(3, len(lists[rank])), "back")
		lists[rank] = slices.Insert(lists[rank], at, o)
	}
	wild := rapid.Bool().Draw(t, "wildcards")
	for range number(40, "steps") {
		from := number(ranks-1, "from")
		if number(2, "kind") == 0 {
			insert(from, Op{Kind: Calc, Size: uint64(number(5, "time"))})
			continue
		}
		to := number(ranks-1, "to")
		o := Op{Kind: Send, Size: uint64(number(6, "size")), Peer: uint32(to), Tag: uint32(number(1, "tag"))}
		insert(from, o)
		o.Kind, o.Peer = Recv, uint32(from)
		if wild {
			if number(3, "any source") == 0 {
				o.Peer = AnyPeerOrTag
			}
			if number(3, "any tag") == 0 {
				o.Tag = AnyPeerOrTag
			}
		}
		insert(to, o)
	}
	dense := number(4, "dense")
	var b Builder
	for _, list := range lists {
		b.BeginRank()
		for i, o := range list {
			op, err := b.Add(o)
			if err != nil {
				t.Fatal(err)
			}
			for d := uint32(1); d <= uint32(min(i, 3)); d++ {
				switch n := number(9, "edge"); {
				case n < dense:
					err = b.AfterEnd(op, op-d)
				case n == 9:
					err = b.AfterStart(op, op-d)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return b.Schedule()
}

// TestSlow compares with the slow engine: times are small, so that many events fall on one.
func TestSlow(t *testing.T) {
	complete := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchedule(t)
		draw := func(what string) uint64 { return rapid.Uint64Range(0, 4).Draw(t, what) }
		p := Parameters{draw("L"), draw("o"), draw("g"), draw("G"), draw("O"), draw("S")}
		want, ends := simulateSlowly(s, p)
		r, err := Simulate(s, p)
		switch {
		case ends != (err == nil):
			t.Fatalf("comes to its end: %v, but %v", ends, err)
		case ends && !slices.Equal(r.End, want):
			t.Fatalf("%v, should be %v", r.End, want)
		case ends && len(s.Ops) > 10:
			complete++
		}
	})
	if complete == 0 && !testing.Short() {
		t.Error("no schedule of some length came to its end")
	}
}

// FuzzSimulate takes any schedule with any parameters.
func FuzzSimulate(f *testing.F) {
	f.Add([]byte("num_ranks 2\nrank 0 {\na: send 9b to 1\nb: calc 5\nb irequires a\n}\nrank 1 {\nrecv 9b from -1 tag -1\n}"), uint64(5), uint64(1), uint64(2), uint64(3))
	f.Fuzz(func(t *testing.T, text []byte, latency, overhead, gap, eager uint64) {
		s, err := Read(bytes.NewReader(text), "x")
		if err != nil || len(s.Ops) > 200 {
			return
		}
		p := Parameters{latency, overhead, gap, gap, overhead, eager}
		r, err := Simulate(s, p)
		if err != nil {
			return
		}
		if want, ends := simulateSlowly(s, p); !ends || !slices.Equal(r.End, want) {
			t.Fatalf("%v, should be %v", r.End, want)
		}
	})
}

func TestSimulateErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		p    Parameters
		want string
	}{
		{"num_ranks 1\nrank 0 {\nrecv 9b from 0\n}", DefaultParameters, "deadlock: 1 operation doesn't end, the first is operation 1 of rank 0: recv 9b from 0 tag 0"},
		{"num_ranks 2\nrank 0 {\nsend 70000b to 1\n}\nrank 1 {\ncalc 5\n}", DefaultParameters, "deadlock: 1 operation doesn't end, the first is operation 1 of rank 0: send 70000b to 1 tag 0"},
		{"num_ranks 1\nrank 0 {\ncalc 1\nsend 9b to 0\n}", DefaultParameters, "1 message is never received, such as operation 2 of rank 0: send 9b to 0 tag 0"},
		{"num_ranks 1\nrank 0 {\nl1: calc 5\nl2: calc 6\nl1 requires l2\nl2 requires l1\n}", DefaultParameters, "2 operations wait for one another"},
		{"num_ranks 1\nrank 0 {\ncalc 5 nic 1\n}", DefaultParameters, "rank 0: calc 5 nic 1: a rank has only one NIC here"},
		{"num_ranks 1\nrank 0 {\ncalc 4611686018427387904\n}", DefaultParameters, "rank 0: calc 4611686018427387904: takes longer than times can say"},
		{"num_ranks 1\nrank 0 {\nsend 4611686018427387904b to 0\n}", DefaultParameters, "rank 0: send 4611686018427387904b to 0 tag 0: takes longer than times can say"},
		{"num_ranks 0", Parameters{Latency: 1 << 60}, "L is 1152921504606846976: at most 576460752303423488 is possible"},
		{"num_ranks 1\nrank 0 {\na: calc 2305843009213680000\nb: calc 2305843009213680000\nc: calc 2305843009213680000\nd: calc 9\n" +
			"b requires a\nc requires b\nd requires c\n}", Parameters{}, "the schedule takes longer than times can say"},
	} {
		s, err := Read(bytes.NewReader([]byte(c.text)), "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Simulate(s, c.p); err == nil || err.Error() != c.want {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}
