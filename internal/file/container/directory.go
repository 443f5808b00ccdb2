package container

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// The header and the directory that follows it:
//
//	header    magic [8]byte, version uint16, size of the directory uvarint
//	directory per section: id<<3 | summed<<2 | codec uint8, stored size uvarint,
//	          raw size uvarint unless the codec is 0, checksum uint32 if summed
//	checksum  uint32
//
// The last checksum covers everything between the magic and itself. A section's checksum covers its stored bytes, and
// those of the sections before it that have no checksum. All are CRC-32C.
const (
	MinFileSize = 20 // smallest size of a file
	sumSize     = 4
)

// An AppendedSection is a section whose bytes are appended to the assembled file.
type AppendedSection struct {
	Size     uint64
	Checksum uint32 // CRC-32C
}

// Assemble puts the uncompressed sections, indexed by id, into a file. series (nil: none) describes the section
// that is too large for memory: its bytes are not included.
func Assemble(raw [SectionCount][]byte, pack func(id int, raw []byte) ([]byte, byte), series *AppendedSection) []byte {
	var dir, body []byte
	summed := 0 // end of the part of body that has checksums
	entry := func(id int, codec byte, stored, raw uint64, last bool) {
		head := byte(id)<<3 | codec
		if last {
			head |= isSummed
		}
		dir = wire.AppendUvarint(append(dir, head), stored)
		if codec != CodecRaw {
			dir = wire.AppendUvarint(dir, raw)
		}
	}
	var ids []int
	var stored [SectionCount][]byte
	var codecs [SectionCount]byte
	for id := SectionMeta; id < SectionCount; id++ {
		if raw[id] == nil && optional[id] {
			continue
		}
		stored[id], codecs[id] = pack(id, raw[id])
		ids = append(ids, id)
	}
	for i, id := range ids {
		body = append(body, stored[id]...)
		last := i == len(ids)-1 || id < SectionTimes && ids[i+1] >= SectionTimes || len(body)-summed+len(stored[ids[i+1]]) > maxShared
		entry(id, codecs[id], uint64(len(stored[id])), uint64(len(raw[id])), last)
		if last {
			dir = wire.AppendUint32(dir, crc32.Checksum(body[summed:], castagnoli))
			summed = len(body)
		}
	}
	if series != nil {
		entry(SectionSeries, CodecRaw, series.Size, series.Size, true)
		dir = wire.AppendUint32(dir, series.Checksum)
	}
	file := wire.AppendUvarint(append([]byte(FileMagic), FormatVersion, 0), uint64(len(dir)))
	file = append(file, dir...)
	file = wire.AppendUint32(file, crc32.Checksum(file[len(FileMagic):], castagnoli))
	return append(file, body...)
}

// place returns the position of a section in the file's order: by id, except that the series comes last.
func place(id byte) int {
	if id == SectionSeries {
		return SectionCount
	}
	return int(id)
}

// optional says which sections a file may lack.
var optional = [SectionCount]bool{SectionStrings: true, SectionColumns: true, SectionTimes: true, SectionSeries: true, SectionAttachedValues: true, SectionClocks: true, SectionLanes: true, SectionAllocs: true, SectionLeafTimes: true, SectionTotals: true, SectionRankAttachedSums: true, SectionAsides: true, SectionLeafAttachedSums: true, SectionCode: true, SectionUnknownLeafTimes: true, SectionMergedSizes: true, SectionSyntheticLoops: true, SectionSyntheticMessages: true, SectionWaits: true, SectionHandovers: true, SectionWhen: true, SectionFirstCallTimes: true}

const (
	isSummed = 4 // bit in the first byte of a directory entry: a checksum follows
	// maxShared is the size in bytes up to which consecutive sections share a checksum of four bytes. Sections
	// about calls never share one with others, so that damage to the one group does not affect the other.
	maxShared = 4096
)

// ReadDirectory reads header and directory of a file.
func ReadDirectory(src io.ReaderAt, size int64) (Sections, error) {
	head := make([]byte, MinFileSize)
	if n, err := src.ReadAt(head, 0); n < MinFileSize {
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("%d bytes are too short for a header: %w", max(n, 0), ErrFormat)
		}
		return nil, fmt.Errorf("header: %w", err)
	}
	if string(head[:len(FileMagic)]) != FileMagic {
		return nil, fmt.Errorf("header: no magic number: %w", ErrFormat)
	}
	r := wire.NewReader(head[len(FileMagic)+2:], "header")
	if of := binary.LittleEndian.Uint16(head[len(FileMagic):]); of < 1 || of > FormatVersion {
		return nil, fmt.Errorf("header: format version %d, this release reads versions 1 to %d: %w", of, FormatVersion, ErrFormat)
	}
	dirSize := r.Uvarint()
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("header: %w: %w", err, ErrFormat)
	}
	start := int64(MinFileSize - r.RemainingLen())
	if dirSize > uint64(size-start) {
		return nil, fmt.Errorf("header: directory of %d bytes in a file of %d: %w", dirSize, size, ErrFormat)
	}
	// dir gets the part of the header that the checksum covers, and the directory.
	dir := make([]byte, start+int64(dirSize))
	if n, err := src.ReadAt(dir, 0); n < len(dir) {
		return nil, fmt.Errorf("directory: %w", err)
	}
	end := int64(len(dir))
	b := make([]byte, sumSize)
	if n, err := src.ReadAt(b, end); n < len(b) {
		return nil, fmt.Errorf("directory: %w: %w", cmp.Or(err, io.ErrUnexpectedEOF), ErrFormat)
	}
	sum := binary.LittleEndian.Uint32(b)
	if got := crc32.Checksum(dir[len(FileMagic):], castagnoli); got != sum {
		return nil, fmt.Errorf("directory: checksum is %08x, not %08x: %w", got, sum, ErrFormat)
	}
	list, err := decodeDirectory(dir[start:], end+sumSize, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	return list, nil
}

