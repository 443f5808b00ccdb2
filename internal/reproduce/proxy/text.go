package proxy

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c < 32 || c >= 127 || c == '?':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// literalText returns the string parameter whose value has index at in the signatures of w's call, as an expression
// in C. It is a literal if all members have the same string.
func (w *writer) literalText(at int) string {
	if w.c.lane[at] != "" && w.c.lists != nil {
		w.g.cannot("%s: names that differ between ranks or runs", w.c.f.Name)
	}
	col := w.c.column(at)
	texts := make([]string, len(col))
	alike := true
	for i, v := range col {
		texts[i] = signature.FileNameOfRank(w.g.strings[uint64(v)], w.v.members[i])
		alike = alike && texts[i] == texts[0]
	}
	if alike {
		return quote(texts[0])
	}
	if e, ok := w.numbered(texts); ok {
		return e
	}
	list := make([]string, len(texts))
	for i, t := range texts {
		list[i] = quote(t)
	}
	return fmt.Sprintf("%s[member]", w.g.table("char *const", list))
}

func (w *writer) text(p *trace.ParamDef, in *node) string {
	if p.Dir == trace.DirOut || in.typ != trace.TypeString {
		room := int64(8192)
		for k := range w.c.f.Params {
			q := &w.c.f.Params[k]
			if q.Type == trace.TypeInt && w.c.in[k].typ == trace.TypeInt && q.Dims == 0 {
				room = max(room, min(w.c.vals[0][w.c.in[k].at]+1, math.MaxInt32/2))
			}
		}
		return fmt.Sprintf("text(%d)", room)
	}
	if w.c.vals[0][in.at] == 0 {
		return "NULL"
	}
	t := w.literalText(in.at)
	if p.Name == "filename" {
		w.g.files = true
		if n, ok := w.exists(); ok {
			return fmt.Sprintf("scratch_of(%s, %d)", t, n)
		}
		return "scratch(" + t + ")"
	}
	return t
}

// exists reports whether the file that w's call opens existed before, and returns the size in bytes that the proxy
// must give it.
func (w *writer) exists() (int64, bool) {
	const modeCreate = 2
	i := w.param("amode")
	if i < 0 || w.c.vals[0][0] != 0 {
		return 0, false
	}
	if w.c.vals[0][w.c.in[i].at]&modeCreate != 0 {
		n := w.v.sizeFound(w.t)
		return n, n > 0
	}
	return w.v.fileSize(), true
}

// sizeFound returns the file size, in bytes, that the program got from the MPI after the call with terminal opened
// and before it wrote. Above 0 it shows that an earlier run had left a file that the program would have created. 0:
// no size.
func (v *variant) sizeFound(opened int) int64 {
	for _, c := range v.calls[opened:] {
		size, told := c.fileSize()
		if told {
			return size
		}
		// A call that writes, or sets the file's size: later sizes are the program's own.
		if _, writes := c.fileAccess(); writes || c.def.UsesOpenFile() && c.def.Index("size") >= 0 {
			return 0
		}
	}
	return 0
}

// fileSize returns the file size in bytes that the call returned; false if it returned none.
func (c *call) fileSize() (int64, bool) {
	if !c.def.UsesOpenFile() {
		return 0, false
	}
	for i := range c.f.Params {
		if n := &c.out[i]; c.f.Params[i].Name == "size" && n.typ == trace.TypeInt {
			return max(0, c.vals[0][n.at]), true
		}
	}
	return 0, false
}

// fileAccess reports whether the call reads from a file, or writes to one.
func (c *call) fileAccess() (reads, writes bool) {
	if c.def.UsesOpenFile() {
		for i := range c.f.Params {
			if p := &c.f.Params[i]; p.Kind == mpi.KindBuffer {
				reads, writes = p.Dir != trace.DirIn, p.Dir == trace.DirIn
			}
		}
	}
	return reads, writes
}

