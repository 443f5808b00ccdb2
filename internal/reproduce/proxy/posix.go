package proxy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// onFile writes the statement of a call on a file, for runtime/posix.h: its parameters without buffers, the recorded
// result, and errno.
func (w *writer) onFile() func(string) string {
	w.g.files = true
	var args []string
	for i := range w.c.f.Params {
		if a, ok := w.fileArgument(i); ok {
			args = append(args, a)
		}
	}
	result := &w.c.result
	got := "0"
	if result.typ == trace.TypeInt {
		got = w.expr(mpi.KindNone, result.at)
	}
	call := fmt.Sprintf("again_%s(%s)", w.c.f.Name, strings.Join(append(args, got, number(w.c.vals[0][0])), ", "))
	if result.typ == trace.TypeHandle && w.c.vals[0][0] == 0 && w.c.vals[0][result.at] >= trace.FirstCreatedHandle {
		kind := w.c.f.ReturnKind
		call = fmt.Sprintf("%s[%s] = (%s)%s", handleArrays[kind], w.slot(result.at), handleTypes[kind], call)
	}
	after := ""
	if w.c.own >= 0 {
		after = fmt.Sprintf(" step(%d);", w.c.own)
	}
	return func(gap string) string { return "DO(" + gap + ", " + call + ");" + after }
}

// noFile writes the statement for a file-opening call that is left out, after which calls with its descriptor find no
// file; "" for other calls. An old descriptor of the same number may be another file's by now.
func (w *writer) noFile() string {
	result := &w.c.result
	if !w.c.f.Has(trace.AttrPosix) || result.typ != trace.TypeHandle || w.c.vals[0][0] != 0 || w.c.vals[0][result.at] < trace.FirstCreatedHandle {
		return ""
	}
	w.g.files = true
	none := "NULL"
	if w.c.f.ReturnKind == mpi.KindFileDescriptor {
		none = "NO_DESCRIPTOR"
	}
	return fmt.Sprintf("%s[%s] = %s; ", handleArrays[w.c.f.ReturnKind], w.slot(result.at), none)
}

// fileArgument writes a parameter of a call on a file; ok is false if it is not recorded.
func (w *writer) fileArgument(i int) (text string, ok bool) {
	p, in := &w.c.f.Params[i], &w.c.in[i]
	switch in.typ {
	case trace.TypeNone:
		return "", false
	case trace.TypeArray:
		if n := w.param("iovcnt"); n < 0 || w.c.vals[0][w.c.in[n].at] != int64(len(in.elems)) || len(in.elems) == 0 {
			return "NULL", true // the recorder could not read it
		}
		return w.numbers(mpi.KindNone, in, true), true
	case trace.TypeHandle:
		v := w.c.vals[0][in.at]
		if v >= trace.FirstCreatedHandle {
			return fmt.Sprintf("%s[%s]", handleArrays[p.Kind], w.slot(in.at)), true
		}
		if n := name(p.Kind, v); n != "" && w.c.same(in.at) {
			return n, true
		}
		if p.Kind == mpi.KindFileDescriptor {
			return "NO_DESCRIPTOR", true
		}
		return "NULL", true
	case trace.TypeString:
		if w.c.vals[0][in.at] == 0 {
			return "NULL", true
		}
		return w.literalText(in.at), true
	}
	return w.expr(mpi.KindNone, in.at), true
}

// same reports whether a value is equal on all members.
func (c *call) same(at int) bool { return same(c.column(at)) }

// numbered writes texts that differ in one number as an expression; ok is false for other texts.
func (w *writer) numbered(texts []string) (string, bool) {
	before, after := commonEnds(texts)
	width, padded := 0, false
	values := make([]int64, len(texts))
	for i, t := range texts {
		digits := t[before : len(t)-after]
		n, err := strconv.ParseInt(digits, 10, 62)
		if err != nil || digits[0] == '-' || digits[0] == '+' {
			return "", false
		}
		if i == 0 {
			width = len(digits)
		}
		width = min(width, len(digits))
		padded = padded || digits[0] == '0' && len(digits) > 1
		values[i] = n
	}
	if !padded {
		width = 1
	}
	for i, t := range texts {
		if fmt.Sprintf("%0*d", width, values[i]) != t[before:len(t)-after] {
			return "", false
		}
	}
	e := w.v.fitter.expr(mpi.KindNone, values)
	if strings.HasPrefix(e, "table") {
		return "", false // not shorter than a table of the texts
	}
	return fmt.Sprintf("numbered(%s, %d, %s, %s)", quote(texts[0][:before]), width, e, quote(texts[0][len(texts[0])-after:])), true
}

// commonEnds returns the number of bytes that all texts share at the beginning and at the end, without digits next to
// the difference.
func commonEnds(texts []string) (before, after int) {
	a := texts[0]
	before, after = len(a), len(a)
	for _, t := range texts {
		n := 0
		for n < min(before, len(t)) && t[n] == a[n] {
			n++
		}
		before = n
		n = 0
		for n < min(after, len(t)) && t[len(t)-1-n] == a[len(a)-1-n] {
			n++
		}
		after = n
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	for before > 0 && digit(a[before-1]) {
		before--
	}
	for after > 0 && digit(a[len(a)-after]) {
		after--
	}
	for _, t := range texts {
		after = min(after, len(t)-before)
	}
	return before, after
}
