package series

import (
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// sz is the compressor SZ for one dimension and a relative bound of each value. It quantises the logarithm of each
// value (the cells of levels), and predicts each quantum from those before. The prediction is the last quantum, or a
// straight line through the last two, whichever suits the list better. The residuals are Huffman coded and then
// compressed with zstd. In szSig, times of calls with the same key are adjacent, as in the paper.
var (
	sz    = cellCodec{"sz", appendSZ, decodeSZ, false}
	szSig = cellCodec{"sz-sig", appendSZ, decodeSZ, true}
)

// A residual whose absolute value is too large for szRange has symbol 0, and is stored separately.
const szRange = 1 << 15

// residuals returns what is left of each value after a prediction: order 1 predicts the value before it, order 2 a
// line through the two values before.
func residuals(list []int32, order int) []int32 {
	out := make([]int32, len(list))
	var a, b int32 // the value before, and the one before that
	for i, v := range list {
		out[i] = v - predicted(a, b, i, order)
		a, b = v, a
	}
	return out
}

func predicted(a, b int32, i, order int) int32 {
	if order == 1 || i < 2 {
		return a
	}
	return 2*a - b
}

// appendSZ appends a list of cells of levels.
//
//	sz   = order byte, size of body uvarint, zstd of body
//	body = Huffman table, blob of codes, residuals out of range of 32 bits each; empty without values
func appendSZ(dst []byte, list []int32, _ *planned) []byte {
	best, order, least := []int32(nil), 0, uint64(0)
	for o := 1; o <= 2; o++ {
		left := residuals(list, o)
		cost := uint64(0)
		for _, v := range left {
			cost += uint64(bits.Len32(zigzag(v)))
		}
		if best == nil || cost < least {
			best, order, least = left, o, cost
		}
	}
	dst = append(dst, byte(order))
	var body []byte
	if len(list) > 0 {
		counts := map[uint32]uint64{}
		for _, v := range best {
			counts[szSymbol(v)]++
		}
		h := newHuffman(counts)
		index := h.index()
		var codes, outliers wire.BitWriter
		for _, v := range best {
			s := szSymbol(v)
			at := index[s]
			codes.Put(uint64(h.codes[at]), uint(h.lengths[at]))
			if s == 0 {
				outliers.Put(uint64(uint32(v)), 32)
			}
		}
		body = appendBlob(h.appendTable(nil), codes.Finish())
		body = append(body, outliers.Finish()...)
	}
	return appendSized(dst, body)
}

func szSymbol(v int32) uint32 {
	if z := zigzag(v); z < szRange {
		return z + 1
	}
	return 0
}

func decodeSZ(src []byte, p *planned) ([]int32, error) {
	n := len(p.keys)
	if len(src) == 0 || src[0] < 1 || src[0] > 2 {
		return nil, errShort
	}
	order := int(src[0])
	body, err := expandSized(src[1:], 1024+32*n)
	if err != nil {
		return nil, err
	}
	list := make([]int32, n)
	if n == 0 {
		return list, nil
	}
	h, err := readHuffman(body)
	if err != nil {
		return nil, err
	}
	codes := body.Blob()
	if err := body.Err(); err != nil {
		return nil, err
	}
	reader, in, far := h.reader(), wire.BitReader{Input: codes}, wire.BitReader{Input: body.Remaining()}
	var a, b int32
	for i := range list {
		v := int32(0)
		if s := reader.take(&in); s == 0 {
			v = int32(uint32(far.Get(32)))
		} else {
			v = unzigzag(s - 1)
		}
		list[i] = v + predicted(a, b, i, order)
		a, b = list[i], a
	}
	if in.ReadPastEnd() || far.ReadPastEnd() {
		return nil, errShort
	}
	return list, nil
}
