package capture

// Mostly calls from the cache come in laps of a loop. Then a lap is compared with the one before
// it, in the ring, and with nothing else: the same words do the same where the same names are
// known. So no name changes in it, and no request is under way before or behind it.

// A lapping is how far that is known.
type lapping struct {
	calls int    // of a lap; 0: not known
	since int    // how many were taken in since one began; -1: none has
	from  int    // where that is in the words
	stamp uint64 // what it began with
}

// A batch is calls from the cache, in order, that aren't counted: what counts takes many at once.
type batch struct {
	n         int
	prev      uint32 // terminal before them
	terminals [batchCalls]uint32
	begins    [batchCalls]uint64
	gaps      [batchCalls]uint64
	durations [batchCalls]uint64
}

const (
	batchCalls = 128
	longestLap = batchCalls / 2
)

// period returns how many calls of a full batch are a lap; 0: it has none.
func (b *batch) period() int {
next:
	for lap := 1; lap <= longestLap; lap++ {
		for i := lap; i < batchCalls; i++ {
			if b.terminals[i] != b.terminals[i-lap] {
				continue next
			}
		}
		return lap
	}
	return 0
}

// stamp changes with all names but those of one-shot requests.
func (c *Capture) stamp() uint64 { return c.epoch() + c.renamed + c.requests.Lasting }

// lapsFrom is called between calls from the cache, at a place in the words, when it is known
// how many are a lap. It takes in laps once there was one, and returns where the next call begins.
func (c *Capture) lapsFrom(s *stream, l *lapping, words []uint64, at int, limit uint64) int {
	if l.since >= 0 {
		if l.since++; l.since < l.calls {
			return at
		}
	}
	switch {
	case !c.requests.Idle():
	case l.since != l.calls || l.stamp != c.stamp():
		c.count(s, 0)
		l.since, l.from, l.stamp = 0, at, c.stamp()
	default:
		from := at
		if at = c.laps(s, words, l.from, at, l.calls, limit); at > from {
			c.count(s, l.calls)
			l.since = -1
		} else if l.calls *= 2; l.calls > longestLap { // requests may have other handles in turn
			*l = lapping{}
		}
	}
	return at
}

// laps takes in calls, of words that begin at a place, for as long as each lap is like the one
// before, of which the first began at from. It returns where the next call begins.
func (c *Capture) laps(s *stream, words []uint64, from, at, calls int, limit uint64) int {
	size := at - from
	ticks := c.ticks[:0]
	for range 2 * calls {
		if from+1 >= at {
			return at
		}
		ticks = append(ticks, from+1-(at-size))
		from += int(uint32(words[from]))
	}
	c.ticks = ticks
	b := c.batch
	var lap [longestLap]uint32 // its terminals
	copy(lap[:], b.terminals[:calls])
	last, latest := s.last, c.latest
	for at+size <= len(words) {
		now := words[at : at+size]
		if !alike(words[at-size:at], now, ticks) || now[ticks[len(ticks)-2]] > limit {
			break
		}
		if b.n+calls > batchCalls {
			c.count(s, calls)
		}
		for i := 0; i < len(ticks); i += 2 {
			begin, end := now[ticks[i]], now[ticks[i+1]]
			k := b.n & (batchCalls - 1)
			b.terminals[k], b.begins[k], b.gaps[k], b.durations[k] = lap[i/2], begin, since(last, begin), since(begin, end)
			b.n++
			last, latest = end, max(latest, end)
		}
		at += size
		c.lapped += calls
	}
	s.last, c.latest = last, latest
	return at
}

// alike reports whether two laps have the same words, but for the ticks.
func alike(a, b []uint64, ticks []int) bool {
	b = b[:len(a)]
	differ, i := uint64(0), 0
	for _, t := range ticks {
		for ; i+1 < t; i += 2 {
			differ |= a[i] ^ b[i] | a[i+1] ^ b[i+1]
		}
		if i < t {
			differ |= a[i] ^ b[i]
		}
		i = t + 1
	}
	for ; i < len(a); i++ {
		differ |= a[i] ^ b[i]
	}
	return differ == 0
}

// count takes in the order and the times of a batch, which is of laps of so many calls if that is not 0, and empties it.
func (c *Capture) count(s *stream, lap int) {
	b := c.batch
	if b.n == 0 {
		return
	}
	prev, terminals, gaps, durations := b.prev, b.terminals[:b.n], b.gaps[:b.n], b.durations[:b.n]
	b.prev, b.n = terminals[len(terminals)-1], 0
	if lap > 0 && len(terminals)%lap == 0 {
		s.grammar.AppendLaps(terminals[:lap], uint64(len(terminals)/lap))
	} else {
		for _, n := range terminals {
			s.grammar.Append(n)
		}
	}
	if c.checkpoints.chunks {
		for _, n := range terminals {
			s.note(n)
		}
	}
	if s.log != nil {
		s.log.addAll(b.begins[:len(terminals)], gaps, durations, c.cfg.StartTicks)
	}
	light := !c.timeless && c.hists == nil && !c.checkpoints.chunks
	if light && lap > 0 && prev == terminals[lap-1] {
		for i, n := range terminals[:lap] {
			c.sigs.Times(n).AddEach(durations[i:], gaps[i:], lap)
			if s.phases != nil {
				s.phases.addEach(n, prev, durations[i:], gaps[i:], lap)
			}
			prev = n
		}
		return
	}
	for i, n := range terminals {
		if light {
			c.sigs.Times(n).Add(durations[i], gaps[i])
		} else {
			c.countTimes(n, prev, 0, gaps[i], durations[i])
		}
		if s.phases != nil {
			s.phases.add(n, prev, durations[i], gaps[i])
		}
		prev = n
	}
}
