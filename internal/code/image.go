// Package code tells what a program looks like from the machine code of a linked binary, without running
// it: its functions with their parts, blocks, loops and calls, calls that are written as jumps, jump tables,
// functions that never return, and where exceptions go.
//
// Functions come from .eh_frame and symbols. A function's code is decoded when it is first asked for; whether a
// call comes back depends on the callees, which are looked at then. What a binary
// claims is checked before it is believed: a damaged one shows less, and never leads to a panic.
//
// What it can't know: where pointers lead, what a second return of setjmp goes back to, and whether functions
// of other binaries come back, but for those that languages' run-time libraries have.
package code

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/spoor-hpc/spoor/internal/code/insn"
)

// ErrUnsupportedArch is wrapped by errors about binaries for unsupported processors.
var ErrUnsupportedArch = errors.New("its machine code isn't understood, only that of x86-64 and arm64")

// An architecture is the differences between supported processors.
type architecture struct {
	decoder func() insn.Decoder
	named   []uint32 // types of relocations that store a symbol's address
	moved   uint32   // type of relocation that stores an address in the image
}

var architectures = map[elf.Machine]architecture{
	elf.EM_X86_64: {insn.NewX86, []uint32{uint32(elf.R_X86_64_GLOB_DAT), uint32(elf.R_X86_64_JMP_SLOT), uint32(elf.R_X86_64_64)},
		uint32(elf.R_X86_64_RELATIVE)},
	elf.EM_AARCH64: {insn.NewA64, []uint32{uint32(elf.R_AARCH64_GLOB_DAT), uint32(elf.R_AARCH64_JUMP_SLOT), uint32(elf.R_AARCH64_ABS64)},
		uint32(elf.R_AARCH64_RELATIVE)},
}

// An Image is a linked binary: addresses are link-time addresses. It is for one goroutine.
type Image struct {
	Path string
	// LinkBias is the link-time address of the file's first byte. A link-time address minus LinkBias is an offset in the
	// module, as in traces.
	LinkBias uint64

	file      *os.File
	elf       *elf.File
	machine   insn.Decoder
	sections  []*section
	parts     []*codeRange // ranges of code, disjoint, by ascending addresses
	byLo      map[uint64]*codeRange
	slots     map[uint64]string // by address: name of the symbol whose address the dynamic linker writes there
	moved     map[uint64]uint64 // by address: address in this image that the dynamic linker writes there
	exports   map[string]uint64
	stubNames map[uint64]string
	joined    bool      // all parts are assigned to functions
	budget    int       // number of functions that the current call of MayReturn may still examine
	counted   *Function // the function whose analysis counters caches
	counters  *counters
}

// A section is a loaded section of the file; its bytes are read at the first use.
type section struct {
	*elf.Section
	data []byte
	read bool
}

// A codeRange is a range of code with an entry in .eh_frame or a symbol: a function, or a part of one that the
// compiler placed elsewhere.
type codeRange struct {
	lo, hi  uint64
	name    string // symbol, or ""
	except  uint64 // address of its table of landing pads
	inside  bool   // a frame is already set up where it begins
	scanned bool
	bad     int // number of positions without a valid instruction
	moves   []move
	pads    []LandingSite
	owner   *Function
	fn      *Function // function that begins here
}

// Open opens a binary. It returns an error if the file is no ELF file, is not linked, or is for an unsupported
// processor (ErrUnsupportedArch).
func Open(path string) (*Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var m *Image
	if info, statErr := f.Stat(); statErr != nil || !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	} else {
		m, err = newImage(f)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.Path, m.file = path, f
	return m, nil
}

// Read is Open for any source; the image has no file to close.
func Read(path string, r io.ReaderAt) (*Image, error) {
	m, err := newImage(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.Path = path
	return m, nil
}

// Close closes the file.
func (m *Image) Close() error { return m.file.Close() }

func newImage(r io.ReaderAt) (*Image, error) {
	e, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("not a binary that can be read: %w", err)
	}
	arch, known := architectures[e.Machine]
	if !known || e.Class != elf.ELFCLASS64 || e.Data != elf.ELFDATA2LSB {
		return nil, fmt.Errorf("%s, %s, %s: %w", e.Machine, e.Class, e.Data, ErrUnsupportedArch)
	}
	if e.Type != elf.ET_EXEC && e.Type != elf.ET_DYN {
		return nil, fmt.Errorf("%s: only what is linked can be looked at", e.Type)
	}
	m := &Image{
		elf: e, machine: arch.decoder(), byLo: make(map[uint64]*codeRange),
		slots: make(map[uint64]string), moved: make(map[uint64]uint64), exports: make(map[string]uint64), stubNames: make(map[uint64]string),
	}
	lowest := ^uint64(0)
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr < lowest {
			lowest, m.LinkBias = p.Vaddr, p.Vaddr-p.Off
		}
	}
	for _, s := range e.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS && s.Flags&elf.SHF_COMPRESSED == 0 && s.Addr+s.Size > s.Addr {
			m.sections = append(m.sections, &section{Section: s})
		}
	}
	if len(m.sections) == 0 {
		return nil, errors.New("it has no table of sections, by which functions would be found")
	}
	dynamic, _ := e.DynamicSymbols()
	local, _ := e.Symbols()
	m.relocations(&arch, dynamic)
	m.findParts(dynamic, local)
	if len(m.parts) == 0 {
		return nil, errors.New("neither .eh_frame nor symbols name a function in it")
	}
	return m, nil
}

// section returns the section that contains an address.
func (m *Image) section(addr uint64) *section {
	for _, s := range m.sections {
		if addr >= s.Addr && addr-s.Addr < s.Size {
			return s
		}
	}
	return nil
}

