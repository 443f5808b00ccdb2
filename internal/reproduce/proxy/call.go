package proxy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// A writer writes one distinct call as a C statement.
type writer struct {
	g   *generator
	v   *variant
	c   *call
	t   int  // terminal of the call
	far bool // the current parameter has addresses of the recorded process

	sinks map[string]int // by variable: number of unused outputs so far
	after []string       // statements after the call
	live  bool           // the call is about whichever message arrives, not the one in the trace
	first []string       // statements before the call
}

var handleArrays = map[mpi.Kind]string{
	mpi.KindComm:                  "comm",
	mpi.KindGroup:                 "group",
	mpi.KindDatatype:              "type",
	mpi.KindOp:                    "op",
	mpi.KindMessage:               "message",
	mpi.KindWin:                   "win",
	mpi.KindFile:                  "file",
	mpi.KindInfo:                  "info",
	mpi.KindErrhandler:            "errhandler",
	mpi.KindSession:               "session",
	mpi.KindCvar:                  "cvar",
	mpi.KindPvar:                  "pvar",
	mpi.KindPvarSession:           "pvarsession",
	mpi.KindToolEvent:             "event",
	mpi.KindToolEventRegistration: "eventreg",
	mpi.KindToolEnum:              "enums",
	mpi.KindFileDescriptor:        "descriptor",
	mpi.KindFileStream:            "streams",
	mpi.KindDirStream:             "directories",
	mpi.KindMappedFileAddress:     "mappings",
}

var handleTypes = map[mpi.Kind]string{
	mpi.KindComm:                  "MPI_Comm",
	mpi.KindGroup:                 "MPI_Group",
	mpi.KindDatatype:              "MPI_Datatype",
	mpi.KindOp:                    "MPI_Op",
	mpi.KindMessage:               "MPI_Message",
	mpi.KindWin:                   "MPI_Win",
	mpi.KindFile:                  "MPI_File",
	mpi.KindInfo:                  "MPI_Info",
	mpi.KindErrhandler:            "MPI_Errhandler",
	mpi.KindSession:               "MPI_Session",
	mpi.KindCvar:                  "MPI_T_cvar_handle",
	mpi.KindPvar:                  "MPI_T_pvar_handle",
	mpi.KindPvarSession:           "MPI_T_pvar_session",
	mpi.KindToolEvent:             "MPI_T_event_instance",
	mpi.KindToolEventRegistration: "MPI_T_event_registration",
	mpi.KindToolEnum:              "MPI_T_enum",
	mpi.KindRequest:               "MPI_Request",
	mpi.KindFileDescriptor:        "int",
	mpi.KindFileStream:            "FILE *",
	mpi.KindDirStream:             "DIR *",
	mpi.KindMappedFileAddress:     "void *",
}

// line makes the line for a terminal of a variant.
func (g *generator) line(v *variant, terminal int) *line {
	c := v.calls[terminal]
	l := &line{site: g.site(c.site)}
	if why := g.why(v, terminal); why != "" {
		w := &writer{g: g, v: v, c: c, t: terminal}
		instead := w.noFile()
		l.text = func(gap string) string {
			return "PASS(" + gap + "); " + instead + "/* left out: " + c.f.Name + ": " + why + " */"
		}
		l.skip = why
	} else {
		w := &writer{g: g, v: v, c: c, t: terminal, sinks: make(map[string]int)}
		var nothing bool
		if reissue.IsMPILibraryFileCall(c.c) {
			l.text = func(gap string) string { return "PASS(" + gap + "); /* MPI made " + c.f.Name + " for itself */" }
			l.skip = "of the MPI"
		} else if l.text, nothing = w.statement(); nothing {
			l.skip = "says no"
		}
	}
	return g.shared(l)
}

// why returns the reason for which a call of a variant is left out; "" if it isn't.
func (g *generator) why(v *variant, terminal int) string {
	if !g.o.AllowPartial {
		return ""
	}
	for i, k := range v.ranks {
		c, err := k.Terminal(terminal)
		if err != nil {
			return err.Error()
		}
		if why := reissue.ObstacleOf(c, g.flavour, g.o.Target); why != "" && (len(g.windows) == 0 || !reissue.IsAddressReason(why)) {
			return why
		}
		if why := v.made[i].ObstacleText(c, g.o.Target.IsForeignTo(g.flavour)); why != "" {
			return why
		}
	}
	return ""
}

func (g *generator) site(s trace.Site) string {
	text, ok := g.sites[s]
	switch {
	case ok:
	case g.o.RenderSite != nil:
		text = comment(g.o.RenderSite(s))
	case s.Module != "":
		text = fmt.Sprintf("%s+%#x", path.Base(s.Module), s.Offset)
	}
	g.sites[s] = text
	return text
}

func (w *writer) param(name string) int {
	return slices.IndexFunc(w.c.f.Params, func(p trace.ParamDef) bool { return p.Name == name })
}

