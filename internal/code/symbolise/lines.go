package symbolise

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"slices"
	"sort"
)

// lines is a module's debug information. A compilation unit is parsed when a place in it is first asked for.
type lines struct {
	data  *dwarf.Data
	units []*unit
	spans []unitSpan // by ascending address
}

type unitSpan struct {
	lo, hi uint64
	unit   *unit
}

type unit struct {
	entry     *dwarf.Entry
	files     []*dwarf.LineFile
	rows      []row // by ascending address
	opened    bool
	functions []function
}

// A row is the source line of the code from an address up to the next row.
type row struct {
	addr uint64
	file *dwarf.LineFile // nil: the code has no source line
	line int
}

// A function is a subprogram that has code. Functions may nest.
type function struct {
	lo, hi uint64
	at     dwarf.Offset
}

// newLines indexes the units of a file; nil if it has no debug information.
func newLines(e *elf.File) *lines {
	if e.Section(".debug_info") == nil && e.Section(".zdebug_info") == nil {
		return nil
	}
	data, err := e.DWARF()
	if err != nil {
		return nil
	}
	l := &lines{data: data}
	r := data.Reader()
	for {
		entry, err := r.Next()
		if err != nil || entry == nil {
			break
		}
		if entry.Tag != dwarf.TagCompileUnit && entry.Tag != dwarf.TagSkeletonUnit {
			r.SkipChildren()
			continue
		}
		u := &unit{entry: entry}
		l.units = append(l.units, u)
		if ranges, err := data.Ranges(entry); err == nil {
			for _, x := range ranges {
				if x[0] < x[1] {
					l.spans = append(l.spans, unitSpan{x[0], x[1], u})
				}
			}
		}
		r.SkipChildren()
	}
	if len(l.spans) == 0 {
		return nil
	}
	slices.SortStableFunc(l.spans, func(a, b unitSpan) int { return cmp.Compare(a.lo, b.lo) })
	return l
}

// lookup returns the frames at an address, innermost first; nil if the debug
// information doesn't cover it.
func (l *lines) lookup(pc uint64) []Frame {
	i := sort.Search(len(l.spans), func(i int) bool { return l.spans[i].lo > pc })
	// Code that the linker dropped leaves units at low addresses that overlap, so one unit may not suffice.
	for k := i - 1; k >= 0 && k > i-16; k-- {
		if s := l.spans[k]; pc < s.hi {
			if frames := l.inUnit(s.unit, pc); frames != nil {
				return frames
			}
		}
	}
	return nil
}

func (l *lines) inUnit(u *unit, pc uint64) []Frame {
	if !u.opened {
		u.opened = true
		l.readRows(u)
		l.findFunctions(u)
	}
	here, known := u.row(pc)
	best := -1
	for i, f := range u.functions {
		if pc >= f.lo && pc < f.hi && (best < 0 || f.hi-f.lo < u.functions[best].hi-u.functions[best].lo) {
			best = i
		}
	}
	if best < 0 {
		if !known {
			return nil
		}
		return []Frame{{File: here.file.Name, Line: here.line}}
	}
	frames := l.chain(u, u.functions[best], pc)
	if known {
		frames[0].File, frames[0].Line = here.file.Name, here.line
	}
	return frames
}

// readRows reads the line table of a unit. Its sequences are in the order of the compiler's sections instead of
// addresses: main often is first in the program and last in the table, which LineReader.SeekPC would not find.
func (l *lines) readRows(u *unit) {
	r, err := l.data.LineReader(u.entry)
	if err != nil || r == nil {
		return
	}
	var e dwarf.LineEntry
	first := 0 // index of the sequence's first row
	for r.Next(&e) == nil {
		switch {
		case !e.EndSequence:
			u.rows = append(u.rows, row{e.Address, e.File, e.Line})
			continue
		case first == len(u.rows) || e.Address <= u.rows[first].addr:
			u.rows = u.rows[:first] // the sequence is empty
		case u.rows[first].addr == 0:
			u.rows = u.rows[:first] // the sequence is of code that the linker dropped
		default:
			u.rows = append(u.rows, row{addr: e.Address})
		}
		first = len(u.rows)
	}
	u.rows = u.rows[:first]
	// If a sequence ends where another begins, the row of the begin comes last, so that lookups find it.
	slices.SortStableFunc(u.rows, func(a, b row) int {
		switch {
		case a.addr != b.addr:
			return cmp.Compare(a.addr, b.addr)
		case (a.file == nil) == (b.file == nil):
			return 0
		case a.file == nil:
			return -1
		}
		return 1
	})
	u.files = r.Files()
}

