package trace

import (
	"fmt"
	"math"

	"spoor/internal/wire"
)

// Check goes through a whole trace and returns the first thing that is wrong
// with it. It is stricter than reading: everything is decoded, for every rank,
// and numbers that have to agree are compared.
func Check(r *Reader) error {
	if _, err := r.Clocks(); err != nil {
		return err
	}
	if _, err := r.lives(); err != nil {
		return err
	}
	for i := range r.sections {
		s := &r.sections[i]
		if s.codec == codecRaw {
			if err := s.sumRaw(r.src); err != nil {
				return r.failed(s.id, err)
			}
			continue
		}
		if _, err := s.load(r.src); err != nil {
			return r.failed(s.id, err)
		}
	}
	t, err := r.tables()
	if err != nil {
		return err
	}
	if err := r.checkSignatures(t); err != nil {
		return err
	}
	for n := range r.Classes() {
		if err := r.checkClass(n); err != nil {
			return err
		}
	}
	for rank, n := range r.place {
		if n < 0 {
			continue
		}
		if err := r.checkRank(rank); err != nil {
			return err
		}
	}
	if _, err := r.procs(); err != nil {
		return err
	}
	_, err = r.Comms()
	return err
}

// checkSignatures finds table entries that nothing refers to.
func (r *Reader) checkSignatures(t *tables) error {
	used := make([]bool, t.sigs.total)
	functions := make(map[uint16]bool)
	for n := range r.Classes() {
		w := wire.NewReader(t.classes[n], fmt.Sprintf("class %d", n))
		_, _, sigs := decodeClass(w, t.sigs)
		if err := w.Done(); err != nil {
			return r.failed(secClasses, fmt.Errorf("%w: %w", err, ErrFormat))
		}
		for _, s := range sigs {
			used[s] = true
			g, _ := t.sigs.find(s)
			functions[g.call] = true
		}
	}
	for s, ok := range used {
		if !ok {
			return r.failed(secSignatures, fmt.Errorf("no class has signature %d: %w", s, ErrFormat))
		}
	}
	for _, f := range r.schema {
		if !functions[f.ID] {
			return r.failed(secSchema, fmt.Errorf("function %s does not occur: %w", f.Name, ErrFormat))
		}
	}
	return nil
}

// checkClass compares the statistics of a class with its calls.
func (r *Reader) checkClass(n int) error {
	c, err := r.classAt(n)
	if err != nil {
		return err
	}
	times, hists, err := r.timesOf(n)
	if err != nil {
		return err
	}
	calls, err := r.calls(n, c)
	if err != nil {
		return err
	}
	if err := r.checkHistograms(n, hists, calls); err != nil {
		return err
	}
	values, err := r.Values(n)
	if err != nil {
		return err
	}
	for name, list := range values {
		for i, s := range list {
			slack := 1 + 1e-9*math.Max(math.Abs(float64(s.Min)), math.Abs(float64(s.Max)))
			out := s.Mean() < float64(s.Min)-slack || s.Mean() > float64(s.Max)+slack
			if s.Count > 0 && out && s.Sum != math.MaxInt64 && s.Sum != math.MinInt64 {
				return r.failed(secValues, fmt.Errorf("class %d: terminal %d: %s from %d to %d with the sum %d: %w", n, i, name, s.Min, s.Max, s.Sum, ErrFormat))
			}
		}
	}
	for i, t := range times {
		for _, s := range []Stat{t.Duration, t.Gap} {
			if err := checkStat(s, calls[i]); err != nil {
				return r.failed(secTimes, fmt.Errorf("class %d: terminal %d: %w: %w", n, i, err, ErrFormat))
			}
		}
		for _, s := range []Spread{t.DurationTotals, t.GapTotals} {
			if err := checkSpread(s); err != nil {
				return r.failed(secTimes, fmt.Errorf("class %d: terminal %d: %w: %w", n, i, err, ErrFormat))
			}
		}
	}
	return nil
}

// checkStat holds a summary against the number of calls. A call that was under
// way when the process died has no duration, and a thread's first no gap.
func checkStat(s Stat, calls uint64) error {
	switch {
	case s.Count > calls:
		return fmt.Errorf("%d times of %d calls", s.Count, calls)
	case s.Min > s.Max:
		return fmt.Errorf("shortest time %d is longer than the longest, %d", s.Min, s.Max)
	case s.Count > 0 && s.Max < math.MaxUint32 && s.Count < math.MaxUint32/2:
		// Ticks became nanoseconds each for itself, so the sum may be off by
		// half a one for each.
		if s.Sum+s.Count < s.Min*s.Count || s.Sum > s.Max*s.Count+s.Count {
			return fmt.Errorf("%d times from %d to %d have the sum %d", s.Count, s.Min, s.Max, s.Sum)
		}
	}
	// No set with these extremes deviates more than one with half of it at each.
	if d, most := s.Deviation(), float64(s.Max-s.Min)/2; s.Count > 0 && d > most*1.02+2 {
		return fmt.Errorf("times from %d to %d deviate by %.0f", s.Min, s.Max, d)
	}
	return nil
}

// checkSpread holds the totals of a class's ranks against their mean.
func checkSpread(s Spread) error {
	if m := s.Mean(); s.Ranks > 0 && (float64(s.Min) > m+1 || float64(s.Max) < m-1) {
		return fmt.Errorf("ranks' totals from %d to %d have the mean %.0f", s.Min, s.Max, m)
	}
	return nil
}

// checkRank decodes every distinct call of a rank.
func (r *Reader) checkRank(rank int) error {
	k, err := r.Rank(rank)
	if err != nil {
		return err
	}
	for i := range k.Terminals() {
		c, err := k.Terminal(i)
		if err != nil {
			return err
		}
		if err := checkCall(c); err != nil {
			return r.failed(secSignatures, fmt.Errorf("rank %d: terminal %d: %s: %w: %w", rank, i, c.Name(), err, ErrFormat))
		}
	}
	for stream := range k.Streams() {
		n := k.Len(stream)
		sum := uint64(0)
		for _, c := range k.Counts(stream) {
			sum += c
		}
		if sum != n {
			return r.failed(secClasses, fmt.Errorf("rank %d: stream %d: %d calls by sum, %d by length: %w", rank, stream, sum, n, ErrFormat))
		}
	}
	return k.checkSeries()
}

// checkCall looks at values that decode but make no sense.
func checkCall(c *Call) error {
	for i := range c.Params {
		p := &c.Params[i]
		for _, v := range []*Value{&p.In, &p.Out} {
			if err := checkValue(v); err != nil {
				return fmt.Errorf("parameter %s: %w", p.Name(), err)
			}
		}
	}
	if n := c.NewComm; n != nil && (n.Rank < -1 || n.Rank >= n.Size) {
		return fmt.Errorf("rank %d in a communicator of %d", n.Rank, n.Size)
	}
	return nil
}

func checkValue(v *Value) error {
	switch v.Type {
	case Handle:
		if v.Num < UnknownHandle {
			return fmt.Errorf("handle %d", v.Num)
		}
	case Address:
		if v.Addr.ID < 0 {
			return fmt.Errorf("segment %d", v.Addr.ID)
		}
	case Array:
		for i := range v.Elems {
			if err := checkValue(&v.Elems[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
