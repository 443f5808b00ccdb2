package capture

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/record/event"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
)

// Most calls of most programs repeat a record: their words equal those of an earlier call from the same site,
// except for the ticks, and for handles of equal meaning. Then the terminal is known without decoding the record.

// cached is the records of a terminal's last call.
type cached struct {
	words       []uint64     // ENTER and LEAVE, concatenated
	handleWords []handleWord // the words that are compared by meaning or ignored, in the order of the records
	names       uint64       // Capture.epoch when the words were decoded
	handles     uint64       // Capture.renamed before the words were decoded, or when the handles were last looked up
	terminal    uint32
	thread      int32  // thread that made the call, as names of requests and addresses depend on it; anyThread if it has neither
	enter       uint16 // number of words of ENTER; 0: this entry of the cache is empty
	inEnd       uint16 // words up to inEnd in ENTER, and up to outEnd in LEAVE, are compared, except the ticks
	outEnd      uint16 // the remaining words are requests, which are compared by name
	use         requestUse
	how         handleUse
	late        bool // names change when the call returns: the cache must wait until records up to LEAVE's time are read
	inLane      bool
	// plain is set if the call is in no lane, only ENTER has handles, the call changes no names of these, and no word
	// is ignored.
	plain   bool
	lasting bool                      // the call makes a persistent request
	steady  bool                      // the call may be part of a lap: iterations that are compared together
	follows bool                      // the call's statuses must be compared with what its receives predict
	kind    symbol.RequestKind        // kind of a new request
	posted  signature.ReceiveEnvelope // envelope of the receive that the call posts
	more    *cachedMore               // further fields; nil: all are zero
}

// A cachedMore has the fields that few cached records need.
type cachedMore struct {
	requests uint64         // Requests.Version when the words were decoded
	named    []namedRequest // requests that the call names, completes or frees
	ended    []int          // indices in named of the completed ones
	lane     *cachedLane    // nil: the terminal has no lane
	follow   []statusOrigin // by status in the words after outEnd: its origin; used only if follows is set
	made     int64          // name of a new persistent request
	leaves   bool           // the call may leave requests of its array unfinished
	leftOut  bool           // the call's signature omits its array of requests
	told     bool           // the call's output says which requests of the array it completed
}

// A cachedLane is the positions of the lane's values in a terminal's records.
type cachedLane struct {
	*signature.LaneBuilder
	in, out []varyingWord // positions of the lane's values in ENTER and in LEAVE
}

// A namedRequest is the name of a request in a call's values.
type namedRequest struct {
	name int64
	kind symbol.RequestKind
}

const anyThread = -1

// A requestUse is what a call does with requests, as far as the cache needs it.
type requestUse uint8

const (
	uncacheable   requestUse = iota // too complex for the cache, or unknown
	makesRequest                    // makes a request, its only output
	namesRequests                   // passes requests, and completed none
	endsRequests                    // passes requests, and completed some
	freesRequest                    // it frees a request
	noRequests                      // no requests
)

func (p *program) requestUse() requestUse {
	if p.newComm {
		return uncacheable
	}
	kind := noRequests
	for _, s := range p.in {
		switch {
		case s.code == codeRequestFree:
			kind = freesRequest
		case s.element == codeRequestFree:
			return uncacheable
		case s.code == codeRequest || s.element == codeRequest:
			kind = namesRequests
		}
	}
	for _, s := range p.out {
		switch {
		case s.element == codeRequestMade:
			return uncacheable
		case s.code == codeRequestMade:
			if len(p.out) != 1 || kind != noRequests {
				return uncacheable
			}
			return makesRequest
		}
	}
	return kind
}

// makesNames reports whether the call creates or frees a named object. A one-shot request that is its only output
// does not count.
func (p *program) makesNames() bool {
	if p.newComm || p.newType || p.persistent || p.use == uncacheable || p.use == freesRequest {
		return true
	}
	return slices.ContainsFunc(p.in, func(s instruction) bool { return s.code == codeFree || s.element == codeFree }) ||
		slices.ContainsFunc(p.out, func(s instruction) bool {
			return s.code == codeMade || s.code == codeUpdated || s.element == codeMade || s.element == codeUpdated
		})
}

