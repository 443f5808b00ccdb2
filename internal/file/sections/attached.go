package sections

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace/model"
)

// AttachedValues is the section of attached values. A trace without attached values lacks it.
type AttachedValues struct {
	Names      []string
	ClassBlobs [][]byte // by class: the encoded values
}

// code writes or reads the section.
//
//	values = names uvarint, name string…, per class blob
//	blob   = per name: terminals uvarint, (terminal, as a difference to the one before uvarint,
//	         count uvarint, min varint, (max - min) uvarint, sum varint)…
func (v *AttachedValues) code(c *wire.Coder) {
	c.Strings(&v.Names)
	for i := 1; i < len(v.Names) && !c.Failed(); i++ {
		c.RefuseIf(v.Names[i-1] >= v.Names[i], "names of values out of order")
	}
	if !c.Failed() {
		codeBlobs(c, v.ClassBlobs)
	}
}

func appendValues(classes []Class) []byte {
	v := AttachedValues{valueNames(classes), make([][]byte, len(classes))}
	if len(v.Names) == 0 {
		return nil
	}
	for i := range classes {
		v.ClassBlobs[i] = wire.AppendEncoded(nil, func(c *wire.Coder) {
			for _, name := range v.Names {
				list := classes[i].AttachedStats[name]
				codeValueStats(c, &list, 0)
			}
		})
	}
	return wire.AppendEncoded(nil, v.code)
}

