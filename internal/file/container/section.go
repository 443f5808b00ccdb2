// Package container is the outermost layer of a trace file: a header, a directory of sections
// and the sections, compressed and covered by checksums. It knows which sections there are,
// and nothing of what they hold.
//
// A file is the header, the directory and the sections, one after the other without gaps;
// the last one ends where the file ends. No length is believed before that many bytes are
// there. docs/format.md describes all of it.
package container

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// The header of a file, see directory.go.
const (
	FileMagic     = "\x89SPOOR\r\n" // not text, and damaged by text-mode transfers
	FormatVersion = 2               // the last one; what may change without another one: docs/format.md
)

// Sections, in the order of the file.
const (
	SectionMeta              = 1
	SectionSchema            = 2
	SectionStrings           = 3
	SectionSites             = 4
	SectionRanks             = 5
	SectionSignatures        = 6
	SectionClasses           = 7
	SectionColumns           = 8
	SectionTimes             = 9 // there unless nothing was kept of times; then none of 11, 13, 16, 17, 19 and 22 is
	SectionProcess           = 10
	SectionSeries            = 11 // there only if times of every call were kept
	SectionValues            = 12 // there only if something was attached to calls
	SectionClocks            = 13 // there only if clocks of several hosts were compared
	SectionLanes             = 14 // there only if values go from call to call
	SectionAllocs            = 15 // there only if calls used segments of memory
	SectionLeafTimes         = 16 // there only if calls that are alike take other times at other places
	SectionTotals            = 17 // there only if a class has several ranks
	SectionRankValues        = 18 // there only if something was attached to calls of such a class
	SectionAsides            = 19 // there only if the recorder took time between calls
	SectionLeafValues        = 20 // there only if others were attached to such calls at other places
	SectionCode              = 21 // there only if calls have stacks and the binaries were at hand after the run
	SectionSharedTimes       = 22 // there only if it isn't known what calls that are alike took at single places
	SectionMergedSizes       = 23 // there only if values were merged to make the trace smaller
	SectionSyntheticLoops    = 24 // only if trip counts became synthetic to make the trace smaller
	SectionSyntheticMessages = 25 // only if messages became synthetic to make the trace smaller
	SectionWaits             = 26 // there only if ranks were asked at the end of the run who waited for whom
	SectionHandovers         = 27 // there only if threads used objects that others made
	SectionWhen              = 28 // there only if ranks were asked at the end of the run when they computed
	SectionFirstCalls        = 29 // there only if first calls took far longer than those after them
	SectionCount             = 30
)

// SectionNames are the names of sections.
var SectionNames = [SectionCount]string{
	SectionMeta: "meta", SectionSchema: "schema", SectionStrings: "strings", SectionSites: "sites", SectionRanks: "ranks",
	SectionSignatures: "signatures", SectionClasses: "classes", SectionColumns: "columns", SectionTimes: "times",
	SectionProcess: "process", SectionSeries: "series", SectionValues: "values", SectionClocks: "clocks", SectionLanes: "lanes", SectionAllocs: "lives", SectionLeafTimes: "places", SectionTotals: "totals", SectionRankValues: "rank-values", SectionAsides: "asides", SectionLeafValues: "value-places", SectionCode: "code", SectionSharedTimes: "places-mixed", SectionMergedSizes: "thinned", SectionSyntheticLoops: "drawn", SectionSyntheticMessages: "partners", SectionWaits: "waits", SectionHandovers: "handovers", SectionWhen: "when", SectionFirstCalls: "firsts",
}

// Codecs of sections.
const (
	CodecRaw    = 0
	CodecZstd   = 1
	CodecPrimed = 2 // wire.CompressMixingPrimed what is known of the section
	CodecMixed  = 3 // wire.CompressMixing
)

// ErrFormat is wrapped by all errors that say that a file is no valid trace.
var ErrFormat = errors.New("not a valid trace")

var castagnoli = wire.Castagnoli

// A Section is the position and size of a section in a file.
type Section struct {
	ID, Codec  byte
	Offset     int64
	StoredSize int64  // bytes in the file
	RawSize    uint64 // bytes before compression

	from, to int64 // what the checksum covers
	sum      uint32
}

// Sections is the directory of a file.
type Sections []Section

// Find returns a section, nil if the file does not have it.
func (list Sections) Find(id byte) *Section {
	for i := range list {
		if list[i].ID == id {
			return &list[i]
		}
	}
	return nil
}

