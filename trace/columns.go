package trace

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// Columns gives the values of a class's distinct calls as functions of the rank, one value at a time. With it, sums
// over thousands of ranks need not decode each rank's calls. Values are numbered as in Rank.Signature. A Columns is
// safe for concurrent use.
type Columns struct {
	c     *sections.DecodedClass
	ranks []int
	size  int64
	sums  []*summed // by terminal: which of its values have no column of their own; nil if each has one
	row   atomic.Pointer[row]
	kinds []atomic.Pointer[[]valueKind] // by terminal, nil before the first use
}

// A valueKind is how a value is stored: by which kind of form. If that needs a stored column, seq is the column's index
// in DecodedTerminal.StoredValues.
type valueKind struct {
	kind column.Kind
	seq  int32
}

// Columns returns the values of a class's distinct calls as functions of the rank.
func (r *Reader) Columns(class int) (*Columns, error) {
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	x := &Columns{c: c, ranks: r.Members(class), size: int64(r.Ranks()), sums: make([]*summed, len(c.Terminals)), kinds: make([]atomic.Pointer[[]valueKind], len(c.Terminals))}
	for t := range c.Terminals {
		if f := c.Terminals[t].Group.Function; f != nil {
			x.sums[t] = x.summedOf(f, t)
		}
	}
	return x, nil
}

// Ranks returns the class's ranks in rising order; don't change them.
func (x *Columns) Ranks() []int { return x.ranks }

// CountsVary reports whether repetition counts differ between ranks of the class. Then Rank.TerminalCounts and trip counts of
// loops differ, too.
func (x *Columns) CountsVary() bool { return len(x.c.VaryingSymbols) > 0 }

// ValueCount returns how many values a terminal has.
func (x *Columns) ValueCount(terminal int) int { return x.c.Terminals[terminal].Group.ValueCount }

// kindsOf returns, by value, how the values of a terminal are stored. The result is cached: counting the columns before
// each value again would take time quadratic in the number of values.
func (x *Columns) kindsOf(terminal int) []valueKind {
	if known := x.kinds[terminal].Load(); known != nil {
		return *known
	}
	t := &x.c.Terminals[terminal]
	kinds := make([]valueKind, t.Group.ValueCount)
	seqs := int32(0)
	for p := range kinds {
		list, at := t.Group.FormsOf(t.SignatureIndex, p)
		kinds[p] = valueKind{list.Kind(at), seqs}
		if kinds[p].kind.NeedsColumn() {
			seqs++
		}
	}
	x.kinds[terminal].Store(&kinds)
	return kinds
}

func (x *Columns) value(terminal, value int) column.StoredValue {
	t := &x.c.Terminals[terminal]
	k := x.kindsOf(terminal)[value]
	v := column.StoredValue{Form: column.Form{Kind: k.kind}}
	if k.kind.CoefficientCount() > 0 {
		list, at := t.Group.FormsOf(t.SignatureIndex, value)
		v.Form = list.At(at)
	}
	switch {
	case k.kind == column.KindOtherColumn, k.kind == column.KindOwnRankInColumn:
		x.c.ResolveReferences(&v)
	case k.kind.NeedsColumn():
		v.Column = t.StoredValues[k.seq]
	}
	return v
}

// At returns a value of a terminal on one rank of the class: the rank with index member, from 0.
func (x *Columns) At(terminal, value, member int) int64 {
	if x.sums[terminal].has(value) {
		return x.rowOf(terminal, member)[value]
	}
	return x.stored(terminal, value, member)
}

// stored is At for a value that has a column of its own.
func (x *Columns) stored(terminal, value, member int) int64 {
	v := x.value(terminal, value)
	return v.At(member, int64(x.ranks[member]), x.size)
}

// Each calls f with a value of a terminal on each rank of the class, in order.
func (x *Columns) Each(terminal, value int, f func(member int, v int64)) {
	if x.sums[terminal].has(value) {
		for i := range x.ranks {
			f(i, x.rowOf(terminal, i)[value])
		}
		return
	}
	v := x.value(terminal, value)
	for i, rank := range x.ranks {
		f(i, v.At(i, int64(rank), x.size))
	}
}

