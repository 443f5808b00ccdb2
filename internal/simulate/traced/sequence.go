package traced

import "github.com/spoor-hpc/spoor/trace"

// A sequence is a walk shared by all ranks that visit the same leaves in the same order. It is read once, slightly
// ahead of the fastest rank. Chunks that every rank has passed are freed.
type sequence struct {
	of    *trace.Leaves
	k     *trace.Rank
	main  trace.OuterLoop
	begin uint64 // number of the walk's visits before the sequence's first one
	first *chunk // first chunk of the sequence; nil before it is read, and once a rank has passed it
	size  int
	// Sequences of the same ranks that begin later in the walk; the key is their begin. They serve ranks that skip
	// iterations.
	later map[uint64]*sequence
}

// A chunk is consecutive visits of a sequence, which are read and freed together.
type chunk struct {
	visits []visited
	from   uint64           // number of the walk's visits before the chunk's first one
	next   *chunk           // following chunk; nil if it was not read yet
	cursor trace.LeafCursor // position in the walk after the chunk's last visit
}

// A visited is one visit of a leaf, and its position in the main loop.
type visited struct {
	leaf            int32 // number of the leaf; -1 at the end of the walk
	enters, between bool
	left            uint64 // if between is set: remaining iterations of the main loop
}

// How many calls of a rank are read at once: shareAhead if several ranks share the walk over the leaves, aloneAhead if
// it is for one rank.
const shareAhead, aloneAhead = 1024, 16

// sequenceOf returns the sequence of rank k, whose leaves are of. If share is set, all ranks with the same leaves get
// the same sequence.
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

// start returns the first chunk. If it was freed, the sequence is read again.
func (x *sequence) start() *chunk {
	if x.first == nil {
		x.first = &chunk{from: x.begin, cursor: x.of.Cursor(x.k)}
		x.first.cursor.Skip(x.begin)
		x.fill(x.first)
	}
	return x.first
}

// after returns the chunk that follows s, and reads it if no rank has needed it before.
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
		v.left, v.between = s.cursor.IterationsLeft(x.main)
		leaf, loops, ok := s.cursor.Next()
		if v.enters = loops > 0; ok {
			v.leaf = int32(leaf)
		}
		if s.visits = append(s.visits, v); !ok {
			return
		}
	}
}

// from returns the sequence of the same walk that begins after the given number of visits.
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
