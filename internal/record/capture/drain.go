package capture

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/track"
)

// Drain reads all records that were complete when it began.
func (c *Capture) Drain() error {
	if c.released {
		return nil
	}
	c.modules.AllowReload()
	var err error
	if len(c.streams) == 1 {
		var head uint64
		if head, err = c.streams[0].ring.Head(); err == nil {
			err = c.follow(c.streams[0], head, ^uint64(0))
		}
	} else {
		err = c.interleave()
	}
	if err != nil {
		return err
	}
	for _, s := range c.streams {
		s.ring.SetDrained(s.pos)
		s.grammar.settle()
	}
	c.saveIfNeeded()
	return nil
}

// interleave reads several rings in the order of time. If a record depends on another one, that was published
// before the dependent one began. So records older than a moment before the heads were read depend on no record
// that was not yet visible.
func (c *Capture) interleave() error {
	until := ^uint64(0)
	if c.cfg.ReadTicks != nil {
		until = c.cfg.ReadTicks()
	}
	turns := c.turns[:0]
	for i, s := range c.streams {
		head, err := s.ring.Head()
		if err != nil {
			return fmt.Errorf("thread %d: %w", i, err)
		}
		turns = append(turns, streamHead{stream: s, head: head})
	}
	c.turns = turns
	for i := range turns {
		if err := turns[i].peek(); err != nil {
			return err
		}
	}
	for {
		// Continue with the stream of the oldest record until another one's is older.
		var best *streamHead
		limit := until
		for i := range turns {
			switch t := &turns[i]; {
			case !t.more || t.ticks > until:
			case best == nil || t.ticks < best.ticks:
				if best != nil {
					limit = min(limit, best.ticks)
				}
				best = t
			default:
				limit = min(limit, t.ticks)
			}
		}
		if best == nil {
			return nil
		}
		if err := c.follow(best.stream, best.head, limit); err != nil {
			return err
		}
		if err := best.peek(); err != nil {
			return err
		}
	}
}

// A streamHead is the position of a stream while several are read.
type streamHead struct {
	*stream
	head  uint64 // position up to which the ring's records are complete
	ticks uint64 // ticks of the stream's next record
	more  bool   // there is a next record
}

// peek reads the header of the stream's next record, skipping padding.
func (t *streamHead) peek() error {
	s := t.stream
	for s.pos < t.head {
		rec := s.ring.Record(s.pos, t.head)
		if rec == nil {
			return s.corrupt(t.head)
		}
		if rec.Kind() != event.KindSkip {
			t.ticks, t.more = rec.Ticks(), true
			return nil
		}
		s.pos += uint64(len(rec)) * 8
	}
	t.more = false
	return nil
}

func (s *stream) corrupt(head uint64) error {
	err := s.ring.Check(s.pos, head)
	if err == nil {
		err = event.ErrCorrupt
	}
	return fmt.Errorf("thread %d: %w", s.thread, err)
}

// follow reads the stream's records up to head that are not younger than limit.
func (c *Capture) follow(s *stream, head, limit uint64) error {
	for s.pos < head {
		rec := s.ring.Record(s.pos, head)
		if rec == nil {
			return s.corrupt(head)
		}
		next := s.pos + uint64(len(rec))*8
		kind := rec.Kind()
		if kind != event.KindSkip && rec.Ticks() > limit {
			return nil
		}
		if kind == event.KindEnter && s.depth == 0 && len(s.begins) == 0 {
			// A cached call may end later than another thread's next record: calls that overlap in time do not
			// depend on each other.
			at := s.pos
			if c.fromCache(s, head, limit); s.pos != at {
				continue
			}
			// The usual case: LEAVE directly follows.
			if end := s.ring.Record(next, head); end != nil && end.Kind() == event.KindLeave && end.Ticks() <= limit && !c.program(rec.FunctionID()).stays() {
				if err := c.whole(s, rec, end); err != nil {
					return fmt.Errorf("thread %d at %d: %w", s.thread, s.pos, err)
				}
				s.pos = next + uint64(len(end))*8
				continue
			}
		}
		if err := c.record(s, kind, rec); err != nil {
			return fmt.Errorf("thread %d at %d: %w", s.thread, s.pos, err)
		}
		s.pos = next
	}
	return nil
}

