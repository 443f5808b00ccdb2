package code

import "encoding/binary"

// maxCallSites bounds what is kept of one function's table.
const maxCallSites = 1 << 20

// A LandingSite is a stretch of code whose calls lead to the landing pad Pad when they throw. Addresses are
// those of linking.
type LandingSite struct{ Lo, Hi, Pad uint64 }

// CallSites reads the table of landing pads of f, of which data holds what is from f.Except on. Entries
// without a landing pad are left out, and all from the first that makes no sense.
func (f *UnwindEntry) CallSites(data []byte, order binary.ByteOrder) []LandingSite {
	t := table{data: data, base: f.Except, order: order, wide: true}
	end := uint64(len(data))
	if end < 3 {
		return nil
	}
	pads := f.Lo
	at := uint64(1)
	var ok bool
	if enc := data[0]; enc != encOmitted {
		if pads, at, ok = t.pointer(at, end, enc); !ok {
			return nil
		}
	}
	if at >= end {
		return nil
	}
	types := data[at]
	at++
	if types != encOmitted {
		if _, at, ok = t.leb(at, end); !ok {
			return nil
		}
	}
	if at >= end {
		return nil
	}
	enc := data[at]
	length, at, ok := t.leb(at+1, end)
	if !ok || length > end-at || enc&0x70 != 0 {
		return nil
	}
	end = at + length
	var list []LandingSite
	for at < end && len(list) < maxCallSites {
		var v [3]uint64 // start, length, landing pad
		for i := range v {
			if v[i], at, ok = t.pointer(at, end, enc); !ok {
				return list
			}
		}
		if _, at, ok = t.leb(at, end); !ok { // what to do there
			return list
		}
		if lo := f.Lo + v[0]; v[2] != 0 && lo >= f.Lo && v[1] <= f.Hi-f.Lo {
			list = append(list, LandingSite{lo, lo + v[1], pads + v[2]})
		}
	}
	return list
}
