package trace

import (
	"bytes"
	"testing"
)

// Sections on calls share checksums up to a few kilobytes; each byte is covered by one, and
// damage is told of the sections that share it and of no other.
func TestSharedChecksums(t *testing.T) {
	var raw [secEnd][]byte
	for id := secMeta; id < secEnd; id++ {
		if optional[id] && id != secColumns && id != secTimes {
			continue
		}
		raw[id] = bytes.Repeat([]byte{byte(id)}, 100)
	}
	raw[secClasses] = bytes.Repeat([]byte{7}, 3*maxShared)
	raw[secTimes] = bytes.Repeat([]byte{9}, maxShared-100)
	file, err := assemble(raw, unpacked, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := readDirectory(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	shared := make(map[int64][]string)
	for i := range list {
		s := &list[i]
		if s.from > s.offset || s.to < s.offset+s.stored {
			t.Errorf("section %s is not covered", s.name())
		}
		if s.to-s.from > maxShared && s.to-s.from > s.stored {
			t.Errorf("section %s shares a checksum of %d bytes", s.name(), s.to-s.from)
		}
		got, err := s.load(bytes.NewReader(file))
		if err != nil || !bytes.Equal(got, raw[s.id]) {
			t.Errorf("section %s: %d bytes, error %v", s.name(), len(got), err)
		}
		shared[s.from] = append(shared[s.from], s.name())
	}
	if len(shared) != 4 {
		t.Errorf("%d checksums: %v", len(shared), shared)
	}
	for i := range list {
		bad := bytes.Clone(file)
		bad[list[i].offset] ^= 1
		for k := range list {
			_, err := list[k].load(bytes.NewReader(bad))
			if told := err != nil; told != (list[k].from == list[i].from) {
				t.Errorf("damage to %s: reading %s: %v", list[i].name(), list[k].name(), err)
			}
		}
	}
}
