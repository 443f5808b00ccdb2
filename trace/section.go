package trace

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/spoor-hpc/spoor/internal/wire"
)

// A file is a header, a directory and the sections, one after the other
// without gaps; the last one ends where the file ends. See directory.go.
const (
	magic   = "\x89SPOOR\r\n" // not text, and damaged by text-mode transfers
	version = 4               // 2: displacements may be left out; 3: see mpi.Former; 4: see docs/format.md
	oldest  = 1
)

// Sections, in the order in which they stand.
const (
	secMeta         = 1
	secSchema       = 2
	secStrings      = 3
	secSites        = 4
	secRanks        = 5
	secSignatures   = 6
	secClasses      = 7
	secColumns      = 8
	secTimes        = 9 // there unless nothing was kept of times; then none of 11, 13, 16, 17 and 19 is
	secProcess      = 10
	secSeries       = 11 // there only if times of every call were kept
	secValues       = 12 // there only if something was attached to calls
	secClocks       = 13 // there only if clocks of several hosts were compared
	secLanes        = 14 // there only if values go from call to call
	secAllocs       = 15 // there only if calls used segments of memory
	secPlaces       = 16 // there only if calls that are alike take other times at other places
	secTotals       = 17 // there only if a class has several ranks
	secRankValues   = 18 // there only if something was attached to calls of such a class
	secAsides       = 19 // there only if the recorder took time between calls
	secPlacedValues = 20 // there only if others were attached to such calls at other places
	secEnd          = 21
)

var sectionNames = [secEnd]string{
	secMeta: "meta", secSchema: "schema", secStrings: "strings", secSites: "sites", secRanks: "ranks",
	secSignatures: "signatures", secClasses: "classes", secColumns: "columns", secTimes: "times",
	secProcess: "process", secSeries: "series", secValues: "values", secClocks: "clocks", secLanes: "lanes", secAllocs: "lives", secPlaces: "places", secTotals: "totals", secRankValues: "rank-values", secAsides: "asides", secPlacedValues: "value-places",
}

// Codecs of sections.
const (
	codecRaw    = 0
	codecZstd   = 1
	codecSchema = 2 // zstd with schema.dict; not written since version 4
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
