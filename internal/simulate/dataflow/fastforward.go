package dataflow

import (
	"fmt"
	"slices"
)

// A cut is the state at a moment when all ranks have equally many iterations of their main loop left. Suppose it
// equals that at an earlier cut, but for the time passed. Then the following iterations repeat those since the
// earlier cut and take the same time, until the loop ends.
type cut struct {
	left  uint64 // number of iterations left
	start int64  // time of the first simulated rank, in ps; times in state are relative to it
	state []int64
	spent [][compute]int64
	count []uint64
}

const (
	fewest   = 4       // least number of iterations with which repetitions are searched for
	mostCut  = 100     // largest number of cuts tried; if none repeats an earlier one, the search ends
	mostKept = 1 << 21 // largest count of numbers stored for all cuts; older cuts are dropped
)

// forward simulates until iterations of the main loop repeat, and skips the repetitions.
func (e *engine) forward(short *ShortCuts) error {
	var active []int32
	rounds := ^uint64(0)
	for r := range e.ranks {
		x := &e.ranks[r]
		if x.like != int32(r) || x.program == nil {
			continue
		}
		if x.visits == nil {
			return nil
		}
		active = append(active, int32(r))
		rounds = min(rounds, x.visits.MainLoopRounds())
	}
	if len(active) == 0 || rounds < fewest {
		return nil
	}
	e.cutting, e.target = true, rounds-1
	var cuts []*cut
	kept, failed := 0, 0
	for range mostCut {
		if err := e.run(); err != nil {
			return err
		}
		whole := true
		for _, r := range active {
			whole = whole && e.ranks[r].halted
		}
		if whole {
			failed = 0
			c := e.cut(active)
			for i := len(cuts) - 1; c != nil && i >= 0; i-- {
				if slices.Equal(cuts[i].state, c.state) {
					if err := e.pass(active, cuts[i], c, short); err != nil {
						return err
					}
					e.goOn(active)
					e.cutting = false
					return nil
				}
			}
			if c != nil {
				cuts = append(cuts, c)
				kept += len(c.state) + int(compute+1)*len(active)
				for len(cuts) > 1 && kept > mostKept {
					kept -= len(cuts[0].state) + int(compute+1)*len(active)
					cuts = cuts[1:]
				}
			}
		} else if failed++; failed > 3 {
			break
		}
		e.goOn(active)
		if e.target <= 2 {
			break
		}
		e.target--
	}
	e.cutting = false
	e.goOn(active)
	return nil
}

// goOn lets ranks that stopped for a cut continue. active are the simulated ranks.
func (e *engine) goOn(active []int32) {
	for i := len(active) - 1; i >= 0; i-- {
		if x := &e.ranks[active[i]]; x.halted {
			x.halted = false
			e.ready = append(e.ready, active[i])
		}
	}
}

// cut returns the state of all ranks and messages; nil if a collective, or an operation such as OpPut, is pending.
func (e *engine) cut(active []int32) *cut {
	if len(e.meetings) > 0 {
		return nil
	}
	c := &cut{left: e.target, start: e.ranks[active[0]].now}
	at := func(t int64) int64 { return t - c.start }
	for _, r := range active {
		x := &e.ranks[r]
		c.spent, c.count = append(c.spent, x.spent), append(c.count, x.count)
		c.state = append(c.state, at(x.now), at(max(x.free, x.now)))
		for ago := int32(1); ago <= int32(x.mask)+1; ago++ {
			n := x.ago(ago)
			switch q := x.request(n); {
			case q == nil:
			case q.visit != nil:
				return nil
			case q.channel != nil:
				begun := q.channel.sends
				if q.kind == OpReceive {
					begun = q.channel.receives
				}
				c.state = append(c.state, int64(ago), int64(q.kind), int64(q.slot), int64(begun-q.number))
			}
		}
		c.state = append(c.state, -1)
	}
	for i := range e.fixed {
		k := &e.fixed[i]
		if k.own.state == 0 && k.more == nil {
			continue
		}
		c.state = append(c.state, int64(i), int64(k.sends-k.first), int64(k.receives-k.first))
		k.messages(func(m *message) {
			left, posted, cost := int64(0), int64(0), int32(0)
			if m.state.is(begun) {
				left, cost = at(m.left), m.cost
			}
			if m.state.is(wanted) {
				posted = at(m.posted)
			}
			c.state = append(c.state, left, posted, int64(cost), int64(m.state))
		})
		c.state = append(c.state, -1)
	}
	return c
}

// pass skips iterations that repeat those between two equal cuts, except the last few.
func (e *engine) pass(active []int32, before, now *cut, short *ShortCuts) error {
	period := before.left - now.left
	times := (now.left - 1) / period
	if times == 0 {
		return nil
	}
	took := now.start - before.start
	if took > 0 && int64(times) > (horizon-now.start)/took || times > uint64(horizon) {
		return fmt.Errorf("rank %d: %w", active[0], tooLong())
	}
	shift := int64(times) * took
	for i, r := range active {
		x := &e.ranks[r]
		x.now += shift
		x.free += shift
		for p := range x.spent {
			x.spent[p] += int64(times) * (now.spent[i][p] - before.spent[i][p])
		}
		x.count += times * (now.count[i] - before.count[i])
		x.visits.SkipRounds(times * period)
	}
	for i := range e.fixed {
		e.fixed[i].messages(func(m *message) {
			m.left += shift
			m.posted += shift
		})
	}
	short.SkippedRounds, short.PeriodRounds = times*period, period
	return nil
}
