package tracktest

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Order replaces the order of a stream's calls by a grammar, of any length. Its terminals are the recorded calls,
// numbered from 0.
func (r *Recorder) Order(stream int, g *grammar.Grammar) {
	if r.orders == nil {
		r.orders = make(map[int]*grammar.Grammar)
	}
	r.orders[stream] = g
}

// ordered returns the grammar of a stream.
func (r *Recorder) ordered(stream int, g *grammar.Grammar) *grammar.Grammar {
	order := r.orders[stream]
	if order == nil {
		return g
	}
	calls := slices.Collect(g.All())
	return order.Renumber(func(n uint32) uint32 { return calls[n] })
}

// repeat scales the times of calls recorded once to the number of calls in the streams.
func (r *Recorder) repeat(counts []uint64) {
	for n, count := range counts {
		t := &r.track.Times[n]
		for _, s := range []*model.Stat{&t.Duration, &t.Gap} {
			mean, deviation := s.Sum/s.Count, s.Deviation()
			s.Count, s.Sum = count, mean*count
			s.SetDeviation(deviation)
		}
	}
}

// ran returns the run time of the first thread.
func ran(t *track.Track) (span int64) {
	for n, count := range t.Streams[0].Grammar.TerminalCounts(len(t.Times)) {
		span += int64((t.Times[n].Duration.Mean() + t.Times[n].Gap.Mean()) * float64(count))
	}
	return span
}

// Nested returns an order of nested loops over the calls from first on, one level each, with rounds iterations per
// level. The calls below first come before the loops, and last after them.
func Nested(first, levels, last int, rounds uint64) *grammar.Grammar {
	g := &grammar.Grammar{Rules: make([][]grammar.Symbol, levels)}
	for i := range first {
		g.Rules[0] = append(g.Rules[0], grammar.Symbol{TerminalOrRule: int32(i), Count: 1})
	}
	for level := range levels {
		body := g.Rules[level]
		if level > 0 {
			body = append(body, grammar.Symbol{TerminalOrRule: int32(first + level - 1), Count: 1})
		}
		if level < levels-1 {
			body = append(body, grammar.Symbol{TerminalOrRule: -int32(level + 1), Count: rounds})
		} else {
			body = append(body, grammar.Symbol{TerminalOrRule: int32(first + levels - 1), Count: rounds})
		}
		g.Rules[level] = body
	}
	g.Rules[0] = append(g.Rules[0], grammar.Symbol{TerminalOrRule: int32(last), Count: 1})
	return g
}

// Fibonacci returns an order without loops: each part is the previous two parts. It begins with call 0 and ends with
// call 3; calls 1 and 2 are between.
func Fibonacci(parts int) *grammar.Grammar {
	g := &grammar.Grammar{Rules: make([][]grammar.Symbol, parts)}
	one := func(id int) grammar.Symbol { return grammar.Symbol{TerminalOrRule: int32(id), Count: 1} }
	g.Rules[0] = []grammar.Symbol{one(0), one(-1), one(3)}
	for i := 1; i < parts; i++ {
		switch i {
		case parts - 1:
			g.Rules[i] = []grammar.Symbol{one(1), one(2)}
		case parts - 2:
			g.Rules[i] = []grammar.Symbol{one(-(i + 1)), one(1)}
		default:
			g.Rules[i] = []grammar.Symbol{one(-(i + 1)), one(-(i + 2))}
		}
	}
	return g
}

// EndlessBut is Endless with an additional barrier near its end.
func EndlessBut(r *Recorder) {
	Endless(r)
	g := r.orders[0].Clone()
	last := len(g.Rules[0]) - 1
	g.Rules[0] = append(g.Rules[0], g.Rules[0][last])
	g.Rules[0][last] = grammar.Symbol{TerminalOrRule: 5, Count: 1}
	r.Order(0, g)
}

