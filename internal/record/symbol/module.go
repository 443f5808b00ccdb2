package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// Modules is the part of the process's address space that is mapped from files: the executable and the libraries.
// It reads /proc/self/maps.
type Modules struct {
	written func() []byte // returns the maps at the last load or unload of a library; nil: none, or parsed already
	read    func() []byte // returns the current maps; slow in the kernel
	stale   bool          // the maps may have changed, and may be read once more
	regions []region      // by rising address
	modules []module
	last    int // index of the region in which the previous address was found
	segs    int64

	Version uint64 // Version counts how often the maps were read.
}

type region struct {
	lo, hi uint64
	module int32 // index of the module; NoRequestIndex: none
	file   bool  // the region is mapped from the module's file; else it is its zeroed data (.bss)
}

type module struct {
	path    string
	base    uint64 // address of the file's first byte
	seg     int64  // 1 + number of the module as a segment, in order of first use for a buffer; 0: not used yet
	opened  bool   // the fields below are valid
	buildID string
	end     uint64 // end of the module's memory, relative to base; 0: unknown
	hash    uint64 // hash of base name and build id
}

// Init sets the sources of the maps: written, which may be nil, returns them as of the last load or unload of a
// library, read returns the current ones.
func (m *Modules) Init(written, read func() []byte) { m.written, m.read, m.stale = written, read, true }

// AllowReload lets the maps be read again for the next address that is in no known region. It is called once per
// drain, so that stray addresses do not cause frequent reads.
func (m *Modules) AllowReload() { m.stale = true }

// find returns the index of the module that addr is in, NoRequestIndex outside of modules, and addr's offset from the
// module's base.
func (m *Modules) find(addr uint64) (int32, uint64) {
	r := m.region(addr)
	if r == nil && m.written != nil {
		m.parse(m.written())
		m.written = nil
		r = m.region(addr)
	}
	if r == nil && m.stale {
		m.stale = false
		m.parse(m.read())
		r = m.region(addr)
	}
	if r == nil || r.module == NoRequestIndex {
		return NoRequestIndex, 0
	}
	mod := &m.modules[r.module]
	if !r.file {
		// Zeroed data has no name in the maps, and the kernel may merge it with a neighbour: only the file says
		// where it ends.
		if mod.open(); mod.end != 0 && addr-mod.base >= mod.end {
			return NoRequestIndex, 0
		}
	}
	return r.module, addr - mod.base
}

// FileAt returns the file that an address is mapped from, and the offset from the address of the file's first byte;
// "" if there is no file.
func (m *Modules) FileAt(addr uint64) (path string, offset uint64) {
	i, offset := m.find(addr)
	if i == NoRequestIndex {
		return "", 0
	}
	return m.modules[i].path, offset
}

func (m *Modules) region(addr uint64) *region {
	if m.last < len(m.regions) {
		if r := &m.regions[m.last]; addr >= r.lo && addr < r.hi {
			return r
		}
	}
	i, ok := slices.BinarySearchFunc(m.regions, addr, func(r region, a uint64) int {
		switch {
		case r.hi <= a:
			return -1
		case r.lo > a:
			return 1
		}
		return 0
	})
	if !ok {
		return nil
	}
	m.last = i
	return &m.regions[i]
}

// parse reads lines like "7f00-7f10 r--p 0000a000 08:01 123   /usr/lib/x.so".
func (m *Modules) parse(maps []byte) {
	m.Version++
	m.regions, m.last = m.regions[:0], 0
	byPath := make(map[string]int32, len(m.modules))
	for i := range m.modules {
		byPath[m.modules[i].path] = int32(i)
	}
	based := make(map[int32]bool)
	for line := range bytes.Lines(maps) {
		var fields [5][]byte
		rest := bytes.TrimSpace(line)
		for i := range fields {
			fields[i], rest, _ = bytes.Cut(rest, []byte(" "))
		}
		low, high, _ := bytes.Cut(fields[0], []byte("-"))
		lo, ok1 := hexadecimal(low)
		hi, ok2 := hexadecimal(high)
		offset, ok3 := hexadecimal(fields[2])
		if !ok1 || !ok2 || !ok3 || len(fields[4]) == 0 || lo >= hi {
			continue
		}
		path := bytes.TrimSuffix(bytes.TrimLeft(rest, " "), []byte(" (deleted)"))
		r := region{lo: lo, hi: hi, module: NoRequestIndex}
		if n := len(m.regions); n > 0 && m.regions[n-1].hi > lo {
			continue // not ascending: not a maps file
		}
		switch {
		case bytes.HasPrefix(path, []byte("/")):
			i, ok := byPath[string(path)]
			if !ok {
				i = int32(len(m.modules))
				m.modules = append(m.modules, module{path: string(path)})
				byPath[m.modules[i].path] = i
			}
			if !based[i] {
				m.modules[i].base, based[i] = lo-offset, true
			}
			r.module, r.file = i, true
		case len(path) == 0 && len(m.regions) > 0:
			if p := m.regions[len(m.regions)-1]; p.hi == lo && p.file {
				r.module = p.module
			}
		}
		m.regions = append(m.regions, r)
	}
}

