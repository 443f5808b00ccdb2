package sections

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A ClassMap finds the class of a rank.
type ClassMap struct {
	Ranks, Classes int
	seq            *column.Seq
}

// code writes or reads the class of each rank; -1 for a rank without a track. A writer passes the classes in of.
//
//	ranks = ranks uvarint, classes uvarint, class of each rank seq
func (m *ClassMap) code(c *wire.Coder, of *column.Column) {
	wire.CodeBounded(c, &m.Ranks, model.MaxRanks)
	wire.CodeBounded(c, &m.Classes, m.Ranks)
	column.CodeLazySeq(c, &m.seq, of, nil, m.Ranks) // read on demand, as there may be millions of ranks
}

func appendRanks(b []byte, c *Content) []byte {
	of := make([]int64, c.Ranks)
	for i := range of {
		of[i] = -1
	}
	for i := range c.Classes {
		for r := range c.Classes[i].Ranks.All() {
			of[r] = int64(i)
		}
	}
	m, col := ClassMap{Ranks: c.Ranks, Classes: len(c.Classes)}, column.ColumnOf(of...)
	return wire.AppendEncoded(b, func(c *wire.Coder) { m.code(c, &col) })
}

// DecodeClassMap reads which ranks are in which class.
func DecodeClassMap(r *wire.Reader) *ClassMap {
	m := &ClassMap{}
	if m.code(&wire.Coder{Reader: r}, nil); m.seq == nil {
		return nil
	}
	return m
}

// Check returns the number of ranks in each class. It refuses ranks in missing classes, and classes without ranks. It
// takes no memory per rank: a file of a kilobyte may have millions.
func (m *ClassMap) Check(r *wire.Reader) (sizes []int) {
	sizes = make([]int, m.Classes)
	for i := range m.Ranks {
		c := m.seq.At(i, 0)
		if c < -1 || c >= int64(m.Classes) {
			r.Fail("rank %d is in class %d of %d", i, c, m.Classes)
			return nil
		}
		if c >= 0 {
			sizes[c]++
		}
	}
	for c, n := range sizes {
		if n == 0 {
			r.Fail("class %d has no ranks", c)
		}
	}
	return sizes
}

// A ClassMembership is, by rank, its class and its index there.
type ClassMembership struct{ ClassOfRank, IndexInClass []int32 }

// Membership returns the class of each rank and its index in the class.
func (m *ClassMap) Membership() *ClassMembership {
	p := &ClassMembership{make([]int32, m.Ranks), make([]int32, m.Ranks)}
	next := make([]int32, m.Classes)
	for i := range p.ClassOfRank {
		c := m.seq.At(i, 0)
		p.ClassOfRank[i] = int32(c)
		if c >= 0 {
			p.IndexInClass[i] = next[c]
			next[c]++
		}
	}
	return p
}

// codeBlobs writes or reads a blob for each class, so that one can be read without decoding the others.
//
//	blobs = sizes seq, bytes…
func codeBlobs(c *wire.Coder, blobs [][]byte) {
	sizes := make([]int64, len(blobs))
	for i, x := range blobs {
		sizes[i] = int64(len(x))
	}
	column.CodeValues(c, sizes)
	for i := range blobs {
		c.Bytes(&blobs[i], int(sizes[i]))
	}
}

func appendBlobs(b []byte, blobs [][]byte) []byte {
	return wire.AppendEncoded(b, func(c *wire.Coder) { codeBlobs(c, blobs) })
}

// DecodeBlobs reads n blobs.
func DecodeBlobs(r *wire.Reader, n int) [][]byte {
	blobs := make([][]byte, n)
	if codeBlobs(&wire.Coder{Reader: r}, blobs); r.Err() != nil {
		return nil
	}
	return blobs
}

// appendSome appends blobs, or nothing if all are empty.
func appendSome(b []byte, blobs [][]byte) []byte {
	if !slices.ContainsFunc(blobs, func(x []byte) bool { return len(x) > 0 }) {
		return b
	}
	return appendBlobs(b, blobs)
}

// codeClass writes or reads what the ranks of a class have in common, but for the list of signatures.
//
//	class = 2·streams + direct, grammars…, varying counts,
//	        unless direct: signatures of the terminals
//	signatures of terminals = seq, or following
//
// Direct grammars are over signatures; their first occurrences determine how the terminals are numbered. If many
// classes have few ranks each, that is shorter, as parts of their grammars are then equal.
func codeClass(c *wire.Coder, streams *[]*grammar.Grammar, direct *bool, varying *[]int) {
	head := len(*streams)<<1 | bit(*direct)
	wire.CodeBounded(c, &head, math.MaxInt32)
	n := head >> 1
	if *direct = head&1 != 0; c.Reader != nil {
		c.RefuseIf(n > c.Reader.RemainingLen(), "%d streams in %d bytes", n, c.Reader.RemainingLen())
	}
	if grammar.CodeGrammars(c, streams, n); !c.Failed() {
		column.CodeVaryingSymbols(c, varying, *streams)
	}
}

