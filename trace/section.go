package trace

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"spoor/internal/wire"
)

// A file is a header, a directory and the sections, one after the other
// without gaps; the last one ends where the file ends.
//
//	header    magic [8]byte, version uint16, sections uint16,
//	          size of the directory uint32, checksum uint32
//	directory per section: id<<3 | summed<<2 | codec uint8, stored size uvarint,
//	          raw size uvarint unless the codec is 0, checksum uint32 if summed
//
// The header's checksum covers what stands between the magic and itself, and
// the directory. A section's covers its stored bytes and those of the sections
// before it that have none. All are CRC-32C.
const (
	magic      = "\x89SPOOR\r\n" // not text, and damaged by text-mode transfers
	version    = 3               // 2: displacements may be left out; 3: see mpi.Former
	oldest     = 1
	headerSize = 20
)

// Sections, in the order in which they stand.
const (
	secMeta       = 1
	secSchema     = 2
	secStrings    = 3
	secSites      = 4
	secRanks      = 5
	secSignatures = 6
	secClasses    = 7
	secColumns    = 8
	secTimes      = 9
	secProcess    = 10
	secSeries     = 11 // there only if times of every call were kept
	secValues     = 12 // there only if something was attached to calls
	secClocks     = 13 // there only if clocks of several hosts were compared
	secLanes      = 14 // there only if values go from call to call
	secLives      = 15 // there only if calls used segments of memory
	secPlaces     = 16 // there only if calls that are alike take other times at other places
	secTotals     = 17 // there only if a class has several ranks
	secRankValues = 18 // there only if something was attached to calls of such a class
	secEnd        = 19
)

var sectionNames = [secEnd]string{
	secMeta: "meta", secSchema: "schema", secStrings: "strings", secSites: "sites", secRanks: "ranks",
	secSignatures: "signatures", secClasses: "classes", secColumns: "columns", secTimes: "times",
	secProcess: "process", secSeries: "series", secValues: "values", secClocks: "clocks", secLanes: "lanes", secLives: "lives", secPlaces: "places", secTotals: "totals", secRankValues: "rank-values",
}

// Codecs of sections.
const (
	codecRaw    = 0
	codecZstd   = 1
	codecSchema = 2 // zstd with schema.dict
	codecMixed  = 3 // wire.Mix
)

// ErrFormat is wrapped by all errors that say that a file is no valid trace.
var ErrFormat = errors.New("not a valid trace")

var castagnoli = wire.Castagnoli

// A Section tells how much room a section takes.
type Section struct {
	Name   string
	Stored int64 // bytes in the file
	Raw    int64 // bytes before compression
}

type section struct {
	id, codec byte
	offset    int64
	stored    int64
	raw       uint64
	from, to  int64 // what the checksum covers
	sum       uint32
}

func (s *section) name() string { return sectionNames[s.id] }

// mixedUpTo is how many bytes mixing makes shorter than zstd does, for all that is known: there
// zstd's tables, which are as large whatever the data, are spared. So they are where there
// are more, but not the same again and again.
const (
	mixedUpTo  = 1 << 14
	repetitive = 16
)

// pack compresses a section in the way that makes it shortest.
func pack(id int, raw []byte) (stored []byte, codec byte) {
	stored, codec = raw, codecRaw
	if id == secSchema {
		if frame, ok := schemaDictionary.Compress(raw); ok {
			stored, codec = frame, codecSchema
		}
		if len(stored) < len(raw)/3 {
			return stored, codec // no other way gets there
		}
	}
	if frame, ok := wire.Mix(raw); ok && len(frame) < len(stored) {
		stored, codec = frame, codecMixed
		if len(raw) <= mixedUpTo || len(frame) > len(raw)/repetitive {
			return stored, codec
		}
	}
	if frame, ok := wire.Compress(raw, true); ok && len(frame) < len(stored) {
		stored, codec = frame, codecZstd
	}
	if (id == secMeta || id == secSchema) && len(raw) > mostOfSmall(len(stored)) {
		return raw, codecRaw // a reader wouldn't believe it
	}
	return stored, codec
}

// mostOfSmall is up to how many bytes a section may have that every reader needs: text and
// a few functions don't shrink by more on top of what a dictionary gives.
func mostOfSmall(stored int) int { return 50*stored + 1<<16 }

