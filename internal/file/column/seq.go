package column

import (
	"math"
	"math/bits"
	"sort"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// A Seq is a column as encoded in a file, in the shortest coding. Any position can be read without expanding it. It
// is safe for use by several goroutines at once.
//
//	seq = codec uint8, payload
type Seq struct {
	n        int
	relative bool
	runs     []Run
	ends     []uint64 // by index in runs: number of values up to the run's end
	plain    []int64
	dict     []int64 // for codecs with a grammar: value or difference of each terminal
	sums     *grammar.WeightSums
	deltas   bool
}

// Codecs, the low bits of a sequence's first byte. With relative set, values
// are differences to the ranks they belong to.
const (
	codecRuns   = 0 // as Column.AppendRuns writes it
	codecPlain  = 1 // a varint for each value: its difference to the one before
	codecValues = 2 // a grammar over the distinct values
	codecDeltas = 3 // a grammar over the distinct differences of consecutive values
	codecBits   = 2
	relative    = 1 << codecBits
)

// No grammars are tried for more than maxGrammarValues values, which would take too much time, or for fewer than
// minGrammarRuns runs, which are short as they are.
const (
	maxGrammarValues = 1 << 18
	minGrammarRuns   = 4
)

// EncodeSeq appends the shortest coding of c. ranks are the ranks of the
// values if differences to them are worth trying, else nil.
func EncodeSeq(b []byte, c, ranks *Column) []byte { return encodeSeq(b, c, ranks, allGrammars) }

// encodeSeq is EncodeSeq, perhaps without grammars, which take most of the time.
func encodeSeq(b []byte, c, ranks *Column, try grammars) []byte {
	best := encodeBest(c, 0, try)
	if ranks != nil && len(c.runs) > 1 {
		var rel Column
		i := 0
		of := ranks.Values()
		for v := range c.All() {
			rel.Append(int64(uint64(v) - uint64(of[i])))
			i++
		}
		if e := encodeBest(&rel, relative, try); len(e) < len(best) {
			best = e
		}
	}
	return append(b, best...)
}

// EncodeDeltas appends each value of c as its difference to the one before. For a short sequence that may be longer than
// what EncodeSeq appends, but similar sequences then have similar bytes.
func EncodeDeltas(b []byte, c *Column) []byte {
	b = append(b, codecPlain)
	last := int64(0)
	for v := range c.All() {
		b = wire.AppendVarint(b, int64(uint64(v)-uint64(last)))
		last = v
	}
	return b
}

func encodeBest(c *Column, flags byte, try grammars) []byte {
	best := c.AppendRuns([]byte{codecRuns | flags})
	if len(c.runs) < minGrammarRuns {
		return best
	}
	return shorter(best, c.Values(), flags, try)
}

// EncodeValues is EncodeSeq of a column of the given values, which may be millions: it
// takes little memory beside them.
func EncodeValues(b []byte, vals []int64) []byte { return encodeValues(b, vals, allGrammars) }

// grammars is which grammars are tried: none, over values, or over values and over differences.
type grammars uint8

const (
	noGrammars grammars = iota
	valueGrammars
	allGrammars
)

func encodeValues(b []byte, vals []int64, try grammars) []byte {
	n := 0
	eachRun(vals, func(Run) { n++ })
	best := wire.AppendUvarint([]byte{codecRuns}, uint64(n))
	next := int64(0)
	eachRun(vals, func(r Run) {
		best = r.append(best, next)
		next = r.At(r.Count)
	})
	if n >= minGrammarRuns {
		best = shorter(best, vals, 0, try)
	}
	return append(b, best...)
}

// eachRun yields the runs of a column of the given values.
func eachRun(vals []int64, yield func(Run)) {
	for i := 0; i < len(vals); {
		r := Run{Start: vals[i], Count: 1}
		if i++; i < len(vals) {
			r.Stride = int64(uint64(vals[i]) - uint64(r.Start))
			for i < len(vals) && r.At(r.Count) == vals[i] {
				r.Count++
				i++
			}
		}
		yield(r)
	}
}

// shorter returns the shortest coding of values: best, which is the coding of their runs, or one that is shorter.
func shorter(best []byte, vals []int64, flags byte, try grammars) []byte {
	plain := make([]byte, 1, len(best))
	plain[0] = codecPlain | flags
	last := int64(0)
	for _, v := range vals {
		if plain = wire.AppendVarint(plain, int64(uint64(v)-uint64(last))); len(plain) >= len(best) {
			break
		}
		last = v
	}
	if len(plain) < len(best) {
		best = plain
	}
	if len(vals) > maxGrammarValues {
		return best
	}
	if try >= valueGrammars {
		best = shorterGrammar(best, codecValues|flags, vals)
	}
	if try == allGrammars {
		deltas := make([]int64, len(vals))
		last = 0
		for i, v := range vals {
			deltas[i] = int64(uint64(v) - uint64(last))
			last = v
		}
		best = shorterGrammar(best, codecDeltas|flags, deltas)
	}
	return best
}

// shorterGrammar returns the distinct values by first use, then the grammar over
// their numbers, or best if that is no longer. No grammar is made if the distinct
// values alone are as long as best.
func shorterGrammar(best []byte, tag byte, vals []int64) []byte {
	var known Numbering
	numbers := make([]uint32, len(vals))
	dict := make([]byte, 0, min(len(best), 1<<12))
	last := int64(0)
	for i, v := range vals {
		k, ok := known.Number(v)
		if !ok {
			if dict = wire.AppendVarint(dict, int64(uint64(v)-uint64(last))); len(dict) >= len(best) {
				return best
			}
			last = v
		}
		numbers[i] = k
	}
	builder := grammar.NewBuilder()
	for _, k := range numbers {
		builder.Append(k)
	}
	b := append(wire.AppendUvarint([]byte{tag}, uint64(len(known.List))), dict...)
	if b = builder.Grammar().AppendBinary(b); len(b) < len(best) {
		return b
	}
	return best
}

// A Numbering numbers distinct values by first use.
type Numbering struct {
	List  []int64  // by number: the value
	slots []uint32 // hash table with open addressing: number of a value plus 1; 0: free
}

// Number returns the number of a value, and whether it was there before.
func (k *Numbering) Number(v int64) (n uint32, known bool) {
	if 2*len(k.List) >= len(k.slots) {
		k.grow()
	}
	at := k.find(v)
	if n = k.slots[at]; n > 0 {
		return n - 1, true
	}
	n = uint32(len(k.List))
	k.List = append(k.List, v)
	k.slots[at] = n + 1
	return n, false
}

// find returns the index in slots where a value is, or would be.
func (k *Numbering) find(v int64) uint64 {
	mask := uint64(len(k.slots) - 1)
	at := uint64(v) * 0x9e3779b97f4a7c15 >> bits.LeadingZeros64(mask)
	for k.slots[at] > 0 && k.List[k.slots[at]-1] != v {
		at = (at + 1) & mask
	}
	return at
}

func (k *Numbering) grow() {
	k.slots = make([]uint32, max(64, 2*len(k.slots)))
	for i, v := range k.List {
		k.slots[k.find(v)] = uint32(i) + 1
	}
}

// DecodeSeq reads what EncodeSeq wrote: a sequence of n values.
func DecodeSeq(r *wire.Reader, n int) *Seq {
	s := &Seq{n: n}
	tag := r.Byte()
	if tag >= relative<<1 {
		r.Fail("unknown column codec %d", tag)
	}
	s.relative = tag&relative != 0
	switch tag & (1<<codecBits - 1) {
	case codecRuns:
		relative := s.relative
		s = SeqOf(DecodeRuns(r, n))
		s.n, s.relative = n, relative
	case codecPlain:
		if n > r.RemainingLen() {
			r.Fail("%d values in %d bytes", n, r.RemainingLen())
			break
		}
		s.plain = decodeDeltas(r, n)
	case codecDeltas:
		s.deltas = true
		fallthrough
	case codecValues:
		s.decodeGrammar(r)
	}
	if r.Err() != nil {
		return nil
	}
	return s
}

func decodeDeltas(r *wire.Reader, n int) []int64 {
	list := make([]int64, n)
	last := uint64(0)
	for i := range list {
		last += uint64(r.Varint())
		list[i] = int64(last)
	}
	return list
}

func (s *Seq) decodeGrammar(r *wire.Reader) {
	s.dict = decodeDeltas(r, r.Count(1))
	if r.Err() != nil {
		return
	}
	g := grammar.ReadGrammar(r)
	if r.Err() != nil {
		return
	}
	for _, t := range g.Terminals() {
		if int(t) >= len(s.dict) {
			r.Fail("column grammar uses value %d of %d", t, len(s.dict))
			return
		}
	}
	weight := func(uint32) int64 { return 0 }
	if s.deltas {
		weight = func(t uint32) int64 { return s.dict[t] }
	}
	s.sums = grammar.NewWeightSums(g, weight)
	if s.sums.Len() != uint64(s.n) {
		r.Fail("column grammar of %d values, %d expected", s.sums.Len(), s.n)
	}
}

// Coding names the coding for people.
func (s *Seq) Coding() string {
	name := "runs"
	switch {
	case s.sums != nil && s.deltas:
		name = "grammar of differences"
	case s.sums != nil:
		name = "grammar"
	case s.plain != nil:
		name = "differences"
	}
	if s.relative {
		name += ", relative to the rank"
	}
	return name
}

// SeqOf encodes a column.
func SeqOf(c Column) *Seq {
	s := &Seq{n: c.Len(), runs: c.runs, ends: make([]uint64, len(c.runs))}
	sum := uint64(0)
	for i := range c.runs {
		sum += c.runs[i].Count
		s.ends[i] = sum
	}
	return s
}

// Len returns the number of values.
func (s *Seq) Len() int { return s.n }

// At returns the i-th value. rank is the rank that the value belongs to.
func (s *Seq) At(i int, rank int64) int64 {
	var v int64
	switch {
	case s.sums != nil:
		t, before := s.sums.TerminalAt(uint64(i))
		v = int64(uint64(before) + uint64(s.dict[t]))
	case s.plain != nil:
		v = s.plain[i]
	default:
		k := sort.Search(len(s.ends), func(k int) bool { return s.ends[k] > uint64(i) })
		r := s.runs[k]
		v = r.At(uint64(i) - (s.ends[k] - r.Count))
	}
	if s.relative {
		v = int64(uint64(v) + uint64(rank))
	}
	return v
}

// IsBoundedBy reports whether all values lie between lo and hi, without looking at each. It may return false although they
// do. It is meant for checking values that are indexes.
func (s *Seq) IsBoundedBy(lo, hi int64) bool {
	in := func(v int64) bool { return v >= lo && v <= hi }
	if s.relative {
		return false
	}
	for _, r := range s.runs {
		if !in(r.Start) || !in(r.At(r.Count-1)) || !r.IsOverflowFree() {
			return false
		}
	}
	for _, v := range s.plain {
		if !in(v) {
			return false
		}
	}
	if s.sums == nil {
		return true
	}
	if s.deltas {
		if s.n > maxGrammarValues {
			return false
		}
		for i := range s.n {
			if !in(s.At(i, math.MinInt64)) {
				return false
			}
		}
		return true
	}
	for _, v := range s.dict {
		if !in(v) {
			return false
		}
	}
	return true
}
