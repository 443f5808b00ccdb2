package traced

import "github.com/spoor-hpc/spoor/trace"

// A sequence is a walk shared by all ranks that visit the same leaves in the same order. It is read once, a little
// ahead of the fastest rank; stretches that every rank has passed are freed.
type sequence struct {
	of    *trace.Leaves
	k     *trace.Rank
	main  trace.OuterLoop
	begin uint64 // how many visits were skipped
	first *chunk // until one has passed it
	size  int
	later map[uint64]*sequence // by the number of visits that they begin after
}

// A chunk is a stretch of a sequence.
type chunk struct {
	visits []visited
	from   uint64           // how many visits precede it
	next   *chunk           // nil: not gone through yet
	cursor trace.LeafCursor // where the last one so far ends
}

// visited is a visit, and where in the main loop it is.
type visited struct {
	leaf            int32 // -1: the end
	enters, between bool
	left            uint64 // rounds of the main loop, if between two of these
}

// Visits that are looked at ahead, for ranks that share them, and for one alone.
const shareAhead, aloneAhead = 1024, 16

// sequenceOf returns that of a rank, whose places are those of others too if it is shared.
func (s *ProgramSource) sequenceOf(k *trace.Rank, of *trace.Leaves, share bool) *sequence {
	if x := s.sequences[of]; share && x != nil {
		return x
	}
	x := &sequence{of: of, k: k, main: of.Cursor(k).MainLoop(), size: aloneAhead}
	if share {
		x.size = shareAhead
		s.sequences[of] = x
	}
	return x
}

// start returns the beginning. Who asks for it when another has passed it goes through the sequence anew.
func (x *sequence) start() *chunk {
	if x.first == nil {
		x.first = &chunk{from: x.begin, cursor: x.of.Cursor(x.k)}
		x.first.cursor.Skip(x.begin)
		x.fill(x.first)
	}
	return x.first
}

// after returns the next stretch.
func (x *sequence) after(s *chunk) *chunk {
	if x.first == s {
		x.first = nil
	}
	if s.next == nil {
		s.next = &chunk{from: s.from + uint64(len(s.visits)), cursor: s.cursor}
		x.fill(s.next)
	}
	return s.next
}

func (x *sequence) fill(s *chunk) {
	s.visits = make([]visited, 0, x.size)
	for len(s.visits) < x.size {
		v := visited{leaf: -1}
		v.left, v.between = s.cursor.RoundsLeft(x.main)
		leaf, loops, ok := s.cursor.Next()
		if v.enters = loops > 0; ok {
			v.leaf = int32(leaf)
		}
		if s.visits = append(s.visits, v); !ok {
			return
		}
	}
}

// from returns the sequence that begins after a number of visits.
func (x *sequence) from(visits uint64) *sequence {
	if y := x.later[visits]; y != nil {
		return y
	}
	y := &sequence{of: x.of, k: x.k, main: x.main, size: x.size, begin: visits}
	if x.later == nil {
		x.later = make(map[uint64]*sequence)
	}
	x.later[visits] = y
	return y
}
