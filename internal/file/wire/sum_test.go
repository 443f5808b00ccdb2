package wire

import (
	"hash/crc32"
	"testing"

	"pgregory.net/rapid"
)

func TestJoinSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(t, "data")
		cut := rapid.IntRange(0, len(data)).Draw(t, "cut")
		sum := func(b []byte) uint32 { return crc32.Checksum(b, Castagnoli) }
		if got, want := JoinChecksums(sum(data[:cut]), sum(data[cut:]), int64(len(data)-cut)), sum(data); got != want {
			t.Fatalf("%08x, want %08x", got, want)
		}
	})
}
