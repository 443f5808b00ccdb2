package container

import (
	"fmt"
	"hash/crc32"
	"io"

	"github.com/spoor-hpc/spoor/internal/wire"
)

// Add writes a file with one section more, which is in front of the series if there is one and behind all others, with a checksum of its
// own. Only the header and the directory are new besides. The file must be of this version, and lack the section and
// those that stand behind it.
func Add(w io.Writer, src io.ReaderAt, size int64, id byte, raw []byte) error {
	list, version, err := Read(src, size)
	if err != nil {
		return err
	}
	if version != Version {
		return fmt.Errorf("format version %d: sections can be added to version %d", version, Version)
	}
	stored, codec := Pack(int(id), raw)
	at := len(list)
	for at > 0 && place(list[at-1].ID) >= place(id) {
		at--
	}
	if at == 0 || at < len(list)-1 || at < len(list) && list[at].ID != Series {
		return fmt.Errorf("section %q doesn't come last", Names[id])
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
