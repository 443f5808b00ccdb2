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

// Series is the times of every call: a piece for each rank, encoded by package series, in order and without gaps. They
// may exceed memory, so they are read from a source, or the ranks write them into a Draft.
type Series struct {
	Data     io.ReaderAt // the pieces; nil: other processes write them
	Sizes    []int64     // by rank: size of its piece in bytes; 0: no piece
	Checksum uint32      // CRC-32C of all pieces; computed if Data is set
}

// size returns the sum of the pieces' sizes in bytes.
func (s *Series) size() int64 {
	sum := int64(0)
	for _, n := range s.Sizes {
		sum += n
	}
	return sum
}

// CreateSeriesTempFile creates a file for Series.Data that disappears when it is closed.
func CreateSeriesTempFile() (*os.File, error) {
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

// EncodeIndex returns the index of a series, with its size and checksum, which follow the pieces.
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

// pieces returns a reader of all pieces.
func (s *Series) pieces() io.Reader { return io.NewSectionReader(s.Data, 0, s.size()) }

// CopyTo writes all pieces to w.
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

// tail returns the size and the checksum of the whole section, pieces and index; nil for a nil Series.
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

// A SeriesIndex says where the pieces of a series are in a file.
type SeriesIndex struct {
	Section *container.Section
	Offsets []int64 // by rank: offset of its piece in the section; one more element for the end
}
