package signature

import (
	"errors"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

var errLane = errors.New("a lane that does not fit")

// Code codes the whole table.
func (t *LaneTable) Code(c *wire.Coder, may LaneCandidateFinder) {
	if c.Reader != nil {
		*t = LaneTable{PromoteAfter: t.PromoteAfter}
	}
	t.CodeKeys(c, 0, may)
	for _, l := range t.lanes {
		if !c.Failed() {
			l.code(c)
		}
	}
	t.CodeTimes(c)
}

// CodeKeys codes the signatures from number first on. When reading, signatures with lanes get empty lanes.
func (t *LaneTable) CodeKeys(c *wire.Coder, first int, may LaneCandidateFinder) {
	t.Table.CodeKeys(c, first, func(k Key) error {
		if k.HasLane() {
			return t.loadLaneKey(k, may)
		}
		n := t.insert(k)
		if words := may(k); len(words) > 0 {
			t.join(n, words)
		}
		return nil
	})
}

// loadLaneKey adds a signature with a lane. Its family must exist already.
func (t *LaneTable) loadLaneKey(k Key, may LaneCandidateFinder) error {
	words := len(k) - KeyHeaderWords - 1
	if words < 1 || k[len(k)-1] < 1 || k[len(k)-1] > int64(words) || k.Thread() < 0 || k.Thread() > maxThread {
		return errLane
	}
	like := append(Key{int64(k.FunctionID()), int64(k.Site())}, k.Values()...)
	in := may(like)
	next := 0
	for _, w := range k.LanePositions() {
		for next < len(in) && int64(in[next]) < w {
			next++
		}
		if next == len(in) || int64(in[next]) != w {
			return errLane
		}
		next++
	}
	f := t.familyOf(like, in)
	if f == nil {
		return errLane
	}
	another := f.lane != NoStep && slices.Equal(t.Key(f.lane).LanePositions(), k.LanePositions()) && fitsWords(t.Key(f.lane), like)
	if another {
		t.addLane(k, NoStep)
	} else {
		t.promoted(f, t.addLane(k, f.last))
	}
	return nil
}

// maxThread is the largest number of a thread in a key that is read.
const maxThread = 1 << 20

func (b *LaneBuilder) code(c *wire.Coder) {
	steps := b.steps
	c.Integers(&b.first)
	c.Integers(&b.last)
	c.Integers(&steps)
	if width := len(b.words); c.Reader != nil {
		if len(b.first) != width || len(b.last) != width || len(steps)%width != 0 {
			c.RecordError(errLane)
			return
		}
		for ; len(steps) > 0; steps = steps[width:] {
			if n := b.DistinctStepCount(); b.number(steps[:width]) != uint32(n) {
				c.RecordError(errLane)
				return
			}
		}
	}
	wire.CodeAbove(c, &b.prev, NoStep, b.DistinctStepCount())
	b.order, b.noted = b.order.CodeSequence(c, b.DistinctStepCount()), b.DistinctStepCount()
}

// CheckLanes refuses lanes without calls.
func (t *LaneTable) CheckLanes(c *wire.Coder) {
	for _, l := range t.lanes {
		if l.first == nil {
			c.RecordError(errLane)
			return
		}
	}
}

// LogCall writes a note from which ReadLoggedCall can add the last call of the lane of signature n again.
//
//	note = n, 1 + number of the step (0: the lane's first call),
//	       the lane's values if it is the first call, or what the step adds if no earlier note has that
func (t *LaneTable) LogCall(c *wire.Coder, n uint32) {
	l := t.Lane(n)
	step := l.prev
	wire.CodeNaturals(c, &n)
	wire.CodeAbove(c, &step, NoStep, math.MaxInt)
	switch {
	case l.prev == NoStep:
		c.Integers(&l.first)
	case int(l.prev) >= l.noted:
		add := l.StepValues(l.prev)
		c.Integers(&add)
		l.noted = int(l.prev) + 1
	}
}

// ReadLoggedCall reads a note of LogCall, and adds its call to the lane.
func (t *LaneTable) ReadLoggedCall(c *wire.Coder) {
	var n uint32
	if wire.CodeIndex(c, &n, t.Len()); c.Failed() {
		return
	}
	l := t.Lane(n)
	if l == nil {
		c.RecordError(errLane)
		return
	}
	var step uint32
	var values []int64
	wire.CodeAbove(c, &step, NoStep, l.DistinctStepCount()+1)
	if step == NoStep || int(step) == l.DistinctStepCount() {
		if c.Integers(&values); c.Reader.Err() == nil && len(values) != len(l.words) {
			c.RecordError(errLane)
		}
	}
	switch {
	case c.Failed():
	case (step == NoStep) != (l.first == nil):
		c.RecordError(errLane)
	case step == NoStep:
		l.first, l.last = values, slices.Clone(values)
	case int(step) == l.DistinctStepCount() && l.number(values) != step:
		c.RecordError(errLane)
	default:
		l.AppendStep(step)
	}
}
