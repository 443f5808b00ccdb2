package container

import (
	"fmt"
	"hash/crc32"
	"io"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Add writes a file with one section more, which has a checksum of its own. Only the header and the directory are new besides. The
// file must lack the section.
func Add(w io.Writer, src io.ReaderAt, size int64, id byte, raw []byte) error {
	list, err := Read(src, size)
	if err != nil {
		return err
	}
	stored, codec := Pack(int(id), raw)
	at := len(list)
	for at > 0 && place(list[at-1].ID) >= place(id) {
		at--
	}
	if at == 0 || at < len(list) && list[at].ID == id {
		return fmt.Errorf("section %q can't be added", Names[id])
	}
	if err := split(list, at, src); err != nil {
		return err
	}
	var dir []byte
	entry := func(s *Section, last bool) {
		head := s.ID<<3 | s.Codec
		if last {
			head |= isSummed
		}
		dir = wire.AppendUvarint(append(dir, head), uint64(s.Stored))
		if s.Codec != CodecRaw {
			dir = wire.AppendUvarint(dir, s.Raw)
		}
		if last {
			dir = wire.AppendUint32(dir, s.sum)
		}
	}
	added := Section{ID: id, Codec: codec, Stored: int64(len(stored)), Raw: uint64(len(raw)), sum: crc32.Checksum(stored, castagnoli)}
	for i := range list {
		if i == at {
			entry(&added, true)
		}
		entry(&list[i], list[i].Offset+list[i].Stored == list[i].to)
	}
	if at == len(list) {
		entry(&added, true)
	}
	head := wire.AppendUvarint(append([]byte(Magic), Version, 0), uint64(len(dir)))
	head = append(head, dir...)
	head = wire.AppendUint32(head, crc32.Checksum(head[len(Magic):], castagnoli))
	behind := list[at-1].Offset + list[at-1].Stored
	_, err = w.Write(head)
	for _, part := range []io.Reader{io.NewSectionReader(src, list[0].Offset, behind-list[0].Offset), nil, io.NewSectionReader(src, behind, size-behind)} {
		switch {
		case err != nil:
		case part == nil:
			_, err = w.Write(stored)
		default:
			_, err = io.Copy(w, part)
		}
	}
	return err
}

// split gives those that a checksum covers on both sides of a section to come one for each side.
func split(list []Section, at int, src io.ReaderAt) error {
	between := list[at-1].Offset + list[at-1].Stored
	if list[at-1].to == between {
		return nil
	}
	whole := list[at-1]
	if err := whole.SumRaw(src); err != nil {
		return fmt.Errorf("section %q: %w", whole.Name(), err)
	}
	both := make([]byte, whole.to-whole.from)
	if n, err := src.ReadAt(both, whole.from); n < len(both) {
		return err
	}
	for i := range list {
		s := &list[i]
		switch {
		case s.from != whole.from:
		case i < at:
			s.to, s.sum = between, crc32.Checksum(both[:between-whole.from], castagnoli)
		default:
			s.from, s.sum = between, crc32.Checksum(both[between-whole.from:], castagnoli)
		}
	}
	return nil
}