// assemble puts the raw sections, indexed by id, into a file. The bytes of a series
// are not there yet, they go behind it.
func assemble(raw [secEnd][]byte, pack func(id int, raw []byte) ([]byte, byte), s *Series) ([]byte, error) {
	var dir, body []byte
	count, summed := 0, 0 // summed: up to where in body checksums cover it
	entry := func(id int, codec byte, stored, raw uint64, last bool) {
		head := byte(id)<<3 | codec
		if last {
			head |= isSummed
		}
		dir = wire.AppendUvarint(append(dir, head), stored)
		if codec != codecRaw {
			dir = wire.AppendUvarint(dir, raw)
		}
		count++
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
		last := i == len(ids)-1 || ids[i+1] >= secTimes || len(body)-summed+len(stored[ids[i+1]]) > maxShared
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
	file := append([]byte(magic), version, 0, byte(count), 0)
	file = wire.AppendUint32(file, uint32(len(dir)))
	sum := crc32.Update(crc32.Checksum(file[len(magic):], castagnoli), castagnoli, dir)
	file = wire.AppendUint32(file, sum)
	return append(append(file, dir...), body...), nil
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
var optional = [secEnd]bool{secStrings: true, secColumns: true, secSeries: true, secValues: true, secClocks: true, secLanes: true, secLives: true, secPlaces: true, secTotals: true, secRankValues: true}

const (
	isSummed = 4 // bit of an entry's first byte
	// maxShared is up to how many bytes sections on calls share a checksum: each takes
	// four, and without one of these sections there is little to be told of the others.
	maxShared = 4096
)

// readDirectory reads header and directory of a file, and says of which version it is.
func readDirectory(src io.ReaderAt, size int64) (list []section, of int, err error) {
	head := make([]byte, headerSize)
	if n, err := src.ReadAt(head, 0); n < headerSize {
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("%d bytes are too short for a header: %w", max(n, 0), ErrFormat)
		}
		return nil, 0, fmt.Errorf("header: %w", err)
	}
	if string(head[:len(magic)]) != magic {
		return nil, 0, fmt.Errorf("header: no magic number: %w", ErrFormat)
	}
	r := wire.NewReader(head[len(magic):], "header")
	v := r.Uint32()
	dirSize, sum := int64(r.Uint32()), r.Uint32()
	if of = int(v & 0xffff); of < oldest || of > version {
		return nil, 0, fmt.Errorf("header: format version %d, %d to %d are known: %w", of, oldest, version, ErrFormat)
	}
	if dirSize > size-headerSize {
		return nil, 0, fmt.Errorf("header: directory of %d bytes in a file of %d: %w", dirSize, size, ErrFormat)
	}
	dir := make([]byte, dirSize)
	if _, err := src.ReadAt(dir, headerSize); err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("directory: %w", err)
	}
	got := crc32.Update(crc32.Checksum(head[len(magic):headerSize-4], castagnoli), castagnoli, dir)
	if got != sum {
		return nil, 0, fmt.Errorf("directory: checksum is %08x, not %08x: %w", got, sum, ErrFormat)
	}
	list, err = decodeDirectory(dir, int(v>>16), size)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	return list, of, nil
}

func decodeDirectory(dir []byte, count int, size int64) ([]section, error) {
	r := wire.NewReader(dir, "directory")
	offset := int64(headerSize + len(dir))
	var list []section
	open := 0 // first section that no checksum covers so far
	for range count {
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

// load reads a section, verifies its checksum and decompresses it.
func (s *section) load(src io.ReaderAt) ([]byte, error) {
	// Stored sizes are within the file's, so this is no more than the file.
	covered := make([]byte, s.to-s.from)
	if n, err := src.ReadAt(covered, s.from); n < len(covered) {
		return nil, fmt.Errorf("read: %w", err)
	}
	if got := crc32.Checksum(covered, castagnoli); got != s.sum {
		return nil, fmt.Errorf("checksum is %08x, not %08x: %w", got, s.sum, ErrFormat)
	}
	stored := covered[s.offset-s.from:][:s.stored:s.stored]
	if s.codec == codecRaw {
		return stored, nil
	}
	expand := wire.Expand
	switch s.codec {
	case codecSchema:
		expand = schemaDictionary.Expand
	case codecMixed:
		expand = wire.Unmix
	}
	raw, err := expand(stored, s.raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	return raw, nil
}

// sumRaw compares the checksum of a section that may be larger than memory.
func (s *section) sumRaw(src io.ReaderAt) error {
	sum := crc32.New(castagnoli)
	if n, err := io.Copy(sum, io.NewSectionReader(src, s.from, s.to-s.from)); err != nil || n < s.to-s.from {
		return fmt.Errorf("%d of %d bytes could be read: %w", n, s.to-s.from, cmp.Or(err, ErrFormat))
	}
	if got := sum.Sum32(); got != s.sum {
		return fmt.Errorf("checksum is %08x, not %08x: %w", got, s.sum, ErrFormat)
	}
	return nil
}
