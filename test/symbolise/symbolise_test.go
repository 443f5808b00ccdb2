// Package symbolise tests internal/code/symbolise on programs that say themselves
// where they are: each is compiled in the ways in which programs come, runs, and
// prints return addresses beside the function and line that they belong to.
//
// It needs gcc, g++ and gfortran. Without them it skips; in CI it fails.
package symbolise

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/need"
)

// A mark is a place with what its program says it is.
type mark struct {
	site  track.Site
	chain []string // functions, innermost first
	line  string   // file:line
}

// A build is a folder with a program and its library.
type build struct {
	t   *testing.T
	dir string
}

func newBuild(t *testing.T) *build { return &build{t, t.TempDir()} }

func (b *build) run(name string, args ...string) string {
	b.t.Helper()
	need.Command(b.t, name)
	cmd := exec.Command(name, args...)
	cmd.Dir = b.dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, errs.Bytes())
	}
	return string(out)
}

func source(t *testing.T, name string) string {
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// c compiles the C program, its library and the marks.
func (b *build) c(flags ...string) {
	b.run("gcc", append(flags, "-O2", "-shared", "-fPIC", "-o", "libmark.so", source(b.t, "mark.c"))...)
	b.run("gcc", append(flags, "-O2", "-shared", "-fPIC", "-o", "liblibrary.so", source(b.t, "library.c"))...)
	b.link("gcc", "sites.c", append(flags, "-L.", "-llibrary")...)
}

func (b *build) other(compiler, name string, flags ...string) {
	b.run("gcc", append(flags, "-O2", "-shared", "-fPIC", "-o", "libmark.so", source(b.t, "mark.c"))...)
	b.link(compiler, name, flags...)
}

func (b *build) link(compiler, name string, flags ...string) {
	b.run(compiler, append([]string{"-O1", "-o", "app", source(b.t, name)}, append(flags, "-L.", "-lmark", "-Wl,-rpath,"+b.dir)...)...)
}

// marks runs the program.
func (b *build) marks() []mark {
	b.t.Helper()
	var maps bytes.Buffer
	type raw struct {
		address uint64
		mark    mark
	}
	var list []raw
	for line := range strings.Lines(b.run(filepath.Join(b.dir, "app"))) {
		line = strings.TrimSuffix(line, "\n")
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "map":
			fmt.Fprintln(&maps, rest)
		case "mark":
			address, rest, _ := strings.Cut(rest, " ")
			at := strings.LastIndex(rest, " ")
			n, err := strconv.ParseUint(address, 0, 64)
			if err != nil {
				b.t.Fatal(err)
			}
			list = append(list, raw{n, mark{chain: strings.Split(rest[:at], " < "), line: rest[at+1:]}})
		}
	}
	var modules symbol.Modules
	modules.Init(nil, maps.Bytes)
	var sites symbol.Sites
	sites.Init(&modules)
	var marks []mark
	for _, r := range list {
		name := sites.NameCode(r.address)
		places, _, _ := sites.Table()
		r.mark.site = places[name]
		if r.mark.site.Module == "" {
			b.t.Fatalf("no module at %x in\n%s", r.address, maps.Bytes())
		}
		marks = append(marks, r.mark)
	}
	if len(marks) < 3 {
		b.t.Fatalf("only %d marks", len(marks))
	}
	return marks
}

// wantLines checks that places are known to the line.
func wantLines(t *testing.T, s *symbolise.Symboliser, marks []mark) {
	t.Helper()
	for _, m := range marks {
		p := s.PlaceOfReturnOffset(m.site.Module, m.site.BuildID, m.site.Offset)
		var chain []string
		for i, f := range p.Frames {
			chain = append(chain, f.Function)
			if f.IsInlined != (i < len(p.Frames)-1) {
				t.Errorf("%s: inlined %v", p.String(), f.IsInlined)
			}
		}
		if p.Precision != symbolise.PrecisionLine || strings.Join(chain, " < ") != strings.Join(m.chain, " < ") {
			t.Errorf("%s (%v), want %s at %s", p.String(), p.Precision, strings.Join(m.chain, " < "), m.line)
			continue
		}
		if got := fmt.Sprintf("%s:%d", filepath.Base(p.Frames[0].File), p.Frames[0].Line); got != m.line {
			t.Errorf("%s: line %s, want %s", p.String(), got, m.line)
		}
	}
	if notes := s.ImprecisionNotes(); len(notes) > 0 {
		t.Errorf("notes %q", notes)
	}
}