// Endless is a program with about 10^15 calls per rank, in nested loops and in an order without loops, on two
// threads.
func Endless(r *Recorder) {
	right, left := int64((r.Rank+1)%r.Size), int64((r.Rank+r.Size-1)%r.Size)
	r.Begin()
	// Twelve levels with one call each.
	comm, typ := int64(firstLocal), int64(firstLocal)
	r.Call("MPI_Comm_dup", 3, World, comm, 0, 0, int64(r.Rank), int64(r.Size), -1, 0, 0)
	r.Allreduce(31, 1)
	r.Call("MPI_Type_contiguous", 4, 2, IntType, typ, 8, 0, 8, 0, 8)
	r.Call("MPI_Type_commit", 5, typ, typ)
	r.Call("MPI_Barrier", 6, comm)
	r.Irecv(10, 100, left, 7)
	r.Isend(20, 100, right, 7)
	r.Waitall(30, 2)
	r.Call("MPI_Type_free", 7, typ)
	r.Call("MPI_Comm_free", 8, comm)
	r.Send(40, 10, right, 3)
	r.Recv(41, 10, left, 3)
	r.End()
	r.Order(0, Nested(1, 12, 13, 17))

	r.CallOn(1, "MPI_Send", 50, 0, heap(4), 0, 4, IntType, right, 9, World)
	r.CallOn(1, "MPI_Recv", 51, 0, heap(5), 0, 4, IntType, left, 9, World, 1, left, 9, 16, 0)
	r.CallOn(1, "MPI_Iprobe", 52, 0, left, 9, World, 1, 1, left, 9, 16, 0)
	r.CallOn(1, "MPI_Barrier", 53, 0, World)
	r.Order(1, Fibonacci(72))
}

const firstLocal = mpi.FirstUserHandleID

// Makers is a program with about 10^15 calls per rank whose iterations make objects, and whose values depend on
// earlier iterations: communicators, datatypes, graphs and memory in one loop, tags in another.
func Makers(r *Recorder) {
	right, left := int64((r.Rank+1)%r.Size), int64((r.Rank+r.Size-1)%r.Size)
	comm, typ := int64(firstLocal), int64(firstLocal)
	r.Begin()
	r.Call("MPI_Type_contiguous", 4, 2, IntType, typ, 8, 0, 8, 0, 8)
	r.Call("MPI_Type_commit", 5, typ, typ)
	r.Call("MPI_Type_contiguous", 6, 3, IntType, typ, 12, 0, 12, 0, 12)
	r.Call("MPI_Send", 7, heap(0), 0, 5, typ, right, 3, World)
	r.Call("MPI_Recv", 8, heap(1), 0, 5, typ, left, 3, World, 1, left, 3, 40, 0)
	r.LaneOn(0, "MPI_Send", 40, []int{6}, 0, heap(0), 0, 1, IntType, right, 0, World)
	r.LaneOn(0, "MPI_Send", 40, []int{6}, 0, heap(0), 0, 1, IntType, right, 1, World)
	r.LaneOn(0, "MPI_Recv", 41, []int{6, 10}, 0, heap(1), 0, 1, IntType, left, 0, World, 1, left, 0, 4, 0)
	r.LaneOn(0, "MPI_Recv", 41, []int{6, 10}, 0, heap(1), 0, 1, IntType, left, 1, World, 1, left, 1, 4, 0)
	r.Call("MPI_Comm_dup", 9, World, comm, 0, 0, int64(r.Rank), int64(r.Size), -1, 0, 0)
	r.Call("MPI_Barrier", 10, comm)
	r.Call("MPI_Comm_free", 11, comm)
	r.End()
	rounds := uint64(1) << 47
	one := func(id int32) grammar.Symbol { return grammar.Symbol{TerminalOrRule: id, Count: 1} }
	r.Order(0, &grammar.Grammar{Rules: [][]grammar.Symbol{
		{one(0), {TerminalOrRule: -1, Count: rounds}, {TerminalOrRule: -2, Count: rounds}, {TerminalOrRule: -3, Count: 1000}, one(13)},
		{one(1), one(2), one(4), one(5), one(3), one(4), one(5)},
		{one(6), one(8)},
		{one(10), one(11), one(12)},
	}})
	r.AllocEvent(0, false, 0, 1000)
	r.AllocEvent(0, true, 0, 0)
	r.allocOrders = map[int]*grammar.Grammar{0: {Rules: [][]grammar.Symbol{{{TerminalOrRule: -1, Count: rounds}}, {one(0), one(1)}}}}
}