// fileSize estimates, in bytes, the size of the files that existed before the program ran. It is the first size that
// a call returned. If the program only reads, it is the sum of offset and length over the distinct reads.
func (v *variant) fileSize() int64 {
	read, writes := int64(0), false
	for _, c := range v.calls {
		size, told := c.fileSize()
		if told {
			return size
		}
		r, w := c.fileAccess()
		if writes = writes || w; r && !c.f.Has(trace.AttrNonblocking) {
			end := int64(0)
			for i := range c.f.Params {
				switch {
				case c.f.Params[i].Kind == mpi.KindOffset && c.in[i].typ == trace.TypeInt:
					end += c.vals[0][c.in[i].at]
				case c.out[i].typ == trace.TypeStatus && (c.out[i].n == 1 || c.out[i].n == 2):
					end += max(0, c.vals[0][c.out[i].at+signature.StatusCountPosition])
				}
			}
			read += end
		}
	}
	if writes {
		return 0
	}
	return read
}

// wrap joins the entries of a C list with commas. It breaks a long list into lines that begin with indent.
func wrap(entries []string, indent string) string {
	one := strings.Join(entries, ", ")
	if len(one) < 80 {
		return one
	}
	var b strings.Builder
	width := 200
	for i, e := range entries {
		if width+len(e) > 110 {
			b.WriteString("\n" + indent)
			width = 0
		}
		b.WriteString(e)
		width += len(e) + 2
		if i+1 < len(entries) {
			b.WriteString(", ")
		}
	}
	b.WriteString("\n")
	return b.String()
}

// A call may differ in each iteration of a loop, for example a wait for two more requests each time. It is one line
// if its numbers go up or down by a constant step.

// A template is the text of a line without its numbers.
type template struct {
	text    string // the line's text with numberMark in place of each number and gapMark in place of the gap
	numbers []int64
}

const (
	gapMark    = "\x01"
	numberMark = "\x02"
)

var literals = regexp.MustCompile(`[\w.]*\w`)

// template splits the line's text into the numbers and the text without them.
func (l *line) template() *template {
	if l.apart != nil {
		return l.apart
	}
	l.apart = &template{}
	text := l.text(gapMark)
	// A text with quotes is not split: its digits could be inside strings.
	if !strings.ContainsAny(text, "\"'") {
		text = literals.ReplaceAllStringFunc(text, func(word string) string {
			n, err := strconv.ParseInt(word, 10, 32)
			if err != nil || strconv.FormatInt(n, 10) != word {
				return word
			}
			l.apart.numbers = append(l.apart.numbers, n)
			return numberMark
		})
	}
	l.apart.text = text
	return l.apart
}

// inRounds returns one line for a loop whose first iteration is l and whose second is next. Numbers that differ
// become expressions of the loop's variable, round. Both lines have the same template.
func (g *generator) inRounds(l, next *line) *line {
	t, u := l.template(), next.template()
	if slices.Equal(t.numbers, u.numbers) {
		return l
	}
	parts := strings.Split(t.text, numberMark)
	text := parts[0]
	for i, n := range t.numbers {
		e := strconv.FormatInt(n, 10)
		if more := u.numbers[i] - n; more != 0 {
			if e += plus(more); !alone(parts[i], parts[i+1]) {
				e = "(" + e + ")"
			}
		}
		text += e + parts[i+1]
	}
	out := &line{site: l.site, skip: l.skip, text: func(gap string) string { return strings.ReplaceAll(text, gapMark, gap) }}
	return g.shared(out)
}

// alone reports whether the number between two pieces of a C text is a whole argument or list entry. Then an expression
// in its place needs no parentheses.
func alone(before, behind string) bool {
	before = strings.TrimRight(before, " ")
	return before != "" && behind != "" && strings.ContainsRune("(,{", rune(before[len(before)-1])) && strings.ContainsRune("),}", rune(behind[0]))
}

// shared returns the line of g.lines that has l's text and site. If none has, it adds l.
func (g *generator) shared(l *line) *line {
	key := l.text("") + l.site
	if old := g.lines[key]; old != nil {
		return old
	}
	l.order = len(g.lines)
	g.lines[key] = l
	return l
}

// goesOn reports whether each number of c exceeds the number at its place in b by as much as that exceeds the one in
// a.
func goesOn(a, b, c *line) bool {
	x, y, z := a.template().numbers, b.template().numbers, c.template().numbers
	for i := range x {
		if z[i]-y[i] != y[i]-x[i] {
			return false
		}
	}
	return true
}
