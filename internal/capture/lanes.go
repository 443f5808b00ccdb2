package capture

import (
	"github.com/spoor-hpc/spoor/internal/event"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/internal/symbol"
	"github.com/spoor-hpc/spoor/mpi"
)

// Which values may go into a lane (see signature.Follow): tags, offsets into
// memory, windows, files and packed data, and tags of statuses. Nothing that is
// computed from distinct calls depends on them: not what a handle stands for, not
// who sent how much to whom, not where the next value stands.

// mayLane returns the words of a key that may be in a lane. The list is good until
// the next call.
func (c *Capture) mayLane(k signature.Key) []int32 {
	p := c.program(k.Call())
	if p == nil || !p.lanes || len(k) <= rcAt {
		return nil
	}
	w := laneWalk{vals: k, at: rcAt + 1, words: c.words[:0], failures: k[rcAt] == c.inStatus}
	w.steps(p.in)
	if w.at < len(k) {
		w.steps(p.out)
	}
	c.words = w.words
	if w.at != len(k) {
		return nil
	}
	return w.words
}

// A laneWalk goes through the values of a key.
type laneWalk struct {
	vals     []int64
	at       int
	words    []int32
	failures bool
}

func (w *laneWalk) steps(steps []step) {
	for i := range steps {
		s := &steps[i]
		n, err := width(s, s.code, w.vals[min(w.at, len(w.vals)):], w.failures)
		if err != nil || n > len(w.vals)-w.at {
			w.at = len(w.vals) + 1
			return
		}
		switch {
		case s.lane && s.code == codeAddress:
			if movable(w.vals[w.at]) {
				w.add(w.at + 1)
			}
		case s.lane:
			w.add(w.at)
		case s.code == codeStatus:
			w.status(w.at)
		case s.code == codeArray && s.element == codeStatus:
			at := w.at + 1
			for range max(w.vals[w.at], 0) {
				w.status(at)
				n, _ := width(s, codeStatus, w.vals[at:], w.failures)
				at += n
			}
		}
		w.at += n
	}
}

func (w *laneWalk) add(at int) { w.words = append(w.words, int32(at)) }

func (w *laneWalk) status(at int) {
	if form := w.vals[at]; form == event.StatusFilled || form == event.StatusIgnored {
		w.add(at + 2)
	}
}

// movable reports whether offsets in a segment are distances.
func movable(segment int64) bool {
	switch segment & 7 {
	case symbol.SegHeap, symbol.SegDevice, symbol.SegStatic, symbol.SegStack, symbol.SegMPI:
		return true
	}
	return false
}

// A hole is a word of a record that may differ from the one of the call before
// by what a lane's step says.
type hole struct {
	at    int // in the record
	of    int // which value of the lane
	code  code
	table *mpi.Table
	seg   int64 // of an address, which stands in two words
}

// value returns what a record has in a hole.
func (c *Capture) holeValue(h *hole, rec []uint64, thread int) (int64, bool) {
	switch h.code {
	case codeAddress:
		seg, off := c.memory.Name(rec[h.at-1], rec[h.at], thread)
		return off, seg == h.seg
	case codeTable:
		return h.table.ABI(int64(rec[h.at])), true
	}
	return int64(rec[h.at]), true
}

// A holeWalk goes through the values of a key and the words of its records side by
// side.
type holeWalk struct {
	laneWalk
	lane  []int32 // words of the key that are wanted, those found taken off
	taken int
	rec   []uint64
	pos   int
	prog  *program
	tag   *mpi.Table
	holes []hole
	bad   bool
}

// holesOf finds where the records of a call have the values of a lane; false if it
// can't be told for all of them.
func (c *Capture) holesOf(l *signature.Lane, p *program, k signature.Key, s *stream, enter, leave []uint64, in, out []hole) (_, _ []hole, ok bool) {
	w := holeWalk{
		laneWalk: laneWalk{vals: k, at: rcAt + 1, failures: k[rcAt] == c.inStatus},
		lane:     l.Words(), rec: enter, pos: 3, prog: p, tag: c.tag, holes: in,
	}
	w.steps(p.in)
	in = w.holes
	if w.at < len(k) {
		w.rec, w.pos, w.holes = leave, 2, out
		if event.Record(leave).Flags()&event.RC != 0 {
			w.pos = 3
		}
		w.steps(p.out)
		out = w.holes
	}
	if w.bad || len(w.lane) > 0 {
		return in, out, false
	}
	words := l.Words()
	for i := range in {
		v, ok := c.holeValue(&in[i], enter, s.thread)
		if !ok || v != k[words[in[i].of]] {
			return in, out, false
		}
	}
	for i := range out {
		v, ok := c.holeValue(&out[i], leave, s.thread)
		if !ok || v != k[words[out[i].of]] {
			return in, out, false
		}
	}
	return in, out, true
}

