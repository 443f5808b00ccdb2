package partners

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A drawnMessage is a synthetic message that each rank sends, and receives, in an exchange. offset is the receiver's
// rank minus the sender's.
type drawnMessage struct {
	offset, tag, bytes int64
}

// mostBins is the largest number of bins of a distribution in the trace.
const mostBins = 64

// told returns a family's synthetic messages as the trace describes them.
func (f *family) told(seed uint64) trace.SyntheticMessages {
	return trace.SyntheticMessages{
		Seed: seed, Intervals: uint64(len(f.intervals)), ExchangeCount: f.rounds, DistinctExchanges: f.exchanges, WrapsAround: f.ring, SendSegment: f.memory[0], ReceiveSegment: f.memory[1],
		RankDistances: f.relative.ModelDistribution(mostBins), Sizes: f.sizes.ModelDistribution(mostBins), Tags: f.tags.ModelDistribution(mostBins), MessagesPerInterval: f.numbers.ModelDistribution(mostBins),
	}
}

// draw draws the exchanges of a family, which has this number among all families. If that is impossible, it returns
// why.
func (f *family) draw(d *PartnerDrawer, number int) (why string) {
	ranks := int64(d.r.Ranks())
	total := f.relative.Count
	for rank := range f.sent {
		if n := max(f.sent[rank], f.received[rank]); n*uint64(ranks) > unequal*total && !byChance(float64(n), float64(total)/float64(ranks), float64(ranks)) {
			return "a rank sends or receives more than four times as many messages as others"
		}
	}
	if f.elements(); f.sizes.Max.Value/f.unit > math.MaxInt32 {
		return "messages are too large"
	}
	far := uint64(0) // number of messages over a distance above ranks/2, as between the first and last rank of a ring
	for _, x := range f.relative.AllBins() {
		if 2*max(x.Min, -x.Min) > ranks {
			far += x.Count
		}
	}
	f.ring = far*100 > total
	left := 0.0
	drew := 0
	for i, g := range f.groups {
		order := slices.SortedFunc(maps.Keys(g.kinds), func(a, b kind) int {
			if a.tag != b.tag {
				return cmp.Compare(a.tag, b.tag)
			}
			if a.nothing == b.nothing {
				return 0
			} else if a.nothing {
				return -1
			}
			return 1
		})
		for j, k := range order {
			x := &drawing{kind: g.kinds[k], from: mixedAll(d.seed, uint64(number), uint64(i), uint64(j)), ranks: ranks, ring: f.ring, unit: f.unit}
			g.exchange = append(g.exchange, x.draw(g.rounds, &left)...)
		}
		if len(g.exchange) > mostDrawn {
			return "ranks send too many messages at once"
		}
		if drew += len(g.exchange); len(g.exchange) > 0 {
			f.exchanges++
			f.rounds += g.rounds
		}
	}
	if drew == 0 {
		return "there are fewer messages than ranks"
	}
	return ""
}

// byChance reports whether random partners suffice to explain that a rank has n messages, where the mean over all ranks
// is mean. ranks is their number. Otherwise, by Chernoff's bound, some rank has n in at most a tenth of all runs.
func byChance(n, mean, ranks float64) bool { return n*math.Log(n/mean)-(n-mean) < math.Log(20*ranks) }

// elements rounds sizes to whole elements of the family's datatype, or to bytes.
func (f *family) elements() {
	if size, ok := mpi.PredefinedTypeSize(f.datatype); ok && size > 0 && !f.mixed {
		whole := true
		for _, x := range f.sizes.AllBins() {
			whole = whole && x.Min%size == 0
		}
		if whole {
			f.unit = size
			return
		}
	}
	c, _ := mpi.ConstantNamed("MPI_BYTE")
	f.unit, f.datatype = 1, c.Value
}

// A drawing draws synthetic messages of one kind.
type drawing struct {
	kind  *drawnKind
	from  uint64 // seed of the hash that serves as a random number
	ranks int64
	ring  bool
	unit  int64
}

