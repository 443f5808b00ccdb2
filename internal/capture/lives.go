package capture

import (
	"encoding/binary"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/pack"
	"github.com/spoor-hpc/spoor/internal/track"
)

// maxLives bounds the distinct beginnings and ends of segments that are kept:
// a program whose every block has another size would fill the memory.
const maxLives = 1 << 16

// lives numbers where segments begin, which is where a call first uses them, and
// where they end. A stream has the sequence of them in a grammar of its own, so
// that a loop which allocates and frees is a loop there too, and calls cost no more
// than without.
type lives struct {
	number map[track.Life]uint32
	list   []track.Life
	cut    bool // there were too many
}

// A lifeline is a stream's part of it.
type lifeline struct {
	grammar *grammar.Builder // of numbers of lives; nil: none so far
	last    uint64           // calls of the stream that had begun at the last one
	numbers []byte           // since the last checkpoint, if that notes them
}

// life takes in the beginning or the end of a segment.
func (c *Capture) life(s *stream, l track.Life) {
	if c.lives.cut {
		return
	}
	begun := s.grammar.Len() + uint64(len(s.held))
	l.Calls = begun - s.lifeline.last
	n, ok := c.lives.number[l]
	if !ok {
		if len(c.lives.list) == maxLives {
			c.lives.cut = true
			return
		}
		n = c.lives.add(l)
	}
	s.lifeline.append(n)
	s.lifeline.last = begun
	if c.checkpoints.chunks {
		s.lifeline.numbers = binary.AppendUvarint(s.lifeline.numbers, uint64(n))
	}
}

func (v *lives) add(l track.Life) uint32 {
	if v.number == nil {
		v.number = make(map[track.Life]uint32)
	}
	n := uint32(len(v.list))
	v.number[l] = n
	v.list = append(v.list, l)
	return n
}

func (l *lifeline) append(n uint32) {
	if l.grammar == nil {
		l.grammar = grammar.NewBuilder()
	}
	l.grammar.Append(n)
}

// trackLives returns the lives, numbered by first occurrence over the streams.
func (c *Capture) trackLives() *track.Lives {
	if len(c.lives.list) == 0 {
		return nil
	}
	t := &track.Lives{Cut: c.lives.cut}
	const unseen = ^uint32(0)
	number := make([]uint32, len(c.lives.list))
	for i := range number {
		number[i] = unseen
	}
	for _, s := range c.streams {
		b := s.lifeline.grammar
		if b == nil {
			b = grammar.NewBuilder()
		}
		g := b.Grammar()
		for _, n := range g.Terminals() {
			if number[n] == unseen {
				number[n] = uint32(len(t.List))
				t.List = append(t.List, c.lives.list[n])
			}
		}
		t.Streams = append(t.Streams, g.Renumber(func(n uint32) uint32 { return number[n] }))
	}
	return t
}

// save writes the lives from number first on.
func (v *lives) save(w *pack.Writer, first int) {
	w.Bool(v.cut)
	w.Uint(uint64(len(v.list) - first))
	for _, l := range v.list[first:] {
		w.Bool(l.Free)
		w.Uint(l.Calls)
		w.Int(l.Segment)
		w.Uint(l.Size)
	}
}

func (v *lives) load(r *pack.Reader) {
	v.cut = r.Bool()
	for range r.Count(4) {
		v.add(track.Life{Free: r.Bool(), Calls: r.Uint(), Segment: r.Int(), Size: r.Uint()})
	}
}

func (l *lifeline) save(w *pack.Writer) {
	w.Bool(l.grammar != nil)
	if l.grammar != nil {
		w.Bytes(l.grammar.AppendBinary(nil))
	}
	w.Uint(l.last)
}

func (l *lifeline) load(r *pack.Reader, lives int) {
	if r.Bool() {
		g, _, err := grammar.Decode([]byte(r.String()))
		if err != nil {
			r.Check(err)
			return
		}
		for _, n := range g.Terminals() {
			if int(n) >= lives {
				r.Fail("life %d of %d", n, lives)
				return
			}
		}
		l.grammar = grammar.Restore(g)
	}
	l.last = r.Uint()
}

func (l *lifeline) saveChunk(w *pack.Writer) {
	w.Bytes(l.numbers)
	w.Uint(l.last)
}

func (l *lifeline) loadChunk(r *pack.Reader, lives int) {
	numbers := pack.NewReader([]byte(r.String()))
	for numbers.Rest() > 0 && r.Err() == nil {
		n := numbers.Index(lives)
		if numbers.Err() != nil {
			r.Check(numbers.Err())
			return
		}
		l.append(uint32(n))
	}
	l.last = r.Uint()
}
