package wire

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Mixing is slow, so it is for small data only: Mix stops at half a second's
// worth, Unmix takes a little more.
const (
	mixTo    = 1 << 18
	maxMixed = 1 << 20
)

// CompressMixing compresses data by prediction, or returns false if that is no smaller or
// the data are too many.
func CompressMixing(data []byte) ([]byte, bool) {
	if len(data) == 0 || len(data) > rememberedUpTo {
		return CompressMixingPrimed(nil, data)
	}
	frame, smaller, ok := mixedBefore(data)
	if !ok {
		frame, smaller = CompressMixingPrimed(nil, data)
		remember(data, frame, smaller)
	}
	return frame, smaller
}

// CompressMixingPrimed does so with a model that has seen other data before, such as what is expected.
func CompressMixingPrimed(known, data []byte) ([]byte, bool) {
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
	// One byte between the bounds says it all: a reader takes zeros from there.
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

// DecompressMixing returns the size bytes that Mix made a frame of. Any frame decodes to some data, so only a checksum detects
// damage.
func DecompressMixing(frame []byte, size uint64) ([]byte, error) {
	return DecompressMixingPrimed(nil, frame, size)
}

// DecompressMixingPrimed returns what MixAfter made a frame of, given the same data that were known.
func DecompressMixingPrimed(known, frame []byte, size uint64) ([]byte, error) {
	if size > maxMixed {
		return nil, errMixed
	}
	// Nothing real comes close: 8 bits cost at least 1/500 bit each.
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

// Who writes a trace chooses between forms of its sections, and packs some of them for each
// choice and once more for the file. What was mixed last is remembered, so that it is mixed once.
const (
	remembered     = 16
	rememberedUpTo = 1 << 13 // bytes
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

// mixedBefore returns what became of data, if they were mixed lately.
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
