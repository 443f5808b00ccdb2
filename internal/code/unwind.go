// UnwindEntries reads .eh_frame: where the functions of a binary are, and which of their calls lead to a landing
// pad if an exception is thrown. Stripping keeps these tables, as exceptions and debuggers need them.
//
// Sources: Linux Standard Base 5.0, Core, chapter 10.6 (the section); DWARF 5, chapter 6.4.2 (instructions); the
// Itanium C++ ABI's exception handling tables as GCC and Clang write them (.gcc_except_table).

package code

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// Encodings of pointers in unwinding tables (Linux Standard Base, DWARF
// Extensions). The low four bits say how a value is stored, the high ones what
// it is relative to.
const (
	encAbs      = 0x00
	encULEB     = 0x01
	encU2       = 0x02
	encU4       = 0x03
	encU8       = 0x04
	encSLEB     = 0x09
	encS2       = 0x0a
	encS4       = 0x0b
	encS8       = 0x0c
	encPCRel    = 0x10
	encIndirect = 0x80
	encOmitted  = 0xff
)

// maxFunctions limits the entries of a table.
const maxFunctions = 1 << 22

// An UnwindEntry is the extent of a function, or of a part of one: compilers place rarely executed code elsewhere.
// Addresses are link-time addresses.
type UnwindEntry struct {
	Lo, Hi uint64
	// LandingTableAddr is the address of its table of landing pads, 0 if it has none.
	LandingTableAddr uint64
	// HasFrameAtStart reports whether a frame is already set up at its begin: it is jumped to from inside a function,
	// not called.
	HasFrameAtStart bool
}

// UnwindEntries returns the functions in .eh_frame, by ascending addresses, one for each start. It skips invalid
// entries.
func UnwindEntries(e *elf.File) []UnwindEntry {
	s := e.Section(".eh_frame")
	if s == nil || s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 {
		return nil
	}
	data, err := s.Data()
	if err != nil {
		return nil
	}
	t := table{data: data, base: s.Addr, order: e.ByteOrder, wide: e.Class == elf.ELFCLASS64, commons: make(map[uint64]common)}
	list := t.functions()
	slices.SortFunc(list, func(a, b UnwindEntry) int { return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(b.Hi, a.Hi)) })
	return slices.CompactFunc(list, func(a, b UnwindEntry) bool { return a.Lo == b.Lo })
}

// A table is bytes with encoded pointers in them.
type table struct {
	data    []byte
	base    uint64 // address of data
	order   binary.ByteOrder
	wide    bool
	commons map[uint64]common // by the entry's offset in data
}

// A common entry holds what its functions' entries share.
type common struct {
	address   byte // encoding of the addresses of code
	except    byte // encoding of the address of the table of landing pads
	augmented bool // entries hold augmentation data and its length
}

var unreadable = common{address: encOmitted, except: encOmitted}

// functions goes through the entries: each has its length, then either 0 (common
// information) or the distance back to the common entry it belongs to.
func (t *table) functions() []UnwindEntry {
	var list []UnwindEntry
	for at := uint64(0); at+8 <= uint64(len(t.data)) && len(list) < maxFunctions; {
		length := uint64(t.order.Uint32(t.data[at:]))
		if length == 0 { // end of one input file's table
			at += 4
			continue
		}
		begin := at + 4
		if length == 0xffffffff || length > uint64(len(t.data))-begin {
			break // 64-bit entries don't occur here
		}
		end := begin + length
		if length < 4 {
			at = end
			continue
		}
		if id := uint64(t.order.Uint32(t.data[begin:])); id == 0 {
			t.commons[at] = t.common(begin+4, end)
		} else if c, ok := t.commons[begin-id]; ok {
			if f, ok := t.function(begin+4, end, c); ok {
				list = append(list, f)
			}
		}
		at = end
	}
	return list
}

// function reads the entry of one function, whose common entry is c; ok is false if it covers no code.
func (t *table) function(at, end uint64, c common) (f UnwindEntry, ok bool) {
	lo, at, ok := t.pointer(at, end, c.address)
	if !ok || lo == 0 {
		return f, false
	}
	size, at, ok := t.pointer(at, end, c.address&15)
	if !ok || size == 0 || lo+size <= lo {
		return f, false
	}
	f = UnwindEntry{Lo: lo, Hi: lo + size}
	if c.augmented {
		length, next, ok := t.leb(at, end)
		if !ok || length > end-next {
			return f, true
		}
		// A stored 0 means that there is no table, also where addresses are relative to the place that they are stored at.
		if v, after, ok := t.pointer(next, next+length, c.except); ok && v != 0 && (c.except&0x70 != encPCRel || v != t.base+next) && after <= end {
			f.LandingTableAddr = v
		}
		at = next + length
	}
	f.HasFrameAtStart = t.inside(at, end)
	return f, true
}

