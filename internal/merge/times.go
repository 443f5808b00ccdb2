package merge

import (
	"math/bits"

	"spoor/internal/timing"
	"spoor/internal/track"
	"spoor/internal/wire"
	"spoor/trace"
)

// pools tells for each terminal which one has its times in a message. A file
// has one summary for many terminals that differ in values only, so nothing is
// lost if they are put together on the way.
func (s *shape) pools() []int {
	members := make([]int, len(s.like))
	for _, first := range s.like {
		members[first]++
	}
	of := make([]int, len(s.like))
	for i, first := range s.like {
		if of[i] = first; members[first] < trace.PoolFrom {
			of[i] = i
		}
	}
	return of
}

// unpool shares out what a message put together, once a class is written with other
// terminals: as many of a skeleton as share a summary may have become so few that each
// has its own. like is the skeleton in c of each new terminal, calls is how often all
// members call it.
func (c *class) unpool(times []trace.Times, like []int, calls []uint64) {
	before, now := make(map[int]int), make(map[int][]int)
	for _, first := range c.shape().like {
		before[first]++
	}
	for n, first := range like {
		now[first] = append(now[first], n)
	}
	for first, list := range now {
		if before[first] < trace.PoolFrom || len(list) >= trace.PoolFrom {
			continue
		}
		var whole trace.Times
		sum := uint64(0)
		for _, n := range list {
			whole.Duration.Merge(times[n].Duration)
			whole.Gap.Merge(times[n].Gap)
			sum += calls[n]
		}
		left := whole
		for i, n := range list {
			if i == len(list)-1 {
				times[n] = left
				break
			}
			times[n] = trace.Times{Duration: whole.Duration.Part(calls[n], sum), Gap: whole.Gap.Part(calls[n], sum)}
			left.Duration, left.Gap = left.Duration.Minus(times[n].Duration), left.Gap.Minus(times[n].Gap)
		}
	}
}

// totals are what the ranks of a class spent on the calls of each skeleton, and
// between them, in the order in which the terminals first have the skeletons. Unlike
// terminals, skeletons stay what they are when classes are refined.
type totals []struct{ duration, gap timing.Spread }

func (t totals) merge(o totals) {
	for i := range t {
		t[i].duration.Merge(o[i].duration)
		t[i].gap.Merge(o[i].gap)
	}
}

// sites numbers the skeletons by first occurrence.
func (s *shape) sites() (of []int, n int) {
	of = make([]int, len(s.like))
	for i, first := range s.like {
		if first == i {
			of[i] = n
			n++
		} else {
			of[i] = of[first]
		}
	}
	return of, n
}

// fill gives the first terminal of each skeleton its totals.
func (t totals) fill(times []trace.Times, sh *shape) {
	of, _ := sh.sites()
	next := 0
	for i, n := range of {
		if n == next && n < len(t) {
			times[i].DurationTotals, times[i].GapTotals = t[n].duration, t[n].gap
			next++
		}
	}
}

// leafTimes takes over what a single rank's track says.
func (c *class) leafTimes(tr *track.Track, rank int) {
	of, n := c.shape().sites()
	c.times = make([]trace.Times, 0, len(tr.Times))
	sums := make([]struct{ duration, gap uint64 }, n)
	for i, t := range tr.Times {
		c.times = append(c.times, trace.Times{Duration: t.Duration.At(rank), Gap: t.Gap.At(rank)})
		sums[of[i]].duration += t.Duration.Sum
		sums[of[i]].gap += t.Gap.Sum
	}
	c.totals = make(totals, n)
	for i := range c.totals {
		c.totals[i].duration = timing.SpreadOf(sums[i].duration, rank)
		c.totals[i].gap = timing.SpreadOf(sums[i].gap, rank)
	}
}

// pooled returns the times as a message has them, in the order of the terminals that
// have them there.
func (c *class) pooled() []trace.Times {
	of := c.shape().pools()
	number := make([]int, len(of))
	n := 0
	for i, first := range of {
		if first == i {
			number[i] = n
			n++
		}
	}
	sums := make([]trace.Times, n)
	for i := range c.times {
		sum := &sums[number[of[i]]]
		sum.Duration.Merge(c.times[i].Duration)
		sum.Gap.Merge(c.times[i].Gap)
	}
	return sums
}

