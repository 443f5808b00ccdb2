package merge

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// Whether values that go on from call to call take less room as lanes or as
// distinct calls shows when all ranks are together. Then both are written, and
// what is shorter is kept: recorders make lanes of long sequences only, and do not
// know of each other. A distinct call weighs a little, too, since who reads the trace
// has to go through them.

// callsAByte is how many distinct calls less are worth a byte more.
const callsAByte = 64

// shortest returns the classes in the form, with the lanes that were recorded or without, that makes the file shorter.
func (s *MergedBlock) shortest() []*class {
	if s.keepsLanes {
		return s.classes
	}
	without, fewer := slices.Clone(s.classes), false
	for i, c := range s.classes {
		if !c.even() { // it would come apart
			continue
		}
		if len(c.shape().lanes) > 0 {
			if d := c.evenWithoutLanes(); d != nil {
				without[i], fewer = d, true
			}
		}
	}
	if !fewer {
		return s.classes
	}
	with, err := s.weight(s.classes)
	if err != nil {
		return s.classes
	}
	if n, err := s.weight(without); err != nil || n >= with {
		return s.classes
	}
	return without
}

// weight is what the choice goes by: bytes and distinct calls.
func (s *MergedBlock) weight(list []*class) (int, error) {
	n, err := s.size(list)
	n *= callsAByte
	for _, c := range list {
		n += c.shape().terminals()
	}
	return n, err
}

// size is what the classes take in the file.
func (s *MergedBlock) size(list []*class) (int, error) {
	c, err := s.contentOf(list)
	if err != nil {
		return 0, err
	}
	return sections.EstimateFileSize(c)
}