// bytes returns what is in the file from an address to the end of its section; nil if that can't be read.
func (m *Image) bytes(addr uint64) []byte {
	s := m.section(addr)
	if s == nil {
		return nil
	}
	if !s.read {
		s.read = true
		s.data, _ = s.Data()
	}
	if addr-s.Addr >= uint64(len(s.data)) {
		return nil
	}
	return s.data[addr-s.Addr:]
}

func (m *Image) executable(addr uint64) bool {
	s := m.section(addr)
	return s != nil && s.Flags&elf.SHF_EXECINSTR != 0
}

// stubs reports whether an address is in a section of stubs for calls to other binaries.
func (m *Image) stubs(addr uint64) bool {
	s := m.section(addr)
	return s != nil && (s.Name == ".plt" || strings.HasPrefix(s.Name, ".plt."))
}

// relocations reads the names and addresses that the dynamic linker writes.
func (m *Image) relocations(arch *architecture, dynamic []elf.Symbol) {
	for i := range dynamic {
		if s := &dynamic[i]; isFunction(s) {
			m.exports[s.Name] = s.Value
		}
	}
	for _, s := range m.elf.Sections {
		if s.Type != elf.SHT_RELA {
			continue
		}
		data, err := s.Data()
		if err != nil {
			continue
		}
		for ; len(data) >= 24; data = data[24:] {
			at, info := m.elf.ByteOrder.Uint64(data), m.elf.ByteOrder.Uint64(data[8:])
			sym := info >> 32
			switch kind := uint32(info); {
			case kind == arch.moved:
				m.moved[at] = m.elf.ByteOrder.Uint64(data[16:])
			case slices.Contains(arch.named, kind) && sym > 0 && sym <= uint64(len(dynamic)):
				m.slots[at] = dynamic[sym-1].Name
			}
		}
	}
}

func isFunction(s *elf.Symbol) bool {
	const gnuIFunc = 10
	kind := elf.ST_TYPE(s.Info)
	return (kind == elf.STT_FUNC || kind == gnuIFunc) && s.Section != elf.SHN_UNDEF && s.Value != 0 && s.Name != ""
}

// findParts makes parts from .eh_frame and symbols. Of several symbols at one address it takes the most public, then
// the shortest.
func (m *Image) findParts(dynamic, local []elf.Symbol) {
	var list []*codeRange
	for _, f := range UnwindEntries(m.elf) {
		if m.executable(f.Lo) && !m.stubs(f.Lo) {
			p := &codeRange{lo: f.Lo, hi: f.Hi, except: f.LandingTableAddr, inside: f.HasFrameAtStart}
			list, m.byLo[f.Lo] = append(list, p), p
		}
	}
	bind := make(map[*codeRange]elf.SymBind)
	for _, symbols := range [][]elf.Symbol{dynamic, local} {
		for i := range symbols {
			s := &symbols[i]
			if !isFunction(s) || !m.executable(s.Value) || m.stubs(s.Value) {
				continue
			}
			p := m.byLo[s.Value]
			if p == nil {
				p = &codeRange{lo: s.Value, hi: s.Value + s.Size}
				list, m.byLo[s.Value] = append(list, p), p
			}
			b := elf.ST_BIND(s.Info)
			better := cmp.Or(cmp.Compare(SymbolBindingOrder(b), SymbolBindingOrder(bind[p])), cmp.Compare(len(s.Name), len(p.name)), cmp.Compare(s.Name, p.name)) < 0
			if p.name == "" || better {
				p.name, bind[p] = s.Name, b
			}
		}
	}
	slices.SortFunc(list, func(a, b *codeRange) int { return cmp.Compare(a.lo, b.lo) })
	// Functions of assembly may have no size: they reach to the next. Of two that overlap, the one that begins
	// later is a label of the other, or cuts it short.
	for i, p := range list {
		if p.hi <= p.lo {
			s := m.section(p.lo)
			p.hi = s.Addr + s.Size
			if i+1 < len(list) {
				p.hi = min(p.hi, list[i+1].lo)
			}
		}
		if n := len(m.parts); n > 0 && p.lo < m.parts[n-1].hi {
			if p.hi <= m.parts[n-1].hi && p.except == 0 {
				delete(m.byLo, p.lo)
				continue
			}
			m.parts[n-1].hi = p.lo
		}
		m.parts = append(m.parts, p)
	}
}

// SymbolBindingOrder orders bindings by how public they are: 0 is global, 1 weak, 2 any other.
func SymbolBindingOrder(b elf.SymBind) int {
	switch b {
	case elf.STB_GLOBAL:
		return 0
	case elf.STB_WEAK:
		return 1
	}
	return 2
}

// part finds the part that holds an address.
func (m *Image) part(addr uint64) *codeRange {
	i := sort.Search(len(m.parts), func(i int) bool { return m.parts[i].lo > addr })
	if i == 0 || addr >= m.parts[i-1].hi {
		return nil
	}
	return m.parts[i-1]
}

// stub returns the name of the function that a stub leads to; "" if addr is no stub.
func (m *Image) stub(addr uint64) string {
	if !m.executable(addr) {
		return ""
	}
	m.machine.Reset()
	code := m.bytes(addr)
	for range 5 {
		x, ok := m.machine.Next(code, addr)
		if !ok {
			return ""
		}
		switch {
		case x.Kind == insn.KindIndirectJump && x.IndirectTarget.Origin == insn.TargetFromSlot:
			return m.slots[x.IndirectTarget.SlotAddr]
		case x.Kind != insn.KindPlain:
			return ""
		}
		code, addr = code[x.Len:], x.End()
	}
	return ""
}
