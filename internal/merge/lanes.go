package merge

import (
	"errors"
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

var (
	errLanes = errors.New("lanes don't fit their terminals")
	errOrder = errors.New("terminals are not numbered by first occurrence")
)

// check refuses a shape of which a file could not be read: terminals that don't occur,
// and lanes of what is not there.
func (s *shape) check() error {
	if err := inOrder(s.streams, len(s.skeletons)); err != nil {
		return err
	}
	last := -1
	for i := range s.lanes {
		l := &s.lanes[i]
		if l.terminal <= last || l.terminal >= len(s.skeletons) || len(l.values) == 0 {
			return errLanes
		}
		last = l.terminal
		before := -1
		for _, p := range l.values {
			if p <= before || p >= s.skeletons[last].width {
				return errLanes
			}
			before = p
		}
		if inOrder([]*grammar.Grammar{l.steps}, l.kinds) != nil {
			return errLanes
		}
	}
	return nil
}

// inOrder reports whether grammars have so many terminals, numbered by first occurrence.
func inOrder(list []*grammar.Grammar, want int) error {
	if n, ok := terminals(list); !ok || n != want {
		return errOrder
	}
	return nil
}

// terminals counts those of grammars, if they are numbered by first occurrence.
func terminals(list []*grammar.Grammar) (n int, ok bool) {
	next := uint32(0)
	for _, g := range list {
		if next, ok = g.Numbered(next); !ok {
			return 0, false
		}
	}
	return int(next), true
}

// checkLengths refuses streams that are too long, and lanes, with their steps in these
// orders, that are not as long as their terminals occur, all in one stream.
func (s *shape) checkLengths(streams, orders []*grammar.Grammar) error {
	total := uint64(0)
	for _, g := range streams {
		if err := g.Check(); err != nil {
			return err
		}
		sum, carry := bits.Add64(total, g.Len(), 0)
		if carry != 0 {
			return errLanes
		}
		total = sum
	}
	return s.checkLanes(streams, orders)
}

// checkLanes is checkLengths of streams that are known to be good.
func (s *shape) checkLanes(streams, orders []*grammar.Grammar) error {
	if len(orders) == 0 {
		return nil
	}
	calls := make([]uint64, len(s.skeletons))
	several := make([]bool, len(s.skeletons))
	for _, g := range streams {
		for i, n := range g.Counts(len(calls)) {
			several[i] = several[i] || calls[i] > 0 && n > 0
			calls[i] += n
		}
	}
	for i, g := range orders {
		if err := g.Check(); err != nil {
			return err
		}
		if t := s.lanes[i].terminal; several[t] || calls[t] == 0 || g.Len() != calls[t]-1 {
			return errLanes
		}
	}
	return nil
}

// leafSteps takes over what the steps of a rank's lanes add.
func (c *class) leafSteps(tr *track.Track) {
	for i := range tr.Lanes {
		for _, step := range tr.Lanes[i].By {
			for _, d := range step {
				c.steps = append(c.steps, column.Of(d))
			}
		}
	}
}

// laneContent gives a class its lanes, and each part the counts that are its own.
func (c *class) laneContent(out *trace.Class, sh *shape) {
	if len(sh.lanes) == 0 {
		return
	}
	own := 0
	for _, g := range sh.streams {
		own += repeats(g)
	}
	out.Counts, out.LaneCounts = c.counts[:own:own], c.counts[own:]
	next := 0
	for _, l := range sh.lanes {
		lane := trace.LaneColumns{Terminal: l.terminal, Values: l.values, Steps: l.steps}
		for range l.kinds {
			lane.By = append(lane.By, c.steps[next:next+len(l.values)])
			next += len(l.values)
		}
		out.Lanes = append(out.Lanes, lane)
	}
}
