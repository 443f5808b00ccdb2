package series

import "encoding/binary"

func appendBlob(dst, data []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(data))), data...)
}

// blob reads what appendBlob wrote, and returns what is behind it.
func blob(src []byte) (data, rest []byte, err error) {
	n, rest, err := uvarint(src)
	if err != nil || n > uint64(len(rest)) {
		return nil, nil, errShort
	}
	return rest[:n], rest[n:], nil
}

func uvarint(src []byte) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(src)
	if n <= 0 {
		return 0, nil, errShort
	}
	return v, src[n:], nil
}

// zigzag makes small numbers of numbers near 0, unzigzag the reverse.
func zigzag(v int32) uint32   { return uint32(v)<<1 ^ uint32(v>>31) }
func unzigzag(v uint32) int32 { return int32(v>>1) ^ -int32(v&1) }

func appendUint(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) }
