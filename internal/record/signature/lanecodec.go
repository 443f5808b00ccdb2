package signature

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// LaneColumns is a lane over the ranks of a class. The lane's values in the terminal's first call are not here, but
// among the terminal's values.
type LaneColumns struct {
	Terminal     int
	ValueIndices []int             // indices of the terminal's values in the lane, rising
	Steps        *grammar.Grammar  // numbers of steps; one step less than the terminal has calls
	StepColumns  [][]column.Column // by step and value: what the step adds, over the ranks
}

// What a step adds is a column over the ranks of the class, and so is how often it is repeated, if that differs.
//
//	lanes = sizes of the pieces in bytes seq, per class: piece
//	piece = number of lanes uvarint, lane…, varying counts, per varying count: seq,
//	        per lane, per value whose like is 0, per step: seq
//	lane  = terminal, minus that of the previous lane uvarint, number of values uvarint,
//	        (index of the value, minus the previous one uvarint, like uvarint)…,
//	        number of different steps uvarint, grammar
//
// like is 1 + the index of an earlier value of the lane to which every step adds the same; 0: no such value.
//
// A class without lanes has an empty piece.

// AppendLanes writes the lanes of a class, in rising order of terminals. repeats holds, over the ranks, how often steps
// are repeated; see column.NewCountedStreams. width returns the number of values of a terminal; -1 for a terminal that
// does not exist.
func AppendLanes(b []byte, lanes []LaneColumns, repeats []column.Column, ranks *column.Column, width func(terminal int) int) ([]byte, error) {
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
	streams, err := column.NewCountedStreams(grammars, repeats, ranks.Len())
	if err != nil {
		return nil, err
	}
	x := &DecodedLanes{varying: streams.VaryingSymbols}
	for i := range lanes {
		l := &lanes[i]
		x.List = append(x.List, DecodedLane{l.Terminal, l.ValueIndices, l.alike(), streams.Grammars[i], make([][]*column.Seq, len(l.StepColumns))})
	}
	return wire.AppendEncoded(b, func(c *wire.Coder) {
		x.codeHead(c, 0, nil, nil)
		x.columns(func(lane, value, n int) bool {
			of := &streams.VaryingCounts
			if lane >= 0 {
				of = &lanes[lane].StepColumns[n]
				n = value
			}
			column.CodeLazySeq(c, nil, &(*of)[n], ranks, 0)
			return true
		})
	}), nil
}

// alike returns, for each value, the number, from 1, of an earlier value to which all steps add the same; 0 if no
// earlier value is like it.
func (l *LaneColumns) alike() []int {
	list := make([]int, len(l.ValueIndices))
	known := make(map[string]int)
	var key []byte
	for k := range list {
		key = key[:0]
		for _, step := range l.StepColumns {
			key = step[k].AppendRuns(key)
		}
		if list[k] = known[string(key)]; list[k] == 0 {
			known[string(key)] = k + 1
		}
	}
	return list
}

