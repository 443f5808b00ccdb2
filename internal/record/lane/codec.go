package lane

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// Columns are a lane of the ranks of a class. The terminal's own values are those of its
// first call.
type Columns struct {
	Terminal int
	Values   []int             // which of the terminal's values, rising
	Steps    *grammar.Grammar  // numbers of steps, one less than the terminal has calls
	By       [][]column.Column // by number of the step, by value: what each rank adds
}

// Steps, and how often they are repeated, are columns over the ranks of the class.
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

// Append writes the lanes of a class, in rising order of terminals, and how often its ranks
// repeat their steps; see column.StreamsOf. Width returns the number of values of a terminal, or -1 for a terminal that
// does not exist.
func Append(b []byte, lanes []Columns, repeats []column.Column, ranks *column.Column, width func(terminal int) int) ([]byte, error) {
	if len(lanes) == 0 {
		return b, nil
	}
	grammars := make([]*grammar.Grammar, len(lanes))
	last := -1
	for i := range lanes {
		l := &lanes[i]
		if l.Terminal <= last {
			return nil, errTerminal
		}
		last = l.Terminal
		if err := l.check(width(last), ranks.Len()); err != nil {
			return nil, err
		}
		grammars[i] = l.Steps
	}
	streams, err := column.StreamsOf(grammars, repeats, ranks.Len())
	if err != nil {
		return nil, err
	}
	b = wire.AppendUvarint(b, uint64(len(lanes)))
	like := make([][]int, len(lanes))
	last = 0
	for i := range lanes {
		l := &lanes[i]
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
		b = streams.List[i].AppendBinary(b)
	}
	b = column.AppendVarying(b, streams.Varying)
	for i := range streams.Columns {
		b = column.EncodeSeq(b, &streams.Columns[i], ranks)
	}
	for i := range lanes {
		for k, of := range like[i] {
			for _, step := range lanes[i].By {
				if of == 0 {
					b = column.EncodeSeq(b, &step[k], ranks)
				}
			}
		}
	}
	return b, nil
}

