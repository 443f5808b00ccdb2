package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

func (w *writer) argument(i int) string {
	p := &w.c.f.Params[i]
	in, out := &w.c.in[i], &w.c.out[i]
	w.far = w.hasAddresses(i)
	defer func() { w.far = false }()
	switch {
	case p.Kind == mpi.KindArgc || p.Kind == mpi.KindArgv || w.left(p, in, out):
		return "NULL"
	case p.Kind == mpi.KindRequest:
		return w.request(i)
	case p.Dims > 0 && p.HasIn && p.Dir != trace.DirOut:
		if w.far {
			return fmt.Sprintf("relocate_all(%d, %s)", len(in.elems), w.array(p, in))
		}
		return w.array(p, in)
	case p.Dims > 0:
		return w.outArray(p, out)
	}
	switch p.Type {
	case trace.TypeInt:
		if w.far {
			return "relocate(" + w.integer(p, in, out) + ")"
		}
		return w.integer(p, in, out)
	case trace.TypeTime:
		return "0.0"
	case trace.TypeHandle, trace.TypeMPITObject:
		w.attachRelocated(i)
		return w.handleArgument(p, in, out)
	case trace.TypeAddress:
		return w.address(p, in, out)
	case trace.TypeFunctionRef:
		return w.function(p, in)
	case trace.TypeString:
		return w.text(p, in)
	case trace.TypeStatus:
		return w.status(p, in, out)
	case trace.TypeNone:
		return "NULL"
	}
	panic(fmt.Sprintf("proxy: %s: %s: values of type %d can't be written", w.c.f.Name, p.Name, p.Type)) // the schema has no values of such a type
}

// left reports whether the caller left out an optional output of an MPI_T function. Then no value was written there.
func (w *writer) left(p *trace.ParamDef, in, out *node) bool {
	if !w.c.def.Has(mpi.AttrTool) || p.Dims > 0 || w.c.vals[0][0] != 0 {
		return false
	}
	all := func(n *node, is func(v int64) bool) bool {
		return !slices.ContainsFunc(w.c.vals, func(vals []int64) bool { return !is(vals[n.at]) })
	}
	zero := func(v int64) bool { return v == 0 }
	switch {
	case out.typ == trace.TypeString && p.Dir == trace.DirOut:
		return all(out, zero)
	case out.typ == trace.TypeInt && p.Dir == trace.DirInOut: // a length that was written is at least 1, for the NUL
		return all(in, zero) && all(out, zero)
	case out.typ == trace.TypeInt && slices.Contains(toolKinds, p.Kind):
		return all(out, func(v int64) bool { return name(p.Kind, v) == "" })
	case out.typ == trace.TypeHandle && p.Kind == mpi.KindDatatype && p.Dir == trace.DirOut: // MPI_T makes no datatypes
		return all(out, func(v int64) bool { return v >= trace.FirstCreatedHandle })
	}
	return false
}

// toolKinds are kinds of MPI_T constants of which none has the value 0.
var toolKinds = []mpi.Kind{mpi.KindBindType, mpi.KindVarScope, mpi.KindVerbosity, mpi.KindPvarClass}

func (w *writer) integer(p *trace.ParamDef, in, out *node) string {
	if p.Dir == trace.DirIn {
		switch {
		case p.Kind == mpi.KindRank && p.Name == "source" && w.any(w.param("source"), -1):
			return w.wildcard(p, in)
		case p.Kind == mpi.KindKeyval:
			return w.keyval(in.at)
		case p.Kind == mpi.KindFint && w.g.o.Target.IsForeignTo(w.g.flavour) && reissue.ConvertsInteger(w.c.f.Name):
			return fmt.Sprintf("P%s(%s)", reissue.InverseConversion(w.c.f.Name), w.handle(w.c.f.ReturnKind, w.c.result.at))
		}
		return w.expr(p.Kind, in.at)
	}
	switch {
	case p.Kind == mpi.KindKeyval && p.Dir == trace.DirOut:
		if out.typ == trace.TypeInt {
			if k, ok := w.g.keyvals[w.c.vals[0][out.at]]; ok {
				return fmt.Sprintf("&keyval[%d]", k)
			}
		}
		return w.sink("number")
	case p.Kind == mpi.KindKeyval:
		return "A32(" + w.keyval(in.at) + ")"
	case p.Dir != trace.DirOut && w.wide(p):
		return "A64(" + w.expr(p.Kind, in.at) + ")"
	case p.Dir != trace.DirOut:
		return "A32(" + w.expr(p.Kind, in.at) + ")"
	}
	return w.intSink(p)
}

