package series

import (
	"encoding/binary"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// RawCodec stores eight bytes for each time. Other codecs are compared with it.
type RawCodec struct{}

// Name implements Codec.
func (RawCodec) Name() string { return "raw" }

// Append implements Codec.
func (RawCodec) Append(dst []byte, b Batch, c *CallInfo) ([]byte, error) {
	if _, err := b.lists(c); err != nil {
		return nil, err
	}
	for _, list := range [][]uint64{b.Gaps, b.Durations} {
		for _, v := range list {
			dst = binary.LittleEndian.AppendUint64(dst, v)
		}
	}
	return dst, nil
}

// Decode implements Codec.
func (RawCodec) Decode(src []byte, want TimeLists, c *CallInfo) (Batch, error) {
	b := want.make(len(c.Keys))
	n := 8 * (len(b.Gaps) + len(b.Durations))
	if len(src) != n {
		return Batch{}, fmt.Errorf("%d bytes of times, want %d", len(src), n)
	}
	for _, list := range [][]uint64{b.Gaps, b.Durations} {
		for i := range list {
			list[i], src = binary.LittleEndian.Uint64(src), src[8:]
		}
	}
	return b, nil
}

// ZstdCodec is lossless: it puts the first bytes of all times together, then all second bytes, and so on, and
// compresses this with zstd.
type ZstdCodec struct{}

// Name implements Codec.
func (ZstdCodec) Name() string { return "zstd" }

// Append implements Codec.
func (ZstdCodec) Append(dst []byte, b Batch, c *CallInfo) ([]byte, error) {
	if _, err := b.lists(c); err != nil {
		return nil, err
	}
	var planes []byte
	for _, list := range [][]uint64{b.Gaps, b.Durations} {
		for shift := 0; shift < 64; shift += 8 {
			for _, v := range list {
				planes = append(planes, byte(v>>shift))
			}
		}
	}
	return appendZstd(dst, planes), nil
}

// Decode implements Codec.
func (ZstdCodec) Decode(src []byte, want TimeLists, c *CallInfo) (Batch, error) {
	n := len(c.Keys)
	b := want.make(n)
	planes, err := expandZstd(src, 8*(len(b.Gaps)+len(b.Durations)))
	if err != nil {
		return Batch{}, err
	}
	for _, list := range [][]uint64{b.Gaps, b.Durations} {
		for shift := 0; shift < 64 && list != nil; shift += 8 {
			for i := range list {
				list[i] |= uint64(planes[i]) << shift
			}
			planes = planes[n:]
		}
	}
	return b, nil
}

// appendZstd appends byte 1 and data compressed with zstd or, if that is not shorter, byte 0 and data.
func appendZstd(dst, data []byte) []byte {
	if frame, ok := wire.CompressZstd(data, false); ok {
		return append(append(dst, 1), frame...)
	}
	return append(append(dst, 0), data...)
}

// expandZstd decodes the output of appendZstd, which must expand to size bytes.
func expandZstd(src []byte, size int) ([]byte, error) {
	if len(src) == 0 {
		return nil, errShort
	}
	if src[0] == 1 {
		return wire.DecompressZstd(src[1:], uint64(size))
	}
	if src = src[1:]; len(src) != size {
		return nil, fmt.Errorf("%d bytes of times, want %d", len(src), size)
	}
	return src, nil
}

// cfg is the paper's code CFG: gaps and durations as one Sequitur grammar each, over the cells of levels.
var cfg = cellCodec{
	name: "cfg",
	append: func(dst []byte, list []int32, _ *planned) []byte {
		g := grammar.NewBuilder()
		for _, v := range list {
			g.Append(uint32(v))
		}
		return appendSized(dst, g.Grammar().AppendBinary(nil))
	},
	decode: func(src []byte, p *planned) ([]int32, error) {
		n := len(p.keys)
		plain, err := expandSized(src, 32+16*n)
		if err != nil {
			return nil, err
		}
		g, _, err := grammar.Decode(plain.Remaining())
		if err != nil {
			return nil, err
		}
		if l := g.Len(); l != uint64(n) {
			return nil, fmt.Errorf("a grammar of %d times, want %d", l, n)
		}
		list := make([]int32, 0, n)
		for v := range g.All() {
			list = append(list, int32(v))
		}
		return list, nil
	},
}

// appendSized stores the size of plain and compresses it; expandSized reverses that, for sizes up to a limit.
func appendSized(dst, plain []byte) []byte {
	return appendZstd(binary.AppendUvarint(dst, uint64(len(plain))), plain)
}

func expandSized(src []byte, limit int) (*wire.Reader, error) {
	r := wire.NewReader(src, "times")
	size := r.Int(limit)
	if err := r.Err(); err != nil {
		return nil, err
	}
	plain, err := expandZstd(r.Remaining(), size)
	return wire.NewReader(plain, "times"), err
}
