package container

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/spoor-hpc/spoor/internal/wire"
)

// The header and the directory behind it:
//
//	header    magic [8]byte, version uint16, size of the directory uvarint
//	directory per section: id<<3 | summed<<2 | codec uint8, stored size uvarint,
//	          raw size uvarint unless the codec is 0, checksum uint32 if summed
//	checksum  uint32
//
// That checksum covers what stands between the magic and itself. A section's
// covers its stored bytes and those of the sections before it that have none.
// All are CRC-32C. Up to version 3 the header was
//
//	magic [8]byte, version uint16, sections uint16, size of the directory uint32,
//	checksum uint32 of these three and the directory
const (
	Compact  = 4  // the first version with the header as it is now
	Rows     = 5  // the first version with extremes of times by call site
	Paths    = 7  // the first version with code beside what sites and signatures say
	HeadSize = 20 // the least that a file has, and a header of the former kind
	sumSize  = 4
)

// A Tail is a section of bytes that go behind the file as it is assembled.
type Tail struct {
	Size uint64
	Sum  uint32 // CRC-32C
}

// Assemble puts the raw sections, indexed by id, into a file, but for a series (nil: none),
// whose bytes are too many to be held in memory.
func Assemble(raw [End][]byte, pack func(id int, raw []byte) ([]byte, byte), series *Tail) []byte {
	var dir, body []byte
	summed := 0 // up to where in body checksums cover it
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
	var stored [End][]byte
	var codecs [End]byte
	for id := Meta; id < End; id++ {
		if raw[id] == nil && optional[id] {
			continue
		}
		stored[id], codecs[id] = pack(id, raw[id])
		ids = append(ids, id)
	}
	for i, id := range ids {
		body = append(body, stored[id]...)
		last := i == len(ids)-1 || id < Times && ids[i+1] >= Times || len(body)-summed+len(stored[ids[i+1]]) > maxShared
		entry(id, codecs[id], uint64(len(stored[id])), uint64(len(raw[id])), last)
		if last {
			dir = wire.AppendUint32(dir, crc32.Checksum(body[summed:], castagnoli))
			summed = len(body)
		}
	}
	if series != nil {
		entry(Series, CodecRaw, series.Size, series.Size, true)
		dir = wire.AppendUint32(dir, series.Sum)
	}
	file := wire.AppendUvarint(append([]byte(Magic), Version, 0), uint64(len(dir)))
	file = append(file, dir...)
	file = wire.AppendUint32(file, crc32.Checksum(file[len(Magic):], castagnoli))
	return append(file, body...)
}

// place is where a section stands: in order of numbers, but a series last, as it may
// be too large to be held in memory.
func place(id byte) int {
	if id == Series {
		return End
	}
	return int(id)
}

// optional sections may be missing.
var optional = [End]bool{Strings: true, Columns: true, Times: true, Series: true, Values: true, Clocks: true, Lanes: true, Allocs: true, Places: true, Totals: true, RankValues: true, Asides: true, PlacedValues: true, Code: true, Mixed: true, Thinned: true, Drawn: true, Partners: true}

const (
	isSummed = 4 // bit of an entry's first byte
	// maxShared is up to how many bytes sections share a checksum, which takes four: those on
	// calls one, so that damage to the others does these no harm, and the others another.
	maxShared = 4096
)

// Read reads header and directory of a file, and says of which version it is.
func Read(src io.ReaderAt, size int64) (list Sections, of int, err error) {
	head := make([]byte, HeadSize)
	if n, err := src.ReadAt(head, 0); n < HeadSize {
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("%d bytes are too short for a header: %w", max(n, 0), ErrFormat)
		}
		return nil, 0, fmt.Errorf("header: %w", err)
	}
	if string(head[:len(Magic)]) != Magic {
		return nil, 0, fmt.Errorf("header: no magic number: %w", ErrFormat)
	}
	r := wire.NewReader(head[len(Magic)+2:], "header")
	if of = int(binary.LittleEndian.Uint16(head[len(Magic):])); of < Oldest || of > Version {
		return nil, 0, fmt.Errorf("header: format version %d, %d to %d are known: %w", of, Oldest, Version, ErrFormat)
	}
	count := -1
	var dirSize uint64
	var sum uint32
	if of < Compact {
		fixed := r.Bytes(2 + 4 + sumSize)
		count = int(binary.LittleEndian.Uint16(fixed))
		dirSize, sum = uint64(binary.LittleEndian.Uint32(fixed[2:])), binary.LittleEndian.Uint32(fixed[6:])
	} else {
		dirSize = r.Uvarint()
	}
	if err := r.Err(); err != nil {
		return nil, 0, fmt.Errorf("header: %w: %w", err, ErrFormat)
	}
	start := int64(HeadSize - r.Rest())
	if dirSize > uint64(size-start) {
		return nil, 0, fmt.Errorf("header: directory of %d bytes in a file of %d: %w", dirSize, size, ErrFormat)
	}
	// The header as far as the checksum covers it, then the directory.
	dir := make([]byte, start+int64(dirSize))
	if n, err := src.ReadAt(dir, 0); n < len(dir) {
		return nil, 0, fmt.Errorf("directory: %w", err)
	}
	end := int64(len(dir))
	covered := [][]byte{dir[len(Magic):]}
	if of < Compact {
		covered = [][]byte{dir[len(Magic) : start-sumSize], dir[start:]}
	} else {
		b := make([]byte, sumSize)
		if n, err := src.ReadAt(b, end); n < len(b) {
			return nil, 0, fmt.Errorf("directory: %w: %w", cmp.Or(err, io.ErrUnexpectedEOF), ErrFormat)
		}
		sum = binary.LittleEndian.Uint32(b)
		end += sumSize
	}
	got := uint32(0)
	for _, b := range covered {
		got = crc32.Update(got, castagnoli, b)
	}
	if got != sum {
		return nil, 0, fmt.Errorf("directory: checksum is %08x, not %08x: %w", got, sum, ErrFormat)
	}
	list, err = decodeDirectory(dir[start:], count, end, size)
	for i := range list {
		list[i].version = of
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	return list, of, nil
}

// decodeDirectory reads so many entries, or those that there are if count is negative, of
// sections that begin at an offset.
func decodeDirectory(dir []byte, count int, offset, size int64) (Sections, error) {
	r := wire.NewReader(dir, "directory")
	var list Sections
	open := 0 // first section that no checksum covers so far
	for n := 0; n != count && r.Err() == nil && (count >= 0 || r.Rest() > 0); n++ {
		head := r.Byte()
		s := Section{ID: head >> 3, Codec: head & 3, Offset: offset, Stored: int64(r.Uvarint())}
		s.Raw = uint64(s.Stored)
		if s.Codec != CodecRaw {
			s.Raw = r.Uvarint()
		}
		if head&isSummed != 0 {
			s.sum = r.Uint32()
		}
		if r.Err() != nil {
			break
		}
		switch {
		case s.ID == 0 || s.ID >= End || Names[s.ID] == "":
			r.Fail("unknown section %d", s.ID)
		case len(list) > 0 && place(s.ID) <= place(list[len(list)-1].ID):
			r.Fail("section %q out of order", s.Name())
		case s.Stored < 0 || s.Stored > size-offset:
			r.Fail("section %q: %d bytes wanted, %d left in the file", s.Name(), s.Stored, size-offset)
		case s.ID == Series && open < len(list):
			r.Fail("section %q shares a checksum", s.Name())
		}
		if r.Err() != nil {
			break
		}
		offset += s.Stored
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
	return list, r.Done()
}