// record handles one record.
func (c *Capture) record(s *stream, kind event.Kind, rec event.Record) error {
	switch kind {
	case event.KindEnter:
		return c.begin(s, rec)
	case event.KindLeave:
		return c.end(s, rec)
	case event.KindSegment:
		if name, ok := c.memory.NameNew(rec[2], int64(rec[4]), segmentClass(rec[5])); ok {
			c.alloc(s, track.AllocEvent{PackedSegment: name, Size: rec[3]})
		}
	case event.KindSegmentFreed:
		if name, ok := c.memory.FreeName(rec[2]); ok {
			c.alloc(s, track.AllocEvent{IsFree: true, PackedSegment: name})
		}
	case event.KindTracingSwitch:
		c.switched(s, rec[2] != 0, rec.Ticks())
	case event.KindRecordsLost:
		c.lost += rec[2]
	case event.KindAttachedValueName:
		return c.name(rec)
	case event.KindAttachedValues:
		return c.attach(s, rec)
	case event.KindSchedulingDelay:
		if s.log != nil && s.depth == 0 {
			s.log.delayed(rec[2], rec[3])
		}
	case event.KindLeftByJump:
		c.left(s, rec[2])
	case event.KindStack:
		if !event.IsSiteKey(rec[2]) {
			return fmt.Errorf("stack with the key %#x: %w", rec[2], event.ErrCorrupt)
		}
		c.sites.AddStack(rec[2], rec[3:])
	case event.KindSourceLine:
		return c.source(rec)
	case event.KindPhaseStartSite:
		return c.phaseBegins(rec)
	case event.KindThreadStart:
		s.begins = append(s.begins[:0], rec[2:]...)
	}
	return nil
}

// source reads a record of kind event.KindSourceLine.
func (c *Capture) source(rec event.Record) error {
	file, function := rec[4], rec[5]
	if room := uint64(len(rec)-6) * 8; !event.IsSiteKey(rec[2]) || file > room || function > room-file || rec[3] > math.MaxUint32 {
		return fmt.Errorf("source with the key %#x, texts of %d and %d bytes: %w", rec[2], file, function, event.ErrCorrupt)
	}
	text := textOf(rec[6:])
	c.sites.AddSourceLine(rec[2], string(text[:file]), uint32(rec[3]), string(text[file:file+function]))
	return nil
}

// phaseBegins reads a record of kind event.KindPhaseStartSite.
func (c *Capture) phaseBegins(rec event.Record) error {
	if n := rec[4]; !event.IsSiteKey(rec[2]) || n > uint64(len(rec)-5)*8 {
		return fmt.Errorf("phase with the key %#x, text of %d bytes: %w", rec[2], n, event.ErrCorrupt)
	}
	c.sites.AddPhase(rec[2], rec[3], string(textOf(rec[5:])[:rec[4]]))
	return nil
}

func textOf(words []uint64) (text []byte) {
	for _, w := range words {
		text = binary.LittleEndian.AppendUint64(text, w)
	}
	return text
}

// begin handles an ENTER whose LEAVE does not directly follow.
func (c *Capture) begin(s *stream, rec event.Record) error {
	if s.depth == len(s.frames) {
		s.frames = append(s.frames, frame{})
	}
	if s.owed != 0 {
		s.spent(s.owed)
		c.spend(s, s.owed, false)
		s.owed = 0
	}
	f := &s.frames[s.depth]
	if err := c.enter(s, f, rec); err != nil {
		return err
	}
	s.last = f.begin
	f.from, f.names = s.pos, c.renamed
	f.slot = len(s.held)
	if !f.muted() {
		s.held = append(s.held, 0)
		if s.log != nil {
			s.times = append(s.times, callTimes{})
		}
	}
	s.depth++
	return nil
}

// end handles the LEAVE of the newest unfinished call.
func (c *Capture) end(s *stream, rec event.Record) error {
	if s.depth == 0 && s.torn {
		return nil
	}
	if s.depth == 0 {
		return fmt.Errorf("call %d ends but never began: %w", rec.FunctionID(), event.ErrCorrupt)
	}
	f := &s.frames[s.depth-1]
	if f.prog.call.ID != rec.FunctionID() {
		return fmt.Errorf("%s ends as call %d: %w", f.prog.call.Name, rec.FunctionID(), event.ErrCorrupt)
	}
	inputs := len(f.key)
	if err := c.leave(s, f, rec); err != nil {
		f.key, f.key[rcAt] = f.key[:inputs], ReturnCodeNeverReturned
		return err
	}
	if f.prog.stays() {
		f.left, c.latest = rec.Ticks(), max(c.latest, rec.Ticks())
		return nil
	}
	enter := c.lone(s, f)
	c.finish(s, f, rec.Ticks())
	if enter != nil {
		c.remember(s, s.prev, f, enter, rec, c.requests.Version, f.names)
	}
	return nil
}

// left closes all unfinished calls except the oldest n, as a jump left them. The time of the jump is unknown; the end
// of the last call inside them is used, else their begin.
func (c *Capture) left(s *stream, n uint64) {
	for uint64(s.depth) > n {
		f := &s.frames[s.depth-1]
		f.key[rcAt] = ReturnCodeLeftByJump
		c.freesEnd(f)
		c.finish(s, f, max(f.begin, s.last))
	}
}

