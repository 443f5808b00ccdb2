package signature

import (
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
)

// A Lane is the values of a signature that differ from call to call, as the
// first call's and a grammar of numbered steps, each of which adds something to
// the values before. A counter is one step again and again; values without any
// order take less room than as signatures of their own.
type Lane struct {
	words []int32 // of plain keys, rising
	first []int64 // in the first call; nil before it
	last  []int64 // in the last call
	delta []int64 // of the call at hand

	steps []int64           // what each step adds, one after the other
	known map[uint64]uint32 // hash of a step → its number
	chain []uint32          // by step: another one with the same hash, None
	after []uint32          // by step: what came after it last time, as a guess
	prev  uint32            // the last step; None
	order *grammar.Builder
	noted int // steps that Note need not say more of

	closed bool // a later lane has all that would fit
}

func newLane(words []int64) *Lane {
	l := &Lane{prev: None, order: grammar.NewBuilder(), known: make(map[uint64]uint32)}
	for _, w := range words {
		l.words = append(l.words, int32(w))
	}
	l.delta = make([]int64, len(words))
	return l
}

// Words returns which words of plain keys the lane has, in rising order.
func (l *Lane) Words() []int32 { return l.words }

// First and Last return the values in the first and the last call.
func (l *Lane) First() []int64 { return l.first }

// Last is described with First.
func (l *Lane) Last() []int64 { return l.last }

// Kinds returns how many different steps there are.
func (l *Lane) Kinds() int { return len(l.chain) }

// Step returns what a numbered step adds to the values.
func (l *Lane) Step(n uint32) []int64 {
	w := len(l.words)
	return l.steps[int(n)*w : int(n+1)*w : int(n+1)*w]
}

// Order returns the steps as a grammar.
func (l *Lane) Order() *grammar.Grammar { return l.order.Grammar() }

// Expected returns the step that is likely to come next, None if there is none.
func (l *Lane) Expected() uint32 {
	if l.prev == None {
		return None
	}
	return l.after[l.prev]
}

// Advance takes in a call that is a known step away from the last one.
func (l *Lane) Advance(n uint32) {
	for i, d := range l.Step(n) {
		l.last[i] += d
	}
	if l.prev != None {
		l.after[l.prev] = n
	}
	l.prev = n
	l.order.Append(n)
}

// Prev returns the step that was taken last, None if there was only one call.
func (l *Lane) Prev() uint32 { return l.prev }

// add takes in the values of a call.
func (l *Lane) add(k Key) {
	if l.first == nil {
		l.first = make([]int64, len(l.words))
		for i, w := range l.words {
			l.first[i] = k[w]
		}
		l.last = slices.Clone(l.first)
		return
	}
	for i, w := range l.words {
		l.delta[i] = k[w] - l.last[i]
	}
	n := l.Expected()
	if n == None || !slices.Equal(l.Step(n), l.delta) {
		n = l.number(l.delta)
	}
	l.Advance(n)
}

// number returns the number of a step, a new one if it is new.
func (l *Lane) number(step []int64) uint32 {
	h := uint64(0)
	for _, d := range step {
		h = bits.RotateLeft64((h^uint64(d))*0x9e3779b97f4a7c15, 29)
	}
	first, ok := l.known[h]
	if !ok {
		first = None
	}
	for n := first; n != None; n = l.chain[n] {
		if slices.Equal(l.Step(n), step) {
			return n
		}
	}
	n := uint32(len(l.chain))
	l.steps = append(l.steps, step...)
	l.chain = append(l.chain, first)
	l.after = append(l.after, n)
	l.known[h] = n
	return n
}

// Size is about how many bytes the lane holds.
func (l *Lane) Size() int {
	return 8*(cap(l.steps)+3*cap(l.first)) + 8*cap(l.chain) + 32*len(l.known) + l.order.Size()
}