// out returns an integer output on the first member; ok is false if the trace lacks it.
func (w *writer) out(name string) (int64, bool) {
	i := w.param(name)
	if i < 0 || w.c.out[i].typ == trace.TypeNone {
		return 0, false
	}
	return w.c.vals[0][w.c.out[i].at], true
}

func (w *writer) expr(kind mpi.Kind, at int) string {
	switch v := w.c.lane[at]; {
	case v != "" && w.c.lists != nil:
		return constants(kind, v)
	case v != "":
		return v
	}
	if col := w.c.column(at); w.far && !same(col) {
		return w.v.fitter.table(kind, col) // a formula would fit addresses only by chance
	}
	return w.v.fitter.expr(kind, w.c.column(at))
}

// statement returns a function that writes the call's statement with a given gap before it. nothing is set if the proxy
// doesn't make the call.
func (w *writer) statement() (text func(string) string, nothing bool) {
	if w.c.def.Has(mpi.AttrPosix) {
		return w.onFile(), false
	}
	w.arrives()
	call, args := w.call()
	if w.c.result.typ == trace.TypeHandle && w.c.vals[0][w.c.result.at] >= trace.FirstCreatedHandle {
		if a := handleArrays[w.c.f.ReturnKind]; a != "" {
			call = fmt.Sprintf("%s[%s] = %s", a, w.slot(w.c.result.at), call)
		}
	}
	do, nothing := w.repeats(args)
	if nothing {
		return saysNo(w.c.f.Name), true
	}
	w.surround()
	first, after := strings.Join(w.first, " "), strings.Join(w.after, " ")
	if first != "" {
		first += " "
	}
	if after != "" {
		after = " " + after
	}
	return func(gap string) string {
		return first + do + gap + ", " + call + ");" + after
	}, false
}

// whilePending is the runtime's condition under which a test found nothing, by the kind of requests tested.
var whilePending = map[meaning.RequestChoice]struct{ condition, requests string }{
	meaning.ChooseOneRequest:   {"pending", "request"},
	meaning.ChooseAllRequests:  {"any_pending", "array_of_requests"},
	meaning.ChooseAnyRequest:   {"none_done", "array_of_requests"},
	meaning.ChooseSomeRequests: {"none_done", "array_of_requests"},
}

// repeats returns how the statement makes the call: once, or until it finds what the original found. nothing is set
// for a test that isn't made.
func (w *writer) repeats(args []string) (do string, nothing bool) {
	is := meaning.WaitBehaviourOf(w.c.def)
	flag, hasFlag := w.out("flag")
	vain := hasFlag && flag == 0
	if n, ok := w.out("outcount"); ok {
		vain = n == 0
	}
	onRequests := is.Choice != meaning.ChooseNoRequest
	takes := w.param("message") >= 0 || w.param("win") >= 0 // a repeated call could take what belongs to another call
	switch {
	case w.c.def.Has(mpi.AttrInitialises) || !w.c.def.Has(mpi.AttrPolls) || onRequests && !is.Completes:
		// The call is made once: it doesn't poll, or repeating it has no effect that the program needs.
	case vain && takes:
		return "", true
	case vain && onRequests:
		x, list := whilePending[is.Choice], ""
		if is.Choice != meaning.ChooseOneRequest {
			list = w.expr(mpi.KindInt, w.c.in[0].at) + ", "
		}
		return fmt.Sprintf("POLL(%s(%s%s), ", x.condition, list, w.requests(x.requests)), false
	case vain && is.Probes:
		return fmt.Sprintf("POLL(nothing_from(%s, %s, %s), ", args[0], args[1], args[2]), false
	case hasFlag && !vain && !onRequests && !is.Probes: // for requests and probes, done() and arrived() wait
		return "UNTIL(", false
	}
	return "DO(", false
}

// surround adds the statements before and after the call.
func (w *writer) surround() {
	if w.c.def.Has(mpi.AttrInitialises) {
		w.after = append(w.after, "begun();")
	}
	if w.v.nested != nil {
		w.freesLate()
	}
	if w.v.end[w.t] {
		w.first = append(w.first, "end_threads();")
	}
	if w.v.begin == w.t && w.v.ranks[0].Streams() > 1 {
		w.after = append(w.after, fmt.Sprintf("begin_threads(%d, threads_%d);", w.v.ranks[0].Streams()-1, w.v.number))
	}
	w.generalised()
	w.attribute()
	if w.c.own >= 0 {
		w.after = append(w.after, fmt.Sprintf("step(%d);", w.c.own))
	}
}

// call writes the call, and returns its arguments.
func (w *writer) call() (text string, args []string) {
	for i := range w.c.f.Params {
		if w.c.f.Params[i].Kind != mpi.KindVarargs {
			args = append(args, w.argument(i))
		}
	}
	if w.v.nested[w.t] {
		i := slices.IndexFunc(w.c.f.Params, func(p trace.ParamDef) bool { return p.Dir == trace.DirFree })
		kind := w.c.f.Params[i].Kind
		return fmt.Sprintf("FREE_LATER(%s, %s, &%s[%s])", w.c.f.Name, handleTypes[kind], handleArrays[kind], w.slot(w.c.in[i].at)), args
	}
	return fmt.Sprintf("%s(%s)", w.c.f.Name, strings.Join(args, ", ")), args
}

