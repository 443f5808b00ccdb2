package dataflow

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
)

// A list is a program that is known in full. It gives a few operations at a time.
type list []Op

func newList(ops []Op) *list {
	l := list(ops)
	return &l
}

func (l *list) Next() ([]Op, error) {
	n := min(len(*l), 3)
	ops := (*l)[:n]
	*l = (*l)[n:]
	return ops, nil
}

func run(t interface {
	Helper()
	Fatal(...any)
}, ranks [][]Op, m *machine.Machine, by machine.Mapping) *Result {
	t.Helper()
	programs := make([]Program, len(ranks))
	for i := range ranks {
		l := list(ranks[i])
		programs[i] = &l
	}
	r, err := Simulate(programs, m.PlaceRanks(len(ranks), by), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// slow is the model written down as it is defined: when an operation of a rank is over follows
// from when the one before was, and from when the other rank began its part.
type slow struct {
	ranks [][]Op
	of    []int // the rank that each is a thread of; nil: each is one
	place *machine.Placement
	ends  map[[2]int]int64              // of all operations before one of a rank
	frees map[[2]int]int64              // from when on a message can leave then
	at    map[string]map[int][2]int     // where the n-th send, receive, or meeting of a rank is
	nth   map[[2]int]int                // and which one an operation is
	met   map[string]map[int][]([2]int) // members of a meeting
}

func (s *slow) rank(r int) int {
	if s.of == nil {
		return r
	}
	return s.of[r]
}

func (s *slow) channel(r int, o *Op) string { return s.peer(s.rank(r), o) }

// peer is the channel of an operation that a rank does.
func (s *slow) peer(r int, o *Op) string {
	switch o.Kind {
	case OpSend:
		return fmt.Sprint("send ", r, o.Peer, o.Context, o.Tag)
	case OpReceive:
		return fmt.Sprint("receive ", o.Peer, r, o.Context, o.Tag)
	}
	return fmt.Sprint("meet ", o.Context)
}

func newSlow(ranks [][]Op, of []int, place *machine.Placement) *slow {
	s := &slow{ranks, of, place, make(map[[2]int]int64), make(map[[2]int]int64), make(map[string]map[int][2]int), make(map[[2]int]int), make(map[string]map[int][][2]int)}
	for r := range ranks {
		counts := make(map[string]int)
		for i := range ranks[r] {
			o := &ranks[r][i]
			if o.Kind != OpSend && o.Kind != OpReceive && o.Kind != OpMeet {
				continue
			}
			c := s.channel(r, o)
			n := int(o.nth(uint32(counts[c])))
			counts[c]++
			s.nth[[2]int{r, i}] = n
			if o.Kind == OpMeet {
				if s.met[c] == nil {
					s.met[c] = make(map[int][][2]int)
				}
				if o.WaitPattern == UninvolvedMember {
					continue
				}
				s.met[c][n] = append(s.met[c][n], [2]int{r, i})
				continue
			}
			if s.at[c] == nil {
				s.at[c] = make(map[int][2]int)
			}
			s.at[c][n] = [2]int{r, i}
		}
	}
	return s
}

// clock is when all operations before one of a rank are over.
func (s *slow) clock(r, i int) int64 {
	k := [2]int{r, i}
	if t, ok := s.ends[k]; ok || i == 0 {
		return t
	}
	o := &s.ranks[r][i-1]
	t := s.clock(r, i-1)
	switch o.Kind {
	case OpCompute, OpLocalCall, OpRecorded:
		t += o.TimePs
	case OpWait:
		by, j := s.begun(r, i-1)
		t = s.after(by, j, max(t, s.clock(by, j)))
	case OpSend:
		l := s.place.LevelBetween(s.rank(r), int(o.Peer))
		t += l.CostOfMessage(o.Bytes, s.waits(l, o)).SenderCorePs
		fallthrough
	default:
		if o.Request == NoRequest {
			t = s.after(r, i-1, t)
		}
	}
	s.ends[k] = t
	return t
}

// begun is where what an operation waits for was begun: by its thread before it, or by another one.
func (s *slow) begun(r, i int) (by, at int) {
	o := &s.ranks[r][i]
	for j := i - 1; j >= 0; j-- {
		if b := &s.ranks[r][j]; b.Kind != OpWait && b.Kind >= OpSend && b.Request == o.Request {
			return r, j
		}
	}
	for by := range s.ranks {
		for j := range s.ranks[by] {
			if b := &s.ranks[by][j]; s.rank(by) == s.rank(r) && b.Kind != OpWait && b.Kind >= OpSend && b.Request == o.Request {
				return by, j
			}
		}
	}
	panic("nothing was begun")
}

// free is from when on a message can leave a rank.
func (s *slow) free(r, i int) int64 {
	k := [2]int{r, i}
	if t, ok := s.frees[k]; ok || i == 0 {
		return t
	}
	t, o := s.free(r, i-1), &s.ranks[r][i-1]
	if o.Kind == OpSend {
		l := s.place.LevelBetween(s.rank(r), int(o.Peer))
		t = max(t, s.clock(r, i-1)) + l.SenderBusyTimePs(o.Bytes, s.waits(l, o))
	}
	s.frees[k] = t
	return t
}

func (s *slow) waits(l *machine.NetworkLevel, o *Op) bool {
	return !o.IsBuffered && (o.IsSynchronous || o.Bytes > l.EagerLimitBytes)
}

// after is when a rank goes on that waits from t on for the end of its operation i.
func (s *slow) after(r, i int, t int64) int64 {
	o, n := &s.ranks[r][i], s.nth[[2]int{r, i}]
	if o.Kind == OpMeet {
		last, time, root := int64(0), int64(0), int64(0)
		for _, m := range s.met[s.channel(r, o)][n] {
			came, b := s.clock(m[0], m[1]), &s.ranks[m[0]][m[1]]
			if last, time = max(last, came), max(time, b.TimePs); b.IsRoot {
				root = came
			}
		}
		own := s.clock(r, i)
		switch {
		case o.WaitPattern == UninvolvedMember:
			return t
		case o.WaitPattern == WaitForAll, o.WaitPattern == RootWaitsForAll && o.IsRoot:
			return max(t, last+time)
		case o.WaitPattern == WaitForRoot && !o.IsRoot:
			return max(t, max(own, root)+o.TimePs)
		}
		return max(t, own+o.TimePs)
	}
	other := Op{Kind: OpReceive, Peer: int32(s.rank(r)), Context: o.Context, Tag: o.Tag}
	if o.Kind == OpReceive {
		other.Kind = OpSend
	}
	there := s.at[s.peer(int(o.Peer), &other)][n]
	from, to := [2]int{r, i}, there
	if o.Kind == OpReceive {
		from, to = there, from
	}
	send, l := &s.ranks[from[0]][from[1]], s.place.LevelBetween(s.rank(from[0]), s.rank(to[0]))
	if o.Kind == OpSend && !s.waits(l, send) {
		return t
	}
	left := max(s.clock(from[0], from[1]), s.free(from[0], from[1]))
	c := l.CostOfMessage(send.Bytes, s.waits(l, send))
	in := left + c.TravelPs
	if s.waits(l, send) {
		in += max(0, s.clock(to[0], to[1])-(left+l.SendOverheadPs+l.LatencyPs()))
	}
	if o.Kind == OpReceive {
		return max(t, in) + c.ReceiverCorePs
	}
	return max(t, in+c.ReceiverCorePs-l.ReceiveOverheadPs-l.LatencyPs(), left+l.SendOverheadPs)
}

// programs draws ranks that talk to each other and come to their end.
func programs(t *rapid.T) [][]Op {
	n := rapid.IntRange(1, 6).Draw(t, "ranks")
	ranks := make([][]Op, n)
	open := make([][]int32, n)
	numbers := make([]int32, n)
	add := func(r int, o Op) {
		if o.Request = NoRequest; rapid.Bool().Draw(t, "later") {
			o.Request = numbers[r]
			numbers[r]++
			open[r] = append(open[r], o.Request)
		}
		ranks[r] = append(ranks[r], o)
	}
	wait := func(r, i int) {
		ranks[r] = append(ranks[r], Op{Kind: OpWait, Request: open[r][i]})
		open[r] = append(open[r][:i], open[r][i+1:]...)
	}
	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		r := rapid.IntRange(0, n-1).Draw(t, "rank")
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
			kind := rapid.SampledFrom([]OpKind{OpCompute, OpLocalCall, OpRecorded}).Draw(t, "kind")
			ranks[r] = append(ranks[r], Op{Kind: kind, TimePs: rapid.Int64Range(0, 1e6).Draw(t, "time")})
		case 1:
			if len(open[r]) > 0 {
				wait(r, rapid.IntRange(0, len(open[r])-1).Draw(t, "request"))
			}
		case 2:
			how, root := WaitPattern(rapid.IntRange(0, 2).Draw(t, "meeting")), rapid.IntRange(0, n-1).Draw(t, "root")
			aside := rapid.IntRange(1, n).Draw(t, "from which member on they are, but for the root")
			for m := range ranks {
				o := Op{Kind: OpMeet, WaitPattern: how, IsRoot: m == root, Context: 9, Members: int32(aside), TimePs: rapid.Int64Range(0, 1e5).Draw(t, "time")}
				if root >= aside {
					o.Members++
				}
				if m >= aside && m != root {
					o = Op{Kind: OpMeet, WaitPattern: UninvolvedMember, Context: 9}
				}
				add(m, o)
			}
		default:
			to, tag := rapid.IntRange(0, n-1).Draw(t, "to"), rapid.Int64Range(0, 1).Draw(t, "tag")
			if to == r {
				continue
			}
			o := Op{Kind: OpSend, Peer: int32(to), Tag: tag, Bytes: rapid.Int64Range(0, 300).Draw(t, "bytes")}
			o.IsSynchronous = rapid.IntRange(0, 7).Draw(t, "synchronous") == 0
			o.IsBuffered = rapid.IntRange(0, 7).Draw(t, "buffered") == 0
			add(r, o)
			add(to, Op{Kind: OpReceive, Peer: int32(r), Tag: tag})
		}
	}
	for r := range ranks {
		for len(open[r]) > 0 {
			wait(r, 0)
		}
	}
	return ranks
}

