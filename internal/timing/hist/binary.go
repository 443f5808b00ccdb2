package hist

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// The binary form.
//
//	hist = room uvarint, bins uvarint, bin…
//	bin  = (count - 1) uvarint, min uvarint as a difference to one above the
//	       Max before it (at first to 0), (max - min) uvarint,
//	       rank of min varint as a difference to the rank before (at first to 0),
//	       if count > 1: rank of max varint, in the same way,
//	       if count > 2 and max > min: mean float32, deviation uint16
//
// deviation is the upper half of the standard deviation's float32, rounded. Of two
// samples, both follow from the extremes.

// AppendBinary appends the binary form of h to dst. It rounds means to float32, about 7 decimal digits, and
// deviations to about 2.
func (h *Hist) AppendBinary(dst []byte) []byte {
	h.settle()
	dst = wire.AppendUvarint(dst, uint64(cap(h.bins)))
	dst = wire.AppendUvarint(dst, uint64(len(h.bins)))
	from, rank := uint64(0), int32(0)
	for i := range h.bins {
		b := &h.bins[i]
		dst = wire.AppendUvarint(dst, b.Count-1)
		dst = wire.AppendUvarint(dst, b.Min-from)
		dst = wire.AppendUvarint(dst, b.Max-b.Min)
		dst = wire.AppendVarint(dst, int64(b.MinRank)-int64(rank))
		rank = b.MinRank
		if b.Count > 1 {
			dst = wire.AppendVarint(dst, int64(b.MaxRank)-int64(rank))
			rank = b.MaxRank
		}
		if b.Count > 2 && b.Max > b.Min {
			dst = wire.AppendUint32(dst, math.Float32bits(float32(b.Mean)))
			dev := (math.Float32bits(float32(math.Sqrt(b.m2/float64(b.Count)))) + 1<<15) >> 16
			dst = append(dst, byte(dev), byte(dev>>8))
		}
		from = b.Max + 1
	}
	return dst
}

// Decode reads a histogram that AppendBinary wrote. Errors are recorded in r; the result is a valid histogram even
// then.
func Decode(r *wire.Reader) *Hist {
	room := r.Int(MaxBins)
	n := r.Int(room)
	if n > r.RemainingLen() {
		r.Fail("%d bins can't fit in %d bytes", n, r.RemainingLen())
		n = 0
	}
	h := New(max(room, n, 2), NoRank)
	from, rank, total := uint64(0), int64(0), uint64(0)
	for i := range n {
		b, err := decodeBin(r, from, &rank)
		var carry uint64
		total, carry = bits.Add64(total, b.Count, 0)
		switch {
		case err != nil:
			r.RecordError(err)
		case carry != 0:
			r.Fail("more samples than 64 bits count")
		case i < n-1 && b.Max == math.MaxUint64:
			r.Fail("no room above bin %d", i)
		}
		if r.Err() != nil {
			break
		}
		h.bins = append(h.bins, b)
		from = b.Max + 1
	}
	for i := range h.bins {
		h.bound(i)
	}
	return h
}

func decodeBin(r *wire.Reader, from uint64, rank *int64) (b Bin, err error) {
	count, low, width := r.Uvarint(), r.Uvarint(), r.Uvarint()
	b.Count = count + 1
	var c1, c2 uint64
	b.Min, c1 = bits.Add64(from, low, 0)
	b.Max, c2 = bits.Add64(b.Min, width, 0)
	if b.Count == 0 || c1 != 0 || c2 != 0 || b.Count == 1 && width > 0 {
		return b, fmt.Errorf("no bin of %d+1 samples in %d from %d+%d", count, width, from, low)
	}
	ranks := func() (int32, error) {
		*rank += r.Varint()
		if *rank < NoRank || *rank > math.MaxInt32 {
			return 0, fmt.Errorf("no rank %d", *rank)
		}
		return int32(*rank), nil
	}
	if b.MinRank, err = ranks(); err != nil {
		return b, err
	}
	b.MaxRank = b.MinRank
	if b.Count > 1 {
		if b.MaxRank, err = ranks(); err != nil {
			return b, err
		}
	}
	switch {
	case width == 0:
		b.Mean = float64(b.Min)
	case b.Count == 2:
		b.Mean = float64(b.Min) + float64(width)/2
		b.m2 = b.share()
	default:
		mean := float64(math.Float32frombits(r.Uint32()))
		lo, hi := r.Byte(), r.Byte()
		dev := float64(math.Float32frombits(uint32(hi)<<24 | uint32(lo)<<16))
		if !(mean >= 0) || math.IsInf(mean, 0) || !(dev >= 0) || math.IsInf(dev, 0) {
			return b, fmt.Errorf("no mean %g with deviation %g", mean, dev)
		}
		b.Mean = b.clamp(mean)
		b.m2 = float64(float64(dev*dev) * float64(b.Count))
	}
	return b, nil
}
