package sections

import (
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Series is the times of every call, as pieces of package series, one for each rank, in order and without gaps.
// They may exceed memory, so they are read from a source, or the ranks write them into a Draft.
type Series struct {
	Data     io.ReaderAt // nil: other processes write it
	Sizes    []int64     // by rank; 0: no piece
	Checksum uint32      // checksum of all pieces; computed if there are Data
}

// size returns the sum of the pieces' sizes in bytes.
func (s *Series) size() int64 {
	sum := int64(0)
	for _, n := range s.Sizes {
		sum += n
	}
	return sum
}

// SeriesFile creates a file for Data that disappears when it is closed.
func SeriesFile() (*os.File, error) {
	f, err := os.CreateTemp("", "spoor-times-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// EncodeIndex is the trailer after the pieces.
//
//	series = piece of each rank…, index, size of index uint32, crc uint32 of index
//	index  = seq of ranks: sizes of the pieces in bytes
func (s *Series) EncodeIndex() []byte {
	col := column.ColumnOf(s.Sizes...)
	b := column.EncodeSeq(nil, &col, nil)
	sum := crc32.Checksum(b, wire.Castagnoli)
	b = wire.AppendUint32(b, uint32(len(b)))
	return wire.AppendUint32(b, sum)
}

// SeriesTailSize is how many bytes end a series: size and checksum of its index.
const SeriesTailSize = 8

// pieces reads the data.
func (s *Series) pieces() io.Reader { return io.NewSectionReader(s.Data, 0, s.size()) }

// CopyTo writes the data.
func (s *Series) CopyTo(w io.Writer) error {
	n, err := io.Copy(w, s.pieces())
	if err == nil && n < s.size() {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("times of calls: %w", err)
	}
	return nil
}

// tail returns the section's size and checksum.
func (s *Series) tail() (*container.AppendedSection, error) {
	if s == nil {
		return nil, nil
	}
	sum := s.Checksum
	if s.Data != nil {
		h := crc32.New(wire.Castagnoli)
		if err := s.CopyTo(h); err != nil {
			return nil, err
		}
		sum = h.Sum32()
	}
	index := s.EncodeIndex()
	sum = wire.JoinChecksums(sum, crc32.Checksum(index, wire.Castagnoli), int64(len(index)))
	return &container.AppendedSection{Size: uint64(s.size()) + uint64(len(index)), Checksum: sum}, nil
}

// A SeriesIndex finds the pieces in a file.
type SeriesIndex struct {
	Section *container.Section
	Offsets []int64 // by rank, with an additional element for the end
}
