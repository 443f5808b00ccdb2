// Package symbolise finds out, after the run and without running anything,
// which line of which function a place in a program's code is: from DWARF, from
// symbol tables, from separate debug files, and where all of these were
// stripped away, from the unwinding tables, which nearly every binary keeps.
//
// It does not disassemble, does not ask the network, and does not guess: what
// it says of a place is what the file with the recorded build id says, and less
// where that file knows less.
package symbolise

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ianlancetaylor/demangle"

	"github.com/spoor-hpc/spoor/trace/model"
)

// A Precision is how precisely a place is known.
type Precision uint8

// The precisions, from least to best.
const (
	PrecisionModule Precision = iota // only the module is known
	PrecisionRegion                  // the function's extent is known, not its name
	PrecisionSymbol                  // the function is known, not the line
	PrecisionLine                    // file and line are known
)

var precisionNames = [...]string{"module", "region", "symbol", "line"}

func (p Precision) String() string { return precisionNames[p] }

// A Frame is a function with a place in it.
type Frame struct {
	Function         string `json:"function,omitempty"` // as a person would write it; "" if not known
	Symbol           string `json:"symbol,omitempty"`   // the linker's name; may be empty
	File             string `json:"file,omitempty"`     // full path as the compiler saw it, or ""
	Line             int    `json:"line,omitempty"`     // 0 if not known
	FunctionStart    uint64 `json:"start,omitempty"`    // link-time address of the function, 0 if not known
	OffsetInFunction uint64 `json:"offset,omitempty"`   // distance of the place from Start, for frames that are not inlined
	IsInlined        bool   `json:"inlined,omitempty"`  // the compiler inlined the function into the next frame's
	// IsTailCaller: the call stack lacks the function, because it jumped to the function of the frame before.
	IsTailCaller bool `json:"tail,omitempty"`
}

// A Place is a place in code. Frames lists the function that it is in and,
// before it, those that were inlined there, innermost first; it is empty if
// only the module is known.
type Place struct {
	Module      string // path
	Offset      uint64 // from the module's load base
	Precision   Precision
	Frames      []Frame
	IsAmbiguous bool // another place prints the same but for the offset: see MarkAmbiguous
}

// Options are additional folders to search.
type Options struct {
	// SearchFolders are folders that hold copies of programs and libraries, by base
	// name or under their full path, or debug files, as /usr/lib/debug does.
	SearchFolders []string
}

// A Symboliser looks places up. Each module is opened once. It is safe for use
// by several goroutines at once.
type Symboliser struct {
	options Options
	mu      sync.Mutex
	modules map[moduleKey]*module
	places  map[placeKey]Place
	notes   []string
}

type moduleKey struct{ path, buildID string }

type placeKey struct {
	moduleKey
	offset  uint64
	address bool
}

// New returns a symboliser.
func New(o Options) *Symboliser {
	return &Symboliser{options: o, modules: make(map[moduleKey]*module), places: make(map[placeKey]Place)}
}

// PlaceOfReturnOffset looks up a call by its return address, given as an offset from the address of the file's first byte. With
// an empty buildID any version of the file is accepted.
func (s *Symboliser) PlaceOfReturnOffset(path, buildID string, offset uint64) Place {
	return s.find(placeKey{moduleKey{path, buildID}, offset, false})
}

// PlaceOfCodeOffset looks up a function or an instruction by its own address.
func (s *Symboliser) PlaceOfCodeOffset(path, buildID string, offset uint64) Place {
	return s.find(placeKey{moduleKey{path, buildID}, offset, true})
}

// A ReturnSite is a call, given by its return address as in PlaceOfReturnOffset, and its callee.
type ReturnSite struct {
	Path, BuildID string
	Offset        uint64
	Callee        string
}

// MarkAmbiguous finds calls of one function at different addresses that print the same, such as those of an
// unrolled loop. From then on these places print their offsets, too.
func (s *Symboliser) MarkAmbiguous(list []ReturnSite) {
	first := make(map[[2]string]ReturnSite)
	for _, c := range list {
		p := s.PlaceOfReturnOffset(c.Path, c.BuildID, c.Offset)
		p.IsAmbiguous = false
		key := [2]string{c.Callee, p.String()}
		other, seen := first[key]
		if !seen {
			first[key] = c
		}
		if !seen || other == c {
			continue
		}
		s.mu.Lock()
		for _, x := range []ReturnSite{other, c} {
			k := placeKey{moduleKey{x.Path, x.BuildID}, x.Offset, false}
			p := s.places[k]
			p.IsAmbiguous = true
			s.places[k] = p
		}
		s.mu.Unlock()
	}
}

// ImprecisionNotes lists the reasons why some places are known only roughly: modules that are missing, or were rebuilt since
// the run.
func (s *Symboliser) ImprecisionNotes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.notes...)
}

