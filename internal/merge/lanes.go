package merge

import (
	"errors"

	"spoor/internal/column"
	"spoor/internal/track"
	"spoor/trace"
)

var errLanes = errors.New("lanes don't fit their terminals")

// checkLanes refuses what would make a file that can't be read.
func checkLanes(tr *track.Track) error {
	if len(tr.Lanes) == 0 {
		return nil
	}
	calls := make([]uint64, len(tr.Sigs))
	several := make([]bool, len(tr.Sigs))
	for _, st := range tr.Streams {
		for i, n := range st.Grammar.Counts(len(calls)) {
			several[i] = several[i] || calls[i] > 0 && n > 0
			calls[i] += n
		}
	}
	last := -1
	for i := range tr.Lanes {
		l := &tr.Lanes[i]
		if l.Terminal <= last || l.Terminal >= len(tr.Sigs) || len(l.Values) == 0 || several[l.Terminal] {
			return errLanes
		}
		last = l.Terminal
		before := -1
		for _, p := range l.Values {
			if p <= before || p >= len(tr.Sigs[last].Vals) {
				return errLanes
			}
			before = p
		}
		if err := l.Steps.Check(); err != nil {
			return err
		}
		next := uint32(0)
		for _, t := range l.Steps.Terminals() {
			if t > next {
				return errLanes
			}
			next = max(next, t+1)
		}
		if int(next) != len(l.By) || l.Steps.Len()+1 != calls[last] {
			return errLanes
		}
		for _, step := range l.By {
			if len(step) != len(l.Values) {
				return errLanes
			}
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