func (c *class) appendTimes(b []byte) []byte {
	for _, sum := range c.pooled() {
		b = appendStat(b, sum.Duration)
		b = appendStat(b, sum.Gap)
	}
	for i := range c.totals {
		b = appendSpread(b, c.totals[i].duration)
		b = appendSpread(b, c.totals[i].gap)
	}
	return b
}

func (c *class) decodeTimes(r *wire.Reader, sh *shape) {
	c.times = make([]trace.Times, len(sh.skeletons))
	for i, p := range sh.pools() {
		if p == i {
			c.times[i] = trace.Times{Duration: decodeStat(r), Gap: decodeStat(r)}
		}
	}
	_, n := sh.sites()
	c.totals = make(totals, n)
	for i := range c.totals {
		c.totals[i].duration, c.totals[i].gap = decodeSpread(r), decodeSpread(r)
	}
}

// appendStat writes a summary as little more than what its extremes leave open:
//
//	stat = count uvarint, min uvarint, max-min uvarint, sum-least uvarint,
//	       squares-least (hi varint, lo uvarint), rank of min uvarint, of max varint as a difference to that
func appendStat(b []byte, s timing.Stat) []byte {
	for _, v := range [...]uint64{s.Count, s.Min, s.Max - s.Min, s.Sum - leastSum(s.Count, s.Min, s.Max)} {
		b = wire.AppendUvarint(b, v)
	}
	least := leastSquares(s)
	lo, borrow := bits.Sub64(s.Squares.Lo, least.Lo, 0)
	hi, _ := bits.Sub64(s.Squares.Hi, least.Hi, borrow)
	b = wire.AppendUvarint(wire.AppendVarint(b, int64(hi)), lo)
	b = wire.AppendUvarint(b, uint64(s.MinRank))
	return wire.AppendVarint(b, int64(s.MaxRank)-int64(s.MinRank))
}

func decodeStat(r *wire.Reader) timing.Stat {
	s := timing.Stat{Count: r.Uvarint(), Min: r.Uvarint()}
	s.Max = s.Min + r.Uvarint()
	s.Sum = leastSum(s.Count, s.Min, s.Max) + r.Uvarint()
	s.Squares = leastSquares(s).Plus(timing.Wide{Hi: uint64(r.Varint()), Lo: r.Uvarint()})
	s.MinRank = int32(r.Int(maxRanks))
	last := int64(s.MinRank) + r.Varint()
	if last < 0 || last > maxRanks {
		r.Fail("rank %d", last)
		return timing.Stat{}
	}
	s.MaxRank = int32(last)
	return s
}

// leastSum is what n samples come to at least with these extremes.
func leastSum(n, least, most uint64) uint64 {
	if n < 2 {
		return n * least
	}
	return (n-1)*least + most
}

// leastSquares is what the squares come to at least: those of the extremes, and
// the others all alike.
func leastSquares(s timing.Stat) timing.Wide {
	if s.Count < 2 {
		return squareOver(s.Sum, s.Count)
	}
	sum := squareOver(s.Min, 1).Plus(squareOver(s.Max, 1))
	return sum.Plus(squareOver(s.Sum-s.Min-s.Max, s.Count-2))
}

// squareOver is v²/n, rounded down; 0 for n = 0.
func squareOver(v, n uint64) timing.Wide {
	if n == 0 {
		return timing.Wide{}
	}
	hi, lo := bits.Mul64(v, v)
	q, rest := hi/n, hi%n
	lo, _ = bits.Div64(rest, lo, n)
	return timing.Wide{Hi: q, Lo: lo}
}

// A spread has the form of a summary whose samples are totals of ranks.
func appendSpread(b []byte, s timing.Spread) []byte {
	return appendStat(b, timing.Stat{
		Count: uint64(s.Ranks), Sum: s.Sum, Min: s.Min, Max: s.Max, Squares: s.Squares, MinRank: s.MinRank, MaxRank: s.MaxRank,
	})
}

func decodeSpread(r *wire.Reader) timing.Spread {
	s := decodeStat(r)
	if s.Count > maxRanks {
		r.Fail("%d ranks", s.Count)
		return timing.Spread{}
	}
	return timing.Spread{
		Ranks: int(s.Count), Sum: s.Sum, Min: s.Min, Max: s.Max, Squares: s.Squares, MinRank: s.MinRank, MaxRank: s.MaxRank,
	}
}
