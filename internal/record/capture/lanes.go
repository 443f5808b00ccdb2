package capture

import (
	"github.com/spoor-hpc/spoor/internal/record/event"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// mayLane returns the positions in a key of the values that may be in a lane. The result is valid until mayLane is
// called again.
func (c *Capture) mayLane(k signature.Key) []int32 {
	p := c.program(k.FunctionID())
	if p == nil || !p.lanes {
		return nil
	}
	vals := k.Values()
	spans, err := p.layout.KeySpans(c.spans[:0], vals)
	if err != nil {
		return nil
	}
	c.spans = spans
	c.moves.FindIn(&p.layout, spans, vals)
	c.words = c.words[:0]
	for _, at := range c.moves.Positions {
		c.words = append(c.words, at+rcAt)
	}
	return c.words
}

// A varyingWord is a word of a record that may differ from the previous call's by the lane's step.
type varyingWord struct {
	at    int // position in the record
	of    int // index, among the lane's values, of the value that the word has
	code  opcode
	table *mpi.NumberTable
	seg   int64 // for an address: its segment, which must stay the same; the offset varies
}

// varyingValue returns the value of a varying word in a record. It returns false for an address in another segment.
func (c *Capture) varyingValue(h *varyingWord, rec []uint64, thread int) (int64, bool) {
	switch h.code {
	case codeAddress:
		seg, off := c.memory.Name(rec[h.at-1], rec[h.at], thread)
		return off, seg == h.seg
	case codeTable:
		return h.table.ToABI(int64(rec[h.at])), true
	}
	return int64(rec[h.at]), true
}

// A varyingWalk goes through the values of a key and the words of its records in parallel.
type varyingWalk struct {
	vals    []int64
	lane    []int32 // positions in the key of the lane's values whose words have not been found yet
	taken   int
	rec     []uint64
	pos     int
	prog    *program
	tag     *mpi.NumberTable
	varying []varyingWord
	bad     bool
}

// varyingWords returns the words of a call's records that have the values of a lane; false if one cannot be found.
func (c *Capture) varyingWords(l *signature.LaneBuilder, p *program, k signature.Key, s *stream, enter, leave []uint64, in, out []varyingWord) (_, _ []varyingWord, ok bool) {
	spans, err := p.layout.KeySpans(c.spans[:0], k.Values())
	if err != nil {
		return in, out, false
	}
	c.spans = spans
	w := varyingWalk{vals: k.Values(), lane: l.KeyPositions(), rec: enter, pos: 3, prog: p, tag: c.tag, varying: in}
	w.steps(p.in, spans)
	in = w.varying
	if spans = spans[len(p.in):]; len(spans) > 0 {
		w.rec, w.pos, w.varying = leave, 2, out
		if event.Record(leave).Flags()&event.FlagReturnCode != 0 {
			w.pos = 3
		}
		w.steps(p.out, spans)
		out = w.varying
	}
	if w.bad || len(w.lane) > 0 {
		return in, out, false
	}
	words := l.KeyPositions()
	for i := range in {
		v, ok := c.varyingValue(&in[i], enter, s.thread)
		if !ok || v != k[words[in[i].of]] {
			return in, out, false
		}
	}
	for i := range out {
		v, ok := c.varyingValue(&out[i], leave, s.thread)
		if !ok || v != k[words[out[i].of]] {
			return in, out, false
		}
	}
	return in, out, true
}

func (w *varyingWalk) steps(steps []instruction, spans []signature.Span) {
	for i := range steps {
		if w.bad || w.pos >= len(w.rec) {
			w.bad = true
			return
		}
		s, at := &steps[i], spans[i].First
		switch s.code {
		case codeAddress:
			w.found(at+1, varyingWord{at: w.pos + 1, code: codeAddress, seg: w.vals[at]})
		case codeStatus:
			if spans[i].IsFilledStatus(w.vals) {
				w.found(at+signature.StatusTagPosition, varyingWord{at: w.pos + 2, code: codeTable, table: w.tag})
			}
		case codeArray:
			w.array(s, &spans[i])
		default:
			w.found(at, varyingWord{at: w.pos, code: s.code, table: s.table})
		}
		w.pos += w.words(s)
	}
}

// found records word h of the value at a position, if that value is the next one of the lane.
func (w *varyingWalk) found(at int, h varyingWord) {
	if len(w.lane) > 0 && int(w.lane[0]) == at+rcAt {
		h.of = w.taken
		w.varying = append(w.varying, h)
		w.lane = w.lane[1:]
		w.taken++
	}
}

// array handles an array of statuses; elements of other arrays are never in lanes.
func (w *varyingWalk) array(s *instruction, of *signature.Span) {
	if s.element != codeStatus {
		return
	}
	pos := w.pos + 1
	for e := range of.Elements(w.vals) {
		if pos+event.StatusWords > len(w.rec) {
			w.bad = true
			return
		}
		if e.IsFilledStatus(w.vals) {
			w.found(e.First+signature.StatusTagPosition, varyingWord{at: pos + 2, code: codeTable, table: w.tag})
		}
		pos += event.StatusWords
	}
}

// words returns how many words of the record a field takes.
func (w *varyingWalk) words(s *instruction) int {
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
		w.bad = true // elements differ in size, so the position of the next field is unknown
		return 1
	}
	one := instruction{code: s.element}
	return 1 + n*one.words()
}

