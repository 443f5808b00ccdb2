package symbolise

import (
	"cmp"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/internal/code"
)

// A module is an executable or library, as far as it is needed.
type module struct {
	bias    uint64 // link-time address of the file's first byte
	symbols []symbol
	regions []addressRange
	lines   *lines // nil without debug information
}

// A symbol is a named function.
type symbol struct {
	lo, hi uint64
	name   string
	bind   elf.SymBind
}

// An addressRange is the addresses of a function's code.
type addressRange struct{ lo, hi uint64 }

// An image is an open ELF file with its path and build id.
type image struct {
	*elf.File
	path    string
	buildID string
	close   func() error
}

func openImage(path string) (*image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	e, err := elf.NewFile(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &image{File: e, path: path, buildID: buildID(e), close: f.Close}, nil
}

// buildID finds the GNU build id among a file's notes.
func buildID(e *elf.File) string {
	for _, s := range e.Sections {
		if s.Type == elf.SHT_NOTE && s.Name == ".note.gnu.build-id" && s.Size <= 1<<16 {
			if data, err := s.Data(); err == nil {
				return buildIDNote(e, data)
			}
		}
	}
	for _, p := range e.Progs {
		if p.Type != elf.PT_NOTE {
			continue
		}
		data := make([]byte, min(p.Filesz, 1<<16))
		if _, err := p.ReadAt(data, 0); err != nil {
			continue
		}
		if id := buildIDNote(e, data); id != "" {
			return id
		}
	}
	return ""
}

func buildIDNote(e *elf.File, notes []byte) string {
	const gnuBuildID = 3
	for len(notes) >= 12 {
		name, desc := uint64(e.ByteOrder.Uint32(notes)), uint64(e.ByteOrder.Uint32(notes[4:]))
		at := 12 + (name+3)&^3
		if at+desc > uint64(len(notes)) {
			return ""
		}
		if e.ByteOrder.Uint32(notes[8:]) == gnuBuildID && string(notes[12:12+name]) == "GNU\x00" {
			return hex.EncodeToString(notes[at : at+desc])
		}
		notes = notes[min(at+(desc+3)&^3, uint64(len(notes))):]
	}
	return ""
}

// bias is the link-time address at which the file's first byte would be.
func (b *image) bias() uint64 {
	lowest, bias := ^uint64(0), uint64(0)
	for _, p := range b.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr < lowest {
			lowest, bias = p.Vaddr, p.Vaddr-p.Off
		}
	}
	return bias
}

// newModule reads functions and lines from a binary and its separate debug file, which may be nil. It ignores
// damaged parts.
func newModule(b, debug *image) *module {
	m := &module{bias: b.bias()}
	for _, x := range []*image{b, debug} {
		if x == nil {
			continue
		}
		for _, table := range []func() ([]elf.Symbol, error){x.Symbols, x.DynamicSymbols} {
			if list, err := table(); err == nil {
				m.addSymbols(x.File, list)
			}
		}
		if m.lines == nil {
			m.lines = newLines(x.File)
		}
	}
	slices.SortFunc(m.symbols, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(code.SymbolBindingOrder(a.bind), code.SymbolBindingOrder(b.bind)),
			cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	for _, f := range code.UnwindEntries(b.File) {
		m.regions = append(m.regions, addressRange{f.Lo, f.Hi})
	}
	return m
}

func (m *module) addSymbols(e *elf.File, list []elf.Symbol) {
	const gnuIFunc = 10
	for i := range list {
		s := &list[i]
		kind := elf.ST_TYPE(s.Info)
		if (kind != elf.STT_FUNC && kind != gnuIFunc) || s.Section == elf.SHN_UNDEF || s.Name == "" || s.Value == 0 {
			continue
		}
		if int(s.Section) < len(e.Sections) && e.Sections[s.Section].Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		m.symbols = append(m.symbols, symbol{s.Value, s.Value + s.Size, s.Name, elf.ST_BIND(s.Info)})
	}
}

// symbol returns the function that contains an address. A function without a size, as in assembly, extends to the
// next one, or to the end in its unwinding table.
func (m *module) symbol(addr uint64) (symbol, bool) {
	i := sort.Search(len(m.symbols), func(i int) bool { return m.symbols[i].lo > addr })
	if i == 0 {
		return symbol{}, false
	}
	for lo, k := m.symbols[i-1].lo, i-1; k >= 0 && k > i-32; k-- {
		s := m.symbols[k]
		// Of several symbols at one address the first is preferred.
		for k > 0 && m.symbols[k-1].lo == s.lo {
			if k--; m.symbols[k].hi > addr || m.symbols[k].hi == s.hi {
				s = m.symbols[k]
			}
		}
		if addr < s.hi {
			return s, true
		}
		if r, ok := m.region(addr); s.lo == lo && s.hi == s.lo && (!ok || r.lo == s.lo) {
			return s, true
		}
	}
	return symbol{}, false
}

func (m *module) region(addr uint64) (addressRange, bool) {
	i := sort.Search(len(m.regions), func(i int) bool { return m.regions[i].lo > addr })
	if i == 0 || addr >= m.regions[i-1].hi {
		return addressRange{}, false
	}
	return m.regions[i-1], true
}

// lookup returns the frames at an offset. A return address may belong to the next line or function, so the byte
// before it is looked up.
func (m *module) lookup(offset uint64, isReturn bool) ([]Frame, Precision) {
	addr := offset + m.bias
	pc := addr
	if isReturn {
		pc--
	}
	s, named := m.symbol(pc)
	if m.lines != nil {
		if frames := m.lines.lookup(pc); len(frames) > 0 {
			outer := &frames[len(frames)-1]
			if named {
				// Debug information has only the plain name of a static function.
				if outer.Function == "" || outer.Symbol == "" && mangled(s.name) {
					outer.Function = Demangle(s.name)
				}
				outer.Symbol = cmp.Or(outer.Symbol, s.name)
				outer.FunctionStart, outer.OffsetInFunction = s.lo, addr-s.lo
			} else if outer.FunctionStart != 0 {
				outer.OffsetInFunction = addr - outer.FunctionStart
			}
			if frames[0].Line > 0 {
				return frames, PrecisionLine
			}
			return frames, PrecisionSymbol
		}
	}
	if named {
		return []Frame{{Function: Demangle(s.name), Symbol: s.name, FunctionStart: s.lo, OffsetInFunction: addr - s.lo}}, PrecisionSymbol
	}
	if r, ok := m.region(pc); ok {
		return []Frame{{FunctionStart: r.lo, OffsetInFunction: addr - r.lo}}, PrecisionRegion
	}
	return nil, PrecisionModule
}