// valueNames returns the names of the values attached in some class, in order.
func valueNames(classes []Class) []string {
	all := make(map[string]bool)
	for i := range classes {
		for name := range classes[i].AttachedStats {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// codeValueStats writes or reads the values attached under one name, by terminal.
func codeValueStats(c *wire.Coder, list *[]model.AttachedStat, terminals int) {
	var some []int // the terminals with attached values
	if c.Reader != nil {
		*list = make([]model.AttachedStat, terminals)
	}
	for i, s := range *list {
		if s.Count > 0 {
			some = append(some, i)
		}
	}
	last := 0
	wire.CodeList(c, &some, 5, func(_ int, at *int) {
		wire.CodeAbove(c, at, last, max(0, terminals-1-last))
		var s model.AttachedStat
		if c.RefuseIf(*at >= terminals, "values of terminal %d of %d", *at, terminals); c.Reader == nil {
			s = (*list)[*at]
		}
		wire.CodeUints(c, &s.Count)
		wire.CodeIntegers(c, &s.Min)
		span := uint64(s.Max - s.Min)
		if wire.CodeUints(c, &span); c.Reader != nil {
			s.Max = s.Min + int64(span)
		}
		wire.CodeIntegers(c, &s.Sum)
		c.RefuseIf(s.Count == 0 || s.Max < s.Min, "values of terminal %d: %d of them from %d to %d", *at, s.Count, s.Min, s.Max)
		if last = *at; c.Reader != nil && !c.Failed() {
			(*list)[last] = s
		}
	})
}

// DecodeAttachedStats reads the values of one name.
func DecodeAttachedStats(r *wire.Reader, terminals int) (list []model.AttachedStat) {
	codeValueStats(&wire.Coder{Reader: r}, &list, terminals)
	return list
}

// DecodeAttachedValues reads names, and the blobs of classes as they are.
func DecodeAttachedValues(r *wire.Reader, classes int) *AttachedValues {
	v := &AttachedValues{ClassBlobs: make([][]byte, classes)}
	v.code(&wire.Coder{Reader: r})
	return v
}

// checkRanked refuses per-rank columns that do not fit the ranks, terminals and leaves of the class.
func (c *Class) checkRanked() error {
	if err := c.RankTotals.Check(c.Ranks.Len(), c.Terminals.Len()); err != nil {
		return err
	}
	sites := c.Terminals.Len()
	if len(c.RankAttachedTotals) > 0 {
		sites += CountLeaves(c.Streams)
	}
	for name, cols := range c.RankAttachedTotals {
		if err := cols.Check(c.Ranks.Len(), sites); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, ok := c.AttachedStats[name]; !ok {
			return fmt.Errorf("%s of ranks that none of them has", name)
		}
	}
	return nil
}

// CountLeaves is how many leaves the threads of a class have; see trace.Leaves.
func CountLeaves(streams []*grammar.Grammar) (n int) {
	for _, g := range streams {
		n += len(grammar.Unfold(g, grammar.UnfoldLimit).OriginalTerminal)
	}
	return n
}

// A RankAttachedSums is the sums of the values attached under one name, for each rank of classes with several ranks.
type RankAttachedSums struct {
	NameIndex  int      // index of the name in section values
	ClassBlobs [][]byte // by class: the encoded sums
}

// codeRankValues writes or reads the section of RankAttachedSums.
//
//	values = names uvarint, per name: its number in section values uvarint, per class blob
//
// Leaves follow the call sites, numbered as if they were further terminals.
func codeRankValues(c *wire.Coder, list *[]RankAttachedSums, names, classes int) {
	seen := make(map[int]bool)
	wire.CodeList(c, list, 2, func(_ int, v *RankAttachedSums) {
		wire.CodeIndex(c, &v.NameIndex, names)
		c.RefuseIf(seen[v.NameIndex], "value %d of %d occurs twice", v.NameIndex, names)
		if c.Failed() {
			return
		}
		if seen[v.NameIndex] = true; c.Reader != nil {
			v.ClassBlobs = make([][]byte, classes)
		}
		codeBlobs(c, v.ClassBlobs)
	})
}

func appendRankValues(classes []Class, rest func() int64) []byte {
	var found []RankAttachedSums
	for number, name := range valueNames(classes) {
		list := make([]*timing.TotalColumns, len(classes))
		for i := range classes {
			cols := classes[i].RankAttachedTotals[name]
			list[i] = &cols
		}
		if blobs := timing.EncodeTotals(list, rest); blobs != nil {
			found = append(found, RankAttachedSums{number, blobs})
		}
	}
	if found == nil {
		return nil
	}
	return wire.AppendEncoded(nil, func(c *wire.Coder) { codeRankValues(c, &found, 0, 0) })
}

// DecodeRankAttachedSums reads the section. names and classes are how many names of attached values and classes the
// trace has.
func DecodeRankAttachedSums(r *wire.Reader, names, classes int) (list []RankAttachedSums) {
	codeRankValues(&wire.Coder{Reader: r}, &list, names, classes)
	return list
}

// LeafAttachedSum is the values attached under one name to the calls at one leaf, over all ranks of a class. It exists
// only if they differ from those of all calls from the same site; see Leaves.
type LeafAttachedSum struct {
	Leaf        int    // number of the leaf, from 0, counted over all threads in their order
	Calls       uint64 // number of calls at the leaf
	NumberCount uint64 // how many values these calls have under the name
	Sum         int64
}

// appendPlacedValues returns the section of the attached values that leaves have of their own. codePlacedValues writes
// or reads it for one class.
//
//	value-places = per class blob
//	blob         = per name in section values: leaves uvarint, (2·(leaf, as a difference to the one before) + uneven) uvarint,
//	               count uvarint, sum varint, calls uvarint if uneven…
func appendPlacedValues(classes []Class) []byte {
	names, blobs := valueNames(classes), make([][]byte, len(classes))
	for i := range classes {
		if m := classes[i].LeafAttachedSums; len(m) > 0 {
			blobs[i] = wire.AppendEncoded(nil, func(c *wire.Coder) { codePlacedValues(c, names, m) })
		}
	}
	return appendSome(nil, blobs)
}

// DecodeLeafAttachedSums reads the values at the leaves of one class.
func DecodeLeafAttachedSums(r *wire.Reader, names []string) map[string][]LeafAttachedSum {
	m := make(map[string][]LeafAttachedSum)
	codePlacedValues(&wire.Coder{Reader: r}, names, m)
	return m
}

func codePlacedValues(c *wire.Coder, names []string, m map[string][]LeafAttachedSum) {
	for _, name := range names {
		list, last := m[name], 0
		wire.CodeList(c, &list, 3, func(i int, x *LeafAttachedSum) {
			head := (x.Leaf-last)<<1 | bit(x.NumberCount != x.Calls)
			wire.CodeBounded(c, &head, 1<<32)
			step := head >> 1
			c.RefuseIf(step == 0 && i > 0 || last+step >= 1<<31, "leaf %d after leaf %d", last+step, last)
			last += step
			wire.CodeUints(c, &x.NumberCount)
			wire.CodeRelative(c, &x.Sum, 0)
			calls := x.Calls
			if head&1 != 0 {
				wire.CodeUints(c, &calls)
			} else {
				calls = x.NumberCount
			}
			if c.Reader != nil {
				x.Leaf, x.Calls = last, calls
			}
			c.RefuseIf(calls == 0, "values of no calls at leaf %d", last)
		})
		if c.Reader != nil && list != nil {
			m[name] = list
		}
	}
}