// hasAddress reports whether the records contain addresses of the program.
func (p *program) hasAddress() bool {
	is := func(s instruction) bool { return s.code == codeAddress || s.element == codeAddress }
	return slices.ContainsFunc(p.in, is) || slices.ContainsFunc(p.out, is)
}

// epoch returns a number that changes whenever the decoding of a record could give another result, except for names
// of handles.
func (c *Capture) epoch() uint64 { return c.altered + c.modules.Version }

// fromCache handles the next calls of a stream as long as each equals a cached one, and updates names as the calls
// do. It locates the records by the cached sizes: reading their own sizes would mean waiting for memory, one record
// after the other.
func (c *Capture) fromCache(s *stream, head, limit uint64) {
	if s.last == 0 {
		return // a thread's first call has no gap
	}
	words := s.ring.WordsBetween(s.pos, head)
	at, steady, several := 0, true, len(c.streams) > 1
	epoch, b, l := c.epoch(), c.batch, lapsOf(s.round)
	b.prev = s.prev
	for at+2 <= len(words) && words[at+1] <= limit {
		rest := words[at:]
		n := c.sigs.GuessNext(s.prev)
		e := c.cache.of(n)
		if e == nil || !e.plain || e.how != usesNoHandles && e.handles != c.renamed || e.names != epoch ||
			e.thread != anyThread && int(e.thread) != s.thread || len(e.words) > len(rest) || !e.is(rest) ||
			e.use != noRequests && !c.again(s, e, rest) {
			if e == nil || !c.repeats(s, e, rest, limit) {
				if e = c.seenBefore(s, e, rest, limit); e == nil {
					break
				}
				n = e.terminal
				c.sigs.RecordSuccessor(s.prev, n)
			}
			epoch = c.epoch()
			if e.inLane && c.checkpoints.chunks {
				c.sigs.LogCall(&c.checkpoints.steps, n)
			}
		}
		if several && e.how != usesNoHandles {
			c.getsAll(s, e.handleWords, int(e.enter), s.begun()+uint64(b.n))
		}
		begin, end := rest[1], rest[e.enter+1]
		k := b.n & (batchCalls - 1)
		b.terminals[k], b.begins[k], b.gaps[k], b.durations[k] = n, begin, since(s.last, begin), since(begin, end)
		b.n++
		s.prev, s.last, c.latest = n, end, max(c.latest, end)
		at += len(e.words)
		if !e.steady {
			steady, l = false, lapping{}
		} else if l.calls > 0 {
			at = c.lapsFrom(s, &l, words, at, limit)
		}
		if b.n == batchCalls {
			round := 0
			if steady {
				round = b.round()
			}
			c.count(s, round)
			steady, l = true, lapsOf(round)
		}
	}
	c.count(s, 0)
	s.round = l.round
	s.pos += uint64(at) * 8
}

// is reports whether records equal plain cached ones except for the ticks. It compares few words one by one, more
// of them at the speed of memory. It must not be inlined, as it would need its caller's registers.
//
//go:noinline
func (e *cached) is(rec []uint64) bool {
	words, enter := e.words, int(e.enter)
	rec = rec[:len(words)]
	if words[0] != rec[0] || words[enter] != rec[enter] { // the first word of each has its size
		return false
	}
	if len(words) > 16 {
		return bytes.Equal(asBytes(words[2:e.inEnd]), asBytes(rec[2:e.inEnd])) &&
			bytes.Equal(asBytes(words[enter+2:e.outEnd]), asBytes(rec[enter+2:e.outEnd]))
	}
	differ := uint64(0)
	in := rec[2:e.inEnd]
	for i, w := range words[2:e.inEnd][:len(in)] {
		differ |= w ^ in[i]
	}
	out := rec[enter+2 : e.outEnd]
	for i, w := range words[enter+2 : e.outEnd][:len(out)] {
		differ |= w ^ out[i]
	}
	return differ == 0
}