func (s *Symboliser) find(k placeKey) (p Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.places[k]; ok {
		return known
	}
	if p, ok := sourceLine(k.path, k.buildID, k.offset); ok {
		s.places[k] = p
		return p
	}
	p = Place{Module: k.path, Offset: k.offset}
	s.places[k] = p
	if k.path == "" {
		return p
	}
	// Malformed data of compilers and strippers may make the standard library's readers panic.
	defer func() {
		if e := recover(); e != nil {
			s.notes = append(s.notes, fmt.Sprintf("%s: its debug information makes no sense: %v", k.path, e))
		}
	}()
	m, ok := s.modules[k.moduleKey]
	if !ok {
		s.modules[k.moduleKey] = nil
		var note string
		m, note = s.options.open(k.path, k.buildID)
		if note != "" {
			s.notes = append(s.notes, note)
		}
		s.modules[k.moduleKey] = m
	}
	if m != nil {
		p.Frames, p.Precision = m.lookup(k.offset, !k.address)
		if last := len(p.Frames) - 1; last > 0 && p.Frames[last].stub() { // functions inlined into the stub are the program's
			p.Frames = p.Frames[:last]
		}
		s.places[k] = p
	}
	return p
}

// goStub is what cgo writes around each C function that a program in Go calls.
var goStub = regexp.MustCompile(`^_cgo_[0-9a-f]+_Cfunc_`)

func (f *Frame) stub() bool {
	return strings.HasPrefix(f.Function, "_cgo_") && goStub.MatchString(f.Function)
}

// IsStub reports whether the place is glue code instead of the program's: a stub of cgo, or the first functions of
// a goroutine.
func (p *Place) IsStub() bool {
	if len(p.Frames) != 1 {
		return false
	}
	f := &p.Frames[0]
	return f.stub() || f.Function == "runtime.main" || f.Function == "runtime.goexit"
}

// InterpretedFrameName is the name of the one frame that replaces those of an interpreter, or of code made at run time.
const InterpretedFrameName = "interpreted code"

// PythonImportPrefix begins the name of frames in which a Python program imports a module.
const PythonImportPrefix = "import "

// interpreters are the programs and libraries that run Python, R and Julia: their functions are not those of the program.
var interpreters = regexp.MustCompile(`(^|/)(python3[.0-9]*|libpython3[^/]*\.so[.0-9]*|mpi4py/MPI\.[^/]*\.so|libR\.so|R/bin/exec/R|libjulia[^/]*\.so[.0-9]*|lib/julia/sys\.so|julia)$`)

// IsInterpreterOrJIT reports whether code is an interpreter's, or was made at run time: that is in no file.
func IsInterpreterOrJIT(module string) bool {
	switch base := module[strings.LastIndexByte(module, '/')+1:]; {
	case base == "":
		return true
	case strings.HasPrefix(base, "lib"), strings.HasPrefix(base, "python"), strings.HasPrefix(base, "MPI."), base == "R", base == "julia", base == "sys.so":
		return interpreters.MatchString(module)
	}
	return false
}

