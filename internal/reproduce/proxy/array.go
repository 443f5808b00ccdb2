package proxy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// numbers writes an input array of integers.
func (w *writer) numbers(kind mpi.Kind, n *node, wide bool) string {
	bits := "32"
	if wide {
		bits = "64"
	}
	const many = 24
	constant := !slices.ContainsFunc(n.elems, func(e node) bool { return !w.fixed(e.at) })
	list := n.texts(func(at int) string { return w.expr(kind, at) })
	if constant && len(n.elems) > many {
		// Write the numbers as arithmetic sequences, each with first number, stride and length, if that is shorter.
		var runs []string
		for k := 0; k < len(n.elems); {
			start := w.c.vals[0][n.elems[k].at]
			stride, to := int64(0), k+1
			if to < len(n.elems) {
				stride = w.c.vals[0][n.elems[to].at] - start
				for to < len(n.elems) && w.c.vals[0][n.elems[to].at] == start+stride*int64(to-k) {
					to++
				}
			}
			runs = append(runs, literal(kind, start), number(stride), strconv.Itoa(to-k))
			k = to
		}
		if len(runs) < len(n.elems) {
			return fmt.Sprintf("ramp%s(%d, %s)", bits, len(runs)/3, w.g.table("int64_t", runs))
		}
	}
	if !constant && len(n.elems) > many {
		var all []string
		varying := 0
		for _, e := range list {
			if strings.Contains(e, "member") {
				varying++
			}
		}
		if varying > len(n.elems)/2 {
			for _, vals := range w.c.vals {
				for k := range n.elems {
					all = append(all, literal(kind, vals[n.elems[k].at]))
				}
			}
			return fmt.Sprintf("row%s(%s, %d)", bits, w.g.table("int64_t", all), len(n.elems))
		}
	}
	if constant && len(list) > many {
		typ := "int"
		if wide {
			typ = "int64_t"
		}
		return "(void *)" + w.g.table(typ, list)
	}
	return fmt.Sprintf("A%s(%s)", bits, strings.Join(list, ", "))
}

// special writes an array argument without elements: a constant of MPI, NULL or an empty array. It returns false if n,
// the array's length, means that there are elements.
func (w *writer) special(n int64, kind mpi.Kind) (string, bool) {
	switch n {
	case trace.ArrayUnweighted:
		return "MPI_UNWEIGHTED", true
	case trace.ArrayWeightsEmpty:
		return "MPI_WEIGHTS_EMPTY", true
	case trace.ArrayStatusesIgnore:
		return "MPI_STATUSES_IGNORE", true
	case trace.ArrayNull, trace.ArrayInsignificant:
		return "NULL", true
	case 0:
		switch kind {
		case mpi.KindDatatype, mpi.KindInfo:
			return "NULL", true
		}
		return "A64(0)", true
	}
	return "", false
}

// array writes an input array.
func (w *writer) array(p *trace.ParamDef, n *node) string {
	if s, ok := w.special(n.n, p.Kind); ok {
		return s
	}
	if l, ok := w.c.lists[n.at]; ok {
		return w.list(p, l)
	}
	switch p.Type {
	case trace.TypeInt:
		return w.numbers(p.Kind, n, w.wide(p))
	case trace.TypeHandle:
		list := n.texts(func(at int) string { return w.handle(p.Kind, at) })
		return fmt.Sprintf("(%s[]){%s}", handleTypes[p.Kind], strings.Join(list, ", "))
	case trace.TypeString:
		list := n.texts(func(at int) string { return "(char *)" + w.literalText(at) })
		return fmt.Sprintf("(char *[]){%s, NULL}", strings.Join(list, ", "))
	}
	return "NULL"
}

// outArray writes an output array.
func (w *writer) outArray(p *trace.ParamDef, out *node) string {
	n, length := w.outLength(out)
	if p.Type == trace.TypeStatus {
		switch {
		case out.typ == trace.TypeArray && out.n == trace.ArrayNull:
			return "NULL"
		case w.ignores(out):
			return "MPI_STATUSES_IGNORE"
		}
		return fmt.Sprintf("statuses(%s)", length)
	}
	if out.typ == trace.TypeArray && out.n < 0 {
		if s, ok := w.special(out.n, p.Kind); ok {
			return s
		}
	}
	if p.Type == trace.TypeHandle {
		clean := "%s"
		if p.Kind == mpi.KindDatatype { // Open MPI reads all elements for which there is room
			w.g.plan.LongestOutputArray = max(w.g.plan.LongestOutputArray, int(n))
			clean = fmt.Sprintf("no_types(%%s, %d)", n)
		}
		if out.typ == trace.TypeArray && out.n > 0 {
			typ := handleTypes[p.Kind]
			for k := range out.elems {
				if w.c.vals[0][out.elems[k].at] >= trace.FirstCreatedHandle {
					w.after = append(w.after, fmt.Sprintf("%s[%s] = ((%s *)got)[%d];", handleArrays[p.Kind], w.slot(out.elems[k].at), typ, k))
				}
			}
			w.g.plan.LongestOutputArray = max(w.g.plan.LongestOutputArray, len(out.elems))
			return fmt.Sprintf(clean, "(void *)got")
		}
		return fmt.Sprintf(clean, "room("+timesText(8, n, length)+")")
	}
	size := int64(4)
	if w.wide(p) || p.Type != trace.TypeInt {
		size = 8
	}
	return "room(" + timesText(size, n, length) + ")"
}

