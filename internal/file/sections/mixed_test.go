package sections

import (
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Whatever runs of terminals there are come back, and nothing beyond the class's terminals is believed.
func FuzzMixed(f *testing.F) {
	f.Add([]byte{}, uint16(0))
	f.Add([]byte{0, 0}, uint16(1))
	f.Add([]byte{3, 4, 1, 0}, uint16(10))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x7f, 1}, uint16(9))
	f.Fuzz(func(t *testing.T, b []byte, limit uint16) {
		r := wire.NewReader(b, "mixed")
		list := DecodeUnknownLeafTimes(r, int(limit))
		if r.Finish() != nil {
			return
		}
		if !slices.IsSorted(list) || len(list) > 0 && list[len(list)-1] >= int(limit) {
			t.Fatalf("%v of %d terminals", list, limit)
		}
		if len(list) == 0 {
			return
		}
		again := wire.NewReader(appendMixed([]Class{{TerminalsWithoutLeafTimes: list}}), "mixed")
		blobs := DecodeBlobs(again, 1)
		if got := DecodeUnknownLeafTimes(wire.NewReader(blobs[0], "mixed"), int(limit)); !slices.Equal(got, list) {
			t.Fatalf("%v came back as %v", list, got)
		}
	})
}
