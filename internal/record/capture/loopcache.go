package capture

import "slices"

// Most calls that the record cache recognises are in loops. So a lap, one or more whole iterations, is compared with the
// lap before it in the ring, word by word. Equal words mean equal calls only if each handle still means the same
// object. So a lap may create and free no handles except requests, and no one-shot request may be pending where it
// begins or ends.

// A lapping is the state of recognising laps: iterations of a loop whose words equal those of the iterations before.
type lapping struct {
	round int // number of calls in the sequence that the stream repeats; 0: unknown
	calls int // number of calls in a lap, which is one or more iterations
	since int // calls handled since a lap began; -1: no lap has begun
	from  int // index of the lap's first word in the words that are passed to lapsFrom
}

// fewCalls is the least number of calls in a lap: comparing a shorter one takes longer than handling its calls.
const fewCalls = 4

func lapsOf(round int) lapping {
	l := lapping{round: round, calls: round, since: -1}
	for round > 0 && l.calls < fewCalls {
		l.calls += round
	}
	return l
}

// A batch is consecutive calls, recognised by the record cache, that the grammar and the statistics lack so far: adding
// many at once is faster.
type batch struct {
	n         int
	prev      uint32 // terminal of the call before the batch
	terminals [batchCalls]uint32
	begins    [batchCalls]uint64
	gaps      [batchCalls]uint64
	durations [batchCalls]uint64
}

const (
	batchCalls = 128
	longestLap = batchCalls / 2
)

// round returns the number of calls in the shortest sequence that a full batch repeats; 0 if every such sequence has
// more than longestLap calls.
func (b *batch) round() int {
	for n := 1; n <= longestLap; n++ {
		if b.terminals[n] == b.terminals[0] && slices.Equal(b.terminals[n:], b.terminals[:batchCalls-n]) {
			return n
		}
	}
	return 0
}

// mayLap reports whether a call may be part of a lap, that is, has the same effect in each lap in which its words are
// equal.
func (e *cached) mayLap() bool {
	return !e.inLane && !e.late && !e.lasting && e.use != freesRequest &&
		!slices.ContainsFunc(e.handleWords, func(m handleWord) bool { return m.changes() })
}

// lapsFrom is called after each call that the cache recognised, once the length of a lap is known. at is the index in
// words of the next record. After a first lap lapsFrom handles the laps equal to it, and returns the index after them.
func (c *Capture) lapsFrom(s *stream, l *lapping, words []uint64, at int, limit uint64) int {
	if l.since >= 0 {
		if l.since++; l.since < l.calls {
			return at
		}
	}
	switch {
	case !c.requests.HasNoOneShots():
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
		} else if l.calls *= 2; l.calls > longestLap { // requests may alternate between handles, so a longer lap may repeat
			*l = lapping{}
		}
	}
	return at
}

// laps handles the calls in words from index at on, as long as each lap equals the one before. It returns the index of
// the first record that it leaves.
func (c *Capture) laps(s *stream, l *lapping, words []uint64, at int, limit uint64) int {
	from, size, calls, b := l.from, at-l.from, l.calls, c.batch
	var lap [longestLap]uint32 // the lap's terminals
	copy(lap[:], b.terminals[:calls])
	for l.round = 1; calls%l.round != 0 || !slices.Equal(lap[l.round:calls], lap[:calls-l.round]); l.round++ {
	}
	// Indices, from the lap's begin, of words that may differ: the ticks, and words whose handleWord.act is noHandle.
	ticks, others := c.ticks[:0], c.others[:0]
	passed := false // an earlier call of the lap may leave requests of its array unfinished
	for _, n := range lap[:calls] {
		e, base := c.cache.of(n), from-l.from
		if e == nil || len(e.words) > at-from {
			return at
		}
		if e.more != nil && e.more.leaves && !passed {
			if passed = true; e.more.leftOut {
				return at // the key omits the array of requests, which is known only from a call before the lap
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

// alike reports whether two laps have the same words, except at the indices in but.
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

// count adds the batch's calls to the grammar and their times to the statistics, and empties the batch. round is the
// number of calls in the sequence that the batch repeats; 0: it repeats none.
func (c *Capture) count(s *stream, round int) {
	b := c.batch
	if b.n == 0 {
		return
	}
	prev, terminals, gaps, durations := b.prev, b.terminals[:b.n], b.gaps[:b.n], b.durations[:b.n]
	b.prev, b.n = terminals[len(terminals)-1], 0
	// Neither histograms nor checkpoints of changes need to see the calls one by one.
	light := c.hists == nil && !c.checkpoints.chunks
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
