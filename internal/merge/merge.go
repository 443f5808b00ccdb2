// Package merge brings the tracks of all ranks together: ranks that did the
// same calls in the same order, up to the values of parameters and to how often
// loops ran, become one class; their values and counts become columns.
//
// Invariants:
//
//  1. A state MUST cover a contiguous block of ranks, and only a block may
//     join the one right before it; otherwise appending columns would not put
//     values in rank order.
//  2. Ranks MUST share a class only if grammars and skeletons are equal byte
//     by byte; otherwise two hashes that happen to be equal would falsify a trace.
//  3. A state MUST depend on the tracks alone, not on when messages came or on
//     who merges; otherwise equal runs would not give equal files. The tree is
//     the same everywhere: refining looks at what a subtree holds.
//  4. A rank in trouble MUST still send a message; otherwise all others would
//     wait forever in their MPI_Finalize.
//
// The package does not record, and does not know how messages travel or what a
// file looks like.
package merge

import (
	"fmt"

	"spoor/internal/track"
)

// Merge reduces the tracks of all ranks of a transport to rank 0, which gets
// the state of the whole world; the others get nil. Every rank has to call it.
// A nil track stands for a rank that has none.
//
// What goes wrong with some rank's track or message leaves out the ranks behind
// it and is told in the state's Problems. An error means that this rank can't
// go on.
func Merge(t Transport, tr *track.Track) (*State, error) {
	s, _, err := MergeFirst(t, tr)
	return s, err
}

// MergeFirst is Merge with something to come after it, in which all ranks with a
// track that has a Log take part; see Gathering.
func MergeFirst(t Transport, tr *track.Track) (*State, *Gathering, error) {
	g := &Gathering{t: t, own: tr != nil && tr.Log != nil}
	s, err := merge(t, tr, g)
	return s, g, err
}

func merge(t Transport, tr *track.Track, g *Gathering) (*State, error) {
	rank, size := t.Rank(), t.Size()
	s, err := leaf(tr, rank, size)
	if err != nil {
		s = lost(rank, 1, err)
	}
	for step := 1; step < size; step <<= 1 {
		if rank&step != 0 {
			// The flag stands apart, to be read whatever becomes of the message.
			flag := byte(0)
			if g.Needed() {
				flag = 1
			}
			if err := t.Send(rank-step, append([]byte{flag}, s.encode()...)); err != nil {
				return nil, fmt.Errorf("merge: rank %d: %w", rank, err)
			}
			return nil, nil
		}
		from := rank + step
		if from >= size {
			continue
		}
		width := min(step, size-from)
		msg, err := t.Recv(from)
		if err != nil {
			return nil, fmt.Errorf("merge: rank %d: %w", rank, err)
		}
		if len(msg) > 0 && msg[0] != 0 {
			g.children = append(g.children, child{from, width})
		}
		other, err := decode(msg[min(1, len(msg)):], s)
		switch {
		case err != nil:
			other = lost(from, width, err)
		case other.first != from || other.ranks != width:
			other = lost(from, width, fmt.Errorf("message of ranks %d to %d", other.first, other.first+other.ranks-1))
		}
		other.pinned = len(msg) > 0 && msg[0] != 0
		if err := s.join(other); err != nil {
			if err := s.join(lost(from, width, err)); err != nil {
				return nil, fmt.Errorf("merge: rank %d: %w", rank, err)
			}
		}
	}
	return s, nil
}

// parent is the rank that Merge sends to.
func parent(rank int) int { return rank & (rank - 1) }

// MergeAll merges the tracks of a world that are at hand in one process. The
// world has as many ranks as the highest rank among them says, or ranks if that
// is more; ranks without a track are left out of all classes.
func MergeAll(tracks []*track.Track, ranks int) (*State, error) {
	byRank := make(map[int]*track.Track, len(tracks))
	for _, tr := range tracks {
		if tr.Rank < 0 {
			return nil, fmt.Errorf("merge: rank %d", tr.Rank)
		}
		if byRank[tr.Rank] != nil {
			return nil, fmt.Errorf("merge: rank %d has two tracks", tr.Rank)
		}
		byRank[tr.Rank] = tr
		ranks = max(ranks, tr.Rank+1)
	}
	if ranks == 0 {
		return &State{}, nil
	}
	return block(byRank, 0, ranks, ranks)
}

// block merges the ranks from first on, of a world of so many, as Merge does at
// that rank.
func block(byRank map[int]*track.Track, first, ranks, world int) (*State, error) {
	s, err := leaf(byRank[first], first, world)
	if err != nil {
		s = lost(first, 1, err)
	}
	for step := 1; first&step == 0 && first+step < ranks; step <<= 1 {
		from := first + step
		width := min(step, ranks-from)
		other, err := block(byRank, from, from+width, world)
		if err != nil {
			return nil, err
		}
		if err := s.join(other); err != nil {
			if err := s.join(lost(from, width, err)); err != nil {
				return nil, fmt.Errorf("merge: %w", err)
			}
		}
	}
	return s, nil
}
