package signature

import (
	"math/bits"
	"slices"
)

// A family is signatures that differ only in values that may be in a lane. If a family keeps growing in equal
// steps, the values that differ become a lane: further calls share one signature without these values, which go to
// a LaneBuilder in the order of the calls.
//
// Lanes depend only on the order in which signatures were new, so that a loaded table continues like the saved one.
// Once a lane fits a call, the call never gets a plain signature again, even if an equal one exists from before.
const (
	// promoteAfter is by how much the new signatures in equal steps must outnumber the others before a family gets
	// a lane. A few values that recur are smaller as separate signatures. Also, ranks that use the same values in
	// different orders stay in one class if these are separate: NAS BT on 16,384 ranks has sequences of 128 values.
	promoteAfter = 256
	// maxPeriod is the largest number of interleaved sequences in a family (the tags 1, 500, 2, 501, … are two).
	maxPeriod = 4
)

func (t *LaneTable) after() uint16 {
	if t.PromoteAfter > 0 {
		return t.PromoteAfter
	}
	return promoteAfter
}

// LaneCandidateFinder returns the positions in a key of words that may be in a lane, in rising order: values that only the
// program itself interprets.
type LaneCandidateFinder func(k Key) []int32

// Values of laneOf that are not indices of lanes.
const (
	plain      = -1
	superseded = -2 // a lane fits this plain signature
)

// A laneFamily is plain signatures that differ only in values that may be in a lane.
type laneFamily struct {
	last uint32                // the newest signature; LaneTable.older leads from it to the earlier ones
	lane uint32                // signature of the newest lane; NoTerminal if none
	runs [maxPeriod]uint16     // by period - 1: how many more new signatures were in equal steps than not
	sums [2 * maxPeriod]uint16 // sumOf of the newest signatures' keys, newest first: they reveal most unequal steps
}

// sumOf is the sum of the words of a key that may be in a lane, each multiplied by another odd number: keys in
// equal steps have sums in equal steps.
func sumOf(k Key, words []int32) (sum uint16) {
	for i, w := range words {
		sum += uint16(k[w]) * uint16(2*i+1)
	}
	return sum
}

// A LaneTable is a Table in which some signatures have lanes.
type LaneTable struct {
	Table
	lanes    []*LaneBuilder
	laneOf   []int32                // by signature: index in lanes, or plain, or superseded
	older    []uint32               // by signature: the previous plain one of its family; NoStep: none
	families map[uint64]*laneFamily // by hash of the words that the family has in common

	// before is, by lane, the newest plain signature of the family when the lane was created; NoTerminal if another
	// thread's lane existed.
	before []uint32
	key    Key

	// PromoteAfter replaces promoteAfter in tests; 0: the default.
	PromoteAfter uint16
}

// Lane returns the lane of signature number n; nil if it has none.
func (t *LaneTable) Lane(n uint32) *LaneBuilder {
	if i := t.laneOf[n]; i >= 0 {
		return t.lanes[i]
	}
	return nil
}

// IsPlain reports whether signature number n has no lane, and no lane fits it.
func (t *LaneTable) IsPlain(n uint32) bool { return t.laneOf[n] == plain }

// LaneCount returns how many lanes there are.
func (t *LaneTable) LaneCount() int { return len(t.lanes) }

// LookUpOrInsert returns the number of a signature without a lane, which it adds if it is new; see Table.
func (t *LaneTable) LookUpOrInsert(prev uint32, k Key) uint32 {
	n := t.Table.LookUpOrInsert(prev, k)
	t.grow()
	return n
}

// insert numbers a signature that is new.
func (t *LaneTable) insert(k Key) uint32 {
	n := t.Insert(k)
	t.grow()
	return n
}

// Close frees what is needed only to add signatures; see Table.Close.
func (t *LaneTable) Close() {
	t.Table.Close()
	t.families = nil
}

func (t *LaneTable) grow() {
	for len(t.laneOf) < t.Len() {
		t.laneOf, t.older = append(t.laneOf, plain), append(t.older, NoStep)
	}
}