// like finds, for each value, an earlier one that all steps add the same to: its
// number, from 1, or 0.
func (l *Columns) like() []int {
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
func (l *Columns) check(width, members int) error {
	if err := l.Steps.Check(); err != nil {
		return err
	}
	if err := Check(l.Values, width, l.Steps, len(l.By)); err != nil {
		return err
	}
	for _, step := range l.By {
		if len(step) != len(l.Values) {
			return errTerminal
		}
		for k := range step {
			if step[k].Len() != members {
				return errTerminal
			}
		}
	}
	return nil
}

// A Decoded is the lanes of a class as a file has them.
type Decoded struct {
	List    []DecodedLane // in rising order of Terminal
	varying []int         // steps of the lanes that ranks repeat unequally often
	counts  []*column.Seq
}

// A DecodedLane is the lane of one terminal.
type DecodedLane struct {
	Terminal int
	Values   []int
	like     []int // by value: 1 + number of one that moves alike, 0
	steps    *grammar.Grammar
	by       [][]*column.Seq // by step, by value
}

// Decode reads the lanes of a class of some ranks that has so many terminals; width is as
// with Append. Nil: it has none.
func Decode(r *wire.Reader, ranks int, terminals int, width func(terminal int) int) *Decoded {
	if r.Rest() == 0 {
		return nil
	}
	x := &Decoded{}
	grammars := x.decodeHead(r, terminals, width)
	if r.Err() != nil {
		return nil
	}
	x.varying = column.DecodeVarying(r, grammars)
	for range x.varying {
		x.counts = append(x.counts, column.DecodeSeq(r, ranks))
	}
	for i := range x.List {
		l := &x.List[i]
		for _, of := range l.like {
			for k := range l.by {
				if of > 0 {
					l.by[k] = append(l.by[k], l.by[k][of-1])
					continue
				}
				seq := column.DecodeSeq(r, ranks)
				if seq == nil {
					return nil
				}
				l.by[k] = append(l.by[k], seq)
			}
		}
	}
	return x
}

// decodeHead reads what is no column, and returns the orders of steps.
func (x *Decoded) decodeHead(r *wire.Reader, terminals int, width func(terminal int) int) (grammars []*grammar.Grammar) {
	terminal := 0
	for i := range r.Count(4) {
		d := r.Int(math.MaxInt32)
		if terminal += d; terminal >= terminals || i > 0 && d == 0 {
			r.Fail("lane of terminal %d of %d", terminal, terminals)
			return nil
		}
		l := DecodedLane{Terminal: terminal}
		value := 0
		for k := range r.Count(2) {
			value += r.Int(math.MaxInt32)
			l.Values, l.like = append(l.Values, value), append(l.like, r.Int(k))
			if of := l.like[k]; r.Err() == nil && of > 0 && l.like[of-1] > 0 {
				r.Fail("lane of value %d is like one that is like another", value)
				return nil
			}
		}
		kinds := r.Count(1)
		g, n, err := grammar.Decode(r.Remaining())
		r.Check(err)
		if r.Err() == nil {
			r.Skip(n)
			r.Check(Check(l.Values, width(terminal), g, kinds))
		}
		if r.Err() != nil {
			return nil
		}
		l.steps, l.by = g, make([][]*column.Seq, kinds)
		grammars = append(grammars, g)
		x.List = append(x.List, l)
	}
	return grammars
}

// A Part is what an encoded lane has of the file's bytes.
type Part struct {
	Terminal int
	Value    int // what the column is of; -1: how often steps are repeated
	Order    int // bytes of the steps' order, if it is that and no column
}

// Parts takes the bytes of a class's lanes apart, in order; next reads a column and says what
// it is like.
func (x *Decoded) Parts(r *wire.Reader, next func(), yield func(Part)) error {
	r.Uvarint()
	var grammars []*grammar.Grammar
	for i := range x.List {
		l := &x.List[i]
		for range 3 + 2*len(l.Values) { // terminal, values, each with what it is like, steps
			r.Uvarint()
		}
		_, size, err := grammar.Decode(r.Remaining())
		if err != nil {
			return err
		}
		r.Skip(size)
		grammars = append(grammars, l.steps)
		yield(Part{l.Terminal, -1, size})
	}
	column.DecodeVarying(r, grammars)
	for range x.varying {
		next()
		yield(Part{-1, -1, 0})
	}
	for i := range x.List {
		l := &x.List[i]
		for k, p := range l.Values {
			for range l.by {
				if l.like[k] == 0 {
					next()
					yield(Part{l.Terminal, p, 0})
				}
			}
		}
	}
	return nil
}

// Of evaluates the lanes for a rank, the index-th of its class, of which Used says how often
// it makes which call, and Signature the values of a terminal's first call.
func (x *Decoded) Of(index int, rank int64, used Usage, signature func(terminal int) []int64) ([]*Values, error) {
	grammars := make([]*grammar.Grammar, len(x.List))
	for i := range x.List {
		grammars[i] = x.List[i].steps
	}
	if len(x.varying) > 0 {
		var err error
		grammars, err = grammar.WithCounts(grammars, x.varying, func(i int) int64 { return x.counts[i].At(index, rank) })
		if err != nil {
			return nil, err
		}
	}
	list := make([]*Values, len(x.List))
	for i := range x.List {
		of := &x.List[i]
		if err := used.Fits(of.Terminal, grammars[i]); err != nil {
			return nil, fmt.Errorf("terminal %d: %d steps, %d calls: %w", of.Terminal, grammars[i].Len(), used.Calls[of.Terminal], err)
		}
		v := &Values{Values: of.Values, Steps: grammars[i], length: grammars[i].Len()}
		sig := signature(of.Terminal)
		for _, p := range of.Values {
			v.First = append(v.First, sig[p])
		}
		for _, step := range of.by {
			vals := make([]int64, len(step))
			for j, seq := range step {
				vals[j] = seq.At(index, rank)
			}
			v.By = append(v.By, vals)
		}
		v.sum()
		list[i] = v
	}
	return list, nil
}