func (w *writer) intSink(p *trace.ParamDef) string {
	switch {
	case p.Name == "flag":
		return "&flag"
	case p.Kind == mpi.KindAint:
		return w.sink("aint")
	case p.Kind == mpi.KindOffset || p.Kind == mpi.KindFileDisp:
		return w.sink("offset")
	case p.Kind == mpi.KindCount64 || p.Kind == mpi.KindToolClock:
		return w.sink("count64")
	case w.wide(p):
		return "(void *)" + w.sink("count64")
	case w.c.def.Has(mpi.AttrTool): // some outputs of MPI_T functions are C enumerations
		return "(void *)" + w.sink("number")
	}
	return w.sink("number")
}

func (w *writer) keyval(at int) string {
	col := w.c.column(at)
	if n := name(mpi.KindKeyval, col[0]); n != "" || !same(col) {
		return w.expr(mpi.KindKeyval, at)
	}
	return fmt.Sprintf("keyval[%d]", w.g.keyvals[col[0]])
}

// wildcard writes the argument for MPI_ANY_SOURCE. If the call returns the actual source, the proxy receives from that
// rank, as another rank's message may be one that a later call needs. A tag needs no such care: messages from one rank
// arrive in order.
func (w *writer) wildcard(p *trace.ParamDef, in *node) string {
	at, ok := w.taken()
	if !ok || w.live || !w.fixed(in.at) {
		return w.expr(p.Kind, in.at)
	}
	return fmt.Sprintf("any_source(%s, %s)", w.expr(p.Kind, at), w.argument(w.param("comm")))
}

func (w *writer) handleArgument(p *trace.ParamDef, in, out *node) string {
	typ := handleTypes[p.Kind]
	if p.Kind == mpi.KindToolBoundHandle { // the trace lacks the object; most are communicators
		return "(MPI_Comm[]){MPI_COMM_WORLD}"
	}
	switch p.Dir {
	case trace.DirIn:
		if p.Kind == mpi.KindPvar && w.c.vals[0][in.at] == trace.UnknownHandle && w.c.vals[0][0] == 0 && reissue.TakesAllPvarHandles(w.c.f.Name) {
			return "MPI_T_PVAR_ALL_HANDLES"
		}
		return w.handle(p.Kind, in.at)
	case trace.DirFree:
		if w.c.f.Name == "MPI_Win_free" {
			w.after = append(w.after, fmt.Sprintf("taken_with(%s);", w.slot(in.at)))
		}
		return fmt.Sprintf("(%s[]){%s}", typ, w.handle(p.Kind, in.at))
	case trace.DirInOut:
		if v := w.c.vals[0][in.at]; v < trace.FirstCreatedHandle {
			return fmt.Sprintf("(%s[]){%s}", typ, w.handle(p.Kind, in.at))
		}
		return "&" + w.handle(p.Kind, in.at)
	}
	if (out.typ == trace.TypeHandle || out.typ == trace.TypeMPITObject) && w.c.vals[0][out.at] >= trace.FirstCreatedHandle {
		return fmt.Sprintf("&%s[%s]", handleArrays[p.Kind], w.slot(out.at))
	}
	return fmt.Sprintf("(%s[1]){0}", typ)
}

// segments are the memory functions of runtime/runtime.h, by memory class. The runtime names each class like its
// function, in capitals.
var segments = [...]string{
	trace.AddressHeap: "heap", trace.AddressDevice: "device", trace.AddressStatic: "data", trace.AddressStack: "stack", trace.AddressUnknown: "place",
	trace.AddressMPI: "mpi_memory",
}

// memory writes the address whose segment is at a position of the values, and whose offset follows. null is the text
// for a null address.
func (w *writer) memory(at int, null string) string {
	seg, off := w.c.column(at), w.c.column(at+1)
	class := int(signature.SegClassOf(seg[0]))
	if class == 0 || class >= len(segments) || segments[class] == "" {
		switch off[0] {
		case trace.SpecialInPlace:
			return "MPI_IN_PLACE"
		case trace.SpecialBufferAutomatic:
			return "MPI_BUFFER_AUTOMATIC"
		}
		return null
	}
	e := fmt.Sprintf("%s(%s)", segments[class], w.segment(at))
	if v := w.c.lane[at+1]; v != "" {
		return e + " + " + v
	}
	if same(off) {
		return sum(e, term(off[0], ""))
	}
	return e + " + " + w.v.fitter.expr(mpi.KindNone, off)
}

