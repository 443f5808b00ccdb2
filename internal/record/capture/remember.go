package capture

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// cachedWords is the largest number of words of a call's two records, together, in the cache.
const cachedWords = 512

// A recordCache holds the last records of terminals, found by terminal or by a hash of the records. Each
// terminal has one possible slot, and there are at most mostCached, so that memory is bounded: of many distinct calls
// only some are in it.
type recordCache struct {
	slots []cached     // their number is a power of two; terminal n has slot n modulo that number
	index []remembered // by leading bits of the hash; twice as many as slots
	shift uint8
}

// A remembered is the terminal of the last call whose words have a certain hash, and the low 32 bits of that hash.
type remembered struct{ hash, terminal uint32 }

const (
	firstCached = 64
	mostCached  = 8192
)

// of returns the cached records of a terminal; nil if they are not cached.
func (x *recordCache) of(n uint32) *cached {
	if len(x.slots) == 0 {
		return nil
	}
	e := &x.slots[int(n)&(len(x.slots)-1)]
	if e.terminal != n || e.enter == 0 {
		return nil
	}
	return e
}

// take returns the slot for a terminal, whatever it contains.
func (x *recordCache) take(n uint32) *cached {
	for len(x.slots) == 0 || int(n) >= len(x.slots) && len(x.slots) < mostCached {
		x.grow()
	}
	return &x.slots[int(n)&(len(x.slots)-1)]
}

func (x *recordCache) grow() {
	old := x.slots
	x.slots = make([]cached, max(firstCached, 2*len(old)))
	x.index = make([]remembered, 2*len(x.slots))
	x.shift = 64
	for n := len(x.index); n > 1; n /= 2 {
		x.shift--
	}
	for i := range old {
		x.slots[int(old[i].terminal)&(len(x.slots)-1)] = old[i]
	}
}

// enter sets the terminal for a hash.
func (x *recordCache) enter(hash uint64, n uint32) {
	x.index[hash>>x.shift] = remembered{uint32(hash), n}
}

// find returns the terminal of the last call with this hash.
func (x *recordCache) find(hash uint64) (uint32, bool) {
	if len(x.index) == 0 {
		return 0, false
	}
	t := x.index[hash>>x.shift]
	return t.terminal, t.hash == uint32(hash)
}

// hashWords is the largest number of words of a record that are hashed.
const hashWords = 24

// tellFactors are the factors of a hash's words: arbitrary odd numbers.
var tellFactors = func() (f [2*hashWords + 2]uint64) {
	x := uint64(0x9e3779b97f4a7c15)
	for i := range f {
		x ^= x >> 30
		x *= 0xbf58476d1ce4e5b9
		x ^= x >> 27
		x *= 0x94d049bb133111eb
		x ^= x >> 31
		f[i] = x | 1
	}
	return f
}()

// setTelling sets hashIn and hashOut: requests are not hashed, and no outputs if new handles, new requests or times are
// among them.
func (p *program) setTelling() {
	p.hashIn, p.hashOut = hashWords, hashWords
	if p.requestAt > 0 {
		p.hashIn = min(p.hashIn, p.requestAt)
	}
	if p.binds || p.makes {
		p.hashOut = 0
	}
	for i := range p.out {
		if p.out[i].code == codeTime {
			p.hashOut = 0
		}
	}
}

// hash is a hash of a call's words.
func (p *program) hash(enter, leave []uint64) uint64 {
	h := enter[0]*tellFactors[0] + leave[0]*tellFactors[1]
	f := tellFactors[2 : 2+hashWords]
	for i, w := range enter[2:max(2, min(len(enter), p.hashIn))] {
		h += w * f[i]
	}
	f = tellFactors[2+hashWords:]
	for i, w := range leave[2:max(2, min(len(leave), p.hashOut))] {
		h += w * f[i]
	}
	return h ^ h>>32*tellFactors[0]
}

// seenBefore returns the cached call, other than the expected one, that equals the stream's next records; nil if no
// cached call does. It updates names as the call does.
func (c *Capture) seenBefore(s *stream, expected *cached, rest []uint64, limit uint64) *cached {
	if event.Record(rest).Kind() != event.KindEnter {
		return nil
	}
	enter := uint64(uint32(rest[0]))
	if enter < 3 || enter+2 > uint64(len(rest)) {
		return nil
	}
	leave := event.Record(rest[enter:])
	size, call := uint64(uint32(leave[0])), leave.FunctionID()
	if leave.Kind() != event.KindLeave || size < 2 || size > uint64(len(leave)) || int(call) >= len(c.programs) {
		return nil
	}
	p := c.programs[call]
	if p == nil || p.use == uncacheable {
		return nil
	}
	find := func(leave event.Record) *cached {
		n, ok := c.cache.find(p.hash(rest[:enter], leave))
		if !ok {
			return nil
		}
		e := c.cache.of(n)
		if e == nil || e == expected || !c.repeats(s, e, rest, limit) {
			return nil
		}
		return e
	}
	e := find(leave[:size])
	if e == nil && p.completes {
		e = find(leave[:p.statusesAt(leave[:size])])
	}
	return e
}

