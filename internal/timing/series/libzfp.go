// appendDoubles and decodeDoubles implement libzfp's fixed-accuracy mode for one-dimensional arrays of doubles, bit
// for bit. Each block of four has a common exponent, a lifted transform, and bit planes with group tests
// (Lindstrom, "Fixed-Rate Compressed Floating-Point Arrays", TVCG 2014). The stream has no header, as that of
// zfp_compress without zfp_write_header. It ends at a byte boundary, as with Debian's libzfp; a libzfp built with
// longer words adds zeros.
//
// No other modes, types or dimensions are supported.

package series

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

const (
	blockSize    = 4
	exponentBits = 11
	exponentBias = 1023
	negabinary   = 0xaaaaaaaaaaaaaaaa
	precision    = 64
)

// zfpAccuracy returns the exponent of the next lower power of two, which is what the format uses as tolerance.
func zfpAccuracy(tolerance float64) int {
	_, e := math.Frexp(tolerance)
	return e - 1
}

// appendDoubles appends the coded values, which must be finite. decodeDoubles returns each value with an error of at
// most 2^minExp.
func appendDoubles(dst []byte, values []float64, minExp int) []byte {
	w := &writer{wire.BitWriter{Output: dst}}
	var block [blockSize]float64
	for len(values) > 0 {
		n := copy(block[:], values)
		values = values[n:]
		switch n {
		case 1:
			block[1] = block[0]
			fallthrough
		case 2:
			block[2] = block[1]
			fallthrough
		case 3:
			block[3] = block[0]
		}
		w.block(&block, minExp)
	}
	return w.Finish()
}

// planes returns the number of bit planes of a block that are stored, if maxExp is the largest exponent of its
// values.
func planes(maxExp, minExp int) uint {
	return uint(min(max(maxExp-minExp+4, 0), precision))
}

type (
	writer struct{ wire.BitWriter }
	reader struct{ wire.BitReader }
)

func (w *writer) block(values *[blockSize]float64, minExp int) {
	most := 0.0
	for _, v := range values {
		most = max(most, math.Abs(v))
	}
	exp := -exponentBias
	if most > 0 {
		_, exp = math.Frexp(most)
		exp = max(exp, 1-exponentBias)
	}
	prec := planes(exp, minExp)
	if prec == 0 || exp+exponentBias == 0 {
		w.Put(0, 1)
		return
	}
	w.Put(uint64(exp+exponentBias)<<1|1, 1+exponentBits)
	var b [blockSize]int64
	scale := math.Ldexp(1, precision-2-exp)
	for i, v := range values {
		b[i] = int64(scale * v)
	}
	forward(&b)
	var u [blockSize]uint64
	for i, v := range b {
		u[i] = (uint64(v) + negabinary) ^ negabinary
	}
	n := uint(0)
	for k := precision - 1; k >= int(precision-prec); k-- {
		x := u[0]>>k&1 | u[1]>>k&1<<1 | u[2]>>k&1<<2 | u[3]>>k&1<<3
		w.Put(x&(1<<n-1), n)
		x >>= n
		for n < blockSize {
			if x == 0 {
				w.Put(0, 1)
				break
			}
			w.Put(1, 1)
			for ; n < blockSize-1; n++ {
				bit := x & 1
				w.Put(bit, 1)
				if bit != 0 {
					break
				}
				x >>= 1
			}
			x >>= 1
			n++
		}
	}
}

// decodeDoubles decodes len(dst) values from src, and returns how many bytes it read.
func decodeDoubles(dst []float64, src []byte, minExp int) (int, error) {
	r := &reader{wire.BitReader{Input: src}}
	var block [blockSize]float64
	for len(dst) > 0 {
		r.block(&block, minExp)
		dst = dst[copy(dst, block[:]):]
		if r.ReadPastEnd() {
			return 0, errShort
		}
	}
	return r.BytesRead(), nil
}

func (r *reader) block(values *[blockSize]float64, minExp int) {
	*values = [blockSize]float64{}
	if r.Get(1) == 0 {
		return
	}
	exp := int(r.Get(exponentBits)) - exponentBias
	prec := planes(exp, minExp)
	var u [blockSize]uint64
	n := uint(0)
	for k := precision - 1; k >= int(precision-prec); k-- {
		x := r.Get(n)
		for n < blockSize && r.Get(1) != 0 {
			for n < blockSize-1 && r.Get(1) == 0 {
				n++
			}
			x |= 1 << n
			n++
		}
		for i := range u {
			u[i] |= x >> i & 1 << k
		}
	}
	var b [blockSize]int64
	for i, v := range u {
		b[i] = int64((v ^ negabinary) - negabinary)
	}
	inverse(&b)
	for i, v := range b {
		values[i] = math.Ldexp(float64(v), exp-(precision-2))
	}
}

// forward is zfp's transform of a block; inverse reverses it, except for the lowest bits.
func forward(p *[blockSize]int64) {
	x, y, z, w := p[0], p[1], p[2], p[3]
	x += w
	x >>= 1
	w -= x
	z += y
	z >>= 1
	y -= z
	x += z
	x >>= 1
	z -= x
	w += y
	w >>= 1
	y -= w
	w += y >> 1
	y -= w >> 1
	p[0], p[1], p[2], p[3] = x, y, z, w
}

func inverse(p *[blockSize]int64) {
	x, y, z, w := p[0], p[1], p[2], p[3]
	y += w >> 1
	w -= y >> 1
	y += w
	w <<= 1
	w -= y
	z += x
	x <<= 1
	x -= z
	y += z
	z <<= 1
	z -= y
	w += x
	x <<= 1
	x -= w
	p[0], p[1], p[2], p[3] = x, y, z, w
}