// repeats reports whether the next records of a stream equal cached ones, and if so updates names as the call does.
func (c *Capture) repeats(s *stream, e *cached, rest []uint64, limit uint64) bool {
	size, enter := len(e.words), int(e.enter)
	if size > len(rest) || e.names != c.epoch() || e.thread != anyThread && int(e.thread) != s.thread {
		return false
	}
	rec := rest[:size]
	if rec[0] != e.words[0] || rec[enter] != e.words[enter] { // the first word of each has its size
		return false
	}
	if e.late && rec[enter+1] > limit {
		return false
	}
	switch {
	case e.inLane:
		return c.recallLane(s, e, rec)
	case e.how == usesNoHandles, e.how == namesHandles && e.handles == c.renamed:
		return e.is(rec) && (e.use == noRequests || c.again(s, e, rec))
	case !c.sameHandles(e, rec), e.use != noRequests && !c.again(s, e, rec):
		return false
	case e.how == changesHandles:
		c.rename(e, rec, making{stream: int32(s.thread), index: s.begun() + uint64(c.batch.n)})
	case e.how == namesHandles:
		c.renew(e, rec)
		c.prepares(s, e.handleWords, int(e.enter), s.begun()+uint64(c.batch.n))
	}
	return true
}

// again updates the names of requests as the cached call e does. It returns false if the call in rec differs from e.
func (c *Capture) again(s *stream, e *cached, rec []uint64) bool {
	enter := rec[:e.enter]
	switch e.use {
	case makesRequest:
		handle, place := rec[len(e.words)-2], rec[len(e.words)-1]
		if !e.lasting {
			return c.requests.Make(s.thread, handle, place, e.kind, c.postedAgain(e, enter)) != 0
		}
		if c.requests.NextPersistentName() != e.more.made || c.requests.MakePersistent(s.thread, handle, place, e.kind, e.posted) == 0 {
			return false
		}
		c.madeAt(mpi.KindRequest, symbol.PersistentNumber(e.more.made), making{stream: int32(s.thread), index: s.begun() + uint64(c.batch.n)})
		return true
	case namesRequests:
		if int(e.inEnd) == len(enter) {
			return e.more.requests == c.requests.Version
		}
		if !c.nameAgain(s, e, enter) || e.follows && !c.followAgain(s, e, rec) {
			return false
		}
		c.leaveAgain(s, e)
	case endsRequests:
		if !c.nameAgain(s, e, enter) || e.follows && !c.followAgain(s, e, rec) {
			return false
		}
		c.leaveAgain(s, e)
		for _, k := range e.more.ended {
			c.requests.CompleteOneShot(c.found[k])
		}
	case freesRequest:
		if !c.nameAgain(s, e, enter) {
			return false
		}
		c.requests.Free(c.found[0])
	}
	return true
}

// postedAgain returns the envelope of a receive that repeats e: that of e, but with the record's tag if it may differ.
func (c *Capture) postedAgain(e *cached, enter event.Record) signature.ReceiveEnvelope {
	if !e.inLane || e.posted.Bytes < 0 {
		return e.posted
	}
	// The values begin at word 3 of ENTER, one word each. They are numbered from 1, as value 0 is the return code.
	return e.posted.WithTag(c.tag.ToABI(int64(enter[2+c.programs[enter.FunctionID()].layout.ReceiveValueIndices.Tag])))
}

// followAgain reports whether the statuses of a call that repeats e match those of e. c.found must have the call's
// requests. Statuses that their receives predicted must be predicted again; the others must be equal, and not
// predicted.
func (c *Capture) followAgain(s *stream, e *cached, rec []uint64) bool {
	at := int(e.outEnd)
	for k, origin := range e.more.follow {
		old, words := e.words[at:at+event.StatusWords], rec[at:at+event.StatusWords]
		if words[0] != old[0] || origin != follows && !sameWords(old, words) {
			return false
		}
		if origin != apart {
			posted := c.requests.PredictsStatus(c.found[e.more.ended[k]], s.thread,
				c.rank.ToABI(int64(words[1])), c.tag.ToABI(int64(words[2])), int64(words[3]), int64(words[4]))
			if posted != (origin == follows) {
				return false
			}
		}
		at += event.StatusWords
	}
	return sameWords(e.words[at:], rec[at:len(e.words)])
}