// hexadecimal parses a hexadecimal number; ok is false for other text.
func hexadecimal(digits []byte) (n uint64, ok bool) {
	for _, d := range digits {
		switch {
		case d >= '0' && d <= '9':
			d -= '0'
		case d >= 'a' && d <= 'f':
			d -= 'a' - 10
		default:
			return 0, false
		}
		if n>>60 != 0 {
			return 0, false
		}
		n = n<<4 | uint64(d)
	}
	return n, len(digits) > 0
}

// open reads build id and memory size from the module's file.
func (mod *module) open() {
	if mod.opened {
		return
	}
	mod.opened = true
	if f, err := os.Open(mod.path); err == nil {
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			if e, err := elf.NewFile(f); err == nil {
				mod.inspect(e)
			}
		}
	}
	mod.hash = HashString([]byte(filepath.Base(mod.path) + "\x00" + mod.buildID))
}

// callback returns the number of the predefined callback, such as MPI_COMM_DUP_FN, at an offset in an MPI library. The
// offset is relative to the address of the file's first byte.
func (mod *module) callback(offset uint64) (v uint64, ok bool) {
	if !strings.HasPrefix(filepath.Base(mod.path), "libmpi") {
		return 0, false
	}
	e, err := elf.Open(mod.path)
	if err != nil {
		return 0, false
	}
	defer e.Close()
	list, err := e.DynamicSymbols()
	if err != nil {
		return 0, false
	}
	for _, x := range list {
		if x.Value == offset && elf.ST_TYPE(x.Info) == elf.STT_FUNC {
			if v, ok := mpi.CallbackNamed(x.Name); ok {
				return v, true
			}
		}
	}
	return 0, false
}

func (mod *module) inspect(e *elf.File) {
	first, end := ^uint64(0), uint64(0)
	for _, p := range e.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			first = min(first, p.Vaddr-p.Off)
			end = max(end, p.Vaddr+p.Memsz)
		case elf.PT_NOTE:
			if note := make([]byte, min(p.Filesz, 1<<16)); mod.buildID == "" {
				if _, err := p.ReadAt(note, 0); err == nil {
					mod.buildID = buildID(note, e.ByteOrder)
				}
			}
		}
	}
	if end > first {
		mod.end = end - first
	}
}

// buildID finds the GNU build id among a program header's notes.
func buildID(notes []byte, order binary.ByteOrder) string {
	const gnuBuildID = 3
	for len(notes) >= 12 {
		name, desc, kind := uint64(order.Uint32(notes)), uint64(order.Uint32(notes[4:])), order.Uint32(notes[8:])
		at := 12 + (name+3)&^3
		next := at + (desc+3)&^3
		if at+desc > uint64(len(notes)) {
			return ""
		}
		if kind == gnuBuildID && string(notes[12:12+name]) == "GNU\x00" {
			return hex.EncodeToString(notes[at : at+desc])
		}
		if next > uint64(len(notes)) {
			return ""
		}
		notes = notes[next:]
	}
	return ""
}

// static returns segment and offset of an address in the memory of a module.
func (m *Modules) static(addr uint64) (seg, off int64, ok bool) {
	i, offset := m.find(addr)
	if i == NoRequestIndex {
		return 0, 0, false
	}
	mod := &m.modules[i]
	if mod.seg == 0 {
		m.segs++
		mod.seg = m.segs
	}
	return signature.PackSegName(mod.seg-1, 0, signature.SegClassStatic), int64(offset), true
}

// Code codes the modules with their numbers as segments. Regions are not coded, but read from the maps again.
func (m *Modules) Code(c *wire.Coder) {
	wire.CodeIntegers(c, &m.segs)
	wire.CodeList(c, &m.modules, 6, func(_ int, mod *module) {
		c.String(&mod.path)
		wire.CodeUints(c, &mod.base)
		wire.CodeIntegers(c, &mod.seg)
		c.Bool(&mod.opened)
		c.String(&mod.buildID)
		if wire.CodeUints(c, &mod.end); c.Reader != nil && mod.opened {
			mod.hash = HashString([]byte(filepath.Base(mod.path) + "\x00" + mod.buildID))
		}
	})
	if c.Reader != nil {
		m.regions = nil
	}
}
