package symbol

import (
	"path"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// maxFrames is more than the number of return addresses in any recorded stack.
const maxFrames = 256

// Sites names code addresses: call sites and callbacks, with or without their callers.
type Sites struct {
	modules *Modules
	known   Map // address, or key of a stack or line → 1 + index in list
	hashed  Map // hash → 1 + index in list
	list    []site
	lines   []sourceLines
	numbers map[sourceLines]int32

	callbacks map[uint64]uint64 // address of a callback → its value, see NameCallback
}

// sourceLines are the lines of a function in source code, or, with mark set, sites that are no code: the begin of a
// phase, the start function of a thread, or a turn. file is then the site's module, and mark followed by function its
// build id; a line's number is its offset.
type sourceLines struct {
	file, function string
	mark           string // model.PhaseFrameBuildID, ThreadFrameBuildIDPrefix or TurnFrameBuildID; "" for source lines
}

type site struct {
	hash   uint64
	module int32 // index of the module that has the code; NoRequestIndex: none
	line   int32 // 1 + index in Sites.lines, with the line's number in offset; 0: the site is a code address
	offset uint64
	outer  uint64 // hash of the caller's site; 0: unknown
	inner  uint64 // if outer is not 0: hash of the site without callers
}

// Init sets the modules in which addresses are looked up.
func (s *Sites) Init(m *Modules) { s.modules, s.callbacks = m, make(map[uint64]uint64) }

// NameCode returns the content hash of a code address, or of a stack or line by its key; 0 for address 0.
func (s *Sites) NameCode(addr uint64) uint64 {
	if i := s.known.Get(addr); i != 0 {
		return s.list[i-1].hash
	}
	if addr == 0 {
		return 0
	}
	return s.add(addr)
}

// NameCallback returns the value of a callback: the standard ABI's for a predefined one, else the hash of its site.
func (s *Sites) NameCallback(addr uint64) uint64 {
	if addr == mpi.CallbackNull || addr == mpi.CallbackDup {
		return addr
	}
	return once.GetOrMake(s.callbacks, addr, func() uint64 {
		if m, offset := s.modules.find(addr); m != NoRequestIndex {
			if v, ok := s.modules.modules[m].callback(offset); ok {
				return v
			}
		}
		return s.NameCode(addr)
	})
}

func (s *Sites) add(addr uint64) uint64 {
	if stack, turn := event.SplitTurnKey(addr); turn != 0 {
		hash, index := s.around(stack, s.line(sourceLines{mark: model.TurnFrameBuildID}, uint64(turn)))
		s.known.Set(addr, index)
		return hash
	}
	v, _ := s.place(addr)
	s.known.Set(addr, s.keep(v))
	return v.hash
}

// keep returns 1 + the index of a site, which it adds if it is new.
func (s *Sites) keep(v site) int64 {
	index := s.hashed.Get(v.hash)
	if index == 0 {
		s.list = append(s.list, v)
		index = int64(len(s.list))
		s.hashed.Set(v.hash, index)
	}
	return index
}

// AddSourceLine registers the key of a line of source code.
func (s *Sites) AddSourceLine(key uint64, file string, line uint32, function string) {
	s.known.Set(key, s.keep(s.line(sourceLines{file: file, function: function}, uint64(line))))
}

// line returns the site of the line with a number in x.
func (s *Sites) line(x sourceLines, line uint64) site {
	n, known := s.numbers[x]
	if !known {
		if s.numbers == nil {
			s.numbers = make(map[sourceLines]int32)
		}
		s.lines = append(s.lines, x)
		n = int32(len(s.lines))
		s.numbers[x] = n
	}
	v := site{module: NoRequestIndex, line: n, offset: line}
	v.hash = hashEnd(s.unfinished(&v))
	return v
}

// unfinished returns the hash of a site without its callers, before hashEnd, so that join can add the callers. Files
// are identified by their base names. Code outside of files was generated at run time, so its address means nothing to
// other processes.
func (s *Sites) unfinished(v *site) uint64 {
	switch {
	case v.module != NoRequestIndex:
		return hashWord(s.modules.modules[v.module].hash, v.offset)
	case v.line == 0:
		return hashSeed
	}
	x := &s.lines[v.line-1]
	text := path.Base(x.file) + "\x00" + x.function
	if x.mark != "" {
		text += "\x00" + x.mark
	}
	return hashWord(HashString([]byte(text)), v.offset)
}

// place returns the site, without callers, of an address or of the key of a line, and the result of unfinished for it.
func (s *Sites) place(addr uint64) (site, uint64) {
	v := site{module: NoRequestIndex}
	if i := s.known.Get(addr); i != 0 && s.list[i-1].line != 0 {
		v.line, v.offset = s.list[i-1].line, s.list[i-1].offset
	} else if m, offset := s.modules.find(addr); m != NoRequestIndex {
		s.modules.modules[m].open()
		v.module, v.offset = m, offset
	}
	h := s.unfinished(&v)
	v.hash = hashEnd(h)
	return v, h
}

// AddStack registers the key of a stack: return addresses, innermost first. The stack without its innermost frame, the
// stack without its two innermost frames, and so on, become sites, too.
func (s *Sites) AddStack(key uint64, addrs []uint64) {
	outer, index := uint64(0), int64(0)
	for i := len(addrs) - 1; i >= 0; i-- {
		if outer == 0 {
			outer = s.NameCode(addrs[i])
			index = s.known.Get(addrs[i])
			continue
		}
		v, h := s.place(addrs[i])
		outer, index = s.join(v, h, outer)
	}
	if index != 0 {
		s.known.Set(key, index)
	}
}

// join adds the site that is v with the callers whose site has hash outer. It returns the joint site's hash and
// 1 + index. h is what unfinished returns for v.
func (s *Sites) join(v site, h, outer uint64) (hash uint64, index int64) {
	v.hash, v.outer, v.inner = hashEnd(hashWord(h, outer)), outer, v.hash
	return v.hash, s.keep(v)
}

// AddPhase registers a key for calls that begin a phase of a name. at is the address or key of their call site.
func (s *Sites) AddPhase(key, at uint64, name string) {
	_, index := s.around(at, s.line(sourceLines{file: name, mark: model.PhaseFrameBuildID}, 0))
	s.known.Set(key, index)
}

// NameThreadFirstCall returns the content hash of the site of a thread's first call, with the thread's start function around it.
// That is the function in frames that the program passed to the library which made the thread.
func (s *Sites) NameThreadFirstCall(at uint64, frames []uint64) uint64 {
	s.NameCode(at)
	if i := s.known.Get(at); i != 0 && s.list[i-1].line != 0 {
		frames = nil // they are the interpreter's, whatever function of the program the thread runs
	}
	for i, pc := range slices.Backward(frames) {
		m, offset := s.modules.find(pc)
		if m == NoRequestIndex || i == len(frames)-1 && !strings.HasPrefix(path.Base(s.modules.modules[m].path), "lib") {
			break // the stack is incomplete: the outermost frame of a thread is in the C library
		}
		if runsThreads(s.modules.modules[m].path) {
			continue
		}
		mod := &s.modules.modules[m]
		mod.open()
		hash, _ := s.around(at, s.line(sourceLines{mod.path, mod.buildID, model.ThreadFrameBuildIDPrefix}, offset))
		return hash
	}
	return s.NameCode(at)
}

// runsThreads reports whether a library has functions between a thread's entry and its start function.
func runsThreads(library string) bool {
	name := path.Base(library)
	return slices.ContainsFunc([]string{"libc.so", "libc-2", "libpthread", "libgomp", "libomp", "libiomp5", "libstdc++", "libc++", "ld-", "libspoor"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// around adds the site with this address or key, with mark as the caller of its outermost frame. It returns the new
// site's hash and 1 + index.
func (s *Sites) around(at uint64, mark site) (hash uint64, index int64) {
	s.NameCode(at)
	var frames []int64 // 1 + index of each frame's site in s.list, innermost first
	for i := s.known.Get(at); i != 0 && len(frames) < maxFrames; {
		frames = append(frames, i)
		outer := s.list[i-1].outer
		if outer == 0 {
			break
		}
		i = s.hashed.Get(outer)
	}
	hash, index = mark.hash, s.keep(mark)
	for _, i := range slices.Backward(frames) {
		v := s.list[i-1]
		h := s.unfinished(&v)
		v.hash = hashEnd(h)
		hash, index = s.join(v, h, hash)
	}
	return hash, index
}

// Table returns all sites by hash. outer and inner map the hash of a site with callers to the hash of its caller,
// and of the site without callers.
func (s *Sites) Table() (places map[uint64]track.Site, outer, inner map[uint64]uint64) {
	places = make(map[uint64]track.Site, len(s.list))
	for _, v := range s.list {
		var where track.Site
		switch {
		case v.module != NoRequestIndex:
			mod := &s.modules.modules[v.module]
			where = track.Site{Module: mod.path, BuildID: mod.buildID, Offset: v.offset}
		case v.line != 0:
			x := &s.lines[v.line-1]
			if x.mark != "" {
				where = track.Site{Module: x.file, BuildID: x.mark + x.function, Offset: v.offset}
			} else {
				where.Module, where.BuildID, where.Offset = model.SourceLineSite(x.file, uint32(v.offset), x.function)
			}
		}
		places[v.hash] = where
		if v.outer != 0 {
			if outer == nil {
				outer, inner = make(map[uint64]uint64), make(map[uint64]uint64)
			}
			outer[v.hash], inner[v.hash] = v.outer, v.inner
		}
	}
	return places, outer, inner
}

// Code codes the state. The modules' state must be read before.
func (s *Sites) Code(c *wire.Coder) {
	if c.Reader != nil {
		s.numbers, s.hashed = make(map[sourceLines]int32), Map{}
	}
	wire.CodeList(c, &s.lines, 3, func(i int, x *sourceLines) {
		c.String(&x.file)
		c.String(&x.function)
		if c.String(&x.mark); c.Reader != nil {
			s.numbers[*x] = int32(i + 1)
		}
	})
	wire.CodeList(c, &s.list, 12, func(i int, v *site) {
		c.Uint64(&v.hash)
		wire.CodeAbove(c, &v.module, -1, len(s.modules.modules))
		wire.CodeBounded(c, &v.line, len(s.lines))
		wire.CodeUints(c, &v.offset)
		inlined := v.outer != 0
		if c.Bool(&inlined); inlined {
			c.Uint64(&v.outer, &v.inner)
		}
		if c.Reader != nil {
			s.hashed.Set(v.hash, int64(i+1))
		}
	})
	s.known.code(c, int64(len(s.list)))
}
