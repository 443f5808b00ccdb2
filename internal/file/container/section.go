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
	FileMagic     = "\x89SPOOR\r\n" // neither text, nor intact after a transfer in text mode
	FormatVersion = 2               // the newest version; docs/format.md lists what may change without a new one
)

// Sections, in the order of the file.
const (
	SectionMeta        = 1
	SectionSchema      = 2
	SectionStrings     = 3
	SectionSites       = 4
	SectionClassOfRank = 5
	SectionSignatures  = 6
	SectionClasses     = 7
	SectionColumns     = 8
	// missing if no times were recorded; then 11, 13, 16, 17, 19, 22, 26, 28 and 29 are missing, too
	SectionTimes             = 9
	SectionProcess           = 10
	SectionSeries            = 11 // only if times of every call were recorded
	SectionAttachedValues    = 12 // only if values were attached to calls
	SectionClocks            = 13 // only if clocks of several hosts were compared
	SectionLanes             = 14 // only if some values change from call to call
	SectionAllocs            = 15 // only if calls used segments of memory
	SectionLeafTimes         = 16 // only if equal calls take different times at different leaves
	SectionTotals            = 17 // only if a class has several ranks
	SectionRankAttachedSums  = 18 // only if values were attached to calls of a class with several ranks
	SectionAsides            = 19 // only if the recorder took time between calls
	SectionLeafAttachedSums  = 20 // only if equal calls have different attached values at different leaves
	SectionCode              = 21 // only if calls have stacks and the binaries could be read after the run
	SectionUnknownLeafTimes  = 22 // only if the times of equal calls at single leaves are unknown
	SectionMergedSizes       = 23 // only if values were merged to make the trace smaller
	SectionSyntheticLoops    = 24 // only if trip counts became synthetic to make the trace smaller
	SectionSyntheticMessages = 25 // only if messages became synthetic to make the trace smaller
	SectionWaits             = 26 // only if ranks computed wait states at the end of the run
	SectionHandovers         = 27 // only if threads used objects that other threads made
	SectionWhen              = 28 // only if ranks computed their times by part of the run, at its end
	SectionFirstCallTimes    = 29 // only if first calls took far longer than later ones
	SectionCount             = 30
)

// SectionNames are the names of sections.
var SectionNames = [SectionCount]string{
	SectionMeta: "meta", SectionSchema: "schema", SectionStrings: "strings", SectionSites: "sites", SectionClassOfRank: "ranks",
	SectionSignatures: "signatures", SectionClasses: "classes", SectionColumns: "columns", SectionTimes: "times",
	SectionProcess: "process", SectionSeries: "series", SectionAttachedValues: "values", SectionClocks: "clocks", SectionLanes: "lanes", SectionAllocs: "lives", SectionLeafTimes: "places", SectionTotals: "totals", SectionRankAttachedSums: "rank-values", SectionAsides: "asides", SectionLeafAttachedSums: "value-places", SectionCode: "code", SectionUnknownLeafTimes: "places-mixed", SectionMergedSizes: "thinned", SectionSyntheticLoops: "drawn", SectionSyntheticMessages: "partners", SectionWaits: "waits", SectionHandovers: "handovers", SectionWhen: "when", SectionFirstCallTimes: "firsts",
}

// Codecs: how the bytes of a section are compressed.
const (
	CodecRaw           = 0
	CodecZstd          = 1
	CodecPrimedMixing  = 2 // wire.CompressPrimedMixing with the section's known content, as known has it
	CodecContextMixing = 3 // wire.CompressContextMixing
)

// ErrFormat is wrapped by all errors about a file that is no valid trace.
var ErrFormat = errors.New("not a valid trace")

var castagnoli = wire.Castagnoli

// A Section is the position and size of a section in a file.
type Section struct {
	ID, Codec  byte
	Offset     int64
	StoredSize int64  // bytes in the file
	RawSize    uint64 // bytes before compression

	from, to int64 // range of the file that the checksum covers
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

// mixedUpTo is the size in bytes up to which mixing is known to compress better than zstd. Below it zstd is not
// tried, which saves its tables: their size does not depend on the data. Larger data is mixed, too, unless it
// repeats itself.
const (
	mixedUpTo  = 1 << 14
	repetitive = 16
)

// PackSection compresses a section with the codec that gives the shortest result.
func PackSection(id int, raw []byte) (stored []byte, codec byte) {
	stored, codec = raw, CodecRaw
	mixed, mix := byte(CodecContextMixing), wire.CompressContextMixing
	if known[id] != nil {
		mixed, mix = CodecPrimedMixing, func(raw []byte) ([]byte, bool) { return wire.CompressPrimedMixing(known[id], raw) }
	}
	if frame, ok := mix(raw); ok && len(frame) < len(stored) {
		stored, codec = frame, mixed
	}
	if len(raw) <= mixedUpTo || codec == mixed && len(stored) > len(raw)/repetitive {
		return stored, codec
	}
	if frame, ok := wire.CompressZstd(raw, true); ok && len(frame) < len(stored) {
		stored, codec = frame, CodecZstd
	}
	if (id == SectionMeta || id == SectionSchema) && len(raw) > mostOfSmall(len(stored)) {
		return raw, CodecRaw // a reader refuses so large a ratio, see mostOfSmall
	}
	return stored, codec
}

// PreparePacking prepares PackSection and Load for a section of a few hundred bytes.
func PreparePacking(id int) { wire.PreparePrimedMixing(known[id], 100) }

// mostOfSmall is the largest uncompressed size accepted for the small sections that every reader needs: text and a
// few functions do not compress better, even with a dictionary.
func mostOfSmall(stored int) int { return 50*stored + 1<<16 }

// CheckSmall refuses a section that is too large for one that every reader needs.
func (s *Section) CheckSmall() error {
	if s.RawSize > uint64(mostOfSmall(int(s.StoredSize))) {
		return fmt.Errorf("%d bytes from %d: %w", s.RawSize, s.StoredSize, ErrFormat)
	}
	return nil
}

// Known content of sections: what most files have in common. All of it is part of the format and must never change.
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
	// Sections are within the file, as decodeDirectory has checked: this is no more than the file's size.
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
	expand := wire.DecompressZstd
	switch s.Codec {
	case CodecPrimedMixing:
		expand = func(frame []byte, size uint64) ([]byte, error) {
			return wire.DecompressPrimedContextMixing(known[s.ID], frame, size)
		}
	case CodecContextMixing:
		expand = wire.DecompressContextMixing
	}
	raw, err := expand(stored, s.RawSize)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	return raw, nil
}

// VerifyChecksum compares the checksum of a section that may be larger than memory.
func (s *Section) VerifyChecksum(src io.ReaderAt) error {
	sum := crc32.New(castagnoli)
	if n, err := io.Copy(sum, io.NewSectionReader(src, s.from, s.to-s.from)); err != nil || n < s.to-s.from {
		return fmt.Errorf("%d of %d bytes could be read: %w", n, s.to-s.from, cmp.Or(err, ErrFormat))
	}
	if got := sum.Sum32(); got != s.sum {
		return fmt.Errorf("checksum is %08x, not %08x: %w", got, s.sum, ErrFormat)
	}
	return nil
}
