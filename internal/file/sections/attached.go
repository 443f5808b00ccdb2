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

// AttachedValues is the section of attached values. A trace without any has none.
type AttachedValues struct {
	Names []string
	Blobs [][]byte // per class
}

// appendValues and DecodeValues: what was attached to the calls of each class.
//
//	values = names uvarint, name string…, per class blob
//	blob   = per name: terminals uvarint, (terminal, as a difference to the one before uvarint,
//	         count uvarint, min varint, (max - min) uvarint, sum varint)…
func appendValues(classes []Class) []byte {
	names := valueNames(classes)
	if len(names) == 0 {
		return nil
	}
	b := wire.Append(nil, func(c *wire.Coder) { c.Strings(&names) })
	blobs := make([][]byte, len(classes))
	for i := range classes {
		for _, name := range names {
			blobs[i] = appendValueStats(blobs[i], classes[i].Values[name])
		}
	}
	return appendBlobs(b, blobs)
}

// valueNames are the names under which numbers were attached in some class, in order.
func valueNames(classes []Class) []string {
	all := make(map[string]bool)
	for i := range classes {
		for name := range classes[i].Values {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// appendValueStats writes those of one name, by terminal.
func appendValueStats(b []byte, list []model.ValueStat) []byte {
	n := 0
	for _, s := range list {
		if s.Count > 0 {
			n++
		}
	}
	b = wire.AppendUvarint(b, uint64(n))
	last := 0
	for i, s := range list {
		if s.Count == 0 {
			continue
		}
		b = wire.AppendUvarint(b, uint64(i-last))
		last = i
		b = wire.AppendUvarint(b, s.Count)
		b = wire.AppendVarint(b, s.Min)
		b = wire.AppendUvarint(b, uint64(s.Max-s.Min))
		b = wire.AppendVarint(b, s.Sum)
	}
	return b
}

// DecodeValueStats reads what appendValueStats wrote.
func DecodeValueStats(r *wire.Reader, terminals int) []model.ValueStat {
	list := make([]model.ValueStat, terminals)
	at := 0
	for range r.Count(5) {
		at += r.Int(max(0, terminals-1-at))
		s := model.ValueStat{Count: r.Uvarint(), Min: r.Varint()}
		s.Max = s.Min + int64(r.Uvarint())
		s.Sum = r.Varint()
		if at >= terminals || s.Count == 0 || s.Max < s.Min {
			r.Fail("values of terminal %d of %d, %d of them from %d to %d", at, terminals, s.Count, s.Min, s.Max)
		}
		if r.Err() != nil {
			return list
		}
		list[at] = s
	}
	return list
}

// DecodeValues reads names, and the blobs of classes as they are.
func DecodeValues(r *wire.Reader, classes int) *AttachedValues {
	v := &AttachedValues{}
	(&wire.Coder{R: r}).Strings(&v.Names)
	for i := range v.Names {
		if i > 0 && v.Names[i-1] >= v.Names[i] {
			r.Fail("names of values out of order")
			return v
		}
	}
	v.Blobs = DecodeBlobs(r, classes)
	return v
}

// checkRanked refuses columns that are not of the ranks of the class.
func (c *Class) checkRanked() error {
	if err := c.Ranked.Check(c.Ranks.Len(), c.Terminals.Len()); err != nil {
		return err
	}
	sites := c.Terminals.Len()
	if len(c.RankedValues) > 0 {
		sites += LeavesOf(c.Streams)
	}
	for name, cols := range c.RankedValues {
		if err := cols.Check(c.Ranks.Len(), sites); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, ok := c.Values[name]; !ok {
			return fmt.Errorf("%s of ranks that none of them has", name)
		}
	}
	return nil
}

// LeavesOf is how many leaves the threads of a class have; see Leaves.
func LeavesOf(streams []*grammar.Grammar) (n int) {
	for _, g := range streams {
		n += len(grammar.Unfold(g, grammar.UnfoldLimit).Terminal)
	}
	return n
}

// appendRankValues writes the sums of what was attached on each rank of the classes with
// several.
//
//	values = names uvarint, per name: its number in section values uvarint, per class blob
//
// Behind the call sites stand leaves, as if they were further terminals.
func appendRankValues(classes []Class, rest func() int64) []byte {
	var b []byte
	n := 0
	for number, name := range valueNames(classes) {
		list := make([]*timing.TotalColumns, len(classes))
		for i := range classes {
			cols := classes[i].RankedValues[name]
			list[i] = &cols
		}
		if blobs := timing.EncodeTotals(list, rest); blobs != nil {
			b = appendBlobs(wire.AppendUvarint(b, uint64(number)), blobs)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return append(wire.AppendUvarint(nil, uint64(n)), b...)
}

// PlacedValue is what was attached to the calls at one leaf under one name, over all ranks of a class, where that
// is not what was attached to all calls from the same site; see Leaves.
type PlacedValue struct {
	Leaf  int    // numbered over all threads, in their order
	Calls uint64 // at the leaf
	Count uint64 // of numbers
	Sum   int64
}

// appendPlacedValues and codePlacedValues: what leaves have of their own.
//
//	value-places = per class blob
//	blob         = per name in section values: leaves uvarint, (2·(leaf, as a difference to the one before) + uneven) uvarint,
//	               count uvarint, sum varint, calls uvarint if uneven…
func appendPlacedValues(classes []Class) []byte {
	names, blobs := valueNames(classes), make([][]byte, len(classes))
	for i := range classes {
		if m := classes[i].PlacedValues; len(m) > 0 {
			blobs[i] = wire.Append(nil, func(c *wire.Coder) { codePlacedValues(c, names, m) })
		}
	}
	return appendSome(nil, blobs)
}

// DecodePlacedValues reads the values at the leaves of one class.
func DecodePlacedValues(r *wire.Reader, names []string) map[string][]PlacedValue {
	m := make(map[string][]PlacedValue)
	codePlacedValues(&wire.Coder{R: r}, names, m)
	return m
}

func codePlacedValues(c *wire.Coder, names []string, m map[string][]PlacedValue) {
	for _, name := range names {
		list, last := m[name], 0
		wire.List(c, &list, 3, func(i int, x *PlacedValue) {
			head := (x.Leaf-last)<<1 | bit(x.Count != x.Calls)
			wire.Int(c, &head, 1<<32)
			step := head >> 1
			c.Refuse(step == 0 && i > 0 || last+step >= 1<<31, "leaf %d after leaf %d", last+step, last)
			last += step
			wire.Uints(c, &x.Count)
			wire.From(c, &x.Sum, 0)
			calls := x.Calls
			if head&1 != 0 {
				wire.Uints(c, &calls)
			} else {
				calls = x.Count
			}
			if c.R != nil {
				x.Leaf, x.Calls = last, calls
			}
			c.Refuse(calls == 0, "values of no calls at leaf %d", last)
		})
		if c.R != nil && list != nil {
			m[name] = list
		}
	}
}
