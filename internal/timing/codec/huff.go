package codec

import (
	"encoding/binary"
	"slices"
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
		in := bitReader{in: coded}
		list := make([]int32, len(p.keys))
		for at, k := range p.keys {
			list[at] = int32(readers[codes.of[k]].take(&in))
		}
		if in.over {
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
		var w bitWriter
		for i, v := range cells.list {
			n := codes.of[p.keys[i]]
			at := index[n][uint32(v)]
			w.put(uint64(tables[n].codes[at]), uint(tables[n].lengths[at]))
		}
		dst = appendBlob(dst, w.finish())
		dst = appendBlob(dst, cells.rest.finish())
	}
	return dst, nil
}

// Pilgrim is the histogram code of the paper, HIST: the 2^k bins that are most
// frequent in the first 100 samples have codes of k+1 bits, all other times
// are kept as they are, in 65.
type Pilgrim struct{ Bits uint }

const firstSamples = 100

// Name implements Codec.
func (p Pilgrim) Name() string { return "hist" + string(rune('0'+p.Bits)) }

// Append implements Codec.
func (p Pilgrim) Append(dst []byte, b Batch, c *Calls) ([]byte, error) {
	if _, err := b.lists(c); err != nil {
		return nil, err
	}
	pl := plan(c, false)
	for _, list := range [][]uint64{b.Gaps, b.Durations} {
		if list == nil {
			continue
		}
		cells := make([]int32, len(list))
		for i, x := range list {
			cells[i] = pl.levels[pl.keys[i]].of(x)
		}
		counts := map[int32]int{}
		for _, v := range cells[:min(firstSamples, len(cells))] {
			counts[v]++
		}
		var bins []int32
		for v := range counts {
			bins = append(bins, v)
		}
		slices.SortFunc(bins, func(a, b int32) int {
			if counts[a] != counts[b] {
				return counts[b] - counts[a]
			}
			return int(a) - int(b)
		})
		bins = bins[:min(len(bins), 1<<p.Bits)]
		dst = binary.AppendUvarint(dst, uint64(len(bins)))
		code := map[int32]int{}
		for i, v := range bins {
			code[v] = i
			dst = binary.AppendUvarint(dst, uint64(v))
		}
		var w bitWriter
		for i, v := range cells {
			if at, ok := code[v]; ok && !pl.levels[pl.keys[i]].exact {
				w.put(1, 1)
				w.put(uint64(at), p.Bits)
			} else {
				w.put(0, 1)
				w.put(list[i], 64)
			}
		}
		dst = appendBlob(dst, w.finish())
	}
	return dst, nil
}

// Decode implements Codec.
func (p Pilgrim) Decode(src []byte, want Lists, c *Calls) (Batch, error) {
	if err := c.check(); err != nil {
		return Batch{}, err
	}
	pl := plan(c, false)
	b := want.make(len(c.Keys))
	for _, list := range [][]uint64{b.Gaps, b.Durations} {
		if list == nil {
			continue
		}
		n, rest, err := uvarint(src)
		if err != nil || n > firstSamples {
			return Batch{}, errShort
		}
		src = rest
		bins := make([]int32, n)
		for i := range bins {
			var v uint64
			if v, src, err = uvarint(src); err != nil {
				return Batch{}, err
			}
			bins[i] = int32(v)
		}
		var coded []byte
		if coded, src, err = blob(src); err != nil {
			return Batch{}, err
		}
		in := bitReader{in: coded}
		for i := range list {
			if in.get(1) == 0 {
				list[i] = in.get(64)
				continue
			}
			l, at := pl.levels[pl.keys[i]], in.get(p.Bits)
			if at >= n || bins[at] < 0 || bins[at] >= l.count() {
				return Batch{}, errHuffman
			}
			list[i] = l.at(bins[at])
		}
		if in.over {
			return Batch{}, errShort
		}
	}
	return b, nil
}
