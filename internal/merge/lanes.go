package merge

import (
	"errors"
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/lane"
	"github.com/spoor-hpc/spoor/internal/track"
)

var (
	errLanes = errors.New("lanes don't fit their terminals")
	errOrder = errors.New("terminals are not numbered by first occurrence")
)

// check refuses a shape of which a file could not be read: terminals that don't occur,
// and lanes of what is not there.
func (s *shape) check() error {
	if n, ok := grammar.Terminals(s.streams); !ok || n != s.terminals() {
		return errOrder
	}
	last := -1
	for i := range s.lanes {
		l := &s.lanes[i]
		if l.terminal <= last || l.terminal >= s.terminals() {
			return errLanes
		}
		last = l.terminal
		if err := lane.Check(l.values, s.skeleton(last).width, l.steps, l.kinds); err != nil {
			return err
		}
	}
	return nil
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
	used, err := lane.Used(streams, s.terminals())
	if err != nil {
		return err
	}
	for i, g := range orders {
		if err := g.Check(); err != nil {
			return err
		}
		if err := used.Fits(s.lanes[i].terminal, g); err != nil {
			return err
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
func (c *class) laneContent(out *sections.Class, sh *shape) {
	if len(sh.lanes) == 0 {
		return
	}
	own := grammar.Repeats(sh.streams)
	out.Counts, out.LaneCounts = c.counts[:own:own], c.counts[own:]
	next := 0
	for _, of := range sh.lanes {
		l := lane.Columns{Terminal: of.terminal, Values: of.values, Steps: of.steps}
		for range of.kinds {
			l.By = append(l.By, c.steps[next:next+len(l.Values)])
			next += len(l.Values)
		}
		out.Lanes = append(out.Lanes, l)
	}
}
