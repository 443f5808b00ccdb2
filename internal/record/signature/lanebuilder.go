package signature

import (
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
)

// NoStep is the step before the first one.
const NoStep = NoTerminal

// A LaneBuilder makes a lane from the values of call after call.
type LaneBuilder struct {
	words []int32 // of plain keys, rising; see Table
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

func newBuilder(words []int32) *LaneBuilder {
	return &LaneBuilder{words: words, delta: make([]int64, len(words)), prev: NoStep, order: grammar.NewBuilder(), known: make(map[uint64]uint32)}
}

// KeyWords returns which words of plain keys the lane has, in rising order.
func (b *LaneBuilder) KeyWords() []int32 { return b.words }

// Last returns the values in the last call.
func (b *LaneBuilder) Last() []int64 { return b.last }

// StepCount returns how many different steps there are.
func (b *LaneBuilder) StepCount() int { return len(b.chain) }

// Step returns what a numbered step adds to the values.
func (b *LaneBuilder) Step(n uint32) []int64 {
	w := len(b.words)
	return b.steps[int(n)*w : int(n+1)*w : int(n+1)*w]
}

// ExpectedStep returns the most likely next step, None if unknown.
func (b *LaneBuilder) ExpectedStep() uint32 {
	if b.prev == NoStep {
		return NoStep
	}
	return b.after[b.prev]
}

// Advance takes in a call that is a known step away from the last one.
func (b *LaneBuilder) Advance(n uint32) {
	for i, d := range b.Step(n) {
		b.last[i] += d
	}
	if b.prev != NoStep {
		b.after[b.prev] = n
	}
	b.prev = n
	b.order.Append(n)
}

// add takes in the values of a call, which are in its plain key.
func (b *LaneBuilder) add(k Key) {
	if b.first == nil {
		b.first = make([]int64, len(b.words))
		for i, w := range b.words {
			b.first[i] = k[w]
		}
		b.last = slices.Clone(b.first)
		return
	}
	for i, w := range b.words {
		b.delta[i] = k[w] - b.last[i]
	}
	n := b.ExpectedStep()
	if n == NoStep || !slices.Equal(b.Step(n), b.delta) {
		n = b.number(b.delta)
	}
	b.Advance(n)
}

// number returns the number of a step, a new one if it is new.
func (b *LaneBuilder) number(step []int64) uint32 {
	h := uint64(0)
	for _, d := range step {
		h = bits.RotateLeft64((h^uint64(d))*0x9e3779b97f4a7c15, 29)
	}
	first, ok := b.known[h]
	if !ok {
		first = NoStep
	}
	for n := first; n != NoStep; n = b.chain[n] {
		if slices.Equal(b.Step(n), step) {
			return n
		}
	}
	n := uint32(len(b.chain))
	b.steps = append(b.steps, step...)
	b.chain = append(b.chain, first)
	b.after = append(b.after, n)
	b.known[h] = n
	return n
}

// addAll takes in the calls of another lane, which follow those of this one. False, with
// a lane of no use, if that is too much work.
func (b *LaneBuilder) addAll(o *LaneBuilder, work int) bool {
	for i := range b.delta {
		b.delta[i] = o.first[i] - b.last[i]
	}
	b.Advance(b.number(b.delta))
	number := make([]uint32, o.StepCount())
	for n := range number {
		number[n] = b.number(o.Step(uint32(n)))
	}
	return b.order.AppendAll(o.order.Grammar(), func(n uint32) uint32 { return number[n] }, work)
}

// HeldBytes is about how many bytes the lane holds.
func (b *LaneBuilder) HeldBytes() int {
	return 8*(cap(b.steps)+3*cap(b.first)) + 8*cap(b.chain) + 32*len(b.known) + b.order.Size()
}

// Lane returns the result. The values of the lane are put into those of a signature, each at its place in the key but
// for order: order names, for each value of the signature, which of the key's it is; nil if the orders are equal.
func (b *LaneBuilder) Lane(terminal int, vals []int64, order []int) Lane {
	of := make([]int, len(vals)) // by value of the key: which value of the lane, + 1
	for i, w := range b.words {
		of[int(w)-KeyHeader] = i + 1
	}
	l := Lane{Terminal: terminal, Steps: b.order.Grammar(), StepValues: make([][]int64, b.StepCount())}
	for at := range vals {
		from := at
		if order != nil {
			from = order[at]
		}
		i := of[from] - 1
		if i < 0 {
			continue
		}
		l.Values = append(l.Values, at)
		vals[at] = b.first[i]
		for n := range l.StepValues {
			l.StepValues[n] = append(l.StepValues[n], b.Step(uint32(n))[i])
		}
	}
	return l
}
