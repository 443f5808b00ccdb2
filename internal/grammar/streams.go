package grammar

import "fmt"

// EachRepeatedSymbol yields the symbols with a count above 1, in order of streams, rules and positions. n numbers them from
// 0. It returns how many there are.
func EachRepeatedSymbol(streams []*Grammar, yield func(n int, s *Symbol)) int {
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

// CountRepeatedSymbols counts the symbols with a count above 1.
func CountRepeatedSymbols(streams []*Grammar) int {
	return EachRepeatedSymbol(streams, func(int, *Symbol) {})
}

// WithRepetitionCounts returns copies of streams with other counts of some repeated symbols. The symbol with the number
// which[i], as of EachRepeatedSymbol, gets count(i), which must be at least 1. which must be in rising order.
func WithRepetitionCounts(streams []*Grammar, which []int, count func(i int) int64) ([]*Grammar, error) {
	list := make([]*Grammar, len(streams))
	for i, g := range streams {
		list[i] = g.Clone()
	}
	next, bad := 0, int64(1)
	EachRepeatedSymbol(list, func(n int, s *Symbol) {
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

// CountTerminals returns the number of distinct terminals. It returns false if they are not numbered by first
// occurrence over the streams in order.
func CountTerminals(streams []*Grammar) (int, bool) {
	next := uint32(0)
	for _, g := range streams {
		var ok bool
		if next, ok = g.IsNumberedFrom(next); !ok {
			return 0, false
		}
	}
	return int(next), true
}

// CountOccurrences counts how often each terminal occurs in the streams.
func CountOccurrences(streams []*Grammar, terminals int) []uint64 {
	sum := make([]uint64, terminals)
	for _, g := range streams {
		for i, n := range g.TerminalCounts(terminals) {
			sum[i] += n
		}
	}
	return sum
}
