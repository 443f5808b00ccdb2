package merge

import (
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A summary is the times of a terminal, or of many terminals together that differ in values only. A file stores one
// summary for such terminals anyway, so nothing is lost. A rank with thousands of distinct calls then has a few
// dozen summaries.
type summary struct{ duration, gap model.Stat }

func (s *summary) merge(o *summary) {
	s.duration.Merge(o.duration)
	s.gap.Merge(o.gap)
}

// part returns num/den of the summary and subtracts it from left.
func (s *summary) part(num, den uint64, left *summary) summary {
	p := summary{s.duration.Fraction(num, den), s.gap.Fraction(num, den)}
	left.duration, left.gap = left.duration.WithoutPart(p.duration), left.gap.WithoutPart(p.gap)
	return p
}

// summariesOf returns each terminal's summary and the number of summaries.
func summariesOf(s *skeletons) (of []int32, n int) {
	members := make([]int, len(s.kinds))
	for _, k := range s.of {
		members[k]++
	}
	of = make([]int32, len(s.of))
	for i, k := range s.of {
		if first := s.first[k]; first != i && members[k] >= sections.MinPoolSize {
			of[i] = of[first]
			continue
		}
		of[i] = int32(n)
		n++
	}
	return of, n
}

// pools returns for each terminal the first one that shares its summary.
func (s *classShape) pools() []int {
	of := make([]int, s.terminals())
	next := int32(0)
	for i, n := range s.summary {
		if of[i] = i; n < next {
			of[i] = s.like(i)
		} else {
			next++
		}
	}
	return of
}

// byTerminal returns the times by terminal: the first terminal of each summary has them, the others have none.
func (c *class) byTerminal() []summary {
	list := make([]summary, len(c.shape().summary))
	next := int32(0)
	for i, n := range c.shape().summary {
		if n == next {
			list[i] = c.times[n]
			next++
		}
	}
	return list
}

// setTimes sets the summaries from the times of each terminal.
func (c *class) setTimes(list []summary) {
	sh := c.shape()
	c.times = make([]summary, sh.summaries)
	for i := range list {
		c.times[sh.summary[i]].merge(&list[i])
	}
}

// unpool distributes pooled times to new terminals, when a class is rewritten with other terminals. It concerns
// skeletons whose terminals in c are at least MinPoolSize and share a summary, but whose new ones are fewer, so that
// each has its own. By new terminal, like is the first terminal of c with its skeleton, and calls is how often all
// members together make its calls.
func (c *class) unpool(times []summary, like []int, calls []uint64) {
	before, now := make(map[int]int), make(map[int][]int)
	sh := c.shape()
	for t := range sh.of {
		before[sh.like(t)]++
	}
	for n, first := range like {
		now[first] = append(now[first], n)
	}
	for first, list := range now {
		if before[first] < sections.MinPoolSize || len(list) >= sections.MinPoolSize {
			continue
		}
		var whole summary
		sum := uint64(0)
		for _, n := range list {
			whole.merge(&times[n])
			sum += calls[n]
		}
		left := whole
		for i, n := range list {
			if i == len(list)-1 {
				times[n] = left
				break
			}
			times[n] = whole.part(calls[n], sum, &left)
		}
	}
}

// totals is the time of a class's ranks in the calls of each place and in the gaps before them. Places are in the
// order of their first terminals. Unlike terminals they do not change when classes are refined.
type totals []struct{ duration, gap model.Spread }

func (t totals) merge(o totals) {
	for i := range t {
		t[i].duration.Merge(o[i].duration)
		t[i].gap.Merge(o[i].gap)
	}
}

// sites numbers the places of calls by first occurrence: skeletons without their stacks.
func (s *skeletons) sites() (of []int, n int) { return s.numbers(s.place) }

// stacks numbers the skeletons by first occurrence.
func (s *skeletons) stacks() (of []int, n int) { return s.numbers(s.like) }

func (s *skeletons) numbers(firstOf func(terminal int) int) (of []int, n int) {
	of = make([]int, s.terminals())
	for i := range of {
		if first := firstOf(i); first == i {
			of[i] = n
			n++
		} else {
			of[i] = of[first]
		}
	}
	return of, n
}

// leafTimes takes over the times of a single rank's track, and returns the sum of all durations.
func (c *class) leafTimes(tr *track.Track, rank int) (inside int64) {
	of, n := c.shape().sites()
	sh := c.shape()
	c.times = make([]summary, sh.summaries)
	sums := make([]struct{ duration, gap uint64 }, n)
	calls := tr.AllDistinctCalls()
	for i := range of {
		t := calls.Times(i)
		inside += int64(t.Duration.Sum)
		c.times[sh.summary[i]].merge(&summary{t.Duration.OfRank(rank), t.Gap.OfRank(rank)})
		sums[of[i]].duration += t.Duration.Sum
		sums[of[i]].gap += t.Gap.Sum
	}
	c.totals = make(totals, n)
	for i := range c.totals {
		c.totals[i].duration = model.SpreadOf(sums[i].duration, rank)
		c.totals[i].gap = model.SpreadOf(sums[i].gap, rank)
	}
	return inside
}

func (c *class) codeTimes(x *wire.Coder, n bounds) {
	if x.Reader != nil {
		c.times, c.totals = make([]summary, n.summaries), make(totals, n.sites)
	}
	for i := range c.times {
		codeStat(x, &c.times[i].duration)
		codeStat(x, &c.times[i].gap)
	}
	for i := range c.totals {
		codeSpread(x, &c.totals[i].duration)
		codeSpread(x, &c.totals[i].gap)
	}
}

// codeStat codes a summary. Sum and squares are coded relative to the least values that the extremes allow:
//
//	stat = count uvarint, min uvarint, max-min uvarint, sum-least uvarint,
//	       squares-least (hi varint, lo uvarint), rank of min uvarint, of max varint as a difference to that
func codeStat(c *wire.Coder, s *model.Stat) {
	span, more := s.Max-s.Min, s.Sum-leastSum(s.Count, s.Min, s.Max)
	wire.CodeUints(c, &s.Count, &s.Min, &span, &more)
	s.Max = s.Min + span
	s.Sum = leastSum(s.Count, s.Min, s.Max) + more
	least := leastSquares(s)
	lo, borrow := bits.Sub64(s.Squares.Lo, least.Lo, 0)
	rest, _ := bits.Sub64(s.Squares.Hi, least.Hi, borrow)
	hi, rank := int64(rest), int64(s.MaxRank)
	wire.CodeIntegers(c, &hi)
	wire.CodeUints(c, &lo)
	s.Squares = least.Plus(model.Uint128{Hi: uint64(hi), Lo: lo})
	wire.CodeBounded(c, &s.MinRank, model.MaxRanks)
	wire.CodeRelative(c, &rank, int64(s.MinRank))
	c.RefuseIf(rank < 0 || rank > model.MaxRanks, "a rank that isn't there")
	s.MaxRank = int32(rank)
}

// leastSum is the least possible sum of n samples with these extremes.
func leastSum(n, least, most uint64) uint64 {
	if n < 2 {
		return n * least
	}
	return (n-1)*least + most
}

// leastSquares is the least possible sum of squares: those of the extremes, with all others equal.
func leastSquares(s *model.Stat) model.Uint128 {
	if s.Count < 2 {
		return squareOver(s.Sum, s.Count)
	}
	sum := squareOver(s.Min, 1).Plus(squareOver(s.Max, 1))
	return sum.Plus(squareOver(s.Sum-s.Min-s.Max, s.Count-2))
}

// squareOver is v²/n, rounded down; 0 for n = 0.
func squareOver(v, n uint64) model.Uint128 {
	if n == 0 {
		return model.Uint128{}
	}
	hi, lo := bits.Mul64(v, v)
	q, rest := hi/n, hi%n
	lo, _ = bits.Div64(rest, lo, n)
	return model.Uint128{Hi: q, Lo: lo}
}

// codeSpread codes a spread as a summary whose samples are the ranks' totals.
func codeSpread(c *wire.Coder, s *model.Spread) {
	x := model.Stat{
		Count: uint64(s.Ranks), Sum: s.Sum, Min: s.Min, Max: s.Max, Squares: s.Squares, MinRank: s.MinRank, MaxRank: s.MaxRank,
	}
	codeStat(c, &x)
	c.RefuseIf(x.Count > model.MaxRanks, "a spread of too many ranks")
	*s = model.Spread{
		Ranks: int(x.Count), Sum: x.Sum, Min: x.Min, Max: x.Max, Squares: x.Squares, MinRank: x.MinRank, MaxRank: x.MaxRank,
	}
}
