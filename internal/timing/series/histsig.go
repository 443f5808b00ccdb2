package series

import (
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// histSig is the paper's histogram code HIST (section 2.3.2), where the cells of levels are the bins. For each key,
// the bins that are most frequent among its first calls are in a table. A time in such a bin has a short code: bit 1,
// and the bin's index in the table. All other times have bit 0 and the number of their cell. The result is compressed
// with zstd.
var histSig = cellCodec{"hist-sig", appendHistSig, decodeHistSig, true}

// The paper's parameters: tables of 8 bins, so that a code has one bit and a 3-bit index, made from a key's first 100
// calls.
const (
	DefaultBins        = 8
	DefaultSampleCalls = 100
)

const mostBins = 1 << 16

// appendHistSig appends a list of cells of levels.
//
//	hist  = size of body uvarint, zstd of body
//	body  = per key: number of bins uvarint, the cell of each bin uvarint…
//	        codes
//	codes = per time: bit 1 and index of a bin, or bit 0 and cell
//
// An index has the number of bits of the largest index in the key's table, a cell that of the largest cell of the key's
// levels.
func appendHistSig(dst []byte, list []int32, p *planned) []byte {
	most, sample := p.bins, p.sample
	if most <= 0 {
		most = DefaultBins
	}
	if sample <= 0 {
		sample = DefaultSampleCalls
	}
	var tables []byte
	var codes wire.BitWriter
	for len(list) > 0 {
		key := p.keys[len(p.keys)-len(list)]
		n := slices.IndexFunc(p.keys[len(p.keys)-len(list):], func(k uint32) bool { return k != key })
		if n < 0 {
			n = len(list)
		}
		bins := frequent(list[:min(n, sample)], min(most, mostBins))
		tables = binary.AppendUvarint(tables, uint64(len(bins)))
		number := make(map[int32]int, len(bins))
		for i, cell := range bins {
			tables = binary.AppendUvarint(tables, uint64(cell))
			number[cell] = i
		}
		short, long := bitsFor(len(bins)), bitsFor(int(p.levels[key].count()))
		for _, cell := range list[:n] {
			if i, ok := number[cell]; ok {
				codes.Put(1, 1)
				codes.Put(uint64(i), short)
			} else {
				codes.Put(0, 1)
				codes.Put(uint64(cell), long)
			}
		}
		list = list[n:]
	}
	return appendSized(dst, append(tables, codes.Finish()...))
}

// frequent returns the cells that are most frequent in list, at most most of them, the most frequent first.
func frequent(list []int32, most int) []int32 {
	counts := make(map[int32]int)
	for _, cell := range list {
		counts[cell]++
	}
	bins := slices.SortedFunc(maps.Keys(counts), func(a, b int32) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return int(a) - int(b)
	})
	return bins[:min(len(bins), most)]
}

// bitsFor returns the number of bits that the numbers 0 … n-1 need.
func bitsFor(n int) uint { return uint(bits.Len(uint(max(n, 1) - 1))) }

func decodeHistSig(src []byte, p *planned) ([]int32, error) {
	body, err := expandSized(src, 1024+32*len(p.keys))
	if err != nil {
		return nil, err
	}
	tables := make([][]int32, len(p.levels))
	for key := range tables {
		tables[key] = make([]int32, body.Int(min(body.RemainingLen(), mostBins)))
		for i := range tables[key] {
			tables[key][i] = int32(body.Int(int(p.levels[key].count()) - 1))
		}
	}
	if err := body.Err(); err != nil {
		return nil, err
	}
	list, in := make([]int32, len(p.keys)), wire.BitReader{Input: body.Remaining()}
	for i, key := range p.keys {
		if bins := tables[key]; in.Get(1) == 0 {
			list[i] = int32(in.Get(bitsFor(int(p.levels[key].count()))))
		} else if n := in.Get(bitsFor(len(bins))); n < uint64(len(bins)) {
			list[i] = bins[n]
		} else {
			return nil, errShort
		}
	}
	if in.ReadPastEnd() {
		return nil, errShort
	}
	return list, nil
}
