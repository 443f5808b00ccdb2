package code

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/code/insn"
)

// A Function is one function of an image. Its code may be in several parts.
type Function struct {
	image  *Image
	first  *codeRange
	parts  []*codeRange // ranges of its code, by ascending addresses
	moves  []move       // jumps, calls and returns of all parts, by ascending addresses
	tables [][]uint64

	gathered bool
	state    returning
	depth    int // depth of callees at which state is being computed
	body     *Body
	err      error
}

// Start is the address of the function's first instruction.
func (f *Function) Start() uint64 { return f.first.lo }

// Symbol is the function's name as the linker has it, "" if the binary was stripped of it.
func (f *Function) Symbol() string { return f.first.name }

// Contains reports whether an address is in the function's code.
func (f *Function) Contains(addr uint64) bool { return f.partAt(addr) != nil }

func (f *Function) partAt(addr uint64) *codeRange {
	for _, p := range f.parts {
		if addr >= p.lo && addr < p.hi {
			return p
		}
	}
	return nil
}

func (p *codeRange) unwinding() *UnwindEntry {
	return &UnwindEntry{Lo: p.lo, Hi: p.hi, LandingTableAddr: p.except, HasFrameAtStart: p.inside}
}

// begin is the function that begins with a part.
func (m *Image) begin(p *codeRange) *Function {
	if p.fn == nil {
		p.fn = &Function{image: m, first: p, parts: []*codeRange{p}}
	}
	return p.fn
}

// coldName reports whether a name has GCC's and Clang's form for parts of functions placed elsewhere: f.cold,
// f.cold.3.
func coldName(name string) bool {
	i := strings.LastIndex(name, ".cold")
	if i < 0 {
		return false
	}
	number, numbered := strings.CutPrefix(name[i+len(".cold"):], ".")
	return numbered == (number != "") && strings.Trim(number, "0123456789") == ""
}

// cold reports whether a part is probably jumped to from inside a function: its name says so, or it has no name and
// a frame is already set up where it begins.
func (p *codeRange) cold() bool {
	if p.name != "" {
		return coldName(p.name)
	}
	return p.inside
}

// partOf reports whether the target of f's jump is a part of f placed elsewhere instead of another function.
func (m *Image) partOf(f *Function, addr uint64) bool {
	p := m.part(addr)
	if p == nil || p == f.first || p.owner != nil && p.owner != f {
		return false
	}
	return p.cold() || p.name == "" && addr != p.lo
}

// gather collects the function's parts and their moves: jumps, calls and returns.
func (f *Function) gather() {
	if f.gathered {
		return
	}
	f.gathered = true
	m := f.image
	f.first.owner = f
	var tables []uint64
	for i := 0; i < len(f.parts) && len(f.parts) < 64; i++ {
		p := f.parts[i]
		m.scan(p)
		join := func(addr uint64) {
			if !f.Contains(addr) && m.partOf(f, addr) {
				g := m.part(addr)
				g.owner = f
				f.parts = append(f.parts, g)
			}
		}
		for k := range p.moves {
			switch v := &p.moves[k]; v.kind {
			case insn.KindBranch, insn.KindJump:
				join(v.target)
			case insn.KindIndirectJump:
				if v.via.Origin == insn.TargetFromTable {
					tables = append(tables, v.via.Table.Addr)
				}
			}
		}
		for _, s := range p.pads {
			join(s.Pad)
		}
	}
	slices.Sort(tables)
	for _, p := range f.parts {
		f.moves = append(f.moves, p.moves...)
	}
	slices.SortFunc(f.parts, func(a, b *codeRange) int { return cmp.Compare(a.lo, b.lo) })
	slices.SortFunc(f.moves, func(a, b move) int { return cmp.Compare(a.addr, b.addr) })
	for i := range f.moves {
		v := &f.moves[i]
		if v.kind != insn.KindIndirectJump || v.via.Origin != insn.TargetFromTable {
			continue
		}
		limit := uint64(0)
		if k, _ := slices.BinarySearch(tables, v.via.Table.Addr+1); k < len(tables) {
			limit = tables[k]
		}
		list := m.entries(f, &v.via.Table, limit)
		if len(list) == 0 {
			v.via.Origin = insn.TargetFromUnknownTable
			continue
		}
		v.target = uint64(len(f.tables))
		f.tables = append(f.tables, list)
	}
}

// join assigns every part to its function; a part that no function claims begins one.
func (m *Image) join() {
	if m.joined {
		return
	}
	m.joined = true
	for _, p := range m.parts {
		if !p.cold() {
			m.begin(p).gather()
		}
	}
	for _, p := range m.parts {
		if p.owner == nil {
			m.begin(p).gather()
		}
	}
}

// Functions lists the image's functions by ascending addresses.
func (m *Image) Functions() []*Function {
	m.join()
	var list []*Function
	for _, p := range m.parts {
		if p.owner.first == p {
			list = append(list, p.owner)
		}
	}
	return list
}

// FunctionAt returns the function that contains an address; nil if unknown.
func (m *Image) FunctionAt(addr uint64) *Function {
	p := m.part(addr)
	if p == nil {
		return nil
	}
	if p.owner == nil && p.cold() {
		m.join() // some function jumps here
	}
	if p.owner != nil {
		return p.owner
	}
	return m.begin(p)
}

// at returns the function that begins at an address; nil if none does.
func (m *Image) at(addr uint64) *Function {
	p := m.byLo[addr]
	if p == nil {
		return nil
	}
	if p.owner != nil && p.owner.first != p {
		return nil
	}
	return m.begin(p)
}
