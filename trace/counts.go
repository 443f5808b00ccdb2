package trace

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// Ranks of a class have the same grammars up to how often symbols are repeated:
// workers that got different numbers of tasks did the same. Where the ranks of
// a class agree, the number stands in the grammar; where they don't, a column
// holds it.

// repeated yields the symbols with a count above 1, in order of streams, rules
// and places in them, with their numbers.
func repeated(streams []*grammar.Grammar, yield func(n int, s *grammar.Symbol)) int {
	n := 0
	for _, g := range streams {
		for _, body := range g.Rules {
			for i := range body {
				if body[i].Count > 1 {
					yield(n, &body[i])
					n++
				}
			}
		}
	}
	return n
}

// withCounts returns copies of streams in which the numbered repeated symbols
// have other counts, 1 at least.
func withCounts(streams []*grammar.Grammar, which []int, count func(i int) int64) ([]*grammar.Grammar, error) {
	list := make([]*grammar.Grammar, len(streams))
	for i, g := range streams {
		list[i] = g.Renumber(func(t uint32) uint32 { return t })
	}
	next, bad := 0, int64(1)
	repeated(list, func(n int, s *grammar.Symbol) {
		if next < len(which) && which[next] == n {
			c := count(next)
			if c < 1 {
				bad = c
				c = 1
			}
			s.Count = uint64(c)
			next++
		}
	})
	if bad < 1 {
		return nil, fmt.Errorf("part of a stream is repeated %d times", bad)
	}
	for _, g := range list {
		if err := g.Check(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// counted are the streams of a class with constant counts filled in, and what
// varies.
type counted struct {
	streams []*grammar.Grammar // varying counts are those of the first rank
	varying []int              // numbers of repeated symbols
	columns []column.Column    // their counts
}

// countsOf checks the counts of a class.
func countsOf(c *Class) (counted, error) {
	out := counted{streams: c.Streams}
	n := repeated(c.Streams, func(int, *grammar.Symbol) {})
	if c.Counts == nil {
		return out, nil
	}
	if len(c.Counts) != n {
		return out, fmt.Errorf("%d counts for %d repeated symbols", len(c.Counts), n)
	}
	which := make([]int, n)
	for i := range c.Counts {
		which[i] = i
		if c.Counts[i].Len() != c.Ranks.Len() {
			return out, fmt.Errorf("count %d of %d ranks, %d expected", i, c.Counts[i].Len(), c.Ranks.Len())
		}
		if _, ok := c.Counts[i].Same(); !ok {
			out.varying = append(out.varying, i)
			out.columns = append(out.columns, c.Counts[i])
		}
	}
	var err error
	out.streams, err = withCounts(c.Streams, which, func(i int) int64 { return c.Counts[i].Runs()[0].Start })
	if err == nil && len(out.varying) > 0 {
		// A count of 1 would not be numbered when read back.
		repeats := repeated(out.streams, func(int, *grammar.Symbol) {})
		if repeats != n {
			err = fmt.Errorf("%d of %d repeated symbols stand once", n-repeats, n)
		}
	}
	return out, err
}

// calls returns how often the ranks of the class called each terminal, in all.
func (c *counted) calls(terminals, ranks int) ([]uint64, error) {
	iters := make([][]int64, len(c.columns))
	for i := range c.columns {
		iters[i] = c.columns[i].Values()
	}
	return totalCalls(c.streams, c.varying, terminals, ranks, func(i, member int) int64 { return iters[i][member] })
}

func totalCalls(streams []*grammar.Grammar, varying []int, terminals, ranks int, count func(i, member int) int64) ([]uint64, error) {
	if len(varying) == 0 {
		sum := occurrences(streams, terminals)
		for i := range sum {
			sum[i] *= uint64(ranks)
		}
		return sum, nil
	}
	sum := make([]uint64, terminals)
	for member := range ranks {
		list, err := withCounts(streams, varying, func(i int) int64 { return count(i, member) })
		if err != nil {
			return nil, err
		}
		for i, n := range occurrences(list, terminals) {
			sum[i] += n
		}
	}
	return sum, nil
}

// appendVarying and decodeVarying: which repeated symbols have a column.
//
//	varying = count uvarint, (number, as a difference to the one before) uvarint…
func appendVarying(b []byte, varying []int) []byte {
	b = wire.AppendUvarint(b, uint64(len(varying)))
	last := 0
	for _, n := range varying {
		b = wire.AppendUvarint(b, uint64(n-last))
		last = n
	}
	return b
}

func decodeVarying(r *wire.Reader, streams []*grammar.Grammar) []int {
	n := repeated(streams, func(int, *grammar.Symbol) {})
	var varying []int
	last := 0
	for i := range r.Count(1) {
		d := r.Int(math.MaxInt32)
		if last += d; last >= n || i > 0 && d == 0 {
			r.Fail("repeated symbol %d of %d", last, n)
			return nil
		}
		varying = append(varying, last)
	}
	return varying
}