// check checks a lane against the number of its terminal's values and the number of ranks.
func (l *LaneColumns) check(width, members int) error {
	if err := l.Steps.Check(); err != nil {
		return err
	}
	if err := CheckLane(l.ValueIndices, width, l.Steps, len(l.StepColumns)); err != nil {
		return err
	}
	for _, step := range l.StepColumns {
		if len(step) != len(l.ValueIndices) {
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

// A DecodedLanes is the lanes of a class as a file has them.
type DecodedLanes struct {
	List    []DecodedLane // in rising order of Terminal
	varying []int         // numbers, over all lanes' grammars, of repeated symbols whose counts differ between ranks
	counts  []*column.Seq
}

// A DecodedLane is the lane of one terminal.
type DecodedLane struct {
	Terminal     int
	ValueIndices []int
	like         []int // by value: 1 + the index of an earlier value that changes equally; 0: none
	steps        *grammar.Grammar
	by           [][]*column.Seq // by step, and by value whose like is 0: what the step adds, over the ranks
}

// DecodeLanes reads the lanes of a class with this number of ranks and terminals; width is as in AppendLanes. It
// returns nil if the class has no lanes.
func DecodeLanes(r *wire.Reader, ranks int, terminals int, width func(terminal int) int) *DecodedLanes {
	if r.RemainingLen() == 0 {
		return nil
	}
	x := &DecodedLanes{}
	if x.codeHead(&wire.Coder{Reader: r}, terminals, width, nil); r.Err() != nil {
		return nil
	}
	x.counts = make([]*column.Seq, len(x.varying))
	x.columns(func(lane, value, n int) bool {
		seq := column.DecodeSeq(r, ranks)
		if lane < 0 {
			x.counts[n] = seq
		} else {
			l := &x.List[lane]
			l.by[n] = append(l.by[n], seq)
		}
		return seq != nil
	})
	if r.Err() != nil {
		return nil
	}
	return x
}

// codeHead codes everything except columns. order, if not nil, gets the size of each lane's sequence of steps.
func (x *DecodedLanes) codeHead(c *wire.Coder, terminals int, width func(terminal int) int, order func(lane, bytes int)) {
	var grammars []*grammar.Grammar
	last := 0
	wire.CodeList(c, &x.List, 4, func(i int, l *DecodedLane) {
		wire.CodeAbove(c, &l.Terminal, last, math.MaxInt32)
		if c.RefuseIf(l.Terminal >= terminals || i > 0 && l.Terminal == last, "lane of terminal %d of %d", l.Terminal, terminals); c.Failed() {
			return
		}
		last = l.Terminal
		l.codeValues(c)
		kinds := len(l.by)
		c.Count(&kinds, 1)
		rest, steps := 0, []*grammar.Grammar{l.steps}
		if c.Reader != nil {
			rest = c.Reader.RemainingLen()
		}
		if grammar.CodeGrammars(c, &steps, 1); c.Failed() {
			return
		}
		grammars = append(grammars, steps...)
		if c.Reader == nil {
			return
		}
		l.steps, l.by = steps[0], make([][]*column.Seq, kinds)
		c.RecordError(CheckLane(l.ValueIndices, width(l.Terminal), l.steps, kinds))
		if order != nil {
			order(i, rest-c.Reader.RemainingLen())
		}
	})
	if !c.Failed() {
		column.CodeVaryingSymbols(c, &x.varying, grammars)
	}
}

// codeValues codes which of the terminal's values are in the lane, and which of them change equally.
func (l *DecodedLane) codeValues(c *wire.Coder) {
	n, last := len(l.ValueIndices), 0
	if c.Count(&n, 2); c.Reader != nil {
		l.ValueIndices, l.like = make([]int, n), make([]int, n)
	}
	for k := range l.ValueIndices {
		wire.CodeAbove(c, &l.ValueIndices[k], last, math.MaxInt32)
		wire.CodeBounded(c, &l.like[k], k)
		last = l.ValueIndices[k]
		of := l.like[k]
		if c.RefuseIf(of > 0 && l.like[of-1] > 0, "lane of value %d is like one that is like another", last); c.Failed() {
			return
		}
	}
}

// columns calls each for the columns in their order, until it returns false. First come the counts of the n-th
// varying repeated symbol, with lane -1, then what the n-th step of a lane adds to a value.
func (x *DecodedLanes) columns(each func(lane, value, n int) bool) {
	for n := range x.varying {
		if !each(-1, -1, n) {
			return
		}
	}
	for lane := range x.List {
		l := &x.List[lane]
		for value, of := range l.like {
			for n := range l.by {
				if of == 0 && !each(lane, value, n) {
					return
				}
			}
		}
	}
}

// A LanePart is a part of a class's encoded lanes: the step order of one lane, or one column.
type LanePart struct {
	Terminal       int
	ValueIndex     int // index of the value to which a column's step adds; -1: step order, or repetition counts
	StepOrderBytes int // size in bytes of the step order; 0 for a column
}

// SplitEncoded yields the parts of a class's encoded lanes in the order of the file. Before each column it calls next,
// which must read the column from r.
func (x *DecodedLanes) SplitEncoded(r *wire.Reader, next func(), yield func(LanePart)) error {
	width := func(int) int { return math.MaxInt }
	again := &DecodedLanes{}
	again.codeHead(&wire.Coder{Reader: r}, math.MaxInt, width, func(lane, bytes int) { yield(LanePart{x.List[lane].Terminal, -1, bytes}) })
	if r.Err() != nil {
		return r.Err()
	}
	again.columns(func(lane, value, _ int) bool {
		next()
		if lane < 0 {
			yield(LanePart{-1, -1, 0})
		} else {
			yield(LanePart{x.List[lane].Terminal, x.List[lane].ValueIndices[value], 0})
		}
		return r.Err() == nil
	})
	return r.Err()
}

// EvalForRank evaluates the lanes for a rank, the index-th of its class. used counts the rank's calls by terminal, and
// signature returns the values of a terminal's first call.
func (x *DecodedLanes) EvalForRank(index int, rank int64, used TerminalUsage, signature func(terminal int) []int64) ([]*LaneReader, error) {
	grammars := make([]*grammar.Grammar, len(x.List))
	for i := range x.List {
		grammars[i] = x.List[i].steps
	}
	if len(x.varying) > 0 {
		var err error
		grammars, err = grammar.WithRepetitionCounts(grammars, x.varying, func(i int) int64 { return x.counts[i].At(index, rank) })
		if err != nil {
			return nil, err
		}
	}
	list := make([]*LaneReader, len(x.List))
	for i := range x.List {
		of := &x.List[i]
		if err := used.CheckLane(of.Terminal, grammars[i]); err != nil {
			return nil, fmt.Errorf("terminal %d: %d steps, %d calls: %w", of.Terminal, grammars[i].Len(), used.Calls[of.Terminal], err)
		}
		v := &LaneReader{ValueIndices: of.ValueIndices, Steps: grammars[i], length: grammars[i].Len()}
		sig := signature(of.Terminal)
		for _, p := range of.ValueIndices {
			v.FirstValues = append(v.FirstValues, sig[p])
		}
		for _, step := range of.by {
			vals := make([]int64, 0, len(of.ValueIndices))
			for _, like := range of.like {
				if like > 0 {
					vals = append(vals, vals[like-1])
				} else {
					vals, step = append(vals, step[0].At(index, rank)), step[1:]
				}
			}
			v.StepValues = append(v.StepValues, vals)
		}
		v.sum()
		list[i] = v
	}
	return list, nil
}
