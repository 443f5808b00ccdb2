package signature

import (
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
)

// NoStep replaces the number of a step where no step exists, for example before the first one.
const NoStep = NoTerminal

// A LaneBuilder makes a lane from the values of consecutive calls.
type LaneBuilder struct {
	words []int32 // positions of the lane's values in keys without a lane, rising
	first []int64 // values of the first call; nil before it
	last  []int64 // values of the last call
	delta []int64 // values of the call that is being added, minus last

	steps []int64           // what each step adds to the values, concatenated by step number
	known map[uint64]uint32 // hash of a step's values → number of the newest step with it
	chain []uint32          // by step: another step with the same hash, or NoStep
	after []uint32          // by step: its last successor, as a prediction
	prev  uint32            // the last step, or NoStep
	order *grammar.Builder
	noted int // number of steps whose values LogCall, or a checkpoint, has written

	closed bool // the lane gets no more calls: a later lane gets all that would fit
}

func newBuilder(words []int32) *LaneBuilder {
	return &LaneBuilder{words: words, delta: make([]int64, len(words)), prev: NoStep, order: grammar.NewBuilder(), known: make(map[uint64]uint32)}
}

// KeyPositions returns the positions of the lane's values in keys without a lane, in rising order.
func (b *LaneBuilder) KeyPositions() []int32 { return b.words }

// LastValues returns the lane's values in the last call.
func (b *LaneBuilder) LastValues() []int64 { return b.last }

// DistinctStepCount returns the number of different steps.
func (b *LaneBuilder) DistinctStepCount() int { return len(b.chain) }

// StepValues returns what step n adds to the values.
func (b *LaneBuilder) StepValues(n uint32) []int64 {
	w := len(b.words)
	return b.steps[int(n)*w : int(n+1)*w : int(n+1)*w]
}

// ExpectedStep returns the predicted next step; NoTerminal if unknown.
func (b *LaneBuilder) ExpectedStep() uint32 {
	if b.prev == NoStep {
		return NoStep
	}
	return b.after[b.prev]
}

// AppendStep adds a call that differs from the last one by a known step.
func (b *LaneBuilder) AppendStep(n uint32) {
	for i, d := range b.StepValues(n) {
		b.last[i] += d
	}
	if b.prev != NoStep {
		b.after[b.prev] = n
	}
	b.prev = n
	b.order.Append(n)
}

// add adds a call, given its key without a lane.
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
	if n == NoStep || !slices.Equal(b.StepValues(n), b.delta) {
		n = b.number(b.delta)
	}
	b.AppendStep(n)
}

// number returns the number of a step, which it adds if it is new.
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
		if slices.Equal(b.StepValues(n), step) {
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

// addAll appends the calls of another lane. It returns false, and makes the lane unusable, if more than work symbols
// would have to be appended to the grammar of the steps.
func (b *LaneBuilder) addAll(o *LaneBuilder, work int) bool {
	for i := range b.delta {
		b.delta[i] = o.first[i] - b.last[i]
	}
	b.AppendStep(b.number(b.delta))
	number := make([]uint32, o.DistinctStepCount())
	for n := range number {
		number[n] = b.number(o.StepValues(uint32(n)))
	}
	return b.order.AppendAll(o.order.Grammar(), func(n uint32) uint32 { return number[n] }, work)
}

// HeldBytes returns approximately how many bytes the lane takes.
func (b *LaneBuilder) HeldBytes() int {
	return 8*(cap(b.steps)+3*cap(b.first)) + 8*cap(b.chain) + 32*len(b.known) + b.order.HeldBytes()
}

// Lane returns the lane of all added calls, as that of a terminal. It writes the lane's values in the first call into
// vals, the signature's values. order holds, for each of vals, its index in the key; nil if the orders are equal.
func (b *LaneBuilder) Lane(terminal int, vals []int64, order []int) Lane {
	of := make([]int, len(vals)) // by index of a value in the key: 1 + its index in the lane; 0: not in the lane
	for i, w := range b.words {
		of[int(w)-KeyHeaderWords] = i + 1
	}
	l := Lane{Terminal: terminal, Steps: b.order.Grammar(), StepValues: make([][]int64, b.DistinctStepCount())}
	for at := range vals {
		from := at
		if order != nil {
			from = order[at]
		}
		i := of[from] - 1
		if i < 0 {
			continue
		}
		l.ValueIndices = append(l.ValueIndices, at)
		vals[at] = b.first[i]
		for n := range l.StepValues {
			l.StepValues[n] = append(l.StepValues[n], b.StepValues(uint32(n))[i])
		}
	}
	return l
}