// Name returns the section's name.
func (s *Section) Name() string { return SectionNames[s.ID] }

// mixedUpTo is how many bytes mixing makes shorter than zstd does, for all that is known: there
// zstd's tables, which are as large whatever the data, are spared. So they are where there
// are more, but not the same again and again.
const (
	mixedUpTo  = 1 << 14
	repetitive = 16
)

// PackSection compresses a section in the way that makes it shortest.
func PackSection(id int, raw []byte) (stored []byte, codec byte) {
	stored, codec = raw, CodecRaw
	mixed, mix := byte(CodecMixed), wire.CompressMixing
	if known[id] != nil {
		mixed, mix = CodecPrimed, func(raw []byte) ([]byte, bool) { return wire.CompressMixingPrimed(known[id], raw) }
	}
	if frame, ok := mix(raw); ok && len(frame) < len(stored) {
		stored, codec = frame, mixed
	}
	if len(raw) <= mixedUpTo || codec == mixed && len(stored) > len(raw)/repetitive {
		return stored, codec
	}
	if frame, ok := wire.Compress(raw, true); ok && len(frame) < len(stored) {
		stored, codec = frame, CodecZstd
	}
	if (id == SectionMeta || id == SectionSchema) && len(raw) > mostOfSmall(len(stored)) {
		return raw, CodecRaw // a reader wouldn't believe it
	}
	return stored, codec
}

// PreparePacking prepares Pack and Load for a section of some hundred bytes.
func PreparePacking(id int) { wire.PrepareMixing(known[id], 100) }

// mostOfSmall is up to how many bytes a section may have that every reader needs: text and
// a few functions don't shrink by more on top of what a dictionary gives.
func mostOfSmall(stored int) int { return 50*stored + 1<<16 }

// CheckSmall refuses a section that is larger than one that every reader needs can be.
func (s *Section) CheckSmall() error {
	if s.RawSize > uint64(mostOfSmall(int(s.StoredSize))) {
		return fmt.Errorf("%d bytes from %d: %w", s.RawSize, s.StoredSize, ErrFormat)
	}
	return nil
}

// What is known of sections before they are read: what most of them have in common. All of it is part
// of the format and must never change.
var (
	//go:embed meta.known
	knownMeta []byte
	//go:embed schema.known
	knownSchema []byte
	//go:embed paths.known
	knownPaths []byte
	//go:embed process.known
	knownProcess []byte
	//go:embed code.known
	knownCode []byte

	known = [SectionCount][]byte{SectionMeta: knownMeta, SectionSchema: knownSchema, SectionStrings: knownPaths, SectionSites: knownPaths, SectionProcess: knownProcess, SectionCode: knownCode}
)

// Load reads a section, verifies its checksum and decompresses it.
func (s *Section) Load(src io.ReaderAt) ([]byte, error) {
	// Stored sizes are within the file's, so this is no more than the file.
	covered := make([]byte, s.to-s.from)
	if n, err := src.ReadAt(covered, s.from); n < len(covered) {
		return nil, fmt.Errorf("read: %w", err)
	}
	if got := crc32.Checksum(covered, castagnoli); got != s.sum {
		return nil, fmt.Errorf("checksum is %08x, not %08x: %w", got, s.sum, ErrFormat)
	}
	stored := covered[s.Offset-s.from:][:s.StoredSize:s.StoredSize]
	if s.Codec == CodecRaw {
		return stored, nil
	}
	expand := wire.Decompress
	switch s.Codec {
	case CodecPrimed:
		expand = func(frame []byte, size uint64) ([]byte, error) {
			return wire.DecompressMixingPrimed(known[s.ID], frame, size)
		}
	case CodecMixed:
		expand = wire.DecompressMixing
	}
	raw, err := expand(stored, s.RawSize)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	return raw, nil
}

// VerifyRaw compares the checksum of a section that may be larger than memory.
func (s *Section) VerifyRaw(src io.ReaderAt) error {
	sum := crc32.New(castagnoli)
	if n, err := io.Copy(sum, io.NewSectionReader(src, s.from, s.to-s.from)); err != nil || n < s.to-s.from {
		return fmt.Errorf("%d of %d bytes could be read: %w", n, s.to-s.from, cmp.Or(err, ErrFormat))
	}
	if got := sum.Sum32(); got != s.sum {
		return fmt.Errorf("checksum is %08x, not %08x: %w", got, s.sum, ErrFormat)
	}
	return nil
}