// statusesAt returns the position of the statuses at the end of the LEAVE record of a completing call.
func (p *program) statusesAt(leave event.Record) int {
	at := 2
	if leave.Flags()&event.FlagReturnCode != 0 {
		at = 3
	}
	for i := range p.out {
		last := i == len(p.out)-1
		switch n := p.out[i].words(); {
		case last && p.out[i].code == codeArray:
			at++ // the array's length
		case last, at >= len(leave):
		case n == 0: // an array of indices: its length, then two indices in a word
			at += 1 + int(max(int64(leave[at]), 0)+1)/2
		default:
			at += n
		}
	}
	return min(at, len(leave))
}

// remember caches the records of terminal n. requests and names are c.requests.Version and c.renamed before the call:
// numbers that change whenever requests, or handles' names, do.
func (c *Capture) remember(s *stream, n uint32, f *frame, enter, leave event.Record, requests, names uint64) {
	p := f.prog
	cut, kind := 0, p.use
	how, late, ok := f.handleUse()
	if kind == uncacheable || f.opaque || !ok || p.leaves && f.passes == 0 || len(enter)+len(leave) > cachedWords {
		return
	}
	switch kind {
	case makesRequest:
		if cut = 2; c.requests.Version == requests || leave.Flags()&event.FlagNoOutputs != 0 {
			return // the call made no request
		}
	case namesRequests:
		if c.requests.Version != requests {
			kind = endsRequests
		}
	}
	lane := c.sigs.Lane(n)
	// The status of a completed request is compared with the envelope of its receive. A blocking receive's status
	// follows from equal words in the same way again. So it is compared only if some of the words are in a lane.
	compared := slices.Contains(f.follow, follows) && lane != nil
	if kind != noRequests {
		compared = slices.ContainsFunc(f.follow, func(o statusOrigin) bool { return o != apart })
	}
	if (kind == endsRequests || kind == freesRequest || compared && kind != noRequests) && !p.endsPlainly {
		return
	}
	if compared {
		if cut = len(leave) - f.status; kind != noRequests && len(f.ended) < len(f.follow) {
			return
		}
	}
	inEnd := len(enter)
	if p.endsPlainly && kind != noRequests && kind != makesRequest {
		inEnd = p.requestAt
	}
	e := c.cache.take(n)
	e.terminal, e.enter = n, 0
	e.words = append(append(e.words[:0], enter...), leave...)
	e.handleWords = append(e.handleWords[:0], f.handleWords...)
	e.inEnd, e.outEnd = uint16(inEnd), uint16(len(e.words)-cut)
	e.thread, e.use, e.kind, e.names, e.handles = int32(s.thread), kind, p.request, c.epoch(), names
	e.how, e.late = how, late
	if p.alike && lane == nil {
		e.thread = anyThread
	}
	e.inLane, e.lasting = lane != nil, p.persistent
	if e.posted, e.follows = f.posted, compared; lane != nil && p.layout.ReceiveValueIndices.Source > 0 {
		r, v := p.layout.ReceiveValueIndices, f.key.Values()
		e.posted = signature.EnvelopeOf(v[r.Source], 0, v[r.Count], v[r.Type])
	}
	e.plain = lane == nil && how != changesHandles && !late
	e.steady = e.mayLap()
	if e.more == nil && (lane != nil || p.persistent || kind != noRequests && kind != makesRequest) {
		e.more = new(cachedMore)
	}
	if m := e.more; m != nil {
		m.requests = c.requests.Version
		m.named, m.ended = append(m.named[:0], f.named...), append(m.ended[:0], f.ended...)
		m.follow = append(m.follow[:0], f.follow...)
		m.leaves, m.leftOut, m.told = f.passes > 0, f.leftOut, f.told
		if p.persistent {
			m.made = f.key[len(f.key)-1]
		}
	}
	if lane != nil && (how == changesHandles || !c.rememberLane(e, lane, p, s, enter, leave)) {
		return
	}
	e.enter = uint16(len(enter))
	if lane == nil {
		if e.follows && slices.Contains(f.follow, follows) {
			leave = leave[:p.statusesAt(leave)]
		}
		c.cache.enter(p.hash(enter, leave), n)
	}
}
