package codec

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/wire"
)

// Huff codes the number of each time's cell with a Huffman code, one for each
// kind of call that occurs often, made for the batch.
type Huff struct{}

// Name implements Codec.
func (Huff) Name() string { return "huff" }

// Append implements Codec.
func (Huff) Append(dst []byte, b Batch, c *Calls) ([]byte, error) { return appendHuff(dst, b, c) }

// Decode implements Codec.
func (Huff) Decode(src []byte, want Lists, c *Calls) (Batch, error) {
	if err := c.check(); err != nil {
		return Batch{}, err
	}
	p := plan(c, false)
	codes := p.codes()
	var b Batch
	for i, to := range []*[]uint64{&b.Gaps, &b.Durations} {
		if want>>i&1 == 0 {
			continue
		}
		readers := make([]*huffmanReader, codes.n)
		for j := range readers {
			if len(p.keys) == 0 {
				break
			}
			h, rest, err := readHuffman(src)
			if err != nil {
				return Batch{}, err
			}
			src, readers[j] = rest, h.reader()
		}
		coded, rest, err := blob(src)
		if err != nil {
			return Batch{}, err
		}
		var low []byte
		if low, src, err = blob(rest); err != nil {
			return Batch{}, err
		}
		in := wire.BitReader{In: coded}
		list := make([]int32, len(p.keys))
		for at, k := range p.keys {
			list[at] = int32(readers[codes.of[k]].take(&in))
		}
		if in.Over() {
			return Batch{}, errShort
		}
		values, err := timesOf(list, p.keys, p.levels, low)
		if err != nil {
			return Batch{}, err
		}
		*to = values
	}
	return b, nil
}

// often is how many calls a kind must have to get a code of its own.
const often = 200

type codeTable struct {
	of []int // by number of a key, which code
	n  int
}

// codes assigns a Huffman code to each key: 0 is that of what is rare.
func (p *planned) codes() (t codeTable) {
	top := uint32(0)
	for _, g := range p.groups {
		top = max(top, g+1)
	}
	counts := make([]int, top)
	for _, k := range p.keys {
		counts[p.groups[k]]++
	}
	number := make([]int, top)
	t.of = make([]int, len(p.groups))
	t.n = 1
	if !slices.ContainsFunc(counts, func(n int) bool { return n < often }) {
		t.n = 0 // there are none that are rare
	}
	for g, n := range counts {
		if n >= often {
			number[g] = t.n
			t.n++
		}
	}
	for k, g := range p.groups {
		t.of[k] = number[g]
	}
	return t
}

// appendHuff appends, per list: tables, blob of codes, blob of low bits.
func appendHuff(dst []byte, b Batch, c *Calls) ([]byte, error) {
	if _, err := b.lists(c); err != nil {
		return nil, err
	}
	p := plan(c, false)
	codes := p.codes()
	for _, list := range [][]uint64{b.Gaps, b.Durations} {
		if list == nil {
			continue
		}
		cells := cellsOf(list, p.keys, p.levels)
		counts := make([]map[uint32]uint64, codes.n)
		for i := range counts {
			counts[i] = map[uint32]uint64{}
		}
		for i, v := range cells.list {
			counts[codes.of[p.keys[i]]][uint32(v)]++
		}
		tables, index := make([]*huffman, codes.n), make([]map[uint32]int, codes.n)
		for i := range tables {
			if len(cells.list) == 0 {
				break
			}
			tables[i] = newHuffman(counts[i])
			index[i] = tables[i].index()
			dst = tables[i].appendTable(dst)
		}
		var w wire.BitWriter
		for i, v := range cells.list {
			n := codes.of[p.keys[i]]
			at := index[n][uint32(v)]
			w.Put(uint64(tables[n].codes[at]), uint(tables[n].lengths[at]))
		}
		dst = appendBlob(dst, w.Finish())
		dst = appendBlob(dst, cells.rest.Finish())
	}
	return dst, nil
}
