package trace

import (
	"spoor/internal/column"
	"spoor/internal/grammar"
	"spoor/internal/wire"
)

// maxRanks bounds the number of ranks, and so what a reader allocates for
// tables over them.
const maxRanks = 1 << 24

// appendRanks and decodeRanks: which class each rank belongs to; -1 for a rank
// of which there is no track.
//
//	ranks = ranks uvarint, classes uvarint, class of each rank seq
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
	b = wire.AppendUvarint(b, uint64(c.Ranks))
	b = wire.AppendUvarint(b, uint64(len(c.Classes)))
	col := column.Of(of...)
	return column.EncodeSeq(b, &col, nil)
}

// A rankMap finds the class of a rank.
type rankMap struct {
	ranks, classes int
	seq            *column.Seq
}

func decodeRanks(r *wire.Reader) *rankMap {
	m := &rankMap{ranks: r.Int(maxRanks)}
	m.classes = r.Int(m.ranks)
	if m.seq = column.DecodeSeq(r, m.ranks); m.seq == nil {
		return nil
	}
	return m
}

// places lists, for each rank, its class and its index there.
func (m *rankMap) places(r *wire.Reader) (class, index []int32, sizes []int) {
	class, index, sizes = make([]int32, m.ranks), make([]int32, m.ranks), make([]int, m.classes)
	for i := range class {
		c := m.seq.At(i, 0)
		if c < -1 || c >= int64(m.classes) {
			r.Fail("rank %d is in class %d of %d", i, c, m.classes)
			return nil, nil, nil
		}
		class[i] = int32(c)
		if c >= 0 {
			index[i] = int32(sizes[c])
			sizes[c]++
		}
	}
	for c, n := range sizes {
		if n == 0 {
			r.Fail("class %d has no ranks", c)
		}
	}
	return class, index, sizes
}

// appendBlobs and decodeBlobs: something of each class, to be found without
// decoding that of the others.
//
//	blobs = sizes seq, bytes…
func appendBlobs(b []byte, blobs [][]byte) []byte {
	var sizes column.Column
	for _, x := range blobs {
		sizes.Append(int64(len(x)))
	}
	b = column.EncodeSeq(b, &sizes, nil)
	for _, x := range blobs {
		b = append(b, x...)
	}
	return b
}

func decodeBlobs(r *wire.Reader, n int) [][]byte {
	sizes := column.DecodeSeq(r, n)
	if sizes == nil {
		return nil
	}
	blobs := make([][]byte, n)
	for i := range blobs {
		size := sizes.At(i, 0)
		if size < 0 || size > int64(r.Rest()) {
			r.Fail("%d bytes for class %d", size, i)
			return nil
		}
		blobs[i] = r.Bytes(int(size))
	}
	return blobs
}

// appendClass and decodeClass: what the ranks of a class have in common.
//
//	class = number of streams, grammars…, varying counts,
//	        signatures of the terminals seq
func appendClass(b []byte, c *counted, sigs []int) []byte {
	b = wire.AppendUvarint(b, uint64(len(c.streams)))
	for _, g := range c.streams {
		b = g.AppendBinary(b)
	}
	b = appendVarying(b, c.varying)
	var col column.Column
	for _, s := range sigs {
		col.Append(int64(s))
	}
	return column.EncodeSeq(b, &col, nil)
}

func decodeClass(r *wire.Reader, table *signatureTable) (streams []*grammar.Grammar, varying, sigs []int) {
	for range r.Count(1) {
		g, n, err := grammar.Decode(r.Remaining())
		r.Check(err)
		if r.Err() != nil {
			return nil, nil, nil
		}
		r.Skip(n)
		streams = append(streams, g)
	}
	terminals, ok := countTerminals(streams)
	if !ok {
		r.Fail("terminals are not numbered by first occurrence")
		return nil, nil, nil
	}
	varying = decodeVarying(r, streams)
	seq := column.DecodeSeq(r, terminals)
	if seq == nil {
		return nil, nil, nil
	}
	sigs = make([]int, terminals)
	for i := range sigs {
		s := seq.At(i, 0)
		if s < 0 || s >= int64(table.total) {
			r.Fail("signature %d of %d", s, table.total)
			return nil, nil, nil
		}
		sigs[i] = int(s)
	}
	return streams, varying, sigs
}

// countTerminals returns the number of distinct terminals, if they are
// numbered by first occurrence over the streams in order.
func countTerminals(streams []*grammar.Grammar) (int, bool) {
	next := uint32(0)
	for _, g := range streams {
		for _, t := range g.Terminals() {
			if t > next {
				return 0, false
			}
			if t == next {
				next++
			}
		}
	}
	return int(next), true
}

// occurrences counts how often each terminal stands in the streams.
func occurrences(streams []*grammar.Grammar, terminals int) []uint64 {
	sum := make([]uint64, terminals)
	for _, g := range streams {
		for i, n := range g.Counts(terminals) {
			sum[i] += n
		}
	}
	return sum
}
