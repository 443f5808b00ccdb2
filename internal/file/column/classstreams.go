// Streams are the grammars that the ranks of a class share, with the repetition counts of each rank: workers with
// different numbers of tasks are in one class. A count that all ranks share is in the grammar; others are columns.

package column

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// CountedStreams are a class's grammars with constant counts filled in, and the counts that vary.
type CountedStreams struct {
	Grammars       []*grammar.Grammar // with the first rank's counts where they vary
	VaryingSymbols []int              // indices, among all repeated symbols, of those whose counts vary
	VaryingCounts  []Column           // by index in VaryingSymbols: the counts, over the ranks
}

// NewCountedStreams makes CountedStreams of a class's grammars and counts. counts has a column for each repeated symbol,
// or is nil if all ranks have the counts in streams.
func NewCountedStreams(streams []*grammar.Grammar, counts []Column, ranks int) (CountedStreams, error) {
	out := CountedStreams{Grammars: streams}
	n := grammar.CountRepeatedSymbols(streams)
	if counts == nil {
		return out, nil
	}
	if len(counts) != n {
		return out, fmt.Errorf("%d counts for %d repeated symbols", len(counts), n)
	}
	which := make([]int, n)
	for i := range counts {
		which[i] = i
		if counts[i].Len() != ranks {
			return out, fmt.Errorf("count %d of %d ranks, %d expected", i, counts[i].Len(), ranks)
		}
		if _, ok := counts[i].Uniform(); !ok {
			out.VaryingSymbols = append(out.VaryingSymbols, i)
			out.VaryingCounts = append(out.VaryingCounts, counts[i])
		}
	}
	var err error
	out.Grammars, err = grammar.WithRepetitionCounts(streams, which, func(i int) int64 { return counts[i].Runs()[0].Start })
	if err == nil && len(out.VaryingSymbols) > 0 {
		// A symbol with count 1 would not be numbered as repeated when read back.
		repeats := grammar.CountRepeatedSymbols(out.Grammars)
		if repeats != n {
			err = fmt.Errorf("%d of %d repeated symbols occur once", n-repeats, n)
		}
	}
	return out, err
}

// CountCalls returns, by terminal, how often all ranks of the class together called it.
func (s *CountedStreams) CountCalls(terminals, ranks int) ([]uint64, error) {
	vals := make([][]int64, len(s.VaryingCounts))
	for i := range s.VaryingCounts {
		vals[i] = s.VaryingCounts[i].Values()
	}
	return CountStreamCalls(s.Grammars, s.VaryingSymbols, terminals, ranks, func(i, member int) int64 { return vals[i][member] })
}

// CountStreamCalls returns what CountCalls does, for counts that are read one by one. count returns the i-th varying
// count of a member.
func CountStreamCalls(streams []*grammar.Grammar, varying []int, terminals, ranks int, count func(i, member int) int64) ([]uint64, error) {
	if len(varying) == 0 {
		sum := grammar.CountOccurrences(streams, terminals)
		for i := range sum {
			sum[i] *= uint64(ranks)
		}
		return sum, nil
	}
	sum := make([]uint64, terminals)
	for member := range ranks {
		list, err := grammar.WithRepetitionCounts(streams, varying, func(i int) int64 { return count(i, member) })
		if err != nil {
			return nil, err
		}
		for i, n := range grammar.CountOccurrences(list, terminals) {
			sum[i] += n
		}
	}
	return sum, nil
}

// CodeVaryingSymbols writes or reads which repeated symbols of streams have a column of counts.
//
//	varying = count uvarint, (number, as a difference to the one before) uvarint…
func CodeVaryingSymbols(c *wire.Coder, varying *[]int, streams []*grammar.Grammar) {
	n, last := math.MaxInt, 0
	if c.Reader != nil {
		n = grammar.CountRepeatedSymbols(streams)
	}
	wire.CodeList(c, varying, 1, func(i int, v *int) {
		wire.CodeAbove(c, v, last, math.MaxInt32)
		c.RefuseIf(*v >= n || i > 0 && *v == last, "repeated symbol %d of %d", *v, n)
		last = *v
	})
	if c.Failed() {
		*varying = nil
	}
}
