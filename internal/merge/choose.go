package merge

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/sections"
)

// Whether values that go on from call to call take less room as lanes or as
// distinct calls shows when all ranks are together. Then both are written, and
// what is shorter is kept: recorders make lanes of long sequences only, and do not
// know of each other. A distinct call weighs a little, too, since who reads the trace
// has to go through them.

// callsAByte is how many distinct calls less are worth a byte more.
const callsAByte = 64

// shortest returns the classes in the form, with the lanes that were recorded,
// without, or with as many as there may be, that makes the file shortest.
func (s *State) shortest() []*class {
	if s.keepsLanes {
		return s.classes
	}
	without, more := slices.Clone(s.classes), slices.Clone(s.classes)
	fewer, further := false, false
	for i, c := range s.classes {
		if !c.even() { // it would come apart
			continue
		}
		if len(c.shape().lanes) > 0 {
			if d := c.evenWithoutLanes(); d != nil {
				without[i], fewer = d, true
			}
		}
		if d := c.withLanes(); d != nil {
			more[i], further = d, true
		}
	}
	best := s.classes
	if !fewer && !further {
		return best
	}
	least, err := s.weight(best)
	if err != nil {
		return best
	}
	try := func(list []*class) {
		if n, err := s.weight(list); err == nil && n < least {
			best, least = list, n
		}
	}
	if fewer {
		try(without)
	}
	if further {
		try(more)
	}
	return best
}

// weight is what the choice goes by: bytes and distinct calls.
func (s *State) weight(list []*class) (int, error) {
	n, err := s.size(list)
	n *= callsAByte
	for _, c := range list {
		n += len(c.shape().skeletons)
	}
	return n, err
}

// size is what the classes take in the file.
func (s *State) size(list []*class) (int, error) {
	c, err := s.contentOf(list)
	if err != nil {
		return 0, err
	}
	return sections.Size(c)
}
