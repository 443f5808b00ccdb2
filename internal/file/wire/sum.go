package wire

import "hash/crc32"

// Castagnoli is the polynomial of all checksums in spoor's files.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// JoinChecksums returns the checksum of two pieces of data one after the other from those
// of each; the second has n bytes.
//
// After a byte of zeros a sum is a linear function of the previous one: a matrix over bits. Squared again and again, it
// leads over 2, 4, 8, … bytes.
func JoinChecksums(a, b uint32, n int64) uint32 {
	var zeros matrix // effect of a zero byte on a sum
	for bit := range zeros {
		sum := uint32(1) << bit
		zeros[bit] = Castagnoli[byte(sum)] ^ sum>>8
	}
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			a = zeros.times(a)
		}
		zeros = zeros.squared()
	}
	return a ^ b
}

// A matrix is a linear function of a sum: column k is the image of bit k.
type matrix [32]uint32

func (m *matrix) times(v uint32) (sum uint32) {
	for bit := range m {
		if v>>bit&1 != 0 {
			sum ^= m[bit]
		}
	}
	return sum
}

func (m *matrix) squared() (s matrix) {
	for bit := range m {
		s[bit] = m.times(m[bit])
	}
	return s
}
