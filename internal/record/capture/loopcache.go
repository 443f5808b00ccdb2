package capture

import "slices"

// Calls from the cache mostly are iterations of a loop. An iteration then is compared only with the one before it in
// the ring: equal words do the same if the same names are known. So no name changes in it but those of requests, and no
// request is under way before or after it.

// A lapping is how far that is known.
type lapping struct {
	round int // length of the sequence of calls that repeats; 0: not known
	calls int // of a lap, one or more rounds
	since int // how many were taken in since one began; -1: none has
	from  int // where that is in the words
}

// A lap of few calls takes more time for the lap than for its calls.
const fewCalls = 4

func lapsOf(round int) lapping {
	l := lapping{round: round, calls: round, since: -1}
	for round > 0 && l.calls < fewCalls {
		l.calls += round
	}
	return l
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

// round returns how many calls come again and again in a full batch; 0: none do.
func (b *batch) round() int {
	for n := 1; n <= longestLap; n++ {
		if b.terminals[n] == b.terminals[0] && slices.Equal(b.terminals[n:], b.terminals[:batchCalls-n]) {
			return n
		}
	}
	return 0
}

// mayLap reports whether a call may be one of a lap.
func (e *cached) mayLap() bool {
	return !e.inLane && !e.late && !e.lasting && e.use != freesRequest &&
		!slices.ContainsFunc(e.handleWords, func(m handleWord) bool { return m.changes() })
}

// lapsFrom is called between calls from the cache, at a place in the words, when it is known
// how many are a lap. It takes in laps once there was one, and returns where the next call begins.
func (c *Capture) lapsFrom(s *stream, l *lapping, words []uint64, at int, limit uint64) int {
	if l.since >= 0 {
		if l.since++; l.since < l.calls {
			return at
		}
	}
	switch {
	case !c.requests.NoOneShots():
	case l.since < 0:
		c.count(s, 0)
		l.since, l.from = 0, at
	case l.since > l.calls:
		*l = lapping{}
	default:
		from := at
		if at = c.laps(s, l, words, at, limit); at > from {
			c.count(s, l.round)
			l.since = -1
		} else if l.calls *= 2; l.calls > longestLap { // requests may have other handles in turn
			*l = lapping{}
		}
	}
	return at
}

// laps takes in calls, of words from a place on, for as long as each lap is like the one
// before. It returns where the next call begins.
func (c *Capture) laps(s *stream, l *lapping, words []uint64, at int, limit uint64) int {
	from, size, calls, b := l.from, at-l.from, l.calls, c.batch
	var lap [longestLap]uint32 // its terminals
	copy(lap[:], b.terminals[:calls])
	for l.round = 1; calls%l.round != 0 || !slices.Equal(lap[l.round:calls], lap[:calls-l.round]); l.round++ {
	}
	ticks, others := c.ticks[:0], c.others[:0] // words that may differ
	passed := false                            // a call that leaves requests
	for _, n := range lap[:calls] {
		e, base := c.cache.of(n), from-l.from
		if e == nil || len(e.words) > at-from {
			return at
		}
		if e.more != nil && e.more.leaves && !passed {
			if passed = true; e.more.leftOut {
				return at // what it has may be from before the laps
			}
		}
		ticks = append(ticks, base+1, base+int(e.enter)+1)
		for i := range e.handleWords {
			if m := &e.handleWords[i]; m.act == noHandle {
				others = append(others, base+int(m.at))
			}
		}
		from += len(e.words)
	}
	if from != at {
		return at
	}
	others = append(others, ticks...)
	slices.Sort(others)
	c.ticks, c.others = ticks, others
	last, latest := s.last, c.latest
	for at+size <= len(words) {
		now := words[at : at+size]
		if !alike(words[at-size:at], now, others) || now[ticks[len(ticks)-2]] > limit {
			break
		}
		if b.n+calls > batchCalls {
			c.count(s, l.round)
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

// alike reports whether two laps have the same words, but for some.
func alike(a, b []uint64, but []int) bool {
	b = b[:len(a)]
	differ, i := uint64(0), 0
	for _, t := range but {
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

// count takes in the order and the times of a batch, and empties it. round is the length of the sequence that its calls repeat; 0: none.
func (c *Capture) count(s *stream, round int) {
	b := c.batch
	if b.n == 0 {
		return
	}
	prev, terminals, gaps, durations := b.prev, b.terminals[:b.n], b.gaps[:b.n], b.durations[:b.n]
	b.prev, b.n = terminals[len(terminals)-1], 0
	light := c.hists == nil && !c.checkpoints.chunks // nothing but times is noted of single calls
	if round == 0 || !light || prev != terminals[round-1] {
		for i, n := range terminals {
			s.grammar.Append(n)
			switch {
			case !light:
				c.countTimes(n, prev, 0, gaps[i], durations[i])
			case !c.timeless:
				c.sigs.Times(n).Add(durations[i], gaps[i])
			}
			if c.checkpoints.chunks {
				s.note(n)
			}
			if s.log != nil {
				s.log.add(callTimes{b.begins[i], gaps[i], durations[i]}, c.cfg.StartTicks)
			}
			if s.phases != nil {
				s.phases.add(n, prev, durations[i], gaps[i])
			}
			prev = n
		}
		return
	}
	laps := len(terminals) / round
	s.grammar.AppendRepeated(terminals[:round], uint64(laps))
	for _, n := range terminals[laps*round:] {
		s.grammar.Append(n)
	}
	if s.log != nil {
		s.log.addAll(b.begins[:len(terminals)], gaps, durations, c.cfg.StartTicks)
	}
	for i, n := range terminals[:round] {
		if !c.timeless {
			c.sigs.Times(n).AddEach(durations[i:], gaps[i:], round)
		}
		if s.phases != nil {
			s.phases.addEach(n, prev, durations[i:], gaps[i:], round)
		}
		prev = n
	}
}