// MergeInterpreted replaces consecutive places in an interpreter by one.
func MergeInterpreted(stack []Place) []Place {
	if len(stack) < 2 || !slices.ContainsFunc(stack, func(p Place) bool { return IsInterpreterOrJIT(p.Module) }) {
		return stack
	}
	var out []Place
	for _, p := range stack {
		if IsInterpreterOrJIT(p.Module) {
			p = Place{Frames: []Frame{{Function: InterpretedFrameName}}, Precision: PrecisionLine}
			if n := len(out); n > 0 && len(out[n-1].Frames) == 1 && out[n-1].Frames[0] == p.Frames[0] {
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// ModuleOffset renders the place as module+offset, without the module's directory.
func (p *Place) ModuleOffset() string {
	if p.Module == "" {
		return "?"
	}
	return fmt.Sprintf("%s+0x%x", filepath.Base(p.Module), p.Offset)
}

// String renders the place on one line: the function with file and line, or as
// much as is known of them. Functions that were inlined come first:
//
//	pack halo.h:12 < exchange halo.c:40
//	exchange+0x1f (solver)
//	fn@0x4510+0x3c (solver)
//	solver+0x454c
func (p *Place) String() string {
	if len(p.Frames) == 0 {
		return p.ModuleOffset()
	}
	var b strings.Builder
	for i := range p.Frames {
		if i > 0 {
			b.WriteString(" < ")
		}
		b.WriteString(p.Frames[i].Text())
	}
	switch {
	case p.Precision < PrecisionLine && p.IsAmbiguous:
		fmt.Fprintf(&b, " (%s)", p.ModuleOffset())
	case p.Precision < PrecisionLine:
		fmt.Fprintf(&b, " (%s)", filepath.Base(p.Module))
	default:
		b.WriteString(p.DistinguishingOffset())
	}
	return b.String()
}

// DistinguishingOffset is the place's offset in the module, which distinguishes it from another place that prints the
// same; "" if no other does.
func (p *Place) DistinguishingOffset() string {
	if !p.IsAmbiguous {
		return ""
	}
	return fmt.Sprintf(" +0x%x", p.Offset)
}

// Text renders a frame without its module.
func (f *Frame) Text() string {
	name := f.Name()
	switch {
	case f.Line > 0:
		return fmt.Sprintf("%s %s:%d", name, filepath.Base(f.File), f.Line)
	case f.File != "" && f.IsInlined:
		return fmt.Sprintf("%s %s", name, filepath.Base(f.File))
	case f.IsTailCaller && f.OffsetInFunction == 0, f.FunctionStart|f.OffsetInFunction == 0: // the place in the function isn't known
		return name
	}
	return fmt.Sprintf("%s+0x%x", name, f.OffsetInFunction)
}

// Name is the function's name, or one made of its address where it has none.
func (f *Frame) Name() string {
	if f.Function != "" {
		return f.Function
	}
	return fmt.Sprintf("fn@0x%x", f.FunctionStart)
}

// sourceLine returns the place of a site that is a line of source code instead of an address.
func sourceLine(path, buildID string, offset uint64) (Place, bool) {
	function, ok := model.SourceLineFunction(buildID)
	if !ok {
		return Place{}, false
	}
	f := Frame{Function: function, File: path, Line: int(offset)}
	p := Place{Module: path, Offset: offset, Frames: []Frame{f}, Precision: PrecisionLine}
	if path == "" || offset == 0 {
		p.Precision = PrecisionSymbol
	}
	return p, true
}

// ThreadFunction names a thread's start function, given the place from which it called the next function. For C++
// threads it is the callable that the program passed, instead of the library's functions around it. It is module and
// offset if the function is unknown.
func (p *Place) ThreadFunction() string {
	if len(p.Frames) == 0 || p.Frames[0].Function == "" {
		return p.String()
	}
	if outer := p.Frames[len(p.Frames)-1].Function; strings.HasPrefix(outer, "std::thread::") {
		if i := strings.LastIndex(outer, "std::tuple<"); i >= 0 {
			return upToBracket(outer[i+len("std::tuple<"):])
		}
	}
	return p.Frames[0].Function
}

// upToBracket returns the text up to the first > without a < before it.
func upToBracket(s string) string {
	depth := 0
	for i, c := range s {
		switch c {
		case '<':
			depth++
		case '>':
			if depth--; depth < 0 {
				return strings.TrimSpace(s[:i])
			}
		}
	}
	return s
}

// cloneSuffix is what GCC and Clang append to specialised or split functions.
var cloneSuffix = regexp.MustCompile(`(\.(isra|constprop|part|cold|lto_priv|llvm|localalias|clone)(\.\d+)*|\.\d+)+$`)

var (
	gnuModule   = regexp.MustCompile(`^__(\w+?)_MOD_(\w+)$`)
	nagModule   = regexp.MustCompile(`^([a-zA-Z]\w*)_MP_(\w+)$`)
	intelModule = regexp.MustCompile(`^([a-z]\w*?)_mp_(\w+?)_?$`)
	fortranName = regexp.MustCompile(`^[a-z]\w*_$`)
)

// mangled reports whether a linkage name has more information than the plain name, as for C++ and Rust functions,
// and procedures in Fortran modules.
func mangled(symbol string) bool {
	return strings.HasPrefix(symbol, "_Z") || strings.HasPrefix(symbol, "_R") || gnuModule.MatchString(symbol) ||
		nagModule.MatchString(symbol) || intelModule.MatchString(symbol)
}

// Demangle turns a symbol into the name that its programmer knows: C++ and Rust
// names without parameters, procedures of Fortran modules as module::procedure,
// others without the underscore that Fortran compilers append.
func Demangle(symbol string) string {
	symbol, _, _ = strings.Cut(symbol, "@") // version
	if s := cloneSuffix.ReplaceAllString(symbol, ""); s != "" {
		symbol = s
	}
	switch {
	case strings.HasPrefix(symbol, "_Z"), strings.HasPrefix(symbol, "_R"):
		return demangle.Filter(symbol, demangle.NoParams, demangle.MaxLength(14))
	case symbol == "MAIN__" || symbol == "MAIN_":
		return "main program"
	}
	for _, form := range []*regexp.Regexp{gnuModule, nagModule, intelModule} {
		if m := form.FindStringSubmatch(symbol); m != nil {
			return m[1] + "::" + m[2]
		}
	}
	if fortranName.MatchString(symbol) {
		return strings.TrimSuffix(strings.TrimSuffix(symbol, "_"), "_")
	}
	return symbol
}
