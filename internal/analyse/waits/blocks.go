package waits

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
)

// A block is the times of messages from one rank to another: when they were sent, or when the receiver arrived.
//
//	block   = (head uvarint, [communicator varint, tag varint], [number uvarint], [error uvarint, stream uvarint, place uvarint],
//	           (time - previous time) varint)…
//	head    = 8·channel + flags; a channel without a number gets the next one, and its communicator and tag follow
//
// Times are in ns. Numbers count the messages of a channel.
type block struct {
	b        []byte
	channels map[ops.Channel]int
	of       []inBlock
	at       int64
}

// An inBlock is the latest entry of a channel in a block.
type inBlock struct {
	ops.Channel
	next uint64 // expected number of the next message
	arrival
}

// Flags of an entry of a block.
const (
	isLate = 1 << iota // a receiver arrived after the send
	otherNumber
	otherPlace
	entryFlags = iota
)

// blockFor returns the block to be sent to a rank. It adds an empty one to the map if needed.
func blockFor(of map[int]*block, rank int) *block {
	return once.GetOrMake(of, rank, func() *block { return &block{channels: make(map[ops.Channel]int)} })
}

// add appends an entry: the nth message of channel c was sent, or its receiver arrived, as arrival a says.
func (x *block) add(c ops.Channel, nth uint64, a arrival, flags int) {
	n, fresh := once.NumberOf(x.channels, c)
	if fresh {
		x.of = append(x.of, inBlock{Channel: c, next: 1})
	}
	o := &x.of[n]
	if nth != o.next {
		flags |= otherNumber
	}
	if fresh || !a.sameWhere(&o.arrival) {
		flags |= otherPlace
	}
	x.b = wire.AppendUvarint(x.b, uint64(n)<<entryFlags|uint64(flags))
	if fresh {
		x.b = wire.AppendVarint(x.b, int64(c.Comm))
		x.b = wire.AppendVarint(x.b, c.Tag)
	}
	if flags&otherNumber != 0 {
		x.b = wire.AppendUvarint(x.b, nth)
	}
	if flags&otherPlace != 0 {
		c := wire.Coder{Buf: x.b}
		a.where(&c)
		x.b = c.Buf
	}
	x.b = wire.AppendVarint(x.b, a.at-x.at)
	o.next, o.arrival, x.at = nth+1, a, a.at
}

func (a *arrival) sameWhere(o *arrival) bool {
	return a.within == o.within && a.stream == o.stream && a.place == o.place
}

// where encodes or decodes the fields that sameWhere compares.
func (a *arrival) where(c *wire.Coder) {
	wire.CodeNaturals(c, &a.within)
	wire.CodeBounded(c, &a.stream, math.MaxInt32)
	wire.CodeUints(c, &a.place)
}

// readBlock reads a block about messages from one rank to another, and calls take for each entry.
func readBlock(r *wire.Reader, from, to int, take func(c ops.Channel, nth uint64, a arrival, flags int)) {
	var of []inBlock
	at := int64(0)
	for r.RemainingLen() > 0 {
		head := r.Uvarint()
		n, flags := head>>entryFlags, int(head&(1<<entryFlags-1))
		switch {
		case n > uint64(len(of)):
			r.Fail("channel %d of %d", n, len(of))
			return
		case n == uint64(len(of)):
			of = append(of, inBlock{Channel: ops.Channel{Comm: int(r.Varint()), FromWorldRank: from, ToWorldRank: to, Tag: r.Varint()}, next: 1})
		}
		o := &of[n]
		if flags&otherNumber != 0 {
			o.next = r.Uvarint()
		}
		if flags&otherPlace != 0 {
			o.where(&wire.Coder{Reader: r})
		}
		at += r.Varint()
		o.at = at
		if r.Err() != nil {
			return
		}
		take(o.Channel, o.next, o.arrival, flags)
		o.next++
	}
}

func (x *block) bytes() []byte { return x.b }

// A question asks a rank that arrived late what it did while another rank waited.
type question struct {
	from, waited int64    // ns: begin and length of the wait
	place        callSite // the call that waited
	late         callSite // the call in which the other rank arrived
	kind         Kind
	stream       int32
	sign         int64 // -1: a wait counted before is taken back
}

// asking is the encoded questions to one rank.
//
//	questions = (4·kind + 2·(taken back) + (places differ from the previous question's) uvarint, [place uvarint, late uvarint, stream uvarint],
//	             (from - previous from) varint, waited uvarint)…
type asking struct {
	b      []byte
	before question
}

func (x *asking) ask(q question) {
	head := uint64(q.kind) << 2
	if q.sign < 0 {
		head |= 2
	}
	other := len(x.b) == 0 || q.place != x.before.place || q.late != x.before.late || q.stream != x.before.stream
	if other {
		head |= 1
	}
	x.b = wire.AppendUvarint(x.b, head)
	if other {
		x.b = wire.AppendUvarint(x.b, uint64(q.place))
		x.b = wire.AppendUvarint(x.b, uint64(q.late))
		x.b = wire.AppendUvarint(x.b, uint64(q.stream))
	}
	x.b = wire.AppendVarint(x.b, q.from-x.before.from)
	x.b = wire.AppendUvarint(x.b, uint64(q.waited))
	x.before = q
}

func (x *asking) bytes() []byte { return x.b }

// hearQuestions answers another rank's questions.
func (w *rankAnalysis) hearQuestions(from int, r *wire.Reader) {
	var q question
	for r.RemainingLen() > 0 {
		head := r.Uvarint()
		if head>>2 >= uint64(kinds) {
			r.Fail("a wait of kind %d", head>>2)
			return
		}
		q.kind, q.sign = Kind(head>>2), 1
		if head&2 != 0 {
			q.sign = -1
		}
		if head&1 != 0 {
			q.place, q.late, q.stream = callSite(r.Uvarint()), callSite(r.Uvarint()), int32(r.Int(math.MaxInt32))
		}
		q.from += r.Varint()
		q.waited = int64(r.Uvarint() & math.MaxInt64)
		if r.Err() != nil {
			return
		}
		w.answer(from, q)
	}
}

// encoded returns the encoded blocks or questions, by the rank that they go to, and empties the map.
func encoded[T interface{ bytes() []byte }](of map[int]T) map[int][]byte {
	out := make(map[int][]byte, len(of))
	for rank, x := range of {
		out[rank] = x.bytes()
	}
	clear(of)
	return out
}
