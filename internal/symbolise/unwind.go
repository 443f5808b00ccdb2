package symbolise

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
	encAbs     = 0x00
	encULEB    = 0x01
	encU2      = 0x02
	encU4      = 0x03
	encU8      = 0x04
	encSLEB    = 0x09
	encS2      = 0x0a
	encS4      = 0x0b
	encS8      = 0x0c
	encPCRel   = 0x10
	encOmitted = 0xff
)

// maxRegions bounds what is kept of a table.
const maxRegions = 1 << 22

// unwindRegions returns the extents of functions as .eh_frame has them, in
// order of addresses. Stripping leaves that section: without it no exception
// would pass and no debugger could walk the stack. What makes no sense is left
// out.
func unwindRegions(e *elf.File) []region {
	s := e.Section(".eh_frame")
	if s == nil || s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 {
		return nil
	}
	data, err := s.Data()
	if err != nil {
		return nil
	}
	t := unwindTable{data: data, base: s.Addr, order: e.ByteOrder, wide: e.Class == elf.ELFCLASS64, encodings: make(map[uint64]byte)}
	list := t.regions()
	slices.SortFunc(list, func(a, b region) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(b.hi, a.hi)) })
	return slices.CompactFunc(list, func(a, b region) bool { return a.lo == b.lo })
}

type unwindTable struct {
	data      []byte
	base      uint64 // address of data
	order     binary.ByteOrder
	wide      bool
	encodings map[uint64]byte // of addresses, by place of the common entry
}

// regions goes through the entries: each has its length, then either 0 (common
// information) or the distance back to the common entry it belongs to.
func (t *unwindTable) regions() []region {
	var list []region
	for at := uint64(0); at+8 <= uint64(len(t.data)) && len(list) < maxRegions; {
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
			t.encodings[at] = t.encoding(begin+4, end)
		} else if enc, ok := t.encodings[begin-id]; ok {
			if lo, next, ok := t.pointer(begin+4, end, enc); ok && lo != 0 {
				if size, _, ok := t.pointer(next, end, enc&15); ok && size != 0 && lo+size > lo {
					list = append(list, region{lo, lo + size})
				}
			}
		}
		at = end
	}
	return list
}

// encoding reads how a common entry's functions have their addresses encoded.
func (t *unwindTable) encoding(at, end uint64) byte {
	if at >= end {
		return encOmitted
	}
	version := t.data[at]
	at++
	name := at
	for at < end && t.data[at] != 0 {
		at++
	}
	if at >= end {
		return encOmitted
	}
	augmentation := string(t.data[name:at])
	at++
	if augmentation == "" || augmentation[0] != 'z' {
		return encAbs
	}
	var ok bool
	if _, at, ok = t.leb(at, end); !ok { // code alignment
		return encOmitted
	}
	if _, at, ok = t.leb(at, end); !ok { // data alignment
		return encOmitted
	}
	if version == 1 {
		at++
	} else if _, at, ok = t.leb(at, end); !ok {
		return encOmitted
	}
	if _, at, ok = t.leb(at, end); !ok { // length of what follows
		return encOmitted
	}
	for _, c := range augmentation[1:] {
		if at >= end {
			return encOmitted
		}
		switch c {
		case 'R':
			return t.data[at]
		case 'L':
			at++
		case 'P':
			enc := t.data[at]
			if _, at, ok = t.pointer(at+1, end, enc); !ok {
				return encOmitted
			}
		case 'S', 'B':
		default:
			return encOmitted
		}
	}
	return encAbs
}

// leb skips a number of seven bits a byte; only small values are wanted.
func (t *unwindTable) leb(at, end uint64) (v, next uint64, ok bool) {
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
func (t *unwindTable) pointer(at, end uint64, enc byte) (v, next uint64, ok bool) {
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
