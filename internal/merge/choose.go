package merge

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// Recorders store long sequences of values that change from call to call as lanes, and short ones as distinct
// calls. Whether lanes make the file shorter shows only after all ranks are merged. Then both forms are encoded,
// and the shorter one is kept. Distinct calls cost a little besides their bytes, as every reader has to go through
// them.

// callsAByte is how many distinct calls cost as much as one byte.
const callsAByte = 64

// shortest returns the classes in the form that makes the file shorter: with the recorded lanes, or without.
func (s *MergedBlock) shortest() []*class {
	if s.keepsLanes {
		return s.classes
	}
	without, fewer := slices.Clone(s.classes), false
	for i, c := range s.classes {
		if !c.even() { // its members have different repetition counts: without lanes it would become several classes
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

// weight is the cost of classes in a file: bytes and distinct calls, in units of a distinct call.
func (s *MergedBlock) weight(list []*class) (int, error) {
	n, err := s.size(list)
	n *= callsAByte
	for _, c := range list {
		n += c.shape().terminals()
	}
	return n, err
}

// size is how many bytes the classes take in the file.
func (s *MergedBlock) size(list []*class) (int, error) {
	c, err := s.contentOf(list)
	if err != nil {
		return 0, err
	}
	return sections.EstimateFileSize(c)
}