// wantSymbols checks that places are known to the function; those in hidden
// functions only by its extent.
func wantSymbols(t *testing.T, s *symbolise.Symboliser, marks []mark, hidden func(function string) bool) {
	t.Helper()
	for _, m := range marks {
		p := s.PlaceOfReturnOffset(m.site.Module, m.site.BuildID, m.site.Offset)
		want := m.chain[len(m.chain)-1] // what was inlined is forgotten
		if len(p.Frames) != 1 || p.Frames[0].Line != 0 || p.Frames[0].OffsetInFunction == 0 || p.Frames[0].OffsetInFunction > 4096 {
			t.Errorf("%s: %+v", m.line, p)
			continue
		}
		switch hide := hidden(want); {
		case hide && (p.Precision != symbolise.PrecisionRegion || p.Frames[0].Function != ""):
			t.Errorf("%s: %s (%v), want a nameless function", m.line, p.String(), p.Precision)
		case !hide && (p.Precision != symbolise.PrecisionSymbol || p.Frames[0].Function != want):
			t.Errorf("%s: %s (%v), want %s", m.line, p.String(), p.Precision, want)
		}
	}
}

func never(string) bool { return false }

func TestLinesOfC(t *testing.T) {
	for name, flags := range map[string][]string{
		"pie": {"-g"}, "no-pie": {"-g", "-no-pie", "-fno-pie"}, "dwarf4": {"-gdwarf-4"}, "compressed": {"-g", "-gz"},
		"sections": {"-g", "-ffunction-sections", "-Wl,--gc-sections"}, "no-build-id": {"-g", "-Wl,--build-id=none"},
		"optimised": {"-g", "-O2"}, // main is before all others, and last in the line table
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBuild(t)
			b.c(flags...)
			wantLines(t, symbolise.New(symbolise.Options{}), b.marks())
		})
	}
}

// What is inlined into what is the compiler's business here; the function and
// the line of a call are not.
func TestLinesOfOthers(t *testing.T) {
	for compiler, name := range map[string]string{"gfortran": "sites.F90", "g++": "sites.cc"} {
		for _, pie := range []string{"-pie", "-no-pie"} {
			t.Run(compiler+pie, func(t *testing.T) {
				t.Parallel()
				b := newBuild(t)
				b.other(compiler, name, "-g", pie)
				s := symbolise.New(symbolise.Options{})
				for _, m := range b.marks() {
					p := s.PlaceOfReturnOffset(m.site.Module, m.site.BuildID, m.site.Offset)
					if p.Precision != symbolise.PrecisionLine || !strings.HasSuffix(p.Frames[0].Function, m.chain[0]) {
						t.Errorf("%s, want %s", p.String(), m.chain[0])
						continue
					}
					if got := fmt.Sprintf("%s:%d", filepath.Base(p.Frames[0].File), p.Frames[0].Line); got != m.line {
						t.Errorf("%s: line %s, want %s", p.String(), got, m.line)
					}
				}
			})
		}
	}
}

func TestSymbols(t *testing.T) {
	t.Run("c", func(t *testing.T) {
		t.Parallel()
		b := newBuild(t)
		b.c("-g0")
		wantSymbols(t, symbolise.New(symbolise.Options{}), b.marks(), never)
	})
	t.Run("fortran", func(t *testing.T) {
		t.Parallel()
		b := newBuild(t)
		b.other("gfortran", "sites.F90", "-g0", "-fno-inline")
		marks := b.marks()
		for i := range marks {
			if marks[i].chain[0] == "heat" { // a name that only debug information has
				marks[i].chain[0] = "main program"
			}
		}
		wantSymbols(t, symbolise.New(symbolise.Options{}), marks, never)
	})
	t.Run("c++", func(t *testing.T) {
		t.Parallel()
		b := newBuild(t)
		b.other("g++", "sites.cc", "-g0")
		for _, m := range b.marks() {
			p := symbolise.New(symbolise.Options{}).PlaceOfReturnOffset(m.site.Module, m.site.BuildID, m.site.Offset)
			if p.Precision != symbolise.PrecisionSymbol || !strings.HasPrefix(p.Frames[0].Function, "grid::") {
				t.Errorf("%s, want it in grid", p.String())
			}
		}
	})
}

// Without any symbols but those that a library exports, the extent of a
// function is known from its unwinding table.
func TestStripped(t *testing.T) {
	t.Parallel()
	b := newBuild(t)
	b.c("-g")
	b.run("strip", "app", "liblibrary.so")
	marks := b.marks()
	s := symbolise.New(symbolise.Options{})
	wantSymbols(t, s, marks, func(function string) bool { return function != "library" })
	starts := make(map[uint64]string)
	for _, m := range marks {
		p := s.PlaceOfReturnOffset(m.site.Module, m.site.BuildID, m.site.Offset)
		function := m.chain[len(m.chain)-1]
		if other, ok := starts[p.Frames[0].FunctionStart]; ok && other != function && p.Precision == symbolise.PrecisionRegion {
			t.Errorf("%s and %s both start at %x", function, other, p.Frames[0].FunctionStart)
		}
		starts[p.Frames[0].FunctionStart] = function
	}
}

