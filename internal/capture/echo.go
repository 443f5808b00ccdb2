package capture

import (
	"bytes"
	"slices"
	"unsafe"

	"spoor/internal/event"
	"spoor/internal/signature"
	"spoor/internal/symbol"
)

// Most calls of most programs are echoes: the same words as when the same call
// came at the same place before, save for the ticks. If no name has changed
// meanwhile, the terminal is known without reading them part by part.

// An echo is how a terminal's records looked last time.
type echo struct {
	words  []uint64 // both records, one behind the other
	names  uint64   // epoch of the names when they were read
	thread int32    // names of requests and addresses depend on it; anyThread where there are none
	enter  uint16   // words of ENTER; 0: nothing is remembered
	inEnd  uint16   // words up to here are compared, but for the ticks: those of requests
	outEnd uint16   // that are found by name are not
	purity purity
	kind   symbol.RequestKind // of a new request
	more   *echoMore          // nil: none
}

// An echoMore is what only some echoes have.
type echoMore struct {
	requests uint64         // epoch of the requests when they were read
	named    []namedRequest // of an ender
	ended    []int          // which of these
	lane     *laneEcho      // nil: no lane
}

// A laneEcho says what of a terminal's records differs from call to call.
type laneEcho struct {
	*signature.Lane
	in, out []hole // where the records have its values
}

// A namedRequest is what a call's values say of a request.
type namedRequest struct {
	name int64
	kind symbol.RequestKind
}

const anyThread = -1

// echoWords bounds the length of what is compared and remembered.
const echoWords = 512

// A purity says how far a call's values follow from its records alone.
type purity uint8

const (
	impure  purity = iota // the call makes or frees what has a name
	maker                 // it makes a one-shot request, and that is all that comes out
	watcher               // it names requests, and ended none
	ender                 // it names requests, and ended some
	pure
)

func (p *program) purity() purity {
	if p.newComm || p.newType || p.persistent {
		return impure
	}
	kind := pure
	for _, s := range p.in {
		switch {
		case s.code == codeFree || s.code == codeRequestFree, s.element == codeFree || s.element == codeRequestFree:
			return impure
		case s.code == codeRequest || s.element == codeRequest:
			kind = watcher
		}
	}
	for _, s := range p.out {
		switch {
		case s.code == codeMade || s.code == codeUpdated, s.element == codeMade || s.element == codeUpdated:
			return impure
		case s.code == codeRequestMade:
			if len(p.out) != 1 || kind != pure {
				return impure
			}
			return maker
		case s.code == codeTime:
			return impure // never the same words
		}
	}
	return kind
}

// hasAddress reports whether the program's addresses are in the records.
func (p *program) hasAddress() bool {
	is := func(s step) bool { return s.code == codeAddress || s.element == codeAddress }
	return slices.ContainsFunc(p.in, is) || slices.ContainsFunc(p.out, is)
}

// epoch changes whenever a finished record could be given other names.
func (c *Capture) epoch() uint64 { return c.renamed + c.modules.Version }

// echo takes in calls of a stream, its next records, for as long as each looks as it
// did last time, and does to the requests what the calls do. What it goes by is where
// the records would be if they did: their sizes, which the records themselves tell as
// well, would have to be waited for, one after the other.
func (c *Capture) echo(s *stream, head, limit uint64) {
	if s.last == 0 {
		return // no gap before a thread's first call
	}
	rest := s.ring.Words(s.pos, head)
	for {
		n := c.sigs.Guess(s.prev)
		if len(rest) < 2 || rest[1] > limit || n >= uint32(len(c.echoes)) {
			return
		}
		e := &c.echoes[n]
		size, enter := len(e.words), int(e.enter)
		if enter == 0 || size > len(rest) || e.names != c.epoch() || e.thread != anyThread && int(e.thread) != s.thread {
			return
		}
		rec := rest[:size]
		begin, end := rec[1], rec[enter+1]
		if rec[0] != e.words[0] || rec[enter] != e.words[enter] {
			return // words 0 have the sizes
		}
		if e.more == nil || e.more.lane == nil {
			if !sameWords(e.words[2:e.inEnd], rec[2:e.inEnd]) || !sameWords(e.words[enter+2:e.outEnd], rec[enter+2:e.outEnd]) {
				return
			}
			if e.purity != pure && !c.again(s, e, rec[:enter], rec[enter:]) {
				return
			}
		} else if !c.recallLane(s, e, rec[:enter], rec[enter:]) {
			return
		}
		var gap uint64
		if begin > s.last {
			gap = begin - s.last
		}
		c.count(n, s.prev, begin, gap, end)
		c.phase(s, n, since(begin, end), gap)
		s.prev = n
		c.append(s, n)
		if s.log != nil {
			c.note(s, callTimes{begin, gap, since(begin, end)})
		}
		s.last, c.latest = end, max(c.latest, end)
		s.pos += uint64(size) * 8
		rest = rest[size:]
	}
}