// saysNo writes the statement in place of a test that found nothing. The test is not made, as it might find something
// in the proxy.
func saysNo(function string) func(string) string {
	return func(gap string) string { return "PASS(" + gap + "); /* " + function + " said no here */" }
}

// generalised adds the statements with which a generalised request gets the recorded status. In the proxy a stand-in
// replaces its query function.
func (w *writer) generalised() {
	if w.c.generalises() {
		if i := w.param("request"); w.c.out[i].typ == trace.TypeRequest && w.c.vals[0][w.c.out[i].at] == 2 {
			w.after = append(w.after, fmt.Sprintf("queries(request(1), %s);", w.argument(w.param("extra_state"))))
		}
		return
	}
	if !w.v.generalised {
		return
	}
	one := func(request, status *node) {
		form := trace.StatusForm(status.n)
		if status.typ != trace.TypeStatus || form != trace.StatusFormFilled && form != trace.StatusFormIgnored || request.typ != trace.TypeRequest {
			return
		}
		if v := w.c.vals[0][request.at]; v <= 0 || v&1 != 0 {
			return
		}
		w.first = append(w.first, fmt.Sprintf("told(request(%s), %s);", w.distance(request.at), w.came(status)))
	}
	for _, done := range ops.RequestsFoundComplete(w.c.c) {
		if r, s := nodeAt(w.c.in, done.RequestPosition), nodeAt(w.c.out, done.StatusPosition); r != nil && s != nil {
			one(r, s)
		}
	}
}

// nodeAt returns the node at a position of a call, or nil.
func nodeAt(list []node, at ops.ValuePosition) *node {
	switch {
	case at.Param < 0:
		return nil
	case at.Elem < 0:
		return &list[at.Param]
	case at.Elem < len(list[at.Param].elems):
		return &list[at.Param].elems[at.Elem]
	}
	return nil
}

// any reports whether a parameter has a wildcard on some rank.
func (w *writer) any(param int, wildcard int64) bool {
	return param >= 0 && w.c.in[param].typ == trace.TypeInt && slices.ContainsFunc(w.c.vals, func(v []int64) bool { return v[w.c.in[param].at] == wildcard })
}

// taken returns the position of the source rank in the status of a receive or probe. ok is false for other calls, or
// if it got no message.
func (w *writer) taken() (at int, ok bool) {
	if w.param("source") < 0 || w.param("dest") >= 0 {
		return 0, false
	}
	if flag, ok := w.out("flag"); ok && flag == 0 {
		return 0, false
	}
	i := w.param("status")
	if i < 0 || !w.c.out[i].filled() {
		return 0, false
	}
	return w.c.out[i].at + signature.StatusSourcePosition, true
}

// arrives has the program wait for the message that a successful test found.
func (w *writer) arrives() {
	if at, ok := w.taken(); ok && w.c.def.Has(mpi.AttrPolls) {
		w.first = append(w.first, fmt.Sprintf("arrived(%s, %s, %s);",
			w.expr(mpi.KindRank, at), w.expr(mpi.KindTag, at+1), w.argument(w.param("comm"))))
	}
}

// fixed reports whether the value at a position is the same in all calls of the terminal, on all members.
func (w *writer) fixed(at int) bool { return w.c.lane[at] == "" && w.c.same(at) }

// slot writes the index of the handle at a position of the values, in the proxy's array for handles of its kind.
func (w *writer) slot(at int) string {
	return w.from(at, fmt.Sprintf("- %d", trace.FirstCreatedHandle), func(v int64) int64 { return v - trace.FirstCreatedHandle })
}

// from writes an expression for the result of an operation on the value at a position. The operation is given as text
// in C, and as a function.
func (w *writer) from(at int, operation string, of func(int64) int64) string {
	if v := w.c.lane[at]; v != "" {
		return "(" + v + ") " + operation
	}
	col := w.c.column(at)
	for i := range col {
		col[i] = of(col[i])
	}
	return w.v.fitter.expr(mpi.KindNone, col)
}

// handle writes an input handle.
func (w *writer) handle(kind mpi.Kind, at int) string {
	v := w.c.vals[0][at]
	if v >= trace.FirstCreatedHandle {
		return fmt.Sprintf("%s[%s]", handleArrays[kind], w.slot(at))
	}
	if n := name(kind, v); n != "" {
		return n
	}
	if v == 0 {
		return "0"
	}
	if null, ok := mpi.NullHandle(kind); ok {
		return mpi.ConstantName(kind, null)
	}
	return "NULL"
}

// sink returns a variable for an output that isn't used.
func (w *writer) sink(variable string) string {
	n := w.sinks[variable]
	w.sinks[variable]++
	return fmt.Sprintf("&%s[%d]", variable, n)
}

func (w *writer) wide(p *trace.ParamDef) bool {
	return p.Kind.Width(w.c.def.Large) == mpi.Width64
}