// lone returns the ENTER record of a call that ends, if the call may be cached although calls of other threads
// overlap it. Its LEAVE, the current record, must directly follow ENTER, and it must change no names. If threads
// overlap all the time, this applies to all calls.
func (c *Capture) lone(s *stream, f *frame) event.Record {
	if s.depth > 1 || len(s.held) > 1 || f.muted() || f.prog.use != noRequests || f.from < s.ring.Released() {
		return nil
	}
	for i := range f.handleWords {
		if f.handleWords[i].changes() {
			return nil
		}
	}
	enter := s.ring.Record(f.from, s.pos)
	if enter == nil || f.from+uint64(len(enter))*8 != s.pos {
		return nil
	}
	return enter
}

// finish closes the newest unfinished call. When the outermost one is closed, terminals go to the grammar, in the
// order in which the calls began.
func (c *Capture) finish(s *stream, f *frame, ticks uint64) {
	s.depth--
	if !f.muted() {
		thread := s.thread
		if s.depth > 0 || len(s.held) > 1 {
			thread = -1 // calls of callbacks end before the calls around them, so they cannot be in lanes
		}
		s.held[f.slot] = c.terminalOf(s, f, thread, ticks)
		if s.log != nil {
			s.times[f.slot] = callTimes{f.begin, f.gap, since(f.begin, ticks)}
		}
	}
	s.last, c.latest = ticks, max(c.latest, ticks)
	which := uint64(f.slot)
	if s.log != nil {
		which += s.log.calls
	}
	if s.depth == 0 {
		for _, n := range s.held {
			c.append(s, n)
		}
		for _, t := range s.times {
			c.logTimes(s, t)
		}
		s.held, s.times = s.held[:0], s.times[:0]
	}
	if s.log != nil {
		s.log.ended = which
	}
	if s.owed != 0 {
		s.spent(s.owed)
		c.spend(s, s.owed, false)
		s.owed = 0
	}
}

// terminalOf returns the terminal of a finished call and counts its times.
func (c *Capture) terminalOf(s *stream, f *frame, thread int, ticks uint64) uint32 {
	n := c.sigs.LookUpOrInsertInLane(s.prev, thread, f.key, c.may)
	if known := c.sigs.LaneCount(); known != c.lanes {
		c.lanes = known
		c.altered++ // the cached terminal may now be in a lane
	}
	c.countTimes(n, s.prev, f.begin, f.gap, ticks)
	c.phase(s, n, s.prev, since(f.begin, ticks), f.gap)
	s.prev = n
	return n
}

// countTimes counts the times of a call of terminal n that follows terminal prev.
func (c *Capture) countTimes(n, prev uint32, begin, gap, ticks uint64) {
	if c.timeless {
		return
	}
	duration := since(begin, ticks)
	if c.checkpoints.chunks {
		c.checkpoints.noteTimes(n, prev, duration, gap)
	}
	if c.hists != nil {
		c.hists.add(n, prev, duration, gap)
	} else {
		c.sigs.Times(n).Add(duration, gap)
	}
}

// phase adds the times of a call to its course.
func (c *Capture) phase(s *stream, n, prev uint32, duration, gap uint64) {
	if s.phases != nil {
		s.phases.add(n, prev, duration, gap)
	}
}

// since returns the time between two clock readings; 0 if negative, as a thread may have moved to a processor whose
// clock is late.
func since(begin, end uint64) uint64 { return max(begin, end) - begin }

func (c *Capture) append(s *stream, n uint32) {
	s.grammar.Append(n)
	if c.checkpoints.chunks {
		s.note(n)
		if c.sigs.Lane(n) != nil {
			c.sigs.LogCall(&c.checkpoints.steps, n)
		}
	}
}

// note records a terminal for the next checkpoint.
func (s *stream) note(n uint32) {
	if n < 0x80 {
		s.terminals = append(s.terminals, byte(n)) // as AppendUvarint does, without a function call
	} else {
		s.terminals = binary.AppendUvarint(s.terminals, uint64(n))
	}
}

// whole handles a call whose two records are adjacent, if no other call of the thread is unfinished.
func (c *Capture) whole(s *stream, enter, leave event.Record) error {
	if len(s.frames) == 0 {
		s.frames = append(s.frames, frame{})
	}
	f := &s.frames[0]
	requests, names := c.requests.Version, c.renamed
	if err := c.enter(s, f, enter); err != nil {
		return err
	}
	if enter.FunctionID() != leave.FunctionID() {
		return fmt.Errorf("%s ends as call %d: %w", f.prog.call.Name, leave.FunctionID(), event.ErrCorrupt)
	}
	if err := c.leave(s, f, leave); err != nil {
		return err
	}
	if !f.muted() {
		n := c.terminalOf(s, f, s.thread, leave.Ticks())
		c.remember(s, n, f, enter, leave, requests, names)
		c.append(s, n)
		c.logTimes(s, callTimes{f.begin, f.gap, since(f.begin, leave.Ticks())})
	}
	s.last, c.latest = leave.Ticks(), max(c.latest, leave.Ticks())
	return nil
}