// again does to the requests what an echo does; false if it can't be one.
func (c *Capture) again(s *stream, e *echo, enter, leave event.Record) bool {
	switch e.purity {
	case maker:
		return c.requests.Make(s.thread, leave[len(leave)-2], leave[len(leave)-1], e.kind) != 0
	case watcher:
		return e.more.requests == c.requests.Version
	case ender:
		return c.endAgain(s, e, enter)
	}
	return true
}

// endAgain ends the requests that an echo of e ends, if they have the same
// names, whatever handles they have now.
func (c *Capture) endAgain(s *stream, e *echo, enter event.Record) bool {
	handles, place, stride := requestWords(c.programs[enter.Call()], enter)
	c.requests.Begin()
	c.found = c.found[:0]
	named := e.more.named
	for k, handle := range handles {
		i := c.requests.Find(handle, place)
		if k >= len(named) || c.requests.Name(i, handle, s.thread) != named[k].name {
			return false
		}
		if i != symbol.None && c.requests.Kind(i) != named[k].kind {
			return false
		}
		c.found = append(c.found, i)
		place += stride
	}
	for _, k := range e.more.ended {
		c.requests.Complete(c.found[k])
	}
	return true
}

// requestWords finds the handles in an ENTER record, the address of the first
// one's variable and the distance to the next.
func requestWords(p *program, enter event.Record) (handles []uint64, place, stride uint64) {
	at := p.requestAt
	if !p.requestArray {
		return enter[at : at+1], enter[at+1], 0
	}
	return enter[at+3:], enter[at+1], enter[at+2]
}

// remember notes how the records of terminal n look, so that the next such
// call is an echo. requests is the requests' epoch before the call.
func (c *Capture) remember(s *stream, n uint32, p *program, enter, leave event.Record, requests uint64) {
	cut, kind := 0, p.pureness
	switch kind {
	case impure:
		return
	case maker:
		if cut = 2; c.requests.Version == requests || leave.Flags()&event.NoOut != 0 {
			return // no request was made
		}
	case watcher:
		if c.requests.Version != requests {
			if kind = ender; !p.endsPlainly {
				return
			}
		}
	}
	if len(enter)+len(leave) > echoWords {
		return
	}
	for int(n) >= len(c.echoes) {
		c.echoes = append(c.echoes, echo{})
	}
	e := &c.echoes[n]
	e.words = append(append(e.words[:0], enter...), leave...)
	e.enter, e.inEnd, e.outEnd = uint16(len(enter)), uint16(len(enter)), uint16(len(e.words)-cut)
	if kind == ender {
		e.inEnd = uint16(p.requestAt)
	}
	e.thread, e.purity, e.kind, e.names = int32(s.thread), kind, p.request, c.epoch()
	lane := c.sigs.Lane(n)
	if p.alike && lane == nil {
		e.thread = anyThread
	}
	if e.more == nil && (lane != nil || kind == watcher || kind == ender) {
		e.more = new(echoMore)
	}
	if e.more != nil {
		e.more.requests = c.requests.Version
	}
	if lane != nil && !c.rememberLane(e, lane, p, s, enter, leave) {
		e.enter = 0
	}
	if kind == ender {
		f := &s.frames[0]
		e.more.named = append(e.more.named[:0], f.named...)
		e.more.ended = append(e.more.ended[:0], f.ended...)
	}
}

// sameWords reports whether two lists of one length are the same: few words one by one,
// more at the speed of memory. Inlined it would take its caller's registers.
//
//go:noinline
func sameWords(a, b []uint64) bool {
	if len(a) > 8 {
		return bytes.Equal(asBytes(a), asBytes(b))
	}
	b = b[:len(a)]
	differ := uint64(0)
	for i, w := range a {
		differ |= w ^ b[i]
	}
	return differ == 0
}

func asBytes(w []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*8)
}
