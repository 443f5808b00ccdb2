package code

import (
	"encoding/binary"

	"github.com/spoor-hpc/spoor/internal/code/insn"
)

const (
	maxCode    = 1 << 20 // largest size in bytes of a range that is decoded
	maxEntries = 1 << 12 // largest number of entries read from a jump table
)

// A move is an instruction after which control may continue elsewhere than at the next one.
type move struct {
	addr, end uint64
	kind      insn.Kind
	target    uint64
	via       insn.IndirectTarget
}

// scan decodes a range of code, once, and keeps its moves and landing pads.
func (m *Image) scan(p *codeRange) {
	if p.scanned {
		return
	}
	p.scanned = true
	code := m.bytes(p.lo)
	if uint64(len(code)) < p.hi-p.lo || p.hi-p.lo > maxCode {
		p.bad++
		return
	}
	code = code[:p.hi-p.lo]
	m.machine.Reset()
	for at := uint64(0); at < uint64(len(code)); {
		x, ok := m.machine.Next(code[at:], p.lo+at)
		if !ok {
			p.bad++
			at += uint64(m.machine.InstructionAlignment())
			continue
		}
		at += uint64(x.Len)
		if x.Kind != insn.KindPlain {
			p.moves = append(p.moves, move{x.Addr, x.End(), x.Kind, x.Target, x.IndirectTarget})
		}
	}
	if p.except != 0 {
		f := p.unwinding()
		p.pads = f.LandingSites(m.bytes(p.except), binary.LittleEndian)
	}
}

// entries reads a jump table: to its end if that is known, else to the first entry that leads out of f. limit is
// the address at which another table begins, or 0.
func (m *Image) entries(f *Function, t *insn.JumpTable, limit uint64) []uint64 {
	list := m.read(f, t, t.EntryCount, limit)
	if t.EntryCount > 0 && len(list) < t.EntryCount {
		return m.read(f, t, 0, limit) // the comparison that gave EntryCount was not of this table's index
	}
	return list
}

func (m *Image) read(f *Function, t *insn.JumpTable, count int, limit uint64) []uint64 {
	if count <= 0 || count > maxEntries {
		count = maxEntries
	}
	var list []uint64
	data := m.bytes(t.Addr)
	for k := range count {
		at := t.Addr + uint64(k*t.EntryBytes)
		if len(data) < (k+1)*t.EntryBytes || limit > t.Addr && at >= limit {
			break
		}
		var v uint64
		switch b := data[k*t.EntryBytes:]; t.EntryBytes {
		case 1:
			if v = uint64(b[0]); t.SignedEntries {
				v = uint64(int8(b[0]))
			}
		case 2:
			if v = uint64(binary.LittleEndian.Uint16(b)); t.SignedEntries {
				v = uint64(int16(v))
			}
		case 4:
			if v = uint64(binary.LittleEndian.Uint32(b)); t.SignedEntries {
				v = uint64(int32(v))
			}
		case 8:
			v = binary.LittleEndian.Uint64(b)
			if moved, ok := m.moved[at]; ok {
				v = moved
			}
		}
		to := t.Base + v<<t.Shift
		if !f.Contains(to) && !m.partOf(f, to) {
			break
		}
		list = append(list, to)
	}
	return list
}
