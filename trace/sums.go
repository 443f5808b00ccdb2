package trace

import (
	"iter"

	"github.com/spoor-hpc/spoor/internal/signature"
)

// Displacements that are the sums of counts are left out of signatures (see
// signature.LeaveOut), and filled in wherever values leave this package.

// maySum reports whether a parameter may be filled in: an array of integers right
// behind another one.
func maySum(f *Function, i int) bool {
	return i > 0 && isNumbers(&f.Params[i]) && isNumbers(&f.Params[i-1])
}

func isNumbers(p *ParamDef) bool { return p.Type == Int && p.Dims == 1 && p.In && !p.Out }

func haveSums(f *Function) bool {
	for i := range f.Params {
		if maySum(f, i) {
			return true
		}
	}
	return false
}

// sums yields the spans that may be filled in, each with the one of its counts.
func sums(f *Function, spans []signature.Span) iter.Seq2[*signature.Span, *signature.Span] {
	return func(yield func(counts, displs *signature.Span) bool) {
		for i := range spans {
			if n := spans[i].Param; n != signature.Made && maySum(f, n) && !yield(&spans[i-1], &spans[i]) {
				return
			}
		}
	}
}

// fillIn fills in displacements that were left out. Values that don't fit the
// function stay as they are: who reads them finds that.
func fillIn(f *Function, vals []int64) {
	if len(vals) == 0 || !haveSums(f) {
		return
	}
	var room [someSpans]signature.Span
	spans, err := SpansOf(f, room[:0], vals)
	if err != nil {
		return
	}
	for counts, displs := range sums(f, spans) {
		signature.FillIn(vals[counts.At:counts.End], vals[displs.At:displs.End])
	}
}

// A summed says which values of a terminal have no column of their own, because they
// may be left out on some ranks.
type summed struct {
	arrays []signature.Span
	all    bool // arrays are elsewhere on other ranks
}

// has reports whether a value is one of them.
func (s *summed) has(value int) bool {
	if s == nil || s.all {
		return s != nil
	}
	for _, a := range s.arrays {
		if value >= a.At && value < a.End {
			return true
		}
	}
	return false
}

// summedOf looks at the terminal on the class's first rank.
func (x *Columns) summedOf(f *Function, terminal int) *summed {
	spans, err := SpansOf(f, nil, x.rowOf(terminal, 0))
	if err != nil {
		return nil
	}
	s := &summed{}
	for _, displs := range sums(f, spans) {
		s.arrays = append(s.arrays, *displs)
	}
	if len(s.arrays) == 0 {
		return nil
	}
	for i := range spans {
		s.all = s.all || spans[i].Dims > 0 && !x.constant(terminal, spans[i].At)
	}
	return s
}

// A row is all values of a terminal on a rank.
type row struct {
	terminal, member int
	vals             []int64
}

// rowOf evaluates a row unless it is the one that was asked for last.
func (x *Columns) rowOf(terminal, member int) []int64 {
	if r := x.row.Load(); r != nil && r.terminal == terminal && r.member == member {
		return r.vals
	}
	vals := x.c.terminals[terminal].vals(x.c, member, x.ranks[member], int(x.size))
	x.row.Store(&row{terminal, member, vals})
	return vals
}