// Uniform returns a value of a terminal, and true if it is stored as a constant: then all ranks of the class have it.
// After false they may still have the same: Uniform doesn't evaluate each rank.
func (x *Columns) Uniform(terminal, value int) (int64, bool) {
	if x.sums[terminal].has(value) && !x.AllUniform(terminal) || !x.constant(terminal, value) {
		return 0, false
	}
	return x.At(terminal, value, 0), true
}

// constant reports whether a value of a terminal is stored as a constant over all ranks of the class.
func (x *Columns) constant(terminal, value int) bool {
	return x.kindsOf(terminal)[value].kind == column.KindConst || len(x.ranks) == 1
}

// AllUniform reports whether all values of a terminal are stored as constants over all ranks of the class.
func (x *Columns) AllUniform(terminal int) bool {
	for p := range x.ValueCount(terminal) {
		if !x.constant(terminal, p) {
			return false
		}
	}
	return true
}

// Formula renders a value of a terminal as a function of the rank, such as "(rank-1) mod 8". If the formula holds for
// only most ranks, others are the different values of the remaining ranks, rising. It is "" if no formula was found.
func (x *Columns) Formula(terminal, value int) (formula string, others []int64) {
	if v, ok := x.Uniform(terminal, value); ok {
		return fmt.Sprint(v), nil
	}
	if x.sums[terminal].has(value) {
		return "", nil
	}
	v := x.value(terminal, value)
	f := v.Form
	if f.Kind&column.KindFlagMasked == 0 && !f.Kind.IsClosedForm() {
		f = column.Form{Kind: column.KindRankPlus | column.KindFlagMasked, Coefficients: column.Coefficients{x.commonShift(terminal, value)}}
	}
	f = f.WithoutEdge()
	if formula = f.Text(x.size); v.Form.Kind == f.Kind && f.Kind&column.KindFlagMasked == 0 {
		return formula, nil
	}
	seen := make(map[int64]bool)
	missed := 0
	x.Each(terminal, value, func(member int, got int64) {
		if got == f.Eval(int64(x.ranks[member]), x.size) {
			return
		}
		if missed++; !seen[got] {
			seen[got] = true
			others = append(others, got)
		}
	})
	const room = 2
	if len(others) > room || 2*missed > len(x.ranks) {
		return "", nil
	}
	slices.Sort(others)
	return formula, others
}

// commonShift returns the most frequent difference between a value and the rank.
func (x *Columns) commonShift(terminal, value int) (shift int64) {
	seen := make(map[int64]int)
	x.Each(terminal, value, func(member int, v int64) {
		d := v - int64(x.ranks[member])
		if seen[d]++; seen[d] > seen[shift] {
			shift = d
		}
	})
	return shift
}

// Positions are the indices of values in a signature; -1: the signature has no such value.
type Positions struct {
	Params          []ParamPositions
	NewObjectValues int // index of the first property of a new communicator or datatype, see NewCommSizePosition
}

// ParamPositions holds the indices in a signature at which a parameter's input and output values begin, -1 without any.
type ParamPositions struct{ In, Out int }

// Positions returns the indices of a terminal's values in its signature.
func (k *Rank) Positions(terminal int) (*Positions, error) {
	f := k.r.byID[k.class.Terminals[terminal].Group.FunctionID]
	spans, err := sections.SpansOf(f, nil, k.Signature(terminal))
	if err != nil {
		return nil, fmt.Errorf("trace: %s: rank %d: terminal %d: %w", k.r.name, k.number, terminal, err)
	}
	at := &Positions{Params: make([]ParamPositions, len(f.Params)), NewObjectValues: -1}
	for i := range at.Params {
		at.Params[i] = ParamPositions{-1, -1}
	}
	for _, s := range spans {
		switch {
		case s.Param == signature.ParamNewObject:
			at.NewObjectValues = s.First
		case s.Param == signature.ParamResult:
		case s.IsOutput:
			at.Params[s.Param].Out = s.First
		default:
			at.Params[s.Param].In = s.First
		}
	}
	return at, nil
}