// A weight is a value with its relative frequency.
type weight struct {
	value  int64
	weight float64
}

// draw returns the messages of this kind that a rank sends in each exchange, where there are rounds exchanges in all.
// left is the number of messages that rounding left over so far: the next kind gets them.
func (x *drawing) draw(rounds uint64, left *float64) (list []drawnMessage) {
	offsets, want := x.offsets()
	want += *left
	n := max(0, int(math.Floor(want/float64(rounds)+0.5)))
	*left = want - float64(n)*float64(rounds)
	if n == 0 || n > mostDrawn {
		return make([]drawnMessage, n)
	}
	var tags []weight
	for _, tag := range x.kind.tags.AllBins() {
		tags = append(tags, weight{tag.Min, float64(tag.Count)})
	}
	sizes := x.sizes(n)
	own, other := x.order(n, 1), x.order(n, 2)
	for i := range n {
		list = append(list, drawnMessage{x.pick(offsets, i, n), x.pick(tags, other[i], n), sizes[own[i]]})
	}
	return list
}

// offsets returns the distances from sender to receiver. A distance's weight is the number of messages over it,
// divided by the number of ranks that have a partner at that distance. sum is the sum of the weights.
func (x *drawing) offsets() (list []weight, sum float64) {
	of := x.kind.offsets
	if x.ring {
		of = stats.NumberDistribution{KeepAllExact: true}
		for _, y := range x.kind.offsets.AllBins() {
			of.Add((y.Min+x.ranks+x.ranks/2-1)%x.ranks-(x.ranks/2-1), y.Count, 0)
		}
	}
	for _, y := range of.AllBins() {
		with := x.ranks
		if !x.ring {
			with -= max(y.Min, -y.Min)
		}
		w := weight{y.Min, float64(y.Count) / float64(max(with, 1))}
		list = append(list, w)
		sum += w.weight
	}
	return list, sum
}

// pick draws a value from part i, counted from 0, of a distribution that is cut into n parts of equal weight.
func (x *drawing) pick(list []weight, i, n int) int64 {
	sum := 0.0
	for _, w := range list {
		sum += w.weight
	}
	at := (float64(i) + float64(mixedAll(x.from, 3, uint64(i))>>11)/(1<<53)) / float64(n) * sum
	for _, w := range list {
		if at -= w.weight; at < 0 {
			return w.value
		}
	}
	return list[len(list)-1].value
}

// order returns the numbers below n in random order. which is a part of the seed: other values give other orders.
func (x *drawing) order(n int, which uint64) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int {
		return cmp.Compare(mixedAll(x.from, which, uint64(a)), mixedAll(x.from, which, uint64(b)))
	})
	return list
}

// sizes returns n message sizes in bytes, ascending. The sorted original sizes are cut into n equal parts. Each result
// is the mean of one part, rounded to whole elements.
func (x *drawing) sizes(n int) []int64 {
	total := float64(x.kind.sizes.Count)
	room := total / float64(n)
	out := make([]int64, n)
	left, sum, at := room, 0.0, 0
	for _, y := range x.kind.sizes.AllBins() {
		for count := float64(y.Count); count > 0 && at < n; {
			take := min(count, left)
			count, left, sum = count-take, left-take, sum+take*float64(y.Min)
			if left < room*1e-9 {
				out[at] = x.whole(sum / room)
				at, left, sum = at+1, room, 0
			}
		}
	}
	if at < n { // the last part isn't quite full, as fractions of messages are rounded
		out[at] = x.whole(sum / (room - left))
	}
	return out
}

// whole rounds a number of bytes to a multiple of an element's size, x.unit. Only less than half a byte becomes 0.
func (x *drawing) whole(bytes float64) int64 {
	if bytes < 0.5 {
		return 0
	}
	return max(1, int64(bytes/float64(x.unit)+0.5)) * x.unit
}