// inside reports whether an entry's instructions, before the first advance through the code, already define a frame
// that differs from a function's at its call.
func (t *table) inside(at, end uint64) bool {
	const nop, defCFA, defCFAOffset, defCFAExpression, offset = 0x00, 0x0c, 0x0e, 0x0f, 0x80
	for at < end && t.data[at] == nop {
		at++
	}
	if at >= end {
		return false
	}
	c := t.data[at]
	return c >= defCFA && c <= defCFAOffset || c == defCFAExpression || c&0xc0 == offset
}

// common reads how a common entry's functions have their addresses encoded.
func (t *table) common(at, end uint64) common {
	if at >= end {
		return unreadable
	}
	version := t.data[at]
	at++
	name := at
	for at < end && t.data[at] != 0 {
		at++
	}
	if at >= end {
		return unreadable
	}
	augmentation := string(t.data[name:at])
	at++
	c := common{address: encAbs, except: encOmitted}
	if augmentation == "" || augmentation[0] != 'z' {
		return c
	}
	c.augmented = true
	var ok bool
	if _, at, ok = t.leb(at, end); !ok { // code alignment
		return unreadable
	}
	if _, at, ok = t.leb(at, end); !ok { // data alignment
		return unreadable
	}
	if version == 1 {
		at++
	} else if _, at, ok = t.leb(at, end); !ok {
		return unreadable
	}
	if _, at, ok = t.leb(at, end); !ok { // length of the augmentation data
		return unreadable
	}
	for _, letter := range augmentation[1:] {
		if letter == 'S' || letter == 'B' {
			continue
		}
		if at >= end {
			return unreadable
		}
		enc := t.data[at]
		at++
		switch letter {
		case 'R':
			c.address = enc
		case 'L':
			c.except = enc
		case 'P':
			if _, at, ok = t.pointer(at, end, enc&^encIndirect); !ok {
				return unreadable
			}
		default:
			return unreadable
		}
	}
	return c
}

// leb reads a number with seven bits in each byte (LEB128). Bits of v above the 64th are lost.
func (t *table) leb(at, end uint64) (v, next uint64, ok bool) {
	for shift := 0; at < end; shift += 7 {
		c := t.data[at]
		at++
		if shift < 64 {
			v |= uint64(c&0x7f) << shift
		}
		if c&0x80 == 0 {
			return v, at, true
		}
	}
	return 0, at, false
}

// pointer reads an encoded address.
func (t *table) pointer(at, end uint64, enc byte) (v, next uint64, ok bool) {
	if enc == encOmitted {
		return 0, at, false
	}
	size := uint64(0)
	switch enc & 15 {
	case encAbs:
		if size = 4; t.wide {
			size = 8
		}
	case encU2, encS2:
		size = 2
	case encU4, encS4:
		size = 4
	case encU8, encS8:
		size = 8
	case encULEB, encSLEB:
		if v, next, ok = t.leb(at, end); !ok {
			return 0, at, false
		}
	default:
		return 0, at, false
	}
	if size > 0 {
		if at+size > end {
			return 0, at, false
		}
		b := t.data[at:]
		switch next = at + size; size {
		case 2:
			v = uint64(t.order.Uint16(b))
		case 4:
			v = uint64(t.order.Uint32(b))
		case 8:
			v = t.order.Uint64(b)
		}
		switch enc & 15 {
		case encS2:
			v = uint64(int16(v))
		case encS4:
			v = uint64(int32(v))
		}
	}
	switch enc & 0x70 {
	case 0:
	case encPCRel:
		v += t.base + at
	default:
		return 0, at, false // relative to other sections: not seen in .eh_frame
	}
	return v, next, true
}

// maxCallSites limits the entries of one function's table.
const maxCallSites = 1 << 20

// A LandingSite is a range of code whose calls continue at the landing pad Pad when they throw. Addresses are
// link-time addresses.
type LandingSite struct{ Lo, Hi, Pad uint64 }

// LandingSites reads the table of landing pads of f, from data that begins at f.LandingTableAddr. Entries without a landing
// pad are left out, and so are all from the first invalid one on.
func (f *UnwindEntry) LandingSites(data []byte, order binary.ByteOrder) []LandingSite {
	t := table{data: data, base: f.LandingTableAddr, order: order, wide: true}
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
		if _, at, ok = t.leb(at, end); !ok { // action at the landing pad
			return list
		}
		if lo := f.Lo + v[0]; v[2] != 0 && lo >= f.Lo && v[1] <= f.Hi-f.Lo {
			list = append(list, LandingSite{lo, lo + v[1], pads + v[2]})
		}
	}
	return list
}
