package sections

import (
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// PlacedValue is what was attached to the calls at one leaf under one name, over all ranks of a class, where that
// is not what was attached to all calls from the same site; see Leaves.
type PlacedValue struct {
	Leaf  int    // numbered over all threads, in their order
	Calls uint64 // at the leaf
	Count uint64 // of numbers
	Sum   int64
}

// appendPlacedValues and DecodePlacedValues: what leaves have of their own.
//
//	value-places = per class blob
//	blob         = per name in section values: leaves uvarint, (2·(leaf, as a difference to the one before) + uneven) uvarint,
//	               count uvarint, sum varint, calls uvarint if uneven…
func appendPlacedValues(classes []Class) []byte {
	all := make(map[string]bool)
	for i := range classes {
		for name := range classes[i].Values {
			all[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(all))
	blobs, any := make([][]byte, len(classes)), false
	for i := range classes {
		if m := classes[i].PlacedValues; len(m) > 0 {
			blobs[i], any = appendPlacedValuesOf(nil, names, m), true
		}
	}
	if !any {
		return nil
	}
	return appendBlobs(nil, blobs)
}

func appendPlacedValuesOf(b []byte, names []string, m map[string][]PlacedValue) []byte {
	for _, name := range names {
		list, last := m[name], 0
		b = wire.AppendUvarint(b, uint64(len(list)))
		for _, x := range list {
			uneven := uint64(0)
			if x.Count != x.Calls {
				uneven = 1
			}
			b = wire.AppendUvarint(b, uint64(x.Leaf-last)<<1|uneven)
			last = x.Leaf
			b = wire.AppendVarint(wire.AppendUvarint(b, x.Count), x.Sum)
			if uneven == 1 {
				b = wire.AppendUvarint(b, x.Calls)
			}
		}
	}
	return b
}

// DecodePlacedValues reads the values at the leaves of one class.
func DecodePlacedValues(r *wire.Reader, names []string) map[string][]PlacedValue {
	m := make(map[string][]PlacedValue)
	for _, name := range names {
		last := uint64(0)
		var list []PlacedValue
		for range r.Count(3) {
			head := r.Uvarint()
			if last += head >> 1; head>>1 == 0 && len(list) > 0 || last >= 1<<31 {
				r.Fail("leaf %d after leaf %d", last, last-head>>1)
			}
			x := PlacedValue{Leaf: int(last), Count: r.Uvarint(), Sum: r.Varint()}
			if x.Calls = x.Count; head&1 != 0 {
				x.Calls = r.Uvarint()
			}
			if x.Calls == 0 {
				r.Fail("values of no calls at leaf %d", last)
			}
			if r.Err() != nil {
				return nil
			}
			list = append(list, x)
		}
		if list != nil {
			m[name] = list
		}
	}
	return m
}