// LookUpOrInsertInLane is Number for a call of a thread whose values may be in lanes. A negative thread means a call in no lane,
// because lanes need the calls in the order of the stream; its signature is then always plain.
func (t *LaneTable) LookUpOrInsertInLane(prev uint32, thread int, k Key, may LaneCandidateFinder) uint32 {
	if g := t.GuessNext(prev); int(g) < len(t.laneOf) {
		switch i := t.laneOf[g]; {
		case i >= 0 && thread < 0:
		case i >= 0:
			// A call is never added to a closed lane: a prediction must not give another result than the search below.
			l, of := t.lanes[i], t.Key(g)
			if !l.closed && of.Thread() == thread && fitsWords(of, k) {
				l.add(k)
				return g
			}
		case i == plain && t.MatchesKey(g, k):
			return g
		}
	}
	n, known := t.LookUp(k)
	if known && (t.laneOf[n] == plain || thread < 0) {
		t.RecordSuccessor(prev, n)
		return n
	}
	words := may(k)
	if len(words) > 0 && thread >= 0 {
		if n, ok := t.laneFor(thread, k, words); ok {
			t.RecordSuccessor(prev, n)
			t.Lane(n).add(k)
			return n
		}
	}
	if !known {
		n = t.insert(k)
	}
	t.RecordSuccessor(prev, n)
	if len(words) > 0 {
		t.join(n, words)
	}
	return n
}

// laneFor returns the signature with a lane for a new call. It makes the lane if the family has grown enough; false
// if there is no lane.
func (t *LaneTable) laneFor(thread int, k Key, words []int32) (uint32, bool) {
	f := t.familyOf(k, words)
	if f == nil {
		return 0, false
	}
	if f.lane != NoStep {
		of := t.Key(f.lane)
		if fitsWords(of, k) {
			key := t.laneKey(thread, k, of.LanePositions())
			if n, ok := t.LookUp(key); ok {
				return n, true
			}
			return t.addLane(key, NoStep), true // another thread's calls that differ only in lane values have a lane; this thread gets its own
		}
	}
	period := t.continues(f, k, words)
	if period == 0 {
		return 0, false
	}
	// The lane gets all words that differed recently, and those of the previous lane.
	var in []int64
	differs := func(other Key, w int32) bool { return other[w] != k[w] }
	for _, w := range words {
		use := false
		n := f.last
		for range 2*period - 1 {
			use = use || differs(t.Key(n), w)
			n = t.older[n]
		}
		if f.lane != NoStep {
			of := t.Key(f.lane)
			use = use || slices.Contains(of.LanePositions(), int64(w)) || differs(of, w)
		}
		if use {
			in = append(in, int64(w))
		}
	}
	n := t.addLane(t.laneKey(thread, k, in), f.last)
	t.promoted(f, n)
	return n, true
}

// promoted makes the lane of signature n the current one of its family. It fits all calls that the previous lane fits.
// So promoted closes the previous lane, and the lanes of other threads that have the same key except for the thread.
func (t *LaneTable) promoted(f *laneFamily, n uint32) {
	if f.lane != NoStep {
		before := t.Key(f.lane)
		for other, i := range t.laneOf {
			if k := t.Key(uint32(other)); i >= 0 && k.FunctionID() == before.FunctionID() && EqualKeys(k[1:], before[1:]) {
				t.lanes[i].closed = true
			}
		}
	}
	f.lane, f.runs = n, [maxPeriod]uint16{}
	of := t.Key(n)
	for i := f.last; i != NoStep; i = t.older[i] {
		if fitsWords(of, t.Key(i)) {
			t.laneOf[i] = superseded
		}
	}
}

// continues returns the shortest period with which a new call continues a family in equal steps; 0 if it does not.
func (t *LaneTable) continues(f *laneFamily, k Key, words []int32) int {
	sum := sumOf(k, words)
	for period := 1; period <= maxPeriod; period++ {
		if f.runs[period-1] >= t.after() && t.inStep(f, k, sum, words, period) {
			return period
		}
	}
	return 0
}