func (w *holeWalk) steps(steps []step) {
	for i := range steps {
		s := &steps[i]
		n, err := width(s, s.code, w.vals[min(w.at, len(w.vals)):], w.failures)
		if err != nil || n > len(w.vals)-w.at || w.bad || w.pos >= len(w.rec) {
			w.bad = true
			return
		}
		switch s.code {
		case codeAddress:
			w.hole(w.at+1, hole{at: w.pos + 1, code: codeAddress, seg: w.vals[w.at]})
		case codeStatus:
			w.hole(w.at+2, hole{at: w.pos + 2, code: codeTable, table: w.tag})
		case codeArray:
			if w.array(s, int64(w.rec[w.pos])); s.element == codeStatus {
				break
			}
		default:
			w.hole(w.at, hole{at: w.pos, code: s.code, table: s.table})
		}
		w.at += n
		w.pos += w.words(s)
	}
}

// hole notes where a value stands if it is one of the lane.
func (w *holeWalk) hole(at int, h hole) {
	if len(w.lane) > 0 && int(w.lane[0]) == at {
		h.of = w.taken
		w.holes = append(w.holes, h)
		w.lane = w.lane[1:]
		w.taken++
	}
}

// array looks at an array of statuses; others have nothing in lanes.
func (w *holeWalk) array(s *step, n int64) {
	if s.element != codeStatus {
		return
	}
	at, pos := w.at+1, w.pos+1
	for range max(n, 0) {
		k, err := width(s, codeStatus, w.vals[min(at, len(w.vals)):], w.failures)
		if err != nil || pos+event.StatusWords > len(w.rec) {
			w.bad = true
			return
		}
		w.hole(at+2, hole{at: pos + 2, code: codeTable, table: w.tag})
		at += k
		pos += event.StatusWords
	}
}

// words returns how many words of the record a part takes.
func (w *holeWalk) words(s *step) int {
	n := int(int64(w.rec[w.pos]))
	switch s.code {
	case codeString:
		return 1 + (max(n, 0)+7)/8
	case codeArray:
		if n = max(n, 0); n == 0 || n > 2*len(w.rec) {
			return 1
		}
	default:
		return s.words()
	}
	switch s.element {
	case codeInt, codeTable, codeIndex:
		if w.prog.call.Width(&mpi.Param{Kind: s.kind}) == mpi.Width32 {
			return 1 + (n+1)/2
		}
		return 1 + n
	case codeRequest, codeRequestFree:
		return 3 + n
	case codeStatus:
		return 1 + n*event.StatusWords
	case codeString, codeArray:
		w.bad = true // of varying size
		return 1
	}
	one := step{code: s.element}
	return 1 + n*one.words()
}

// sameBut reports whether from cached words up to end a record differs in
// holes alone, in which it has what the step says. Words 0 have been compared.
func (c *Capture) sameBut(words, rec []uint64, end int, holes []hole, last, step []int64, thread int) bool {
	from := 2
	for i := range holes {
		h := &holes[i]
		if !sameWords(words[from:h.at], rec[from:h.at]) {
			return false
		}
		if v, ok := c.holeValue(h, rec, thread); !ok || v != last[h.of]+step[h.of] {
			return false
		}
		from = h.at + 1
	}
	return sameWords(words[from:end], rec[from:end])
}

// rememberLane notes where the records of a call have the values of its lane; false
// if that can't be told for all of them, or is not among the words that are compared.
func (c *Capture) rememberLane(e *cached, l *signature.Lane, p *program, s *stream, enter, leave []uint64) bool {
	if e.more.lane == nil {
		e.more.lane = new(cachedLane)
	}
	lane, ok := e.more.lane, false
	lane.Lane = l
	lane.in, lane.out, ok = c.holesOf(l, p, s.frames[0].key, s, enter, leave, lane.in[:0], lane.out[:0])
	for i := range lane.in {
		ok = ok && lane.in[i].at < int(e.inEnd)
	}
	for i := range lane.out {
		ok = ok && lane.out[i].at < int(e.outEnd-e.enter)
	}
	return ok
}

// recallLane does for a terminal with a lane what the cache needs: it is the
// expected step away from the last one.
func (c *Capture) recallLane(s *stream, e *cached, rec []uint64) bool {
	enter, leave := rec[:e.enter], rec[e.enter:]
	lane := e.more.lane
	step := lane.Expected()
	if step == signature.None {
		return false
	}
	if e.handles != c.renamed && !c.stillNamed(e) {
		return false
	}
	last, add := lane.Last(), lane.Step(step)
	if !c.sameBut(e.words, enter, int(e.inEnd), lane.in, last, add, s.thread) ||
		!c.sameBut(e.words[e.enter:], leave, int(e.outEnd-e.enter), lane.out, last, add, s.thread) {
		return false
	}
	if e.use != noRequests && !c.again(s, e, rec) {
		return false
	}
	lane.Advance(step)
	return true
}
