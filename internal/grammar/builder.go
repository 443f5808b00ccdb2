// Package grammar compresses a sequence of numbers online into a context-free
// grammar that generates exactly this sequence: Sequitur with repetition
// counts, so that a loop costs the same whatever its trip count. It holds the
// order of a thread's calls; it knows nothing of calls.
//
// # Terms
//
// A terminal is a number below 1<<31. A token is a maximal run of one terminal,
// a^5; it is never split and becomes a symbol of the grammar only when the run
// is over. A rule's body is a list of symbols, each a token or a rule with a
// repetition count, X^3. A digram is two neighbouring symbols of a body, counts
// included.
//
// # Invariants
//
// After each Append, with the exceptions of the open end below:
//
//  1. Every digram MUST stand in the grammar once and in the index once;
//     otherwise repetitions go unseen and the size is no longer bounded by the
//     number of distinct behaviours.
//  2. Every rule but the start MUST be used twice, or once with a count above
//     one; otherwise it is inlined. A use can fall away only when a digram is
//     replaced by a rule. What remains is then the first or the last symbol
//     of that rule's body, so these two are looked at, there and nowhere else.
//  3. Neighbouring symbols MUST NOT be the same rule (their counts are added)
//     nor the same terminal (tokens are maximal); the second holds across rule
//     boundaries too.
//  4. What a rule expands to never changes while the rule lives, only how its
//     body says it. Its first terminal is therefore stored with it.
//
// The open end: the last token is held outside the grammar until it ends, and
// while the start rule ends with a rule X^n the digram before it is not in the
// index, because n may still grow: looking up (p, X^n) for each passing n would
// match counts that are not meant.
//
// # Following
//
// While the start rule ends with X^n, the next terminals are likely those of X.
// A cursor into X (a path through nested rules and their counts) then follows
// what is appended without touching the grammar. When the body is over, n grows
// by one. A long rule is followed in the same way once its first digram occurs again. When the prediction fails, the part that was followed is appended
// symbol by symbol, not terminal by terminal, through the plain algorithm. Each
// terminal is so looked at once by the cursor and at most once more by the plain
// algorithm, and the whole stays linear.
//
// # Memory
//
// Symbols, rules and index slots live in slices and name each other by number;
// freed ones are reused. Once the grammar stops growing nothing is allocated.
package grammar

import "math"

// A Builder grows a grammar by one terminal at a time. It is not safe for
// concurrent use.
type Builder struct {
	// sym is the terminal of the token that is being followed or collected, mode which of the two is done.
	sym  uint32
	mode mode
	left uint64 // how many more of sym Append takes without calling next
	n    uint64 // terminals appended

	nodes     []node
	rules     []rule
	freeNodes int32 // the first unused node; node.next leads to the others; 0: no unused node
	freeRules int32 // the first unused rule; rule.guard leads to the others; 0: no unused rule
	dirty     []int32
	index     index

	root   int32   // following: the last symbol of the start rule; with count 0 it is not yet part of that rule
	cur    int32   // following: the expected token
	path   []frame // following: the rules between root and cur
	replay []Symbol
	before []frame // reusable memory of AppendRepeated: path before a lap

	undoing bool     // what undo took back is appended again: resume must not be called
	undone  []Symbol // reusable memory of undo: the symbols that it appends

	plain bool // no rule is followed: for tests and comparison

	scratch scratch // for AppendBinary, which is called repeatedly
}

// mode is the meaning of sym and left.
type mode uint32

const (
	idle       mode = iota // no token yet
	collecting             // a token grows: sym occurred unlimited-left times in a row so far
	following              // a rule is followed: sym is expected left more times
	looking                // the digram at the end of the start rule is looked up, before the next token begins
)

// unlimited is the initial value of left while a token is collected.
const unlimited = math.MaxUint64

// NewBuilder returns a Builder for an empty sequence.
func NewBuilder() *Builder {
	b := &Builder{
		nodes: make([]node, 1, 64), // node 0 is the guard, or sentinel, of the start rule
		rules: make([]rule, 1, 16), // rule 0 is the start
	}
	b.index.init()
	return b
}

// Len returns the number of terminals appended.
func (b *Builder) Len() uint64 { return b.n }

// Append adds one terminal. It panics if sym is not below 1<<31.
func (b *Builder) Append(sym uint32) {
	b.n++
	if sym == b.sym && b.left != 0 {
		b.left--
		return
	}
	b.next(sym)
}

// AppendRun adds n times the terminal sym. The length of the whole sequence
// must stay below 1<<64.
func (b *Builder) AppendRun(sym uint32, n uint64) {
	for n > 0 {
		b.Append(sym)
		n--
		k := min(n, b.left) // after Append, sym is the current token
		b.left -= k
		b.n += k
		n -= k
	}
}

// next appends a terminal that does not simply continue the current token.
func (b *Builder) next(sym uint32) {
	if b.mode == collecting {
		b.push(int32(b.sym), unlimited-b.left)
	}
	if b.mode == following {
		if b.left == 0 && sym != b.sym && b.advance(sym) {
			return
		}
		b.abandon(sym)
		return
	}
	b.mode = idle
	b.begin(sym)
}

// begin starts a token; all earlier symbols are in the grammar. If the start rule ends with a rule that starts with
// sym, it follows that rule, else it collects.
func (b *Builder) begin(sym uint32) {
	for {
		last := b.nodes[0].prev
		x := &b.nodes[last]
		if x.id >= 0 || last == 0 {
			break
		}
		if !b.plain && b.rules[-x.id].first == sym {
			b.follow(last)
			b.left--
			return
		}
		b.mode = looking
		changed := b.close()
		if b.mode == following {
			if !b.advance(sym) {
				b.abandon(sym)
			}
			return
		}
		if b.mode = idle; !changed {
			break
		}
	}
	b.collect(sym, 1)
}

// collect makes n repetitions of sym the current, unfinished token.
func (b *Builder) collect(sym uint32, n uint64) {
	if sym > math.MaxInt32 {
		panic("grammar: terminal out of range")
	}
	b.mode, b.sym, b.left = collecting, sym, unlimited-n
}

// HeldBytes returns the memory used in bytes.
func (b *Builder) HeldBytes() int {
	return cap(b.nodes)*nodeSize + cap(b.rules)*ruleSize + (cap(b.index.slots)+cap(b.index.ends.slots)+cap(b.index.begins.slots))*slotSize +
		cap(b.dirty)*4 + cap(b.path)*frameSize + (cap(b.replay)+cap(b.undone))*symbolSize
}
