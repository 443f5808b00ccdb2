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
	"errors"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/track"
)

// Merge reduces the tracks of all ranks of a transport to rank 0. Rank 0 gets the state of the whole world, the
// others get nil. Every rank has to call it. tr is nil on a rank without a track.
//
// A fault in some rank's track or message leaves out that rank's subtree and is noted in the state's Problems. An
// error means that this rank cannot continue.
func Merge(t Transport, tr *track.Track) (*MergedBlock, error) {
	s, _, err := MergeAndPlanGathering(t, tr, nil)
	return s, err
}

// MergeAndPlanGathering is Merge, followed by preparations to collect the times of calls; see SeriesGathering. trouble is
// the reason for a missing track, if known.
func MergeAndPlanGathering(t Transport, tr *track.Track, trouble error) (*MergedBlock, *SeriesGathering, error) {
	g := &SeriesGathering{HasOwnTimes: tr != nil && tr.TimeLog != nil}
	s, err := merge(t, tr, trouble, g)
	return s, g, err
}

func merge(t Transport, tr *track.Track, trouble error, g *SeriesGathering) (s *MergedBlock, err error) {
	rank, size := t.Rank(), t.Size()
	if err = trouble; err == nil {
		err = attempt(func() (err error) {
			s, err = leaf(tr, rank, size)
			return err
		})
	}
	if err != nil {
		s = lost(rank, 1, err)
	}
	for step := 1; step < size; step <<= 1 {
		if rank&step != 0 {
			if err := t.Send(rank-step, g.message(s)); err != nil {
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
		var other *MergedBlock
		if err == nil && len(msg) == 0 {
			err = errEmpty
		}
		if err == nil {
			if msg[0] != 0 {
				g.Children = append(g.Children, ChildBlock{from, width})
			}
			err = attempt(func() (err error) {
				other, err = decode(msg[1:], s)
				return err
			})
		}
		switch {
		case err != nil:
			other = lost(from, width, err)
		case other.first != from || other.ranks != width:
			other = lost(from, width, fmt.Errorf("message of ranks %d to %d", other.first, other.first+other.ranks-1))
		}
		other.keepsLanes = len(msg) > 0 && msg[0] != 0
		if s, err = s.receive(other); err != nil {
			return nil, fmt.Errorf("merge: rank %d: %w", rank, err)
		}
	}
	return s, nil
}

var errEmpty = errors.New("empty message")

// receive joins other to s. If that fails, it marks the ranks of other as lost.
func (s *MergedBlock) receive(other *MergedBlock) (*MergedBlock, error) {
	first, ranks := s.first, s.ranks
	err := attempt(func() error { return s.join(other) })
	if err == nil {
		return s, nil
	}
	var bug *panicked
	if errors.As(err, &bug) {
		// the failed join may have left s inconsistent
		s = lost(first, ranks, err)
	}
	return s, s.join(lost(other.first, other.ranks, err))
}

// message encodes the state for the parent. The flag for times of calls is separate, so that it can be read even if
// the state cannot.
func (g *SeriesGathering) message(s *MergedBlock) []byte {
	msg := []byte{0}
	if g.IsNeeded() {
		msg[0] = 1
	}
	body := []byte(nil)
	err := attempt(func() error {
		for _, c := range s.classes {
			if n := c.values.nums.n; n > maxValues {
				return fmt.Errorf("%d values of one class, at most %d can be merged", n, maxValues)
			}
		}
		body = s.encode()
		return nil
	})
	if err != nil {
		body = lost(s.first, s.ranks, err).encode()
	}
	return append(msg, body...)
}

// A panicked is a panic in this package, converted to an error. So a defect does not keep other ranks waiting.
type panicked struct{ what any }

func (p *panicked) Error() string { return fmt.Sprintf("defect: %v", p.what) }

// attempt calls f and returns its error; it converts a panic to an error.
func attempt(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicked{p}
		}
	}()
	return f()
}

// Parent is the rank that Merge sends to.
func Parent(rank int) int { return rank & (rank - 1) }

// Children lists the ranks from which Merge receives at a rank, in order.
func Children(rank, size int) (list []ChildBlock) {
	for step := 1; rank&step == 0 && rank+step < size; step <<= 1 {
		list = append(list, ChildBlock{rank + step, min(step, size-rank-step)})
	}
	return list
}

// MergeAll merges the tracks of a world that are at hand in one process. The
// world has as many ranks as the highest rank among them says, or ranks if that
// is more; ranks without a track are left out of all classes.
func MergeAll(tracks []*track.Track, ranks int) (*MergedBlock, error) {
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
		return &MergedBlock{}, nil
	}
	return block(byRank, 0, ranks, ranks)
}

// block merges the ranks of a world from first on, as Merge does at rank first.
func block(byRank map[int]*track.Track, first, ranks, world int) (*MergedBlock, error) {
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

// A Transport carries messages between the ranks of a program. Messages
// between two ranks arrive in the order in which they were sent.
type Transport interface {
	Rank() int
	Size() int
	Send(to int, msg []byte) error
	Recv(from int) ([]byte, error)
}

// LocalTransports returns the transports of n virtual ranks in one process, each to be
// used by a goroutine of its own.
func LocalTransports(n int) []Transport {
	boxes := make(map[[2]int]chan []byte)
	// Only the edges of the tree are used, so that a channel for each of the n² pairs is not needed.
	for r := 1; r < n; r++ {
		boxes[[2]int{r, Parent(r)}] = make(chan []byte, 1)
		boxes[[2]int{Parent(r), r}] = make(chan []byte, 1)
	}
	list := make([]Transport, n)
	for i := range list {
		list[i] = &memory{rank: i, size: n, boxes: boxes}
	}
	return list
}

type memory struct {
	rank, size int
	boxes      map[[2]int]chan []byte
}

var errNoEdge = errors.New("not an edge of the tree")

func (m *memory) Rank() int { return m.rank }

func (m *memory) Size() int { return m.size }

func (m *memory) Send(to int, msg []byte) error {
	box := m.boxes[[2]int{m.rank, to}]
	if box == nil {
		return fmt.Errorf("send from %d to %d: %w", m.rank, to, errNoEdge)
	}
	box <- msg
	return nil
}

func (m *memory) Recv(from int) ([]byte, error) {
	box := m.boxes[[2]int{from, m.rank}]
	if box == nil {
		return nil, fmt.Errorf("receive from %d at %d: %w", from, m.rank, errNoEdge)
	}
	return <-box, nil
}
