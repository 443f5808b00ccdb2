package container

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Sections on calls share checksums up to a few kilobytes; each byte is covered by one, and
// damage is told of the sections that share it and of no other.
func TestSharedChecksums(t *testing.T) {
	var raw [SectionCount][]byte
	for id := SectionMeta; id < SectionCount; id++ {
		if optional[id] && id != SectionColumns && id != SectionTimes {
			continue
		}
		raw[id] = bytes.Repeat([]byte{byte(id)}, 100)
	}
	raw[SectionClasses] = bytes.Repeat([]byte{7}, 3*maxShared)
	raw[SectionTimes] = bytes.Repeat([]byte{9}, maxShared-100)
	unpacked := func(_ int, raw []byte) ([]byte, byte) { return raw, CodecRaw }
	file := Assemble(raw, unpacked, nil)
	list, err := ReadDirectory(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	shared := make(map[int64][]string)
	for i := range list {
		s := &list[i]
		if s.from > s.Offset || s.to < s.Offset+s.StoredSize {
			t.Errorf("section %s is not covered", s.Name())
		}
		if s.to-s.from > maxShared && s.to-s.from > s.StoredSize {
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

// What is known of sections is part of the format: traces out there need it.
func TestKnownIsFrozen(t *testing.T) {
	for _, x := range []struct {
		name string
		text []byte
		size int
		sum  uint32
	}{
		{"meta.known", knownMeta, 504, 0x68d45e82},
		{"schema.known", knownSchema, 28, 0x2437e2b1},
		{"paths.known", knownPaths, 195, 0xa7fbdb84},
		{"process.known", knownProcess, 179, 0x56ef884b},
		{"code.known", knownCode, 3357, 0x93340a97},
	} {
		if got := crc32.Checksum(x.text, castagnoli); got != x.sum || len(x.text) != x.size {
			t.Errorf("%s has %d bytes with checksum %08x: it must never change", x.name, len(x.text), got)
		}
	}
}

// A section that is as its kind mostly is takes less than mixing alone makes of it, and comes back.
func TestKnownSections(t *testing.T) {
	for id, raw := range map[int]string{
		SectionMeta:    "\x03\acommand\x05./lmp\x03mpi\x05mpich\vmpi-library\x14MPICH Version:\t4.1.2",
		SectionSites:   "\x01\x15/home/user/projects/x)",
		SectionStrings: "\x01\x12/usr/local/bin/one",
		SectionCode:    "\x0c\x0a\x00" + strings.Repeat("\x00", 16) + "\x03" + strings.Repeat("\x00", 5) + "\x45\x00\x01\x01\x01" + strings.Repeat("\x00", 10) + "\x28\x02\x04\x02\x04\x06\x04\x02\x02\x08\x02main\x00exchange\x00main.c\x00",
		SectionProcess: "\x01\x05node7\x00\x01\bfinished\x01\x00\x01\x00",
	} {
		alone, ok := wire.CompressContextMixing([]byte(raw))
		stored, codec := PackSection(id, []byte(raw))
		if codec != CodecPrimedMixing || ok && len(stored) > len(alone)*2/3 {
			t.Errorf("%s: %d bytes with codec %d, %d alone", SectionNames[id], len(stored), codec, len(alone))
		}
		s := Section{ID: byte(id), Codec: codec, StoredSize: int64(len(stored)), RawSize: uint64(len(raw)), to: int64(len(stored)), sum: crc32.Checksum(stored, castagnoli)}
		if got, err := s.Load(bytes.NewReader(stored)); err != nil || string(got) != raw {
			t.Errorf("%s: %q came back as %q; %v", SectionNames[id], raw, got, err)
		}
	}
}

// The page that describes the file says which versions there are.
func TestPageOfVersion(t *testing.T) {
	page, err := os.ReadFile("../../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("# The trace file, format version %d\n", FormatVersion),
		fmt.Sprintf("`version` is %d.", FormatVersion),
		fmt.Sprintf("\n| %d | ", FormatVersion),
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/format.md doesn't say %q", want)
		}
	}
}