// sameBut reports whether a record equals the cached words up to end, except for varying words. The values of these
// must be those in last plus step. The caller has compared the first words, and ticks in the second ones may differ.
func (c *Capture) sameBut(words, rec []uint64, end int, varying []varyingWord, last, step []int64, thread int) bool {
	from := 2
	for i := range varying {
		h := &varying[i]
		if !sameWords(words[from:h.at], rec[from:h.at]) {
			return false
		}
		if v, ok := c.varyingValue(h, rec, thread); !ok || v != last[h.of]+step[h.of] {
			return false
		}
		from = h.at + 1
	}
	return sameWords(words[from:end], rec[from:end])
}

// rememberLane records which words of a call's records have the values of its lane. It returns false if the word of a
// value is not found, or is not among the words before cached.inEnd and outEnd, which alone are compared.
func (c *Capture) rememberLane(e *cached, l *signature.LaneBuilder, p *program, s *stream, enter, leave []uint64) bool {
	if e.more.lane == nil {
		e.more.lane = new(cachedLane)
	}
	lane, ok := e.more.lane, false
	lane.LaneBuilder = l
	lane.in, lane.out, ok = c.varyingWords(l, p, s.frames[0].key, s, enter, leave, lane.in[:0], lane.out[:0])
	for i := range lane.in {
		ok = ok && lane.in[i].at < int(e.inEnd)
	}
	for i := range lane.out {
		ok = ok && lane.out[i].at < int(e.outEnd-e.enter)
	}
	return ok
}

// recallLane is repeats for a cached call e whose terminal has a lane. It reports whether rec is another such call,
// with the lane's values advanced by the expected step. If so, it updates names and the lane.
func (c *Capture) recallLane(s *stream, e *cached, rec []uint64) bool {
	enter, leave := rec[:e.enter], rec[e.enter:]
	lane := e.more.lane
	step := lane.ExpectedStep()
	if step == signature.NoTerminal {
		return false
	}
	if e.handles != c.renamed && !c.stillNamed(e) {
		return false
	}
	last, add := lane.LastValues(), lane.StepValues(step)
	if !c.sameBut(e.words, enter, int(e.inEnd), lane.in, last, add, s.thread) ||
		!c.sameBut(e.words[e.enter:], leave, int(e.outEnd-e.enter), lane.out, last, add, s.thread) {
		return false
	}
	switch {
	case e.use != noRequests:
		if !c.again(s, e, rec) {
			return false
		}
	case e.follows && !c.receivedAgain(e, rec):
		return false
	}
	lane.AppendStep(step)
	return true
}
