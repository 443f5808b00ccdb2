package signature

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/spoor-hpc/spoor/trace/model"
)

// NoTerminal is the predecessor of a stream's first terminal.
const NoTerminal = ^uint32(0)

// A Table numbers signatures in order of first occurrence. For each it has the times of its calls, and the
// signature that followed it last. In a loop that prediction is right, and finding a signature's number takes one
// comparison.
type Table struct {
	// The following fields are of the latest signatures, from number first on; see archive.
	first uint32
	keys  []int64
	start []int // index in keys at which each key begins; the last element is that of the next new key
	times []Times

	blocks  []*keyBlock // all earlier signatures
	scratch Key

	slots []uint64 // hash table with open addressing: half of a key's hash, then 32 bits with 1 + its number; 0: empty
	next  []uint32 // by 1 + number of the predecessor: the predicted number
}

// Times is the summaries of the durations and gaps of a signature's calls, in the caller's unit.
type Times struct{ Duration, Gap model.Stat }

// Add counts a call with its duration and the gap before it.
func (t *Times) Add(duration, gap uint64) {
	t.Duration.Add(duration)
	t.Gap.Add(gap)
}

// AddEach counts calls. Their times are every step-th element of durations and gaps, from the first on.
func (t *Times) AddEach(durations, gaps []uint64, step int) {
	t.Duration.AddEveryNth(durations, step)
	t.Gap.AddEveryNth(gaps, step)
}

// Len is how many signatures there are.
func (t *Table) Len() int { return int(t.first) + len(t.times) }

// Key returns signature number n. The caller must not change it.
func (t *Table) Key(n uint32) Key {
	if n < t.first {
		return t.blocks[n/blockKeys].key(make(Key, 0, 32), n%blockKeys)
	}
	n -= t.first
	return t.keys[t.start[n]:t.start[n+1]]
}

// PeekKey is Key with a result that is valid only until the next call of a method.
func (t *Table) PeekKey(n uint32) Key {
	if n < t.first {
		t.scratch = t.blocks[n/blockKeys].key(t.scratch[:0], n%blockKeys)
		return t.scratch
	}
	return t.Key(n)
}

// MatchesKey reports whether signature number n is k.
func (t *Table) MatchesKey(n uint32, k Key) bool { return EqualKeys(t.PeekKey(n), k) }

// Times returns the summaries of signature number n for modification, valid until the table changes.
func (t *Table) Times(n uint32) *Times {
	if i := n - t.first; i < uint32(len(t.times)) {
		return &t.times[i]
	}
	return t.blocks[n/blockKeys].change(n % blockKeys)
}

// GuessNext returns the signature that followed prev last. It may be wrong: any number below Len, or NoTerminal.
func (t *Table) GuessNext(prev uint32) uint32 {
	if i := int(prev + 1); i < len(t.next) {
		return t.next[i]
	}
	return NoTerminal
}

// RecordSuccessor records that signature n followed prev, which becomes the prediction.
func (t *Table) RecordSuccessor(prev, n uint32) { t.next[prev+1] = n }

// LookUpOrInsert returns the number of a signature, which it adds if it is new. prev is its predecessor in the stream,
// NoTerminal for the first.
func (t *Table) LookUpOrInsert(prev uint32, k Key) uint32 {
	if g := t.GuessNext(prev); g < uint32(t.Len()) && t.MatchesKey(g, k) {
		return g
	}
	return t.find(prev, k)
}

func (t *Table) find(prev uint32, k Key) uint32 {
	h := hash(k)
	n, ok := t.lookUp(k, h)
	if !ok {
		n = t.insert(k, h)
	}
	t.next[prev+1] = n
	return n
}

// LookUp returns the number of a signature; false if it is new.
func (t *Table) LookUp(k Key) (uint32, bool) { return t.lookUp(k, hash(k)) }

// Insert adds a signature, which must be new.
func (t *Table) Insert(k Key) uint32 { return t.insert(k, hash(k)) }

func (t *Table) lookUp(k Key, h uint64) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for i := h & mask; t.slots[i] != 0; i = (i + 1) & mask {
		if n := uint32(t.slots[i]) - 1; t.slots[i]>>32 == h&math.MaxUint32 && t.MatchesKey(n, k) {
			return n, true
		}
	}
	return 0, false
}

func (t *Table) insert(k Key, h uint64) uint32 {
	if len(t.slots) == 0 {
		t.rehash(64)
		t.start = append(t.start, 0)
		t.next = append(t.next, NoTerminal)
	}
	if len(t.times) == recent {
		t.archive()
	}
	n := uint32(t.Len())
	t.enter(h<<32 | uint64(n+1))
	t.keys = append(t.keys, k...)
	t.start = append(t.start, len(t.keys))
	t.next = append(t.next, NoTerminal)
	t.times = append(t.times, Times{})
	if 4*t.Len() > 3*len(t.slots) {
		t.rehash(2 * len(t.slots))
	}
	return n
}

func (t *Table) rehash(size int) {
	old := t.slots
	t.slots = make([]uint64, size)
	for _, s := range old {
		if s != 0 {
			t.enter(s)
		}
	}
}

func (t *Table) enter(s uint64) {
	mask := uint64(len(t.slots) - 1)
	i := s >> 32 & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

// Close frees the hash table and the predictions, after which no signature can be looked up or added.
func (t *Table) Close() { t.slots, t.next = nil, nil }

// HeldBytes returns how many bytes the table takes.
func (t *Table) HeldBytes() int {
	n := 8*(cap(t.keys)+cap(t.start)+cap(t.slots)) + 4*cap(t.next) + cap(t.times)*int(unsafe.Sizeof(Times{}))
	for _, b := range t.blocks {
		n += b.size()
	}
	return n
}

func hash(k Key) uint64 {
	h := uint64(len(k)) * 0x9e3779b97f4a7c15
	for _, v := range k {
		hi, lo := bits.Mul64(h^uint64(v), 0x9fb21c651e98df25)
		h = hi ^ lo ^ bits.RotateLeft64(h, 23)
	}
	return h ^ h>>32
}