// outLength bounds the number of elements that a call writes to a parameter: by the recorded outputs, and by the
// arguments.
func (w *writer) outLength(out *node) (n int64, text string) {
	n = 16
	var more []string
	if l, ok := w.c.lists[out.at]; ok && out.typ == trace.TypeArray {
		more = append(more, l.Length.String())
	}
	if out.typ == trace.TypeArray {
		n = max(n, out.n)
	}
	for k := range w.c.f.Params {
		p := &w.c.f.Params[k]
		if p.Type != trace.TypeInt || p.Dims > 0 || w.c.in[k].typ != trace.TypeInt {
			continue
		}
		for _, vals := range w.c.vals {
			if v := vals[w.c.in[k].at]; v > n && v < 1<<20 {
				n = v
			}
		}
		if v := w.c.lane[w.c.in[k].at]; v != "" && w.c.lists != nil {
			more = append(more, v)
		}
	}
	return n, largestOf(append(more, number(n)))
}

// timesText writes a·text, or n·a as a number if text is the number n.
func timesText(a, n int64, text string) string {
	if text == number(n) {
		return number(a * n)
	}
	return fmt.Sprintf("%d * (size_t)%s", a, text)
}

// A statusPlace is a function that returns statuses, and a site that calls it.
type statusPlace struct {
	function string
	site     trace.Site
}

// findStatuses finds the places at which the program doesn't ignore statuses, as far as the trace shows it. The trace
// shows it only for calls that filled in a status.
func (g *generator) findStatuses() {
	g.filled = make(map[statusPlace]bool)
	for _, v := range g.list {
		for _, c := range v.calls {
			for i := range c.out {
				if statusForms(&c.out[i], trace.StatusFormFilled, trace.StatusFormImplied) {
					g.filled[statusPlace{c.f.Name, c.site}] = true
				}
			}
		}
	}
}

// statusForms reports whether a status, or any status of an array, has one of some forms.
func statusForms(n *node, forms ...trace.StatusForm) bool {
	has := func(n node) bool { return n.typ == trace.TypeStatus && slices.Contains(forms, trace.StatusForm(n.n)) }
	return has(*n) || n.typ == trace.TypeArray && slices.ContainsFunc(n.elems, has)
}

// ignores reports whether the program passed MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE. If no status was filled in, it
// assumes that, unless another call at this place has a status.
func (w *writer) ignores(out *node) bool {
	if strings.HasPrefix(w.c.f.Name, "MPI_Status_") {
		return false // MPI_Status_f2c and the like make a status
	}
	if out.n == trace.ArrayStatusesIgnore && out.typ == trace.TypeArray || statusForms(out, trace.StatusFormIgnored, trace.StatusFormImpliedIgnored) {
		return true
	}
	return !statusForms(out, trace.StatusFormFilled, trace.StatusFormImplied) && !w.g.filled[statusPlace{w.c.f.Name, w.c.site}]
}

// status writes a status argument.
func (w *writer) status(p *trace.ParamDef, in, out *node) string {
	if p.Dir == trace.DirOut {
		switch {
		case p.Kind != mpi.KindStatus:
			return "room(64)"
		case w.ignores(out):
			return "MPI_STATUS_IGNORE"
		}
		return "&status"
	}
	s := "status_empty()"
	switch trace.StatusForm(in.n) {
	case trace.StatusFormFilled, trace.StatusFormIgnored:
		if w.live {
			s = "&status"
			break
		}
		s = "status_of(" + w.came(in) + ")"
	case trace.StatusFormAbsent:
		s = "MPI_STATUS_IGNORE"
	}
	if p.Kind == mpi.KindFStatus {
		return "fstatus_of(" + s + ")"
	}
	return s
}

// came lists source, tag, size and cancelled flag of a status as arguments.
func (w *writer) came(status *node) string {
	return fmt.Sprintf("%s, %s, %s, %s", w.expr(mpi.KindRank, status.at+signature.StatusSourcePosition), w.expr(mpi.KindTag, status.at+signature.StatusTagPosition),
		w.expr(mpi.KindNone, status.at+signature.StatusCountPosition), w.expr(mpi.KindNone, status.at+signature.StatusCancelledPosition))
}
