package series

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// ZFPCodec stores the logarithms of times in the format of libzfp's fixed-accuracy mode. zfp has absolute bounds; an
// absolute bound of the logarithm is a relative one of the time. If the bound is absolute, the times themselves are
// stored.
//
// zfp rounds its bound down to a power of two, and its errors are even smaller. So ZFPCodec also tries twice that
// bound. With BySignature, times of calls with the same key are adjacent.
//
// Times whose bound is below the precision of a double are stored as integers, and so are the few whose error exceeds
// the bound.
type ZFPCodec struct{ BySignature bool }

// Name implements Codec.
func (z ZFPCodec) Name() string {
	if z.BySignature {
		return "zfp-sig"
	}
	return "zfp"
}

// leastZFP is the smallest relative bound for which logarithms are precise enough.
const leastZFP = 1e-10

// byBound returns the distinct error bounds and, by bound, the positions of its times in the order of coding.
func (p *planned) byBound(c *CallInfo) (bounds []Bound, at map[Bound][]int32) {
	_, first := dense(c.Keys)
	at = map[Bound][]int32{}
	for i, k := range p.keys {
		b := c.bound(first[k])
		if at[b] == nil {
			bounds = append(bounds, b)
		}
		at[b] = append(at[b], int32(i))
	}
	slices.SortFunc(bounds, Bound.compare)
	return bounds, at
}

// accuracy returns the exponent of zfp's tolerance for the bound: of the binary logarithm if the bound is relative,
// of the time itself if it is absolute.
func accuracy(b Bound) int {
	if b.Absolute > 0 {
		return zfpAccuracy(float64(b.Absolute))
	}
	return zfpAccuracy(math.Log2(1+b.Relative) * (1 - 1e-6))
}

// exact reports whether a bound is too small for zfp.
func (b Bound) exact() bool { return b.Absolute == 0 && b.Relative < leastZFP }

// Append implements Codec.
//
//	for gaps and for durations, per bound: blob: uint64s if the bound is too small for zfp, else
//	                                             exponent varint, blob of zfp's stream, corrections
//	corrections = count uvarint, (distance from the correction before uvarint, time uvarint)…
func (z ZFPCodec) Append(dst []byte, b Batch, c *CallInfo) ([]byte, error) {
	if _, err := b.lists(c); err != nil {
		return nil, err
	}
	p := plan(c, z.BySignature)
	bounds, positions := p.byBound(c)
	for _, list := range [][]uint64{b.Gaps, b.Durations} {
		if list == nil {
			continue
		}
		list = p.permute(list)
		for _, bound := range bounds {
			var part []byte
			values := make([]uint64, 0, len(positions[bound]))
			for _, i := range positions[bound] {
				values = append(values, list[i])
			}
			if bound.exact() {
				for _, v := range values {
					part = binary.LittleEndian.AppendUint64(part, v)
				}
			} else {
				part = appendZFP(nil, values, bound)
			}
			dst = appendBlob(dst, part)
		}
	}
	return dst, nil
}

func appendZFP(dst []byte, values []uint64, bound Bound) []byte {
	exp := accuracy(bound)
	best := tryZFP(values, bound, exp)
	if other := tryZFP(values, bound, exp+1); len(other) < len(best) {
		best = other
	}
	return append(dst, best...)
}

func tryZFP(values []uint64, bound Bound, exp int) []byte {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = bound.toZFP(v)
	}
	stream := appendDoubles(nil, logs, exp)
	dst := appendBlob(binary.AppendVarint(nil, int64(exp)), stream)
	if _, err := decodeDoubles(logs, stream, exp); err != nil {
		panic("codec: zfp's own stream: " + err.Error())
	}
	var fixes []byte
	count, last := 0, 0
	for i, v := range values {
		got := bound.fromZFP(logs[i])
		// A relative bound is slightly reduced, so that rounding errors can't exceed it.
		if d := max(got, v) - min(got, v); d > (Bound{bound.Relative * (1 - 1.0/(1<<30)), bound.Absolute}).MaxError(v) {
			fixes = binary.AppendUvarint(fixes, uint64(i-last))
			fixes = binary.AppendUvarint(fixes, v)
			last = i
			count++
		}
	}
	return append(binary.AppendUvarint(dst, uint64(count)), fixes...)
}

// zero replaces the logarithm of 0. All true logarithms are 0 or more, as the least positive time is 1.
const zero = -2

// toZFP converts a time to a value for zfp, its logarithm if the bound is relative. fromZFP reverses it, with
// rounding.
func (b Bound) toZFP(v uint64) float64 {
	switch {
	case b.Absolute > 0:
		return float64(v)
	case v == 0:
		return zero
	}
	return math.Log2(float64(v))
}

func (b Bound) fromZFP(x float64) uint64 {
	switch {
	case b.Absolute == 0:
		return fromLog(x)
	case !(x > 0):
		return 0
	case x >= 1<<64:
		return math.MaxUint64
	}
	return uint64(math.Floor(x + 0.5))
}

// Decode implements Codec.
func (z ZFPCodec) Decode(src []byte, want TimeLists, c *CallInfo) (b Batch, err error) {
	if err := c.check(); err != nil {
		return Batch{}, err
	}
	p, r := plan(c, z.BySignature), wire.NewReader(src, "times")
	bounds, positions := p.byBound(c)
	for i, to := range []*[]uint64{&b.Gaps, &b.Durations} {
		if want>>i&1 == 0 {
			continue
		}
		list := make([]uint64, len(p.keys))
		for _, bound := range bounds {
			part := wire.NewReader(r.Blob(), "times")
			at := positions[bound]
			values := make([]uint64, len(at))
			if bound.exact() {
				for i := range values {
					values[i] = part.Uint64()
				}
				r.RecordError(part.Finish())
			} else {
				r.RecordError(decodeZFP(values, part, bound))
			}
			if err := r.Err(); err != nil {
				return Batch{}, err
			}
			for i, k := range at {
				list[k] = values[i]
			}
		}
		*to = p.restore(list)
	}
	return b, nil
}

// decodeZFP reads the times of one bound: len(values), at least one.
func decodeZFP(values []uint64, r *wire.Reader, bound Bound) error {
	exp, stream := r.Varint(), r.Blob()
	if exp < -1100 || exp > 1100 {
		r.Fail("a bound of 2^%d", exp)
	}
	if err := r.Err(); err != nil {
		return err
	}
	logs := make([]float64, len(values))
	if _, err := decodeDoubles(logs, stream, int(exp)); err != nil {
		return err
	}
	for i, l := range logs {
		values[i] = bound.fromZFP(l)
	}
	at := 0
	for range r.Count(1) {
		at += r.Int(len(values) - 1 - at)
		values[at] = r.Uvarint()
	}
	return r.Err()
}

// fromLog returns 2^l, rounded to an integer. The result is the same on every machine: it uses neither library
// functions nor fused operations.
func fromLog(l float64) uint64 {
	if !(l > -0.99) {
		return 0
	}
	if l >= 64 {
		return math.MaxUint64
	}
	whole := math.Floor(l)
	x := float64((l - whole) * math.Ln2)
	sum := 1.0
	for n := 18; n > 0; n-- {
		sum = 1 + float64(float64(x/float64(n))*sum)
	}
	return saturate(0, math.Floor(math.Ldexp(sum, int(whole))+0.5))
}