func (w *writer) address(p *trace.ParamDef, in, out *node) string {
	switch {
	case p.Kind == mpi.KindBuffer:
		if in.typ != trace.TypeAddress {
			return "NULL"
		}
		m := w.memory(in.at, "MPI_BOTTOM")
		if w.c.f.Name == "MPI_Free_mem" {
			w.after = append(w.after, w.giving("taken", in.at, ""))
		}
		return m
	case p.Kind == mpi.KindPointerOut:
		if reissue.AllocatesMemory(w.c.f.Name) && out.typ == trace.TypeAddress && signature.SegClassOf(w.c.vals[0][out.at]) != signature.SegClassSpecial {
			w.given(out.at)
		}
		return "&pointer"
	case p.Kind == mpi.KindAddress && p.Dir == trace.DirIn:
		return "(MPI_Aint)(" + w.memory(in.at, "NULL") + ")"
	case p.Kind == mpi.KindAddress:
		return w.sink("aint")
	}
	return w.memory(in.at, "NULL")
}

// segment writes the number of the segment whose packed name is at a position of the values.
func (w *writer) segment(at int) string {
	return w.from(at, ">> 8", func(v int64) int64 { return v >> 8 })
}

func (w *writer) giving(function string, at int, more string) string {
	seg := w.c.column(at)
	class := strings.ToUpper(segments[signature.SegClassOf(seg[0])])
	if signature.SegClassOf(seg[0]) == signature.SegClassSpecial {
		return ""
	}
	return fmt.Sprintf("%s(%s, %s%s);", function, class, w.segment(at), more)
}

// given adds a statement that records memory which the MPI allocated.
func (w *writer) given(at int) {
	win := "-1"
	if i := w.param("win"); i >= 0 && w.c.out[i].typ == trace.TypeHandle && w.c.vals[0][w.c.out[i].at] >= trace.FirstCreatedHandle {
		win = w.slot(w.c.out[i].at)
	}
	if w.c.f.Name != "MPI_Win_shared_query" {
		w.first = append(w.first, w.giving("release", at, ""))
	}
	base := "pointer"
	if off := w.c.column(at + 1); !same(off) || off[0] != 0 {
		base = "(char *)pointer - " + operand(w.v.fitter.expr(mpi.KindNone, off))
	}
	w.after = append(w.after, w.giving("gave", at, ", "+base+", "+win))
}

// Copy callbacks of the traced program may have made attribute values that the proxy's stand-ins for these callbacks
// don't know. If the trace shows such a value, the proxy sets it before the call that gets it.

// An attributeCall names the function that sets the attributes of a kind of object.
type attributeCall struct{ setter, object string }

var attributeCalls = map[string]attributeCall{
	"MPI_Comm_get_attr": {"MPI_Comm_set_attr", "comm"}, "MPI_Attr_get": {"MPI_Attr_put", "comm"},
	"MPI_Win_get_attr": {"MPI_Win_set_attr", "win"}, "MPI_Type_get_attr": {"MPI_Type_set_attr", "type"},
}

// attribute writes a statement before a call that got an attribute value which no call of the variant set.
func (w *writer) attribute() {
	a, ok := attributeCalls[w.c.f.Name]
	if !ok {
		return
	}
	// Indices of these parameters in all functions of attributeCalls, and in their setters.
	const object, key, value = 0, 1, 2
	got := &w.c.out[value]
	if flag, ok := w.out("flag"); !ok || flag == 0 || got.typ != trace.TypeAddress || signature.SegClassOf(w.c.vals[0][got.at]) == signature.SegClassSpecial {
		return
	}
	number := w.c.vals[0][w.c.in[key].at]
	if name(mpi.KindKeyval, number) != "" {
		// The program passes this value on as an address, so it is memory that the MPI returned. A Fortran program gets
		// a number instead. If that equals an address that it uses, by chance, it is taken for memory, too.
		if w.v.passes(w.c.vals[0][got.at]) {
			w.after = append(w.after, w.giving("gave", got.at, ", pointer, -1"))
		}
		return
	}
	if !same(w.c.column(w.c.in[key].at)) {
		return
	}
	for _, c := range w.v.calls {
		if c.f.Name != a.setter && !(a.object == "comm" && (c.f.Name == "MPI_Attr_put" || c.f.Name == "MPI_Comm_set_attr")) {
			continue
		}
		set := &c.in[value]
		if c.vals[0][c.in[key].at] == number && c.vals[0][set.at] == w.c.vals[0][got.at] && c.vals[0][set.at+1] == w.c.vals[0][got.at+1] {
			return
		}
	}
	w.first = append(w.first, fmt.Sprintf("%s_attribute(%s, %s, %s);", a.object, w.argument(object), w.argument(key), w.memory(got.at, "NULL")))
}

// passes reports whether a segment is unknown memory, and a call of the variant passes an address in it.
func (v *variant) passes(segment int64) bool {
	if trace.AddressClass(signature.SegClassOf(segment)) != trace.AddressUnknown {
		return false
	}
	for _, c := range v.calls {
		for i := range c.in {
			if n := &c.in[i]; n.typ == trace.TypeAddress && c.vals[0][n.at] == segment {
				return true
			}
		}
	}
	return false
}