const levels = `
[[level]]
name = "socket"
ranks = 2
send_overhead_ns = 7
receive_overhead_ns = 11
gap_ns = 3
eager_limit = 100
eager = [[0, 50], [100, 90]]
rendezvous = [[101, 200], [201, 250]]

[[level]]
name = "node"
ranks = 4
send_overhead_ns = [[0, 10], [100, 40]]
receive_overhead_ns = [[0, 20], [100, 60], [201, 300]]
gap_ns = [[0, 15], [100, 55], [201, 290]]
eager_limit = 100
eager = [[0, 70], [100, 120]]
rendezvous = [[101, 260], [201, 400]]

[[level]]
name = "switch"
send_overhead_ns = 30
receive_overhead_ns = 20
gap_ns = 100
eager_limit = 200
eager = [[0, 500], [100, 700]]
`

func TestSlow(t *testing.T) {
	m, err := machine.ParseMachine("levels", []byte(levels))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		ranks := programs(t)
		by := machine.Mapping(rapid.IntRange(0, 1).Draw(t, "mapping"))
		got := run(t, ranks, m, by)
		s := newSlow(ranks, nil, m.PlaceRanks(len(ranks), by))
		var want, have []int64
		for r := range ranks {
			want = append(want, s.clock(r, len(ranks[r])))
			x := got.Ranks[r]
			have = append(have, x.EndPs)
			if sum := x.ComputePs + x.OverheadPs + x.WaitPs + x.TransferPs + x.RecordedPs; sum != x.EndPs {
				t.Fatalf("rank %d: the parts of %+v are %d", r, x, sum)
			}
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Fatal(diff)
		}
		checkPath(t, func() (list []Program, err error) {
			for r := range ranks {
				list = append(list, newList(ranks[r]))
			}
			return list, nil
		}, m.PlaceRanks(len(ranks), by), got)
	})
}

