package series

import (
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// SZ is what SZ does for one dimension and a pointwise relative bound: it
// quantises the logarithm of each value, predicts the quantum from those before
// it (the last one, or straight on from the last two, whichever suits the
// list), and codes what is left with a Huffman code, and that with zstd. With
// Clustered, times of calls with the same key stand together, as in the paper.
type SZ struct{ Clustered bool }

// Name implements Codec.
func (s SZ) Name() string {
	if s.Clustered {
		return "sz-sig"
	}
	return "sz"
}

// Append implements Codec.
func (s SZ) Append(dst []byte, b Batch, c *Calls) ([]byte, error) {
	return appendCells(dst, b, c, s.cells())
}

// Decode implements Codec.
func (s SZ) Decode(src []byte, want Lists, c *Calls) (Batch, error) {
	return decodeCells(src, want, c, s.cells())
}

func (s SZ) cells() cellCodec { return cellCodec{appendSZ, decodeSZ, s.Clustered} }

// Differences beyond the code's range are symbol 0, and kept beside it.
const szRange = 1 << 15

// residuals returns what prediction of an order leaves: 1, the last value; 2,
// a line through the last two.
func residuals(list []int32, order int) []int32 {
	out := make([]int32, len(list))
	var a, b int32 // the last value and the one before it
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

// sz   = order byte, size uvarint, zstd of body
// body = table, codes, blob of outliers, if there are values
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
	return appendZstd(appendSize(dst, body), body)
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
	h, body, err := readHuffman(body)
	if err != nil {
		return nil, err
	}
	codes, outliers, err := blob(body)
	if err != nil {
		return nil, err
	}
	reader, in, far := h.reader(), wire.BitReader{In: codes}, wire.BitReader{In: outliers}
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
	if in.Over() || far.Over() {
		return nil, errShort
	}
	return list, nil
}
