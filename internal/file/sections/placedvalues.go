package sections

import "github.com/spoor-hpc/spoor/internal/file/wire"

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
