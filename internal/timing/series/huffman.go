package series

import (
	"container/heap"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Canonical Huffman codes over 32-bit symbols. The table of a code is
//
//	number of symbols uvarint, (symbol as a difference to the one before) uvarint…,
//	length of each symbol's code, 5 bits each
//
// The code of a symbol is written beginning with its first bit.

const longest = 24 // largest number of bits of a code

type huffman struct {
	symbols []uint32 // all symbols of the code, in rising order
	lengths []uint8
	codes   []uint32 // by index in symbols; bits are reversed, so that a code can be written as a number, low bit first
}

// newHuffman returns the optimal code for symbols that occur as often as counts says, except that no code has more
// than longest bits. All counts must be positive.
func newHuffman(counts map[uint32]uint64) *huffman {
	h := &huffman{symbols: slices.Sorted(maps.Keys(counts))}
	h.lengths = make([]uint8, len(h.symbols))
	weights := make([]uint64, len(h.symbols))
	for i, s := range h.symbols {
		weights[i] = counts[s]
	}
	// Make the counts more equal until no code is too long.
	for !h.build(weights) {
		for i := range weights {
			weights[i] = weights[i]/2 + 1
		}
	}
	h.assign()
	return h
}

type treeNode struct {
	weight      uint64
	left, right int32 // indices in forest.nodes; in a leaf, left is -1 minus the symbol's index
}

type forest struct {
	nodes []treeNode
	list  []int32
}

func (f *forest) Len() int { return len(f.list) }
func (f *forest) Less(i, j int) bool {
	a, b := f.list[i], f.list[j]
	if x, y := f.nodes[a].weight, f.nodes[b].weight; x != y {
		return x < y
	}
	return a < b
}
func (f *forest) Swap(i, j int) { f.list[i], f.list[j] = f.list[j], f.list[i] }
func (f *forest) Push(x any)    { f.list = append(f.list, x.(int32)) }
func (f *forest) Pop() any {
	x := f.list[len(f.list)-1]
	f.list = f.list[:len(f.list)-1]
	return x
}

// build computes the length of each symbol's code. It returns false if one exceeds longest.
func (h *huffman) build(weights []uint64) bool {
	if len(weights) == 1 {
		h.lengths[0] = 0
		return true
	}
	f := &forest{}
	for i, w := range weights {
		f.nodes = append(f.nodes, treeNode{weight: w, left: int32(-1 - i)})
		f.list = append(f.list, int32(i))
	}
	heap.Init(f)
	for f.Len() > 1 {
		a, b := heap.Pop(f).(int32), heap.Pop(f).(int32)
		f.nodes = append(f.nodes, treeNode{f.nodes[a].weight + f.nodes[b].weight, a, b})
		heap.Push(f, int32(len(f.nodes)-1))
	}
	// Parents have larger indices than their children, so this loop sees them first.
	depth := make([]uint8, len(f.nodes))
	for i := len(f.nodes) - 1; i >= 0; i-- {
		n := f.nodes[i]
		if n.left < 0 {
			if depth[i] > longest {
				return false
			}
			h.lengths[-1-n.left] = depth[i]
			continue
		}
		d := min(depth[i]+1, 255)
		depth[n.left], depth[n.right] = d, d
	}
	return true
}

// assign gives each symbol a code of its length: shorter codes first, and those of equal length in order of symbols.
func (h *huffman) assign() {
	var next [longest + 2]uint32
	for _, l := range h.lengths {
		next[l+1]++
	}
	next[1] = 0 // a length of 0, of an only symbol, needs no code
	code := uint32(0)
	for l := 1; l <= longest; l++ {
		n := next[l+1]
		next[l], code = code, (code+n)<<1
	}
	h.codes = make([]uint32, len(h.symbols))
	for i, l := range h.lengths {
		if l > 0 {
			h.codes[i] = bits.Reverse32(next[l]) >> (32 - l)
			next[l]++
		}
	}
}

func (h *huffman) appendTable(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(h.symbols)))
	last := uint32(0)
	var w wire.BitWriter
	for i, s := range h.symbols {
		dst = binary.AppendUvarint(dst, uint64(s-last))
		last = s
		w.Put(uint64(h.lengths[i]), 5)
	}
	return append(dst, w.Finish()...)
}

// readHuffman reads the table of a code.
func readHuffman(r *wire.Reader) (*huffman, error) {
	n := r.Count(1)
	h := &huffman{symbols: make([]uint32, n), lengths: make([]uint8, n)}
	last := uint64(0)
	for i := range h.symbols {
		d := r.Uvarint()
		if last += d; last >= 1<<32 || i > 0 && d == 0 {
			r.Fail("no Huffman code")
		}
		h.symbols[i] = uint32(last)
	}
	in := wire.BitReader{Input: r.Bytes((5*n + 7) / 8)}
	// Sum over the symbols of the part of all codes that starts with their code, in units of a code of the longest
	// length.
	room := uint64(0)
	for i := range h.lengths {
		l := uint8(in.Get(5))
		if l > longest || l == 0 && n > 1 {
			r.Fail("no Huffman code")
			break
		}
		h.lengths[i] = l
		room += 1 << (longest - l)
	}
	if room != 1<<longest {
		r.Fail("no Huffman code")
	}
	h.assign()
	return h, r.Err()
}

// index returns the index in h.symbols by symbol.
func (h *huffman) index() map[uint32]int {
	m := make(map[uint32]int, len(h.symbols))
	for i, s := range h.symbols {
		m[s] = i
	}
	return m
}

// A huffmanReader decodes symbols.
type huffmanReader struct {
	symbols []uint32 // sorted by length of the code, then by code
	first   [longest + 1]uint32
	count   [longest + 1]uint32
	start   [longest + 1]uint32
}

func (h *huffman) reader() *huffmanReader {
	r := new(huffmanReader)
	for _, l := range h.lengths {
		r.count[l]++
	}
	code, at := uint32(0), r.count[0]
	for l := 1; l <= longest; l++ {
		r.first[l], r.start[l] = code, at
		at += r.count[l]
		code = (code + r.count[l]) << 1
	}
	r.symbols = make([]uint32, len(h.symbols))
	next := r.start
	for i, l := range h.lengths {
		r.symbols[next[l]] = h.symbols[i]
		next[l]++
	}
	return r
}

// take decodes one symbol.
func (r *huffmanReader) take(in *wire.BitReader) uint32 {
	if r.count[0] > 0 {
		return r.symbols[0]
	}
	code := uint32(0)
	for l := 1; l < longest; l++ {
		code = code<<1 | uint32(in.Get(1))
		if d := code - r.first[l]; code >= r.first[l] && d < r.count[l] {
			return r.symbols[r.start[l]+d]
		}
	}
	l := longest
	code = code<<1 | uint32(in.Get(1))
	return r.symbols[min(r.start[l]+code-r.first[l], uint32(len(r.symbols)-1))]
}
