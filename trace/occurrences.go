package trace

import (
	"iter"

	"github.com/spoor-hpc/spoor/internal/grammar"
)

// Occurrences tells where some of a stream's calls are, without expanding the
// stream. It is safe for use by several goroutines at once.
type Occurrences struct{ sums *grammar.Sums }

// Occurrences looks for the calls of a stream whose terminals are wanted. It
// takes time in proportion to the compressed stream. Ranks of a Uniform class
// have the same.
func (k *Rank) Occurrences(stream int, wanted func(terminal int) bool) *Occurrences {
	return &Occurrences{k.weighed(stream, func(t uint32) int64 {
		if wanted(int(t)) {
			return 1
		}
		return 0
	})}
}

// Total returns how many there are.
func (o *Occurrences) Total() uint64 { return uint64(o.sums.Total()) }

// Before returns how many there are before a position.
func (o *Occurrences) Before(index uint64) uint64 { return uint64(o.sums.Before(index)) }

// Nth returns position and terminal of the n-th, from 0.
func (o *Occurrences) Nth(n uint64) (index uint64, terminal int) {
	at, t := o.sums.Nth(int64(n))
	return at, int(t)
}

// All yields positions and terminals in program order.
func (o *Occurrences) All() iter.Seq2[uint64, int] {
	return func(yield func(uint64, int) bool) {
		for i := range o.sums.Total() {
			if at, terminal := o.sums.Nth(i); !yield(at, int(terminal)) {
				return
			}
		}
	}
}

// Firsts returns the position at which each terminal is first in a stream; of those that
// don't occur, none that the stream has.
func (k *Rank) Firsts(stream int) []uint64 { return k.bare[stream]().Firsts(k.Terminals()) }

// Uniform reports whether all ranks of the class run their loops equally often,
// so that counts and positions of terminals are the same on all of them.
func (k *Rank) Uniform() bool { return len(k.class.Varying) == 0 }