// On a machine where messages cost nothing the end is that of the longest path through
// computations, of which the messages are the edges.
func TestIdeal(t *testing.T) {
	m, err := machine.LoadMachine("ideal")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		ranks := programs(t)
		for r := range ranks {
			for i := range ranks[r] {
				if o := &ranks[r][i]; o.Kind == OpMeet {
					o.TimePs = 0
				} else if o.Kind == OpSend {
					o.IsSynchronous = false
				}
			}
		}
		if got, want := run(t, ranks, m, machine.MappingBlock).EndPs(), longest(ranks); got != want {
			t.Fatalf("%d, the longest path takes %d", got, want)
		}
	})
}

// longest looks for the longest path by going through all edges until no end gets later.
func longest(ranks [][]Op) (end int64) {
	s := newSlow(ranks, nil, nil)
	ends := make([][]int64, len(ranks))
	for r := range ranks {
		ends[r] = make([]int64, len(ranks[r])+1) // before each operation
	}
	begun := func(r int, i int) int64 { return ends[r][i] }
	for again := true; again; {
		again = false
		for r := range ranks {
			for i := range ranks[r] {
				o, t := &ranks[r][i], ends[r][i]
				of := i
				if o.Kind == OpWait {
					for of--; ranks[r][of].Kind < OpSend || ranks[r][of].Kind == OpWait || ranks[r][of].Request != o.Request; of-- {
					}
				}
				b, n := &ranks[r][of], s.nth[[2]int{r, of}]
				switch {
				case o.Kind < OpSend:
					t += o.TimePs
				case o.Kind != OpWait && o.Request != NoRequest:
				case b.Kind == OpReceive:
					from := s.at[s.peer(int(b.Peer), &Op{Kind: OpSend, Peer: int32(r), Context: b.Context, Tag: b.Tag})][n]
					t = max(t, begun(from[0], from[1]))
				case b.Kind == OpMeet:
					for _, x := range s.met[s.channel(r, b)][n] {
						if waits := b.WaitPattern == WaitForAll || b.WaitPattern == RootWaitsForAll && b.IsRoot || b.WaitPattern == WaitForRoot && ranks[x[0]][x[1]].IsRoot; waits {
							t = max(t, begun(x[0], x[1]))
						}
					}
				}
				if t > ends[r][i+1] {
					ends[r][i+1], again = t, true
				}
			}
			end = max(end, ends[r][len(ranks[r])])
		}
	}
	return end
}
