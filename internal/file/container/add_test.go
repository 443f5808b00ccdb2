package container

import (
	"bytes"
	"testing"
)

// A section can be added wherever it stands, beside sections that share a checksum or not, and not to what is damaged.
func TestAdd(t *testing.T) {
	unpacked := func(_ int, raw []byte) ([]byte, byte) { return raw, CodecRaw }
	for missing := byte(SectionMeta); missing < SectionCount; missing++ {
		if missing == SectionSeries || !optional[missing] {
			continue
		}
		for _, size := range []int{50, maxShared} {
			var raw [SectionCount][]byte
			for id := range raw {
				if id != 0 && id != SectionSeries {
					raw[id] = bytes.Repeat([]byte{byte(id)}, size+id)
				}
			}
			added := raw[missing]
			raw[missing] = nil
			file := Assemble(raw, unpacked, nil)
			var out bytes.Buffer
			if err := WriteCopyWithSection(&out, bytes.NewReader(file), int64(len(file)), missing, added); err != nil {
				t.Errorf("%s: %v", SectionNames[missing], err)
				continue
			}
			raw[missing] = added
			list, err := ReadDirectory(bytes.NewReader(out.Bytes()), int64(out.Len()))
			if err != nil || len(list) != SectionCount-2 {
				t.Fatalf("%s: %d sections, error %v", SectionNames[missing], len(list), err)
			}
			for i := range list {
				s := &list[i]
				if got, err := s.Load(bytes.NewReader(out.Bytes())); err != nil || !bytes.Equal(got, raw[s.ID]) {
					t.Errorf("with %s, section %s: %d bytes, error %v", SectionNames[missing], s.Name(), len(got), err)
				}
			}
			if err := WriteCopyWithSection(&bytes.Buffer{}, bytes.NewReader(out.Bytes()), int64(out.Len()), missing, added); err == nil {
				t.Errorf("%s was added twice", SectionNames[missing])
			}
		}
	}
	// Code stands among small sections here: the checksum that covers both sides is made anew, so it has to be right.
	var raw [SectionCount][]byte
	for id := range raw {
		if id != 0 && id != SectionSeries && id != SectionCode {
			raw[id] = []byte{byte(id)}
		}
	}
	file := Assemble(raw, unpacked, nil)
	file[len(file)-1] ^= 1
	if err := WriteCopyWithSection(&bytes.Buffer{}, bytes.NewReader(file), int64(len(file)), SectionCode, []byte{1}); err == nil {
		t.Error("damaged bytes got a checksum that fits")
	}
}
