package trace

import (
	"errors"
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// A value that is another in each call, a counter as tag say, would make each
// call a terminal of its own. It has a lane instead: the terminal's signature
// says what it was in the first call, and a grammar over numbered steps what
// each call adds to the one before. Steps, and how often they are repeated, are
// columns over the ranks of the class.
//
//	lanes = sizes of the pieces in bytes seq, per class: piece
//	piece = lanes uvarint, lane…, varying counts, per varying count: seq,
//	        per lane, per value that moves like no other, per step: seq
//	lane  = terminal uvarint as a difference to the one before, values uvarint,
//	        (value uvarint as a difference to the one before, like uvarint)…, steps uvarint, grammar
//
// like is 0, or one more than the number of an earlier value that moves alike.
//
// A class without lanes has an empty piece.

// appendLanes returns the section; nil if no class has lanes.
func appendLanes(classes []Class) ([]byte, error) {
	blobs := make([][]byte, len(classes))
	any := false
	for i := range classes {
		var err error
		if blobs[i], err = classes[i].appendLanes(nil); err != nil {
			return nil, fmt.Errorf("class %d: lanes: %w", i, err)
		}
		any = any || len(blobs[i]) > 0
	}
	if !any {
		return nil, nil
	}
	return appendBlobs(nil, blobs), nil
}

var errLane = errors.New("lane that does not fit its terminal")

func (c *Class) appendLanes(b []byte) ([]byte, error) {
	if len(c.Lanes) == 0 {
		return b, nil
	}
	grammars := make([]*grammar.Grammar, len(c.Lanes))
	last := -1
	var t Terminal
	for i := range c.Lanes {
		l := &c.Lanes[i]
		if l.Terminal <= last || l.Terminal >= c.Terminals.Len() || len(l.Values) == 0 {
			return nil, errLane
		}
		last = l.Terminal
		c.Terminals.At(last, &t)
		if err := l.check(len(t.Vals), c.Ranks.Len()); err != nil {
			return nil, err
		}
		grammars[i] = l.Steps
	}
	counts, err := countsOf(&Class{Ranks: c.Ranks, Streams: grammars, Counts: c.LaneCounts})
	if err != nil {
		return nil, err
	}
	b = wire.AppendUvarint(b, uint64(len(c.Lanes)))
	like := make([][]int, len(c.Lanes))
	last = 0
	for i := range c.Lanes {
		l := &c.Lanes[i]
		b = wire.AppendUvarint(b, uint64(l.Terminal-last))
		last = l.Terminal
		b = wire.AppendUvarint(b, uint64(len(l.Values)))
		before := 0
		like[i] = l.like()
		for k, p := range l.Values {
			b = wire.AppendUvarint(b, uint64(p-before))
			b = wire.AppendUvarint(b, uint64(like[i][k]))
			before = p
		}
		b = wire.AppendUvarint(b, uint64(len(l.By)))
		b = counts.streams[i].AppendBinary(b)
	}
	b = appendVarying(b, counts.varying)
	for i := range counts.columns {
		b = column.EncodeSeq(b, &counts.columns[i], &c.Ranks)
	}
	for i := range c.Lanes {
		for k, of := range like[i] {
			for _, step := range c.Lanes[i].By {
				if of == 0 {
					b = column.EncodeSeq(b, &step[k], &c.Ranks)
				}
			}
		}
	}
	return b, nil
}

// like finds, for each value, an earlier one that all steps add the same to: its
// number, from 1, or 0.
func (l *LaneColumns) like() []int {
	list := make([]int, len(l.Values))
	known := make(map[string]int)
	var key []byte
	for k := range list {
		key = key[:0]
		for _, step := range l.By {
			key = step[k].AppendRuns(key)
		}
		if list[k] = known[string(key)]; list[k] == 0 {
			known[string(key)] = k + 1
		}
	}
	return list
}

// check holds a lane against the number of its terminal's values and of ranks.
func (l *LaneColumns) check(values, members int) error {
	last := -1
	for _, p := range l.Values {
		if p <= last || p >= values {
			return errLane
		}
		last = p
	}
	if err := l.Steps.Check(); err != nil {
		return err
	}
	if n, ok := countTerminals([]*grammar.Grammar{l.Steps}); !ok || n != len(l.By) {
		return fmt.Errorf("steps are not numbered by first occurrence: %w", errLane)
	}
	for _, step := range l.By {
		if len(step) != len(l.Values) {
			return errLane
		}
		for k := range step {
			if step[k].Len() != members {
				return errLane
			}
		}
	}
	return nil
}

// lanes are those of a decoded class.
type lanes struct {
	list    []lane
	of      []int // by terminal: which of list, -1 if none
	varying []int
	counts  []*column.Seq
}

type lane struct {
	terminal int
	values   []int
	like     []int // by value: 1 + number of one that moves alike, 0
	steps    *grammar.Grammar
	by       [][]*column.Seq // by step, by value
}

// readLanes returns what the classes have of the section.
func (r *Reader) readLanes() (blobs [][]byte, err error) {
	if !r.hasSection(container.Lanes) {
		return make([][]byte, r.ranks.classes), nil
	}
	err = r.section(container.Lanes, func(w *wire.Reader) { blobs = decodeBlobs(w, r.ranks.classes) })
	return blobs, err
}

// decodeLanes reads the lanes of a class whose terminals are known.
func decodeLanes(r *wire.Reader, c *class) *lanes {
	if r.Rest() == 0 {
		return nil
	}
	x := &lanes{of: make([]int, len(c.terminals))}
	for i := range x.of {
		x.of[i] = -1
	}
	var grammars []*grammar.Grammar
	terminal := 0
	for i := range r.Count(4) {
		d := r.Int(math.MaxInt32)
		if terminal += d; terminal >= len(c.terminals) || i > 0 && d == 0 {
			r.Fail("lane of terminal %d of %d", terminal, len(c.terminals))
			return nil
		}
		l := lane{terminal: terminal}
		width := c.terminals[terminal].group.width
		value := 0
		for k := range r.Count(2) {
			d := r.Int(math.MaxInt32)
			if value += d; value >= width || k > 0 && d == 0 {
				r.Fail("lane of value %d of %d", value, width)
				return nil
			}
			l.values, l.like = append(l.values, value), append(l.like, r.Int(k))
			if of := l.like[k]; r.Err() == nil && of > 0 && l.like[of-1] > 0 {
				r.Fail("lane of value %d is like one that is like another", value)
				return nil
			}
		}
		steps := r.Count(1)
		g, n, err := grammar.Decode(r.Remaining())
		r.Check(err)
		if r.Err() != nil {
			return nil
		}
		r.Skip(n)
		if n, ok := countTerminals([]*grammar.Grammar{g}); !ok || n != steps || len(l.values) == 0 {
			r.Fail("lane of terminal %d: %d steps", terminal, steps)
			return nil
		}
		l.steps, l.by = g, make([][]*column.Seq, steps)
		grammars = append(grammars, g)
		x.of[terminal] = len(x.list)
		x.list = append(x.list, l)
	}
	x.varying = decodeVarying(r, grammars)
	for range x.varying {
		x.counts = append(x.counts, column.DecodeSeq(r, c.ranks))
	}
	for i := range x.list {
		l := &x.list[i]
		for _, of := range l.like {
			for k := range l.by {
				if of > 0 {
					l.by[k] = append(l.by[k], l.by[k][of-1])
					continue
				}
				seq := column.DecodeSeq(r, c.ranks)
				if seq == nil {
					return nil
				}
				l.by[k] = append(l.by[k], seq)
			}
		}
	}
	return x
}
