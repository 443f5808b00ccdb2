package series

import (
	"encoding/binary"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Raw is eight bytes a time: what others are compared with.
type Raw struct{}

// Name implements Codec.
func (Raw) Name() string { return "raw" }

// Append implements Codec.
func (Raw) Append(dst []byte, b Batch, c *Calls) ([]byte, error) {
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
func (Raw) Decode(src []byte, want Lists, c *Calls) (Batch, error) {
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

// Zstd is exact: the first bytes of all times, then the second ones, and so on,
// in a zstd frame.
type Zstd struct{}

// Name implements Codec.
func (Zstd) Name() string { return "zstd" }

// Append implements Codec.
func (Zstd) Append(dst []byte, b Batch, c *Calls) ([]byte, error) {
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
func (Zstd) Decode(src []byte, want Lists, c *Calls) (Batch, error) {
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

// appendZstd appends a byte that says whether data are compressed, and them.
func appendZstd(dst, data []byte) []byte {
	if frame, ok := wire.Compress(data, false); ok {
		return append(append(dst, 1), frame...)
	}
	return append(append(dst, 0), data...)
}

// expandZstd reads what appendZstd wrote, which must be size bytes.
func expandZstd(src []byte, size int) ([]byte, error) {
	if len(src) == 0 {
		return nil, errShort
	}
	if src[0] == 1 {
		return wire.Expand(src[1:], uint64(size))
	}
	if src = src[1:]; len(src) != size {
		return nil, fmt.Errorf("%d bytes of times, want %d", len(src), size)
	}
	return src, nil
}
