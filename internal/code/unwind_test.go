package code

import (
	"encoding/binary"
	"slices"
	"testing"
)

const oneFunction = "\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\x00\x00" +
	"\x14\x00\x00\x00\x1c\x00\x00\x00\x10\x00\x00\x00\x26\x00\x00\x00\x00\x44\x07\x10\x00\x00\x00\x00\x00\x00\x00\x00"

// A cold part with landing pads: its frame is larger from the start.
const coldPart = "\x1c\x00\x00\x00\x00\x00\x00\x00\x01zPLR\x00\x01\x78\x10\x07\x9b\x00\x10\x00\x00\x1b\x1b\x0c\x07\x08\x90\x01\x00\x00" +
	"\x18\x00\x00\x00\x24\x00\x00\x00\x10\x00\x00\x00\x26\x00\x00\x00\x04\x00\x01\x00\x00\x0e\x30\x44\x83\x02\x00\x00"

const landingPads = "\xff\xff\x01\x0c" + // no base of its own, no types, ULEB
	"\x05\x03\x20\x00" + "\x08\x02\x00\x00" + "\x0a\x05\x24\x01"

func fresh(data string, wide bool) *table {
	return &table{data: []byte(data), base: 0x2000, order: binary.LittleEndian, wide: wide, commons: make(map[uint64]common)}
}

func TestUnwindEntries(t *testing.T) {
	at := uint64(0x2000 + 32)
	list := fresh(oneFunction, true).functions()
	if want := []UnwindEntry{{Lo: at + 0x10, Hi: at + 0x36}}; !slices.Equal(list, want) {
		t.Errorf("%+v, want %+v", list, want)
	}
	at += 8
	list = fresh(coldPart, true).functions()
	if want := []UnwindEntry{{Lo: at + 0x10, Hi: at + 0x36, LandingTableAddr: at + 9 + 0x100, HasFrameAtStart: true}}; !slices.Equal(list, want) {
		t.Errorf("%+v, want %+v", list, want)
	}
}

func TestCallSites(t *testing.T) {
	f := UnwindEntry{Lo: 0x1000, Hi: 0x1040, LandingTableAddr: 0x3000}
	want := []LandingSite{{0x1005, 0x1008, 0x1020}, {0x100a, 0x100f, 0x1024}}
	if got := f.LandingSites([]byte(landingPads), binary.LittleEndian); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	// Landing pads in another part: their base is relative to where it stands.
	elsewhere := "\x1b\xff\x0f\x00\x00\xff\x01\x04\x05\x03\x20\x00"
	if got, want := f.LandingSites([]byte(elsewhere), binary.LittleEndian), []LandingSite{{0x1005, 0x1008, 0x4020}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// FuzzFunctions: a table with anything in it must not hang or fail.
func FuzzFunctions(f *testing.F) {
	f.Add([]byte(oneFunction))
	f.Add([]byte(coldPart))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, wide := range []bool{false, true} {
			for _, r := range fresh(string(data), wide).functions() {
				if r.Hi <= r.Lo {
					t.Fatalf("%+v", r)
				}
			}
		}
	})
}

func FuzzCallSites(f *testing.F) {
	f.Add([]byte(landingPads))
	f.Add([]byte("\x1b\xff\x0f\x00\x00\xff\x01\x04\x05\x03\x20\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fn := UnwindEntry{Lo: 0x1000, Hi: 0x1040, LandingTableAddr: 0x3000}
		if list := fn.LandingSites(data, binary.LittleEndian); len(list) > len(data) {
			t.Fatalf("%d entries in %d bytes", len(list), len(data))
		}
	})
}
