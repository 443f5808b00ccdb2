package capture

import (
	"encoding/binary"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/track"
)

// maxAllocs limits the distinct allocation events: a program with a different size for every block would fill the
// memory.
const maxAllocs = 1 << 16

// allocs numbers allocation events: the begin of a segment, which is its first use by a call, and its end. Each
// stream has a grammar of its events, so that a loop that allocates and frees is a loop there, too. Recording a call
// costs no more than without allocation events.
type allocs struct {
	number map[track.AllocEvent]uint32
	list   []track.AllocEvent
	cut    bool // events were dropped, there were too many
}

// An allocStream is the sequence of a stream's allocation events.
type allocStream struct {
	grammar *grammar.Builder // of event numbers; nil: no event so far
	last    uint64           // number of calls that the stream had begun at its last event
	numbers []byte           // numbers of the events since the last checkpoint, if checkpoints write changes only
}

// alloc records the begin or the end of a segment.
func (c *Capture) alloc(s *stream, l track.AllocEvent) {
	c.note(&c.allocs, &s.allocStream, s.begun(), l)
}

// note adds an event to a stream that has begun this many calls.
func (c *Capture) note(v *allocs, l *allocStream, begun uint64, e track.AllocEvent) {
	if v.cut {
		return
	}
	e.CallsSincePrevious = begun - l.last
	n, ok := v.number[e]
	if !ok {
		if len(v.list) == maxAllocs {
			v.cut = true
			return
		}
		n = v.add(e)
	}
	l.append(n)
	l.last = begun
	if c.checkpoints.chunks {
		l.numbers = binary.AppendUvarint(l.numbers, uint64(n))
	}
}

// begun returns how many calls the stream has begun.
func (s *stream) begun() uint64 { return s.grammar.Len() + uint64(len(s.held)) }

func (v *allocs) add(l track.AllocEvent) uint32 {
	if v.number == nil {
		v.number = make(map[track.AllocEvent]uint32)
	}
	n := uint32(len(v.list))
	v.number[l] = n
	v.list = append(v.list, l)
	return n
}

func (l *allocStream) append(n uint32) {
	if l.grammar == nil {
		l.grammar = grammar.NewBuilder()
	}
	l.grammar.Append(n)
}

// trackAllocs returns the allocation events, numbered by first occurrence over the streams.
func (c *Capture) trackAllocs(v *allocs, of func(*stream) *allocStream) *track.AllocEvents {
	if len(v.list) == 0 {
		return nil
	}
	t := &track.AllocEvents{Truncated: v.cut}
	const unseen = ^uint32(0)
	number := make([]uint32, len(v.list))
	for i := range number {
		number[i] = unseen
	}
	for _, s := range c.streams {
		b := of(s).grammar
		if b == nil {
			b = grammar.NewBuilder()
		}
		g := b.Grammar()
		for _, n := range g.Terminals() {
			if number[n] == unseen {
				number[n] = uint32(len(t.DistinctEvents))
				t.DistinctEvents = append(t.DistinctEvents, v.list[n])
			}
		}
		t.EventGrammars = append(t.EventGrammars, g.Renumber(func(n uint32) uint32 { return number[n] }))
	}
	return t
}

// code codes the allocation events from number first on. Reading appends to the existing ones.
func (v *allocs) code(c *wire.Coder, first int) {
	c.Bool(&v.cut)
	var list []track.AllocEvent
	if c.Reader == nil {
		list = v.list[first:]
	}
	wire.CodeList(c, &list, 4, func(_ int, l *track.AllocEvent) {
		c.Bool(&l.IsFree)
		wire.CodeUints(c, &l.CallsSincePrevious)
		wire.CodeIntegers(c, &l.PackedSegment)
		if wire.CodeUints(c, &l.Size); c.Reader != nil {
			v.add(*l)
		}
	})
}

func (l *allocStream) code(c *wire.Coder, allocs int) {
	has := l.grammar != nil
	if c.Bool(&has); has {
		l.grammar = l.grammar.CodeSequence(c, allocs)
	}
	wire.CodeUints(c, &l.last)
}

func (l *allocStream) codeChunk(c *wire.Coder, allocs int) {
	codeNoted(c, l.numbers, func(x *wire.Coder) {
		var n uint32
		if wire.CodeIndex(x, &n, allocs); !x.Failed() {
			l.append(n)
		}
	})
	wire.CodeUints(c, &l.last)
}
