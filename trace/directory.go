package trace

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
	compact  = 4  // the first version with the header as it is now
	headSize = 20 // the least that a file has, and a header of the former kind
	sumSize  = 4
)

// assemble puts the raw sections, indexed by id, into a file. The bytes of a series
// are not there yet, they go behind it.
func assemble(raw [secEnd][]byte, pack func(id int, raw []byte) ([]byte, byte), s *Series) ([]byte, error) {
	var dir, body []byte
	summed := 0 // up to where in body checksums cover it
	entry := func(id int, codec byte, stored, raw uint64, last bool) {
		head := byte(id)<<3 | codec
		if last {
			head |= isSummed
		}
		dir = wire.AppendUvarint(append(dir, head), stored)
		if codec != codecRaw {
			dir = wire.AppendUvarint(dir, raw)
		}
	}
	var ids []int
	var stored [secEnd][]byte
	var codecs [secEnd]byte
	for id := secMeta; id < secEnd; id++ {
		if optional[id] && raw[id] == nil {
			continue
		}
		stored[id], codecs[id] = pack(id, raw[id])
		ids = append(ids, id)
	}
	for i, id := range ids {
		body = append(body, stored[id]...)
		last := i == len(ids)-1 || id < secTimes && ids[i+1] >= secTimes || len(body)-summed+len(stored[ids[i+1]]) > maxShared
		entry(id, codecs[id], uint64(len(stored[id])), uint64(len(raw[id])), last)
		if last {
			dir = wire.AppendUint32(dir, crc32.Checksum(body[summed:], castagnoli))
			summed = len(body)
		}
	}
	if s != nil {
		n := uint64(s.size()) + uint64(len(s.index()))
		sum, err := s.total()
		if err != nil {
			return nil, err
		}
		entry(secSeries, codecRaw, n, n, true)
		dir = wire.AppendUint32(dir, sum)
	}
	file := wire.AppendUvarint(append([]byte(magic), version, 0), uint64(len(dir)))
	file = append(file, dir...)
	file = wire.AppendUint32(file, crc32.Checksum(file[len(magic):], castagnoli))
	return append(file, body...), nil
}

// place is where a section stands: in order of numbers, but a series last, as it may
// be too large to be held in memory.
func place(id byte) int {
	if id == secSeries {
		return secEnd
	}
	return int(id)
}

// optional sections may be missing.
var optional = [secEnd]bool{secStrings: true, secColumns: true, secTimes: true, secSeries: true, secValues: true, secClocks: true, secLanes: true, secAllocs: true, secPlaces: true, secTotals: true, secRankValues: true, secAsides: true, secPlacedValues: true}

const (
	isSummed = 4 // bit of an entry's first byte
	// maxShared is up to how many bytes sections share a checksum, which takes four: those on
	// calls one, so that damage to the others does these no harm, and the others another.
	maxShared = 4096
)

// readDirectory reads header and directory of a file, and says of which version it is.
func readDirectory(src io.ReaderAt, size int64) (list []section, of int, err error) {
	head := make([]byte, headSize)
	if n, err := src.ReadAt(head, 0); n < headSize {
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("%d bytes are too short for a header: %w", max(n, 0), ErrFormat)
		}
		return nil, 0, fmt.Errorf("header: %w", err)
	}
	if string(head[:len(magic)]) != magic {
		return nil, 0, fmt.Errorf("header: no magic number: %w", ErrFormat)
	}
	r := wire.NewReader(head[len(magic)+2:], "header")
	if of = int(binary.LittleEndian.Uint16(head[len(magic):])); of < oldest || of > version {
		return nil, 0, fmt.Errorf("header: format version %d, %d to %d are known: %w", of, oldest, version, ErrFormat)
	}
	count := -1
	var dirSize uint64
	var sum uint32
	if of < compact {
		fixed := r.Bytes(2 + 4 + sumSize)
		count = int(binary.LittleEndian.Uint16(fixed))
		dirSize, sum = uint64(binary.LittleEndian.Uint32(fixed[2:])), binary.LittleEndian.Uint32(fixed[6:])
	} else {
		dirSize = r.Uvarint()
	}
	if err := r.Err(); err != nil {
		return nil, 0, fmt.Errorf("header: %w: %w", err, ErrFormat)
	}
	start := int64(headSize - r.Rest())
	if dirSize > uint64(size-start) {
		return nil, 0, fmt.Errorf("header: directory of %d bytes in a file of %d: %w", dirSize, size, ErrFormat)
	}
	// The header as far as the checksum covers it, then the directory.
	dir := make([]byte, start+int64(dirSize))
	if n, err := src.ReadAt(dir, 0); n < len(dir) {
		return nil, 0, fmt.Errorf("directory: %w", err)
	}
	end := int64(len(dir))
	covered := [][]byte{dir[len(magic):]}
	if of < compact {
		covered = [][]byte{dir[len(magic) : start-sumSize], dir[start:]}
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
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	return list, of, nil
}

// decodeDirectory reads so many entries, or those that there are if count is negative, of
// sections that begin at an offset.
func decodeDirectory(dir []byte, count int, offset, size int64) ([]section, error) {
	r := wire.NewReader(dir, "directory")
	var list []section
	open := 0 // first section that no checksum covers so far
	for n := 0; n != count && r.Err() == nil && (count >= 0 || r.Rest() > 0); n++ {
		head := r.Byte()
		s := section{id: head >> 3, codec: head & 3, offset: offset, stored: int64(r.Uvarint())}
		s.raw = uint64(s.stored)
		if s.codec != codecRaw {
			s.raw = r.Uvarint()
		}
		if head&isSummed != 0 {
			s.sum = r.Uint32()
		}
		if r.Err() != nil {
			break
		}
		switch {
		case s.id == 0 || s.id >= secEnd || sectionNames[s.id] == "":
			r.Fail("unknown section %d", s.id)
		case len(list) > 0 && place(s.id) <= place(list[len(list)-1].id):
			r.Fail("section %q out of order", s.name())
		case s.stored < 0 || s.stored > size-offset:
			r.Fail("section %q: %d bytes wanted, %d left in the file", s.name(), s.stored, size-offset)
		case s.id == secSeries && open < len(list):
			r.Fail("section %q shares a checksum", s.name())
		}
		if r.Err() != nil {
			break
		}
		offset += s.stored
		list = append(list, s)
		if head&isSummed != 0 {
			for i := open; i < len(list); i++ {
				list[i].from, list[i].to, list[i].sum = list[open].offset, offset, s.sum
			}
			open = len(list)
		}
	}
	if r.Err() == nil && open < len(list) {
		r.Fail("section %q has no checksum", list[open].name())
	}
	if r.Err() == nil && offset != size {
		r.Fail("sections end at byte %d, the file at %d", offset, size)
	}
	return list, r.Done()
}