// inStep reports whether a call differs from the family's signature one period ago as that differs from the one two
// periods ago.
func (t *LaneTable) inStep(f *laneFamily, k Key, sum uint16, words []int32, period int) bool {
	if sum-f.sums[period-1] != f.sums[period-1]-f.sums[2*period-1] {
		return false
	}
	a := f.last
	for range period - 1 {
		if a == NoStep {
			return false
		}
		a = t.older[a]
	}
	b := a
	for range period {
		if b == NoStep {
			return false
		}
		b = t.older[b]
	}
	if b == NoStep {
		return false
	}
	x, y := t.Key(a), t.Key(b)
	for _, w := range words {
		if k[w]-x[w] != x[w]-y[w] {
			return false
		}
	}
	return true
}

// join adds a new plain signature to its family. On a collision of hashes it has no family.
func (t *LaneTable) join(n uint32, words []int32) {
	k := t.Key(n)
	sum, h := sumOf(k, words), familyHash(k, words)
	f := t.families[h]
	if f == nil {
		if t.families == nil {
			t.families = make(map[uint64]*laneFamily)
		}
		t.families[h] = &laneFamily{last: n, lane: NoStep, sums: [2 * maxPeriod]uint16{sum}}
		return
	}
	if !akin(t.PeekKey(f.last), k, words) {
		return
	}
	if f.lane != NoStep && fitsWords(t.Key(f.lane), k) {
		t.laneOf[n] = superseded
	}
	for i := range f.runs {
		switch {
		case t.inStep(f, k, sum, words, i+1):
			f.runs[i] = min(f.runs[i]+1, t.after())
		case f.runs[i] > 0:
			f.runs[i]--
		}
	}
	t.older[n], f.last = f.last, n
	copy(f.sums[1:], f.sums[:])
	f.sums[0] = sum
}

func (t *LaneTable) familyOf(k Key, words []int32) *laneFamily {
	f := t.families[familyHash(k, words)]
	if f == nil || !akin(t.PeekKey(f.last), k, words) {
		return nil
	}
	return f
}

// laneKey returns the key of a signature with a lane, valid until the next call.
func (t *LaneTable) laneKey(thread int, k Key, words []int64) Key {
	t.key = AppendLaneKey(t.key[:0], thread, k, words)
	return t.key
}

func (t *LaneTable) addLane(key Key, before uint32) uint32 {
	n := t.insert(key)
	t.laneOf[n] = int32(len(t.lanes))
	var words []int32
	for _, w := range key.LanePositions() {
		words = append(words, int32(w))
	}
	t.lanes = append(t.lanes, newBuilder(words))
	t.before = append(t.before, before)
	return n
}

// fitsWords reports whether k, a key without a lane, equals the key of a lane except in the lane's words.
func fitsWords(of, k Key) bool {
	words := of.LanePositions()
	if len(of) != len(k)+len(words)+1 || of.FunctionID() != k.FunctionID() {
		return false
	}
	from := 1
	for _, w := range words {
		if !EqualKeys(of[from:w], k[from:w]) {
			return false
		}
		from = int(w) + 1
	}
	return EqualKeys(of[from:len(k)], k[from:])
}

func akin(a, b Key, words []int32) bool {
	if len(a) != len(b) {
		return false
	}
	from := int32(0)
	for _, w := range words {
		if !EqualKeys(a[from:w], b[from:w]) {
			return false
		}
		from = w + 1
	}
	return EqualKeys(a[from:], b[from:])
}

func familyHash(k Key, words []int32) uint64 {
	h := uint64(len(k)) * 0x9e3779b97f4a7c15
	next := 0
	for i, v := range k {
		if next < len(words) && int(words[next]) == i {
			next++
			continue
		}
		if i == 0 {
			v = int64(k.FunctionID())
		}
		hi, lo := bits.Mul64(h^uint64(v), 0x9fb21c651e98df25)
		h = hi ^ lo ^ bits.RotateLeft64(h, 23)
	}
	return h
}

// HeldBytes returns approximately how many bytes the table takes.
func (t *LaneTable) HeldBytes() int {
	const ofFamily = 64 // bytes of a family with its map entry
	n := t.Table.HeldBytes() + 4*(cap(t.laneOf)+cap(t.older)) + len(t.families)*ofFamily
	for _, l := range t.lanes {
		n += l.HeldBytes()
	}
	return n
}