// Debug information that was split off is found by build id and by link.
func TestSeparate(t *testing.T) {
	split := func(t *testing.T, flags ...string) *build {
		b := newBuild(t)
		b.c(append(flags, "-g")...)
		for _, name := range []string{"app", "liblibrary.so"} {
			b.run("objcopy", "--only-keep-debug", name, name+".debug")
			b.run("strip", name)
		}
		return b
	}
	t.Run("link", func(t *testing.T) {
		t.Parallel()
		b := split(t, "-Wl,--build-id=none")
		if err := os.Mkdir(filepath.Join(b.dir, ".debug"), 0o755); err != nil {
			t.Fatal(err)
		}
		b.run("objcopy", "--add-gnu-debuglink=app.debug", "app")
		b.run("objcopy", "--add-gnu-debuglink=liblibrary.so.debug", "liblibrary.so")
		b.run("mv", "liblibrary.so.debug", ".debug")
		wantLines(t, symbolise.New(symbolise.Options{}), b.marks())
		// Another program's debug file under the same name is none.
		b.run("cp", ".debug/liblibrary.so.debug", "app.debug")
		p := b.marks()[0]
		s := symbolise.New(symbolise.Options{})
		if p := s.PlaceOfReturnOffset(p.site.Module, p.site.BuildID, p.site.Offset); p.Precision != symbolise.PrecisionRegion {
			t.Errorf("believed a file with another checksum: %s", p.String())
		}
	})
	t.Run("build-id", func(t *testing.T) {
		t.Parallel()
		b := split(t, "-Wl,--build-id")
		marks := b.marks()
		root := t.TempDir()
		for i, m := range marks {
			if i > 0 && m.site.BuildID == marks[i-1].site.BuildID {
				continue
			}
			dir := filepath.Join(root, ".build-id", m.site.BuildID[:2])
			b.run("mkdir", "-p", dir)
			b.run("cp", filepath.Base(m.site.Module)+".debug", filepath.Join(dir, m.site.BuildID[2:]+".debug"))
		}
		o := symbolise.Options{SearchFolders: []string{root}}
		wantLines(t, symbolise.New(o), marks)
		// They do without the program, or when it was rebuilt.
		b.run("rm", "app")
		b.run("cp", "libmark.so", "liblibrary.so")
		wantLines(t, symbolise.New(o), marks)
	})
}

// A program that was rebuilt since the run is not believed; a copy of the old
// one is.
func TestChanged(t *testing.T) {
	t.Parallel()
	b := newBuild(t)
	b.c("-g", "-Wl,--build-id")
	marks := b.marks()
	saved := t.TempDir()
	b.run("cp", "app", "liblibrary.so", saved)
	b.link("gcc", "sites.c", "-g", "-Wl,--build-id", "-DREBUILT", "-O0", "-L.", "-llibrary")
	b.run("rm", "liblibrary.so")
	s := symbolise.New(symbolise.Options{})
	for _, m := range marks {
		if p := s.PlaceOfReturnOffset(m.site.Module, m.site.BuildID, m.site.Offset); p.Precision != symbolise.PrecisionModule || p.String() != p.ModuleOffset() {
			t.Errorf("believed another file: %s", p.String())
		}
	}
	notes := strings.Join(s.ImprecisionNotes(), "\n")
	if len(s.ImprecisionNotes()) != 2 || !strings.Contains(notes, "app changed since the run: its build id is ") ||
		!strings.Contains(notes, "liblibrary.so is not there") {
		t.Errorf("notes %q", notes)
	}
	wantLines(t, symbolise.New(symbolise.Options{SearchFolders: []string{saved}}), marks)
}

// A function is looked up by its own address, not by what is before it.
func TestCode(t *testing.T) {
	t.Parallel()
	b := newBuild(t)
	b.c("-g")
	s := symbolise.New(symbolise.Options{})
	for _, m := range b.marks() {
		f := s.PlaceOfReturnOffset(m.site.Module, m.site.BuildID, m.site.Offset).Frames
		outer := f[len(f)-1]
		start := m.site.Offset - outer.OffsetInFunction
		p := s.PlaceOfCodeOffset(m.site.Module, m.site.BuildID, start)
		if len(p.Frames) == 0 || p.Frames[len(p.Frames)-1].Function != outer.Function || p.Frames[0].Line == 0 {
			t.Errorf("start of %s: %s", outer.Function, p.String())
		}
		if p := s.PlaceOfReturnOffset(m.site.Module, m.site.BuildID, start); len(p.Frames) > 0 && p.Frames[len(p.Frames)-1].Function == outer.Function {
			t.Errorf("return to the start of %s: %s", outer.Function, p.String())
		}
	}
}
