package wire

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Mixing, which is compression with a model, is slow. So CompressContextMixing takes at most mixTo bytes, which is half a
// second's work. DecompressContextMixing makes at most maxMixed bytes.
const (
	mixTo    = 1 << 18
	maxMixed = 1 << 20
)

// CompressContextMixing compresses data by prediction. It returns false if the result is no smaller or the data are too large.
func CompressContextMixing(data []byte) ([]byte, bool) {
	if len(data) == 0 || len(data) > rememberedUpTo {
		return CompressPrimedMixing(nil, data)
	}
	frame, smaller, ok := mixedBefore(data)
	if !ok {
		frame, smaller = CompressPrimedMixing(nil, data)
		remember(data, frame, smaller)
	}
	return frame, smaller
}

// CompressPrimedMixing is CompressContextMixing with a model that was trained on known data, such as the expected content.
func CompressPrimedMixing(known, data []byte) ([]byte, bool) {
	if len(data) > mixTo {
		return nil, false
	}
	m := learned(known, len(data))
	defer m.done()
	low, high := uint32(0), ^uint32(0)
	var out []byte
	for _, b := range data {
		for i := 7; i >= 0; i-- {
			bit := uint32(b >> i & 1)
			mid := low + uint32(uint64(high-low)*uint64(m.p)>>16)
			if bit == 1 {
				high = mid
			} else {
				low = mid + 1
			}
			m.update(bit)
			for (low^high)>>24 == 0 {
				out = append(out, byte(high>>24))
				low, high = low<<8, high<<8|255
			}
		}
	}
	// The shortest sequence of bytes that, followed by zeros, is a number from low to high: a reader assumes the zeros.
	if low > 0 {
		for n := 24; ; n -= 8 {
			if v := (low + 1<<n - 1) >> n << n; v >= low && v <= high {
				for ; n < 32; n += 8 {
					out = append(out, byte(v>>24))
					v <<= 8
				}
				break
			}
		}
	}
	for len(out) > 0 && out[len(out)-1] == 0 {
		out = out[:len(out)-1]
	}
	if len(out) >= len(data) {
		return nil, false
	}
	return out, true
}

var errMixed = errors.New("data longer than mixing takes")

// DecompressContextMixing decodes the output of CompressContextMixing, given the size of the data. Any frame decodes to some data,
// so only a checksum detects damage.
func DecompressContextMixing(frame []byte, size uint64) ([]byte, error) {
	return DecompressPrimedContextMixing(nil, frame, size)
}

// DecompressPrimedContextMixing decodes the output of CompressPrimedMixing, given the same known data.
func DecompressPrimedContextMixing(known, frame []byte, size uint64) ([]byte, error) {
	if size > maxMixed {
		return nil, errMixed
	}
	// A byte of data takes at least 1/500 bit, so no frame of CompressContextMixing is as short as this one.
	if size > uint64(maxSize(len(frame))) {
		return nil, fmt.Errorf("%d bytes can't have been compressed to %d", size, len(frame))
	}
	m := learned(known, int(size))
	defer m.done()
	low, high, x := uint32(0), ^uint32(0), uint32(0)
	take := func() {
		b := byte(0)
		if len(frame) > 0 {
			b, frame = frame[0], frame[1:]
		}
		x = x<<8 | uint32(b)
	}
	for range 4 {
		take()
	}
	for len(m.past)-len(known) < int(size) {
		mid := low + uint32(uint64(high-low)*uint64(m.p)>>16)
		if x <= mid {
			high = mid
			m.update(1)
		} else {
			low = mid + 1
			m.update(0)
		}
		for (low^high)>>24 == 0 {
			low, high = low<<8, high<<8|255
			take()
		}
	}
	return m.past[len(known):], nil
}

// The writer of a trace compares forms of sections by their compressed size, and so would compress the chosen one
// twice. The last results are cached to avoid that.
const (
	remembered     = 16
	rememberedUpTo = 1 << 13 // results for data of at most this many bytes are cached
)

var recent struct {
	sync.Mutex
	list [remembered]mixed
	next int
}

type mixed struct {
	data, frame []byte
	smaller     bool
}

// mixedBefore returns the cached result of mixing data; ok is false if there is no such result.
func mixedBefore(data []byte) (frame []byte, smaller, ok bool) {
	recent.Lock()
	defer recent.Unlock()
	for i := range recent.list {
		if m := &recent.list[i]; m.data != nil && bytes.Equal(m.data, data) {
			return slices.Clone(m.frame), m.smaller, true
		}
	}
	return nil, false, false
}

func remember(data, frame []byte, smaller bool) {
	recent.Lock()
	defer recent.Unlock()
	recent.list[recent.next%remembered] = mixed{slices.Clone(data), slices.Clone(frame), smaller}
	recent.next++
}
