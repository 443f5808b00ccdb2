package container

import (
	"bytes"
	"hash/crc32"
	"testing"
)

// Sections on calls share checksums up to a few kilobytes; each byte is covered by one, and
// damage is told of the sections that share it and of no other.
func TestSharedChecksums(t *testing.T) {
	var raw [End][]byte
	for id := Meta; id < End; id++ {
		if optional[id] && id != Columns && id != Times {
			continue
		}
		raw[id] = bytes.Repeat([]byte{byte(id)}, 100)
	}
	raw[Classes] = bytes.Repeat([]byte{7}, 3*maxShared)
	raw[Times] = bytes.Repeat([]byte{9}, maxShared-100)
	unpacked := func(_ int, raw []byte) ([]byte, byte) { return raw, CodecRaw }
	file := Assemble(raw, unpacked, nil)
	list, _, err := Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	shared := make(map[int64][]string)
	for i := range list {
		s := &list[i]
		if s.from > s.Offset || s.to < s.Offset+s.Stored {
			t.Errorf("section %s is not covered", s.Name())
		}
		if s.to-s.from > maxShared && s.to-s.from > s.Stored {
			t.Errorf("section %s shares a checksum of %d bytes", s.Name(), s.to-s.from)
		}
		got, err := s.Load(bytes.NewReader(file))
		if err != nil || !bytes.Equal(got, raw[s.ID]) {
			t.Errorf("section %s: %d bytes, error %v", s.Name(), len(got), err)
		}
		shared[s.from] = append(shared[s.from], s.Name())
	}
	if len(shared) != 4 {
		t.Errorf("%d checksums: %v", len(shared), shared)
	}
	for i := range list {
		bad := bytes.Clone(file)
		bad[list[i].Offset] ^= 1
		for k := range list {
			_, err := list[k].Load(bytes.NewReader(bad))
			if told := err != nil; told != (list[k].from == list[i].from) {
				t.Errorf("damage to %s: reading %s: %v", list[i].Name(), list[k].Name(), err)
			}
		}
	}
}

// The schema dictionary is part of the format: traces out there need it.
func TestDictionaryIsFrozen(t *testing.T) {
	if got := crc32.Checksum(schemaDict, castagnoli); got != 0xe4eccb07 || len(schemaDict) != 7802 {
		t.Errorf("schema.dict has %d bytes with checksum %08x: it must never change", len(schemaDict), got)
	}
}
