package symbol

import (
	"encoding/binary"
	"math/bits"
)

// Content hashes identify strings and code addresses equally in every process. They have 63 bits, so that they fit
// into a signature's values, and are never 0, which means "none".

const (
	hashSeed = 0x243f6a8885a308d3
	hashMul  = 0x9fb21c651e98df25
)

func hashWord(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^v, hashMul)
	return hi ^ lo ^ bits.RotateLeft64(h, 23)
}

func hashEnd(h uint64) uint64 {
	h ^= h >> 29
	h *= 0xff51afd7ed558ccd
	h ^= h >> 32
	if h &= 1<<63 - 1; h != 0 {
		return h
	}
	return 1
}

// HashString is the content hash of bytes.
func HashString(s []byte) uint64 {
	h := hashWord(hashSeed, uint64(len(s)))
	for len(s) >= 8 {
		h = hashWord(h, binary.LittleEndian.Uint64(s))
		s = s[8:]
	}
	if len(s) > 0 {
		var last [8]byte
		copy(last[:], s)
		h = hashWord(h, binary.LittleEndian.Uint64(last[:]))
	}
	return hashEnd(h)
}
