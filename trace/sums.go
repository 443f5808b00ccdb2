package trace

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// A summed says which values of a terminal have no columns of their own: arrays of displacements, which ranks may omit
// where they follow from other values.
type summed struct {
	arrays []signature.Span
	all    bool // no value has a column: array lengths differ between ranks, so that values have different indices
}

// has reports whether a value has no column of its own.
func (s *summed) has(value int) bool {
	if s == nil || s.all {
		return s != nil
	}
	return slices.ContainsFunc(s.arrays, func(a signature.Span) bool { return value >= a.First && value < a.End })
}

// summedOf determines which values of a terminal have no columns of their own, from its values on the class's first
// rank. It returns nil if all have one.
func (x *Columns) summedOf(f *Function, terminal int) *summed {
	spans, err := sections.SpansOf(f, nil, x.rowOf(terminal, 0))
	if err != nil {
		return nil
	}
	s := &summed{}
	for _, displs := range sections.CountAndDisplSpans(f, spans) {
		s.arrays = append(s.arrays, *displs)
	}
	if len(s.arrays) == 0 {
		return nil
	}
	for i := range spans {
		s.all = s.all || spans[i].Dims > 0 && !x.constant(terminal, spans[i].First)
	}
	return s
}

// A row is all values of a terminal on one rank, the one with index member in the class.
type row struct {
	terminal, member int
	vals             []int64
}

// rowOf returns all values of a terminal on the rank with index member in the class. The last result is cached.
func (x *Columns) rowOf(terminal, member int) []int64 {
	if r := x.row.Load(); r != nil && r.terminal == terminal && r.member == member {
		return r.vals
	}
	vals := x.c.Terminals[terminal].EvalSignature(x.c, member, x.ranks[member], int(x.size))
	x.row.Store(&row{terminal, member, vals})
	return vals
}
