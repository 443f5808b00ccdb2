package capture

import (
	"bytes"
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
	words    []uint64 // both records, without ticks and without requests that are found by name
	enter    int      // of which so many are of ENTER
	thread   int32    // names of requests depend on it
	purity   purity
	kind     symbol.RequestKind // of a new request
	names    uint64             // epoch of the names when they were read
	requests uint64             // the same, of the requests
	named    []namedRequest     // of an ender
	ended    []int              // which of these
	lane     *laneEcho          // nil: no lane
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

// epoch changes whenever a finished record could be given other names.
func (c *Capture) epoch() uint64 { return c.renamed + c.modules.Version }

// recall returns the terminal of a call that is an echo of the guessed one,
// and does to the requests what the call does.
func (c *Capture) recall(s *stream, enter, leave event.Record) (uint32, bool) {
	n := c.sigs.Guess(s.prev)
	if n >= uint32(len(c.echoes)) {
		return 0, false
	}
	e := &c.echoes[n]
	if e.enter == 0 || e.words[0] != enter[0] || e.names != c.epoch() || int(e.thread) != s.thread {
		return 0, false // word 0 has the size, so lengths agree from here on
	}
	out := e.words[e.enter:]
	if out[0] != leave[0] {
		return 0, false
	}
	if e.lane != nil {
		return n, c.recallLane(s, e, enter, leave)
	}
	if !sameWords(e.words[1:e.enter], enter[2:e.enter+1]) || !sameWords(out[1:], leave[2:len(out)+1]) {
		return 0, false
	}
	return n, e.purity == pure || c.again(s, e, enter, leave)
}

// again does to the requests what an echo does; false if it can't be one.
func (c *Capture) again(s *stream, e *echo, enter, leave event.Record) bool {
	switch e.purity {
	case maker:
		return c.requests.Make(s.thread, leave[len(leave)-2], leave[len(leave)-1], e.kind) != 0
	case watcher:
		return e.requests == c.requests.Version
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
	for k, handle := range handles {
		i := c.requests.Find(handle, place)
		if k >= len(e.named) || c.requests.Name(i, handle, s.thread) != e.named[k].name {
			return false
		}
		if i != symbol.None && c.requests.Kind(i) != e.named[k].kind {
			return false
		}
		c.found = append(c.found, i)
		place += stride
	}
	for _, k := range e.ended {
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
	compared := len(enter)
	if kind == ender {
		compared = p.requestAt
	}
	e.words = append(append(e.words[:0], enter[0]), enter[2:compared]...)
	e.enter = len(e.words)
	e.words = append(append(e.words, leave[0]), leave[2:len(leave)-cut]...)
	e.thread, e.purity, e.kind = int32(s.thread), kind, p.request
	e.names, e.requests = c.epoch(), c.requests.Version
	if lane := c.sigs.Lane(n); lane != nil && !c.rememberLane(e, lane, p, s, enter, leave, compared, len(leave)-cut) {
		e.enter = 0
	}
	if kind == ender {
		f := &s.frames[0]
		e.named = append(e.named[:0], f.named...)
		e.ended = append(e.ended[:0], f.ended...)
	}
}

// sameWords compares at the speed of memory.
func sameWords(a, b []uint64) bool {
	return bytes.Equal(asBytes(a), asBytes(b))
}

func asBytes(w []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*8)
}