// decodeDirectory reads the entries of a directory. The first section begins at offset, in a file of size bytes.
func decodeDirectory(dir []byte, offset, size int64) (Sections, error) {
	r := wire.NewReader(dir, "directory")
	var list Sections
	open := 0 // index of the first section that is not yet covered by a checksum
	for r.Err() == nil && r.RemainingLen() > 0 {
		head := r.Byte()
		s := Section{ID: head >> 3, Codec: head & 3, Offset: offset, StoredSize: int64(r.Uvarint())}
		s.RawSize = uint64(s.StoredSize)
		if s.Codec != CodecRaw {
			s.RawSize = r.Uvarint()
		}
		if head&isSummed != 0 {
			s.sum = r.Uint32()
		}
		if r.Err() != nil {
			break
		}
		switch {
		case s.ID == 0 || s.ID >= SectionCount || SectionNames[s.ID] == "":
			r.Fail("unknown section %d", s.ID)
		case len(list) > 0 && place(s.ID) <= place(list[len(list)-1].ID):
			r.Fail("section %q out of order", s.Name())
		case s.StoredSize < 0 || s.StoredSize > size-offset:
			r.Fail("section %q: %d bytes wanted, %d left in the file", s.Name(), s.StoredSize, size-offset)
		case s.ID == SectionSeries && open < len(list):
			r.Fail("section %q shares a checksum", s.Name())
		}
		if r.Err() != nil {
			break
		}
		offset += s.StoredSize
		list = append(list, s)
		if head&isSummed != 0 {
			for i := open; i < len(list); i++ {
				list[i].from, list[i].to, list[i].sum = list[open].Offset, offset, s.sum
			}
			open = len(list)
		}
	}
	if r.Err() == nil && open < len(list) {
		r.Fail("section %q has no checksum", list[open].Name())
	}
	if r.Err() == nil && offset != size {
		r.Fail("sections end at byte %d, the file at %d", offset, size)
	}
	return list, r.Finish()
}

// WriteCopyWithSection writes a copy of a file with one more section, which has its own checksum. All other sections are
// copied unchanged; the file must lack the new one.
func WriteCopyWithSection(w io.Writer, src io.ReaderAt, size int64, id byte, raw []byte) error {
	list, err := ReadDirectory(src, size)
	if err != nil {
		return err
	}
	stored, codec := PackSection(int(id), raw)
	at := len(list)
	for at > 0 && place(list[at-1].ID) >= place(id) {
		at--
	}
	if at == 0 || at < len(list) && list[at].ID == id {
		return fmt.Errorf("section %q can't be added", SectionNames[id])
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
		dir = wire.AppendUvarint(append(dir, head), uint64(s.StoredSize))
		if s.Codec != CodecRaw {
			dir = wire.AppendUvarint(dir, s.RawSize)
		}
		if last {
			dir = wire.AppendUint32(dir, s.sum)
		}
	}
	added := Section{ID: id, Codec: codec, StoredSize: int64(len(stored)), RawSize: uint64(len(raw)), sum: crc32.Checksum(stored, castagnoli)}
	for i := range list {
		if i == at {
			entry(&added, true)
		}
		entry(&list[i], list[i].Offset+list[i].StoredSize == list[i].to)
	}
	if at == len(list) {
		entry(&added, true)
	}
	head := wire.AppendUvarint(append([]byte(FileMagic), FormatVersion, 0), uint64(len(dir)))
	head = append(head, dir...)
	head = wire.AppendUint32(head, crc32.Checksum(head[len(FileMagic):], castagnoli))
	behind := list[at-1].Offset + list[at-1].StoredSize
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

// split divides the checksum that covers the sections before and from index at into two.
func split(list []Section, at int, src io.ReaderAt) error {
	between := list[at-1].Offset + list[at-1].StoredSize
	if list[at-1].to == between {
		return nil
	}
	whole := list[at-1]
	if err := whole.VerifyChecksum(src); err != nil {
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