func appendClass(b []byte, x *column.CountedStreams, sigs []int, how int, f *followed, packed func([]byte) int) []byte {
	streams, direct := x.Grammars, how == direct
	if direct {
		streams = make([]*grammar.Grammar, len(x.Grammars))
		for i, g := range x.Grammars {
			streams[i] = g.Renumber(func(t uint32) uint32 { return uint32(sigs[t]) })
		}
	}
	b = wire.AppendEncoded(b, func(c *wire.Coder) { codeClass(c, &streams, &direct, &x.VaryingSymbols) })
	if direct {
		return b
	}
	if how == alike {
		f = nil
	}
	return appendList(b, sigs, how == alike, f, packed)
}

// appendList appends the signatures of a class. It writes them relative to their order in the table (see followed) if
// that is shorter.
func appendList(b []byte, sigs []int, alike bool, f *followed, packed func([]byte) int) []byte {
	var col column.Column
	for _, s := range sigs {
		col.Append(int64(s))
	}
	short := column.EncodeSeq(nil, &col, nil)
	if alike {
		// A list that is far shorter as a Seq remains one. It is unlike other classes' lists, for example that of a
		// root that communicates with every rank in turn.
		if plain := column.EncodeDeltas(nil, &col); len(plain) < 1<<10 || len(plain) < 8*len(short) {
			short = plain
		}
	}
	if f != nil && len(sigs) >= fewFollowing {
		short = least([][]byte{short, f.append(nil, sigs)}, packed)
	}
	return append(b, short...)
}

// Ways of writing classes.
const (
	shortest = iota // each class as short as can be before compression
	alike           // such that equal parts of several classes' lists have equal bytes, which compress well
	direct          // grammars over signatures instead of terminals
)

// appendClasses writes all classes in the way that is shortest when compressed; if packed is nil, in the first way.
func appendClasses(b []byte, list []column.CountedStreams, sigs [][]int, f *followed, packed func([]byte) int) []byte {
	pack := func(how int) []byte {
		classes := make([][]byte, len(list))
		for i := range list {
			how := how
			if how == direct && !distinct(sigs[i]) {
				how = shortest
			}
			classes[i] = appendClass(nil, &list[i], sigs[i], how, f, packed)
		}
		return appendBlobs(nil, classes)
	}
	ways := [][]byte{pack(shortest)}
	if len(list) > 1 && packed != nil {
		ways = append(ways, pack(alike), pack(direct))
		if len(list) <= maxTogether {
			ways = append(ways, appendTogether(nil, list, sigs, f, packed))
		}
	}
	return append(b, least(ways, packed)...)
}

// least returns the encoding that packed compresses to the fewest bytes. All are compressed by the same coder, as a
// different one for some would favour these.
func least(ways [][]byte, packed func([]byte) int) []byte {
	if len(ways) == 1 {
		return ways[0]
	}
	for _, w := range ways {
		if len(w) > wire.MaxMixingEstimateBytes {
			packed = wire.QuickEstimatePackedSize
		}
	}
	best, size := ways[0], packed(ways[0])
	for _, w := range ways[1:] {
		if n := packed(w); n < size {
			best, size = w, n
		}
	}
	return best
}

// distinct reports whether no two terminals have the same signature. Terminals may share one, as its values may be
// columns.
func distinct(sigs []int) bool {
	seen := make(map[int]bool, len(sigs))
	for _, s := range sigs {
		seen[s] = true
	}
	return len(seen) == len(sigs)
}

// DecodeClass reads what the ranks of a class have in common: grammars, symbols with varying counts, and signatures.
func DecodeClass(r *wire.Reader, table *SignatureTable) (streams []*grammar.Grammar, varying, sigs []int) {
	var direct bool
	if codeClass(&wire.Coder{Reader: r}, &streams, &direct, &varying); r.Err() != nil {
		return nil, nil, nil
	}
	known := func(s int64) bool {
		if s < 0 || s >= int64(table.DistinctCalls) {
			r.Fail("call %d of %d", s, table.DistinctCalls)
			return false
		}
		sigs = append(sigs, int(s))
		return true
	}
	if direct {
		number := make(map[uint32]uint32)
		for i, g := range streams {
			for _, s := range g.Terminals() {
				if _, ok := number[s]; !ok {
					number[s] = uint32(len(number))
					if !known(int64(s)) {
						return nil, nil, nil
					}
				}
			}
			streams[i] = g.Renumber(func(s uint32) uint32 { return number[s] })
		}
		return streams, varying, sigs
	}
	terminals, ok := grammar.CountTerminals(streams)
	if !ok {
		r.Fail("terminals are not numbered by first occurrence")
		return nil, nil, nil
	}
	if sigs = decodeList(r, terminals, table); !listed(r, sigs, table) {
		return nil, nil, nil
	}
	return streams, varying, sigs
}

func decodeList(r *wire.Reader, n int, table *SignatureTable) []int {
	if b := r.Remaining(); len(b) > 0 && b[0] == following {
		r.Skip(1)
		return table.follow().decode(r, n, table.DistinctCalls)
	}
	seq := column.DecodeSeq(r, n)
	if seq == nil {
		return nil
	}
	list := make([]int, n)
	for i := range list {
		list[i] = int(seq.At(i, 0))
	}
	return list
}

// listed reports whether the table has all calls of a list. If not, it sets the reader's error.
func listed(r *wire.Reader, list []int, table *SignatureTable) bool {
	for _, s := range list {
		if s < 0 || s >= table.DistinctCalls {
			r.Fail("call %d of %d", s, table.DistinctCalls)
		}
	}
	return r.Err() == nil
}