// row returns the line of an address.
func (u *unit) row(pc uint64) (row, bool) {
	i := sort.Search(len(u.rows), func(i int) bool { return u.rows[i].addr > pc })
	if i == 0 || u.rows[i-1].file == nil {
		return row{}, false
	}
	return u.rows[i-1], true
}

// findFunctions lists the subprograms of a unit that have code.
func (l *lines) findFunctions(u *unit) {
	r := l.data.Reader()
	r.Seek(u.entry.Offset)
	if _, err := r.Next(); err != nil || !u.entry.Children {
		return
	}
	for depth := 1; depth > 0; {
		e, err := r.Next()
		if err != nil || e == nil {
			return
		}
		if e.Tag == 0 {
			depth--
			continue
		}
		if e.Tag == dwarf.TagSubprogram {
			if ranges, err := l.data.Ranges(e); err == nil {
				for _, x := range ranges {
					if x[0] < x[1] {
						u.functions = append(u.functions, function{x[0], x[1], e.Offset})
					}
				}
			}
		}
		if e.Children {
			switch e.Tag {
			// Only these may hold subprograms with code.
			case dwarf.TagSubprogram, dwarf.TagNamespace, dwarf.TagModule, dwarf.TagLexDwarfBlock,
				dwarf.TagClassType, dwarf.TagStructType:
				depth++
			default:
				r.SkipChildren()
			}
		}
	}
}

// chain follows the inlined subroutines of a function down to an address.
func (l *lines) chain(u *unit, f function, pc uint64) []Frame {
	r := l.data.Reader()
	r.Seek(f.at)
	e, err := r.Next()
	if err != nil || e == nil {
		return []Frame{{FunctionStart: f.lo}}
	}
	outer := l.frame(e)
	outer.FunctionStart = f.lo
	frames := []Frame{outer} // outermost first
	for e.Children {
		inner := l.child(r, pc)
		if inner == nil {
			break
		}
		e = inner
		if e.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		caller := &frames[len(frames)-1]
		if line, ok := e.Val(dwarf.AttrCallLine).(int64); ok {
			caller.Line = int(line)
		}
		if n, ok := e.Val(dwarf.AttrCallFile).(int64); ok && n >= 0 && n < int64(len(u.files)) && u.files[n] != nil {
			caller.File = u.files[n].Name
		}
		inlined := l.frame(e)
		inlined.IsInlined = true
		frames = append(frames, inlined)
	}
	slices.Reverse(frames)
	return frames
}

// child finds, among the children that r is about to read, the block or inlined
// subroutine that holds an address, and leaves r before its children.
func (l *lines) child(r *dwarf.Reader, pc uint64) *dwarf.Entry {
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return nil
		}
		switch e.Tag {
		case dwarf.TagInlinedSubroutine, dwarf.TagLexDwarfBlock, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock:
			ranges, err := l.data.Ranges(e)
			if err == nil && slices.ContainsFunc(ranges, func(x [2]uint64) bool { return pc >= x[0] && pc < x[1] }) {
				return e
			}
		}
		if e.Children {
			r.SkipChildren()
		}
	}
}

// frame names a subprogram or an inlined one, following the references to where
// it was declared.
func (l *lines) frame(e *dwarf.Entry) Frame {
	const attrMIPSLinkageName = dwarf.Attr(0x2007)
	var f Frame
	name := ""
	for range 8 {
		if s, ok := e.Val(dwarf.AttrName).(string); ok && name == "" {
			name = s
		}
		for _, a := range []dwarf.Attr{dwarf.AttrLinkageName, attrMIPSLinkageName} {
			if s, ok := e.Val(a).(string); ok && f.Symbol == "" {
				f.Symbol = s
			}
		}
		next, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			next, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if !ok {
			break
		}
		r := l.data.Reader()
		r.Seek(next)
		var err error
		if e, err = r.Next(); err != nil || e == nil {
			break
		}
	}
	switch {
	case f.Symbol != "" && (mangled(f.Symbol) || name == ""):
		f.Function = Demangle(f.Symbol)
	default:
		f.Function = name
	}
	return f
}