// receivedAgain does for a blocking receive, which has its own status, what followAgain does for requests.
func (c *Capture) receivedAgain(e *cached, rec []uint64) bool {
	at := int(e.outEnd)
	words := rec[at : at+event.StatusWords]
	return words[0] == e.words[at] && c.postedAgain(e, rec[:e.enter]).PredictsStatus(
		c.rank.ToABI(int64(words[1])), c.tag.ToABI(int64(words[2])), int64(words[3]), int64(words[4]))
}

// nameAgain looks up the requests of a call like e, and sets c.found. It returns false unless they have the same names
// as those of e, whatever their handles, or are an array as an earlier call left it.
func (c *Capture) nameAgain(s *stream, e *cached, enter event.Record) bool {
	handles, place, stride := requestWords(c.programs[enter.FunctionID()], enter)
	c.requests.BeginSearch()
	c.found, c.passed = c.found[:0], c.passed[:0]
	named := e.more.named
	if e.more.leaves {
		return c.passAgain(s, e, handles, place, stride)
	}
	for k, handle := range handles {
		i := c.requests.FindIndex(handle, place)
		if k >= len(named) || c.requests.Name(i, handle, s.thread) != named[k].name {
			return false
		}
		if i != symbol.NoRequestIndex && c.requests.Kind(i) != named[k].kind {
			return false
		}
		if len(c.streams) > 1 {
			c.gets(s, mpi.KindRequest, symbol.PersistentNumber(named[k].name), s.begun()+uint64(c.batch.n))
		}
		c.found = append(c.found, i)
		place += stride
	}
	return true
}

// passAgain is nameAgain for a call that may leave requests of its array unfinished.
func (c *Capture) passAgain(s *stream, e *cached, handles []uint64, place, stride uint64) bool {
	named := e.more.named
	for k, handle := range handles {
		i := c.requests.FindIndex(handle, place)
		r, ok := c.requests.ArrayRequest(i, handle, s.thread)
		if !ok || k >= len(named) || !e.more.leftOut && c.requests.Name(i, handle, s.thread) != named[k].name {
			return false
		}
		if len(c.streams) > 1 {
			c.gets(s, mpi.KindRequest, symbol.PersistentNumber(c.requests.Name(i, handle, s.thread)), s.begun()+uint64(c.batch.n))
		}
		c.found, c.passed = append(c.found, i), append(c.passed, r)
		place += stride
	}
	for _, k := range e.more.ended {
		if i := c.found[k]; i != symbol.NoRequestIndex && c.requests.Kind(i) != named[k].kind {
			return false
		}
	}
	return s.left.CanOmitArray(c.passed, c.requests.OneShotsMade(s.thread)) == e.more.leftOut
}

// leaveAgain updates s.left, the array of requests that the last call left, as a call like e does. c.found must have
// the call's requests.
func (c *Capture) leaveAgain(s *stream, e *cached) {
	if !e.more.leaves {
		return
	}
	s.left.SetPassedArray(c.passed, c.requests.OneShotsMade(s.thread), e.more.leftOut)
	s.left.EndCall(signature.EndedRequests{AreKnown: e.more.told, Indices: e.more.ended})
}

// requestWords returns the handles in an ENTER record, the address of the first one's variable, and the distance to
// the next.
func requestWords(p *program, enter event.Record) (handles []uint64, place, stride uint64) {
	at := p.requestAt
	if !p.requestArray {
		return enter[at : at+1], enter[at+1], 0
	}
	if len(enter) < at+3 {
		return nil, 0, 0 // the call passed no array, e.g. as its length is 0
	}
	return enter[at+3:], enter[at+1], enter[at+2]
}

// sameWords reports whether two lists of equal length are equal. It compares few words one by one, more of them at
// the speed of memory. It must not be inlined, as it would need its caller's registers.
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
