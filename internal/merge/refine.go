package merge

import (
	"math"
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// Ranks may make the same calls in the same order and still have different grammars. If the size of a message
// depends on place and iteration, calls that are equal on one rank differ on another. Such classes are refined: two
// calls of the common sequence become one terminal only if they are equal on every rank. So a difference in
// structure becomes one in values, which columns represent well. The price is more terminals: some are equal on
// some ranks.
const (
	// minFragments is the least number of classes, on a block of 16, 64, 256, … ranks, for which refining is tried.
	minFragments = 8
	minLevel     = 4
	everyLevel   = 2
	// sample is the largest number of classes by which it is decided whether refining makes a file smaller.
	sample = 128
	// maxExpanded is the largest number of calls of all united classes together that are expanded in memory.
	maxExpanded = 1 << 26
)

// refine joins classes whose ranks make the same calls in the same order.
func (s *MergedBlock) refine() {
	if len(s.classes) < 2 || !s.mayRefine() {
		return
	}
	defer func() {
		for _, c := range s.classes {
			c.plain = nil
		}
	}()
	groups := make(map[uint64][]*class)
	var order []uint64
	refined := make(map[uint64]bool)
	for _, c := range s.classes {
		if s.keepsLanes && len(c.shape().lanes) > 0 {
			continue
		}
		p := c.sequence()
		if p == 0 {
			continue
		}
		if groups[p] == nil {
			order = append(order, p)
		}
		groups[p] = append(groups[p], c)
		refined[p] = refined[p] || c.split
	}
	gone := make(map[*class]*class)
	for _, p := range order {
		g := groups[p]
		if len(g) < 2 {
			continue
		}
		var tried *united
		if !refined[p] {
			if len(g) < minFragments || !s.tries() {
				continue
			}
			if j, ok := s.asOne(g[:min(len(g), sample)]); !ok {
				continue
			} else if len(g) <= sample {
				tried = j
			}
		}
		if tried == nil {
			tried = unite(g)
		}
		if tried == nil {
			continue
		}
		gone[g[0]] = tried.finish()
		for _, c := range g[1:] {
			gone[c] = nil
		}
	}
	if len(gone) == 0 {
		return
	}
	old := s.classes
	s.classes, s.index = nil, nil
	for _, c := range old {
		if j, ok := gone[c]; !ok {
			s.add(c)
		} else if j != nil {
			s.add(j)
		}
	}
}

// mayRefine reports whether refining has any chance, without expanding calls.
func (s *MergedBlock) mayRefine() bool {
	for _, c := range s.classes {
		if c.split {
			return true
		}
	}
	return len(s.classes) >= minFragments && s.tries()
}

// tries reports whether the block has a size at which refining is tried.
func (s *MergedBlock) tries() bool {
	level := bits.TrailingZeros(uint(s.ranks))
	return s.ranks == 1<<level && level >= minLevel && level%everyLevel == 0
}

// asOne reports whether classes take less room as one, or only slightly more, and returns the united class.
// Slightly more is accepted, as few ranks show less of a pattern than all. Without a pattern, one class takes twice
// the room from the start.
//
// The file's exact size requires fitting forms to the columns of all classes. That takes ten times the time of the
// rest of refining, so it is done only if the sizes without forms are not conclusive.
func (s *MergedBlock) asOne(list []*class) (*united, bool) {
	u := unite(list)
	if u == nil {
		return nil, false
	}
	if clearlyWorth(u.class, list) {
		return u, true
	}
	ranks := s.first + s.ranks
	return u, 5*s.fileSize(ranks, u.class) <= 6*s.fileSize(ranks, list...)
}

// clearlyWorth reports whether one class, with all columns written out, is so little longer than the classes it
// unites that forms of the columns will make it shorter. If columns have forms, as with the message sizes of the NAS
// benchmark SP, one class of 16 ranks has up to twice as many bytes as all classes. If the order of values is random,
// it has five times as many.
func clearlyWorth(one *class, list []*class) bool {
	many := 0
	for _, c := range list {
		many += c.rawSize()
	}
	return one.rawSize() <= bearable*many
}

// bearable is the largest ratio, accepted by clearlyWorth, of the size of one class to that of the classes it unites.
const bearable = 3

// rawSize is approximately how many bytes the grammars, terminals and varying columns of the class take uncompressed.
func (c *class) rawSize() int {
	sh := c.shape()
	n := sh.terminals()
	var b []byte
	for _, g := range sh.streams {
		b = g.AppendBinary(b[:0])
		n += len(b)
	}
	for i := range sh.lanes {
		b = sh.lanes[i].append(b[:0])
		n += len(b)
	}
	for _, cols := range [][]column.Column{c.counts, c.values.cols, c.steps} {
		for i := range cols {
			if _, same := cols[i].Uniform(); !same {
				b = cols[i].AppendRuns(b[:0])
				n += len(b)
			}
		}
	}
	return n
}

// fileSize is how many bytes the classes take in a file of their own. The size of their messages would be a poor
// estimate.
func (s *MergedBlock) fileSize(ranks int, list ...*class) int {
	c := sections.Content{Ranks: ranks, Sites: s.sites, CallerSites: s.outer}
	c.Processes.AppendNone(ranks)
	for _, k := range list {
		out, err := k.inFile()
		if err != nil {
			return math.MaxInt
		}
		c.Classes = append(c.Classes, out)
	}
	n, err := sections.EstimateEncodedCallBytes(&c)
	if err != nil {
		return math.MaxInt
	}
	return n
}
