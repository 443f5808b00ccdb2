package proxy

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"spoor/internal/reissue"
	"spoor/mpi"
	"spoor/trace"
)

// A writer writes one call.
type writer struct {
	g   *generator
	v   *variant
	c   *call
	def *mpi.Call
	t   int // terminal

	sinks map[string]int // outputs used so far, by variable
	after []string       // statements that keep what came out
	first []string       // statements before the call
}

var handleArrays = map[string]string{
	"comm": "comm", "group": "group", "datatype": "type", "op": "op", "message": "message", "win": "win", "file": "file",
	"info": "info", "errhandler": "errhandler", "session": "session", "cvar": "cvar", "pvar": "pvar",
	"pvarsession": "pvarsession", "event": "event", "eventreg": "eventreg", "enum": "enums",
}

var handleTypes = map[string]string{
	"comm": "MPI_Comm", "group": "MPI_Group", "datatype": "MPI_Datatype", "op": "MPI_Op", "message": "MPI_Message",
	"win": "MPI_Win", "file": "MPI_File", "info": "MPI_Info", "errhandler": "MPI_Errhandler", "session": "MPI_Session",
	"cvar": "MPI_T_cvar_handle", "pvar": "MPI_T_pvar_handle", "pvarsession": "MPI_T_pvar_session",
	"event": "MPI_T_event_instance", "eventreg": "MPI_T_event_registration", "enum": "MPI_T_enum",
	"request": "MPI_Request",
}

// line writes a terminal of a variant.
func (g *generator) line(v *variant, terminal int) *line {
	c := v.calls[terminal]
	l := &line{site: g.site(c.site)}
	if why := g.why(v, terminal); why != "" {
		l.text = func(string) string { return "/* left out: " + c.f.Name + ": " + why + " */" }
		l.skip = why
	} else {
		def, _ := mpi.Lookup(c.f.Name)
		w := &writer{g: g, v: v, c: c, def: def, t: terminal, sinks: make(map[string]int)}
		var nothing bool
		if l.text, nothing = w.statement(); nothing {
			l.skip = "says no"
		}
	}
	key := l.text("") + l.site
	if old := g.lines[key]; old != nil {
		l = old
	} else {
		l.order = len(g.lines)
		g.lines[key] = l
	}
	if terminal < len(v.times) {
		l.gap.Merge(v.times[terminal].Gap)
	}
	return l
}

// why says why a call of a variant is left out; "" if it isn't.
func (g *generator) why(v *variant, terminal int) string {
	if !g.o.Partial {
		return ""
	}
	for i, k := range v.ranks {
		c, err := k.Terminal(terminal)
		if err != nil {
			return err.Error()
		}
		if why := reissue.Why(c, g.flavour, g.o.Target); why != "" {
			return why
		}
		if why := v.made[i].Why(c); why != "" {
			return why
		}
	}
	return ""
}

func (g *generator) site(s trace.Site) string {
	text, ok := g.sites[s]
	switch {
	case ok:
	case g.o.Line != nil:
		text = comment(g.o.Line(s))
	case s.Module != "":
		text = fmt.Sprintf("%s+%#x", path.Base(s.Module), s.Offset)
	}
	g.sites[s] = text
	return text
}

func (w *writer) param(name string) int {
	for i := range w.c.f.Params {
		if w.c.f.Params[i].Name == name {
			return i
		}
	}
	return -1
}

// out returns the value of an integer output on the first member; ok is false
// if it is missing.
func (w *writer) out(name string) (int64, bool) {
	i := w.param(name)
	if i < 0 || w.c.out[i].typ == trace.None {
		return 0, false
	}
	return w.c.vals[0][w.c.out[i].at], true
}

func (w *writer) expr(kind string, at int) string { return w.v.fitter.expr(kind, w.c.column(at)) }

// statement returns the statement without its gap.
func (w *writer) statement() (text func(string) string, nothing bool) {
	w.arrives()
	args := make([]string, 0, len(w.c.f.Params))
	for i := range w.c.f.Params {
		if w.c.f.Params[i].Kind != "varargs" {
			args = append(args, w.argument(i))
		}
	}
	call := fmt.Sprintf("%s(%s)", w.c.f.Name, strings.Join(args, ", "))
	if w.c.result.typ == trace.Handle && w.c.vals[0][w.c.result.at] >= trace.FirstLocal {
		if a := handleArrays[w.c.f.Returns]; a != "" {
			call = fmt.Sprintf("%s[%s] = %s", a, w.slot(w.c.result.at), call)
		}
	}
	do, end := "DO(", ");"
	flag, hasFlag := w.out("flag")
	switch strings.TrimSuffix(w.c.f.Name, "_c") {
	case "MPI_Init", "MPI_Init_thread":
		w.after = append(w.after, "begun();")
	case "MPI_Test":
		if hasFlag && flag == 0 {
			do = "POLL(pending(" + w.requests("request") + "), "
		}
	case "MPI_Testall":
		if hasFlag && flag == 0 {
			do = fmt.Sprintf("POLL(any_pending(%s, %s), ", w.expr("int", w.c.in[0].at), w.requests("array_of_requests"))
		}
	case "MPI_Testany":
		if hasFlag && flag == 0 {
			do = fmt.Sprintf("POLL(none_done(%s, %s), ", w.expr("int", w.c.in[0].at), w.requests("array_of_requests"))
		}
	case "MPI_Testsome":
		if n, ok := w.out("outcount"); ok && n == 0 {
			do = fmt.Sprintf("POLL(none_done(%s, %s), ", w.expr("int", w.c.in[0].at), w.requests("array_of_requests"))
		}
	case "MPI_Iprobe", "MPI_Improbe":
		if hasFlag && flag == 0 {
			if w.c.f.Name == "MPI_Improbe" {
				return func(string) string { return "/* MPI_Improbe said no here */" }, true
			}
			do = fmt.Sprintf("POLL(nothing_from(%s, %s, %s), ", args[0], args[1], args[2])
		}
	case "MPI_Parrived", "MPI_Win_test":
		switch {
		case hasFlag && flag != 0:
			do = "UNTIL("
		case hasFlag && w.c.f.Name == "MPI_Win_test":
			return func(string) string { return "/* MPI_Win_test said no here */" }, true
		}
	}
	if w.v.end[w.t] {
		w.first = append(w.first, "end_threads();")
	}
	if w.v.begin == w.t && w.v.ranks[0].Streams() > 1 {
		w.after = append(w.after, fmt.Sprintf("begin_threads(%d, threads_%d);", w.v.ranks[0].Streams()-1, w.v.number))
	}
	w.generalised()
	first, after := strings.Join(w.first, " "), strings.Join(w.after, " ")
	if first != "" {
		first += " "
	}
	if after != "" {
		after = " " + after
	}
	return func(gap string) string {
		return first + do + gap + ", " + call + end + after
	}, false
}

// generalised has the stand-in of a generalised request's query function give
// the status that the function gave.
func (w *writer) generalised() {
	if w.c.f.Name == "MPI_Grequest_start" {
		if i := w.param("request"); w.c.out[i].typ == trace.Request && w.c.vals[0][w.c.out[i].at] == 2 {
			w.after = append(w.after, fmt.Sprintf("queries(request(1), %s);", w.argument(w.param("extra_state"))))
		}
		return
	}
	if !w.v.generalised {
		return
	}
	one := func(request, status *node) {
		form := trace.StatusForm(status.n)
		if status.typ != trace.Status || form != trace.StatusFilled && form != trace.StatusIgnored || request.typ != trace.Request {
			return
		}
		if v := w.c.vals[0][request.at]; v <= 0 || v&1 != 0 {
			return
		}
		w.first = append(w.first, fmt.Sprintf("told(request(%s), %s, %s, %s, %s);", w.distance(request.at), w.expr("rank", status.at+1),
			w.expr("tag", status.at+2), w.expr("", status.at+3), w.expr("", status.at+4)))
	}
	if i, k := w.param("request"), w.param("status"); i >= 0 && k >= 0 {
		one(&w.c.in[i], &w.c.out[k])
	}
	i := w.param("array_of_requests")
	if i < 0 {
		return
	}
	list := w.c.in[i].elems
	at := func(n *node) int {
		if n.typ != trace.Int {
			return -1
		}
		return int(w.c.vals[0][n.at])
	}
	if k, x := w.param("status"), w.param("index"); k >= 0 && x >= 0 {
		if n := at(&w.c.out[x]); n >= 0 && n < len(list) {
			one(&list[n], &w.c.out[k])
		}
		return
	}
	k, x := w.param("array_of_statuses"), w.param("array_of_indices")
	if k < 0 {
		return
	}
	for n := range w.c.out[k].elems {
		m := n
		if x >= 0 && n < len(w.c.out[x].elems) {
			m = at(&w.c.out[x].elems[n])
		}
		if m >= 0 && m < len(list) {
			one(&list[m], &w.c.out[k].elems[n])
		}
	}
}

// any reports whether a parameter has a wildcard on some rank.
func (w *writer) any(param int, wildcard int64) bool {
	if param < 0 || w.c.in[param].typ != trace.Int {
		return false
	}
	for _, v := range w.c.vals {
		if v[w.c.in[param].at] == wildcard {
			return true
		}
	}
	return false
}

// taken is what a receive or probe says it took: where the number of the rank is
// among the values. ok is false if it is no such call, or took nothing.
func (w *writer) taken() (at int, ok bool) {
	i := w.param("status")
	switch strings.TrimSuffix(w.c.f.Name, "_c") {
	case "MPI_Recv", "MPI_Probe", "MPI_Mprobe":
	case "MPI_Iprobe", "MPI_Improbe":
		if flag, ok := w.out("flag"); !ok || flag == 0 {
			return 0, false
		}
	default:
		return 0, false
	}
	if i < 0 || w.c.out[i].typ != trace.Status || w.c.out[i].n != 1 && w.c.out[i].n != 2 {
		return 0, false
	}
	return w.c.out[i].at + 1, true
}

// arrives has the program wait for the message that a test found.
func (w *writer) arrives() {
	if at, ok := w.taken(); ok && strings.HasPrefix(w.c.f.Name, "MPI_I") {
		w.first = append(w.first, fmt.Sprintf("arrived(%s, %s, %s);",
			w.expr("rank", at), w.expr("tag", at+1), w.argument(w.param("comm"))))
	}
}

// slot is the place of a handle in its array.
func (w *writer) slot(at int) string {
	col := w.c.column(at)
	for i := range col {
		col[i] -= trace.FirstLocal
	}
	return w.v.fitter.expr("", col)
}

// handle is a handle that goes in.
func (w *writer) handle(kind string, at int) string {
	v := w.c.vals[0][at]
	if v >= trace.FirstLocal {
		return fmt.Sprintf("%s[%s]", handleArrays[kind], w.slot(at))
	}
	if n := name(kind, v); n != "" {
		return n
	}
	if v == 0 {
		return "0"
	}
	if k, ok := mpi.KindNamed(kind); ok {
		if null, ok := mpi.NullHandle(k); ok {
			return mpi.ConstantName(k, null)
		}
	}
	return "NULL"
}

// sink is a variable for an output that nobody asks for.
func (w *writer) sink(variable string) string {
	n := w.sinks[variable]
	w.sinks[variable]++
	return fmt.Sprintf("&%s[%d]", variable, n)
}

func (w *writer) wide(p *trace.ParamDef) bool {
	k, _ := mpi.KindNamed(p.Kind)
	return k.Width(w.def.Large) == mpi.Width64
}

func (w *writer) argument(i int) string {
	p := &w.c.f.Params[i]
	in, out := &w.c.in[i], &w.c.out[i]
	switch {
	case p.Kind == "argc" || p.Kind == "argvp":
		return "NULL"
	case p.Kind == "request":
		return w.request(i)
	case p.Dims > 0 && p.In && p.Dir != trace.DirOut:
		return w.array(p, in)
	case p.Dims > 0:
		return w.outArray(p, in, out, i)
	}
	switch p.Type {
	case trace.Int:
		return w.integer(p, in, out)
	case trace.Time:
		return "0.0"
	case trace.Handle, trace.Object:
		return w.handleArgument(p, in, out)
	case trace.Address:
		return w.address(p, in, out)
	case trace.FunctionRef:
		return w.function(p, in)
	case trace.String:
		return w.text(p, in, out)
	case trace.Status:
		return w.status(p, in, out)
	}
	return "NULL"
}

func (w *writer) integer(p *trace.ParamDef, in, out *node) string {
	if p.Dir == trace.DirIn {
		switch {
		case p.Kind == "rank" && p.Name == "source" && w.any(w.param("source"), -1):
			return w.wildcard(p, in)
		case p.Kind == "keyval":
			return w.keyval(in.at)
		}
		return w.expr(p.Kind, in.at)
	}
	switch {
	case p.Kind == "keyval" && p.Dir == trace.DirOut:
		if out.typ == trace.Int {
			if k, ok := w.g.keyvals[w.c.vals[0][out.at]]; ok {
				return fmt.Sprintf("&keyval[%d]", k)
			}
		}
		return w.sink("number")
	case p.Kind == "keyval":
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
	case p.Kind == "aint":
		return w.sink("aint")
	case p.Kind == "offset" || p.Kind == "filedisp":
		return w.sink("offset")
	case p.Kind == "count64" || p.Kind == "tick":
		return w.sink("count64")
	case w.wide(p):
		return "(void *)" + w.sink("count64")
	case w.def.Has(mpi.Tool): // some are enumerations
		return "(void *)" + w.sink("number")
	}
	return w.sink("number")
}

func (w *writer) keyval(at int) string {
	col := w.c.column(at)
	if n := name("keyval", col[0]); n != "" || !same(col) {
		return w.expr("keyval", at)
	}
	return fmt.Sprintf("keyval[%d]", w.g.keyvals[col[0]])
}

// wildcard is MPI_ANY_SOURCE, with what it turned out to be if the call itself
// tells. A tag needs no such care: from one rank messages come in order.
func (w *writer) wildcard(p *trace.ParamDef, in *node) string {
	at, ok := w.taken()
	if !ok || !same(w.c.column(in.at)) {
		return w.expr(p.Kind, in.at)
	}
	return fmt.Sprintf("any_source(%s, %s)", w.expr(p.Kind, at), w.argument(w.param("comm")))
}

func (w *writer) handleArgument(p *trace.ParamDef, in, out *node) string {
	typ := handleTypes[p.Kind]
	if p.Kind == "toolobj" { // the trace doesn't say which object; most are communicators
		return "(MPI_Comm[]){MPI_COMM_WORLD}"
	}
	switch p.Dir {
	case trace.DirIn:
		if p.Kind == "pvar" && w.c.vals[0][in.at] == trace.UnknownHandle && w.c.vals[0][0] == 0 && reissue.AllHandles(w.c.f.Name) {
			return "MPI_T_PVAR_ALL_HANDLES"
		}
		return w.handle(p.Kind, in.at)
	case trace.DirFree:
		if w.c.f.Name == "MPI_Win_free" {
			w.after = append(w.after, fmt.Sprintf("taken_with(%s);", w.slot(in.at)))
		}
		return fmt.Sprintf("(%s[]){%s}", typ, w.handle(p.Kind, in.at))
	case trace.DirInOut:
		if v := w.c.vals[0][in.at]; v < trace.FirstLocal {
			return fmt.Sprintf("(%s[]){%s}", typ, w.handle(p.Kind, in.at))
		}
		return "&" + w.handle(p.Kind, in.at)
	}
	if (out.typ == trace.Handle || out.typ == trace.Object) && w.c.vals[0][out.at] >= trace.FirstLocal {
		return fmt.Sprintf("&%s[%s]", handleArrays[p.Kind], w.slot(out.at))
	}
	return fmt.Sprintf("(%s[1]){0}", typ)
}

var segments = [...]string{
	trace.Heap: "heap", trace.DeviceMemory: "device", trace.Static: "data", trace.Stack: "stack", trace.UnknownPlace: "place",
	trace.MPIMemory: "mpi_memory",
}

var segmentClasses = [...]string{
	trace.Heap: "HEAP", trace.DeviceMemory: "DEVICE", trace.Static: "DATA", trace.Stack: "STACK", trace.UnknownPlace: "PLACE",
	trace.MPIMemory: "MPI_MEMORY",
}

// memory is an address.
func (w *writer) memory(at int, null string) string {
	seg, off := w.c.column(at), w.c.column(at+1)
	class := int(seg[0] & 7)
	if class == 0 || class >= len(segments) || segments[class] == "" {
		switch off[0] {
		case trace.SpecialInPlace:
			return "MPI_IN_PLACE"
		case trace.SpecialBufferAutomatic:
			return "MPI_BUFFER_AUTOMATIC"
		}
		return null
	}
	for i := range seg {
		seg[i] >>= 8
	}
	e := fmt.Sprintf("%s(%s)", segments[class], w.v.fitter.expr("", seg))
	if same(off) {
		return sum(e, term(off[0], ""))
	}
	return e + " + " + w.v.fitter.expr("", off)
}

func (w *writer) address(p *trace.ParamDef, in, out *node) string {
	switch {
	case p.Kind == "buffer":
		if in.typ != trace.Address {
			return "NULL"
		}
		m := w.memory(in.at, "MPI_BOTTOM")
		if w.c.f.Name == "MPI_Free_mem" {
			w.after = append(w.after, w.giving("taken", in.at, ""))
		}
		return m
	case p.Kind == "pointerout":
		if reissue.Gives(w.c.f.Name) && out.typ == trace.Address && w.c.vals[0][out.at]&7 != 0 {
			w.given(out.at)
		}
		return "&pointer"
	case p.Kind == "address" && p.Dir == trace.DirIn:
		return "(MPI_Aint)(" + w.memory(in.at, "NULL") + ")"
	case p.Kind == "address":
		return w.sink("aint")
	}
	return w.memory(in.at, "NULL")
}

func (w *writer) giving(function string, at int, more string) string {
	seg := w.c.column(at)
	class := segmentClasses[seg[0]&7]
	if seg[0]&7 == 0 {
		return ""
	}
	for i := range seg {
		seg[i] >>= 8
	}
	return fmt.Sprintf("%s(%s, %s%s);", function, class, w.v.fitter.expr("", seg), more)
}

// given has the program note memory that the MPI hands out.
func (w *writer) given(at int) {
	win := "-1"
	if i := w.param("win"); i >= 0 && w.c.out[i].typ == trace.Handle && w.c.vals[0][w.c.out[i].at] >= trace.FirstLocal {
		win = w.slot(w.c.out[i].at)
	}
	if w.c.f.Name != "MPI_Win_shared_query" {
		w.first = append(w.first, w.giving("vacate", at, ""))
	}
	base := "pointer"
	if off := w.c.column(at + 1); !same(off) || off[0] != 0 {
		base = "(char *)pointer - " + w.v.fitter.expr("", off)
	}
	w.after = append(w.after, w.giving("gave", at, ", "+base+", "+win))
}

// request is a request argument, one or an array.
func (w *writer) request(i int) string {
	p := &w.c.f.Params[i]
	in, out := &w.c.in[i], &w.c.out[i]
	if p.Dims > 0 {
		return w.requestArray(p)
	}
	if p.Dir == trace.DirOut {
		if out.typ != trace.Request || w.c.vals[0][out.at] == 0 {
			return "no_request()"
		}
		if w.c.vals[0][out.at]&1 == 0 {
			return "new_request()"
		}
		return "&" + w.kept(out.at)
	}
	place := w.requests(p.Name)
	flag, hasFlag := w.out("flag")
	if w.c.f.Name == "MPI_Test" && hasFlag && flag != 0 || w.c.f.Name == "MPI_Request_get_status" && hasFlag && flag != 0 {
		place = "done(" + place + ")"
	}
	if p.Dir == trace.DirIn {
		if w.c.f.Name != "MPI_Request_get_status" && in.typ == trace.Request && w.c.vals[0][in.at]&1 == 1 {
			return w.kept(in.at)
		}
		return "*" + place
	}
	return place
}

func (w *writer) kept(at int) string {
	col := w.c.column(at)
	for i := range col {
		col[i] >>= 1
	}
	return "kept[" + w.v.fitter.expr("", col) + "]"
}

// requests is the place of a request, or of the first of several.
func (w *writer) requests(param string) string {
	n := &w.c.in[w.param(param)]
	if n.typ != trace.Array {
		v := w.c.vals[0][n.at]
		switch {
		case v == 0:
			return "no_request()"
		case v&1 == 1:
			return "&" + w.kept(n.at)
		}
		return "request(" + w.distance(n.at) + ")"
	}
	if n.n <= 0 {
		return "NULL"
	}
	// Those made in a row stand in a row.
	inRow, keptRow := true, true
	for m := range w.c.vals {
		vals := w.c.vals[m]
		for k := range n.elems {
			v := vals[n.elems[k].at]
			inRow = inRow && v > 0 && v&1 == 0 && v == vals[n.elems[0].at]-2*int64(k)
			keptRow = keptRow && v&1 == 1 && v == vals[n.elems[0].at]+2*int64(k)
		}
	}
	switch {
	case inRow:
		return "window(" + w.distance(n.elems[0].at) + ")"
	case keptRow:
		return "&" + w.kept(n.elems[0].at)
	}
	return fmt.Sprintf("these(%d, %s)", n.n, w.numbers("", n, true))
}

func (w *writer) distance(at int) string {
	col := w.c.column(at)
	for i := range col {
		col[i] >>= 1
	}
	return w.v.fitter.expr("", col)
}

func (w *writer) requestArray(p *trace.ParamDef) string {
	i := w.param(p.Name)
	place := w.requests(p.Name)
	if w.c.in[i].n <= 0 {
		return place
	}
	count := w.expr("int", w.c.in[0].at)
	flag, hasFlag := w.out("flag")
	switch w.c.f.Name {
	case "MPI_Testall", "MPI_Request_get_status_all":
		if hasFlag && flag != 0 {
			return fmt.Sprintf("all_done(%s, %s)", count, place)
		}
	case "MPI_Testany", "MPI_Waitany", "MPI_Request_get_status_any":
		index := &w.c.out[w.param("index")]
		if (!hasFlag || flag != 0) && index.typ == trace.Int && w.c.vals[0][index.at] >= 0 {
			return fmt.Sprintf("only(%s, %s, %s)", w.expr("index", index.at), count, place)
		}
	case "MPI_Waitsome", "MPI_Testsome", "MPI_Request_get_status_some":
		indices := &w.c.out[w.param("array_of_indices")]
		if indices.typ == trace.Array && indices.n > 0 {
			return fmt.Sprintf("some(%d, %s, %s, %s)", indices.n, w.numbers("index", indices, false), count, place)
		}
	}
	return place
}

// numbers is an array of integers that goes in.
func (w *writer) numbers(kind string, n *node, wide bool) string {
	bits := "32"
	if wide {
		bits = "64"
	}
	const long = 24
	constant := true
	for k := range n.elems {
		constant = constant && same(w.c.column(n.elems[k].at))
	}
	if constant && len(n.elems) > long {
		// Arithmetic runs, if there are few.
		var runs []string
		count := 0
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
			count++
			k = to
		}
		if 3*count < len(n.elems) {
			list := w.g.table("int64_t", runs)
			return fmt.Sprintf("ramp%s(%d, %s)", bits, count, list)
		}
	}
	if !constant && len(n.elems) > long {
		var all []string
		varying := 0
		exprs := make([]string, len(n.elems))
		for k := range n.elems {
			exprs[k] = w.expr(kind, n.elems[k].at)
			if strings.Contains(exprs[k], "member") {
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
	list := make([]string, len(n.elems))
	for k := range n.elems {
		list[k] = w.expr(kind, n.elems[k].at)
	}
	if constant && len(list) > long {
		typ := "int"
		if wide {
			typ = "int64_t"
		}
		return "(void *)" + w.g.table(typ, list)
	}
	return fmt.Sprintf("A%s(%s)", bits, strings.Join(list, ", "))
}

// special is what stands for an array that is none.
func (w *writer) special(n int64, kind string) (string, bool) {
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
		case "datatype", "info":
			return "NULL", true
		}
		return "A64(0)", true
	}
	return "", false
}

// array is an array that goes in.
func (w *writer) array(p *trace.ParamDef, n *node) string {
	if s, ok := w.special(n.n, p.Kind); ok {
		return s
	}
	switch p.Type {
	case trace.Int:
		return w.numbers(p.Kind, n, w.wide(p))
	case trace.Handle:
		list := make([]string, len(n.elems))
		for k := range n.elems {
			list[k] = w.handle(p.Kind, n.elems[k].at)
		}
		return fmt.Sprintf("(%s[]){%s}", handleTypes[p.Kind], strings.Join(list, ", "))
	case trace.String:
		list := make([]string, len(n.elems))
		for k := range n.elems {
			list[k] = "(char *)" + w.literalText(n.elems[k].at)
		}
		return fmt.Sprintf("(char *[]){%s, NULL}", strings.Join(list, ", "))
	}
	return "NULL"
}

// outArray is an array that is written.
func (w *writer) outArray(p *trace.ParamDef, in, out *node, i int) string {
	n := w.outLength(i, out)
	if p.Type == trace.Status {
		if out.typ == trace.Array {
			if out.n == trace.ArrayStatusesIgnore {
				return "MPI_STATUSES_IGNORE"
			}
			for k := range out.elems {
				if out.elems[k].n == int64(trace.StatusIgnored) {
					return "MPI_STATUSES_IGNORE"
				}
			}
		}
		return fmt.Sprintf("statuses(%d)", n)
	}
	if out.typ == trace.Array && out.n < 0 {
		if s, ok := w.special(out.n, p.Kind); ok {
			return s
		}
	}
	if p.Type == trace.Handle {
		if out.typ == trace.Array && out.n > 0 {
			typ := handleTypes[p.Kind]
			for k := range out.elems {
				if w.c.vals[0][out.elems[k].at] >= trace.FirstLocal {
					w.after = append(w.after, fmt.Sprintf("%s[%s] = ((%s *)got)[%d];", handleArrays[p.Kind], w.slot(out.elems[k].at), typ, k))
				}
			}
			w.g.plan.Elements = max(w.g.plan.Elements, len(out.elems))
			return "(void *)got"
		}
		return fmt.Sprintf("room(%d)", 8*n)
	}
	size := int64(4)
	if w.wide(p) || p.Type != trace.Int {
		size = 8
	}
	return fmt.Sprintf("room(%d)", size*n)
}

// outLength bounds the elements that a call writes to a parameter: what it did
// write, and what its arguments allow.
func (w *writer) outLength(i int, out *node) int64 {
	n := int64(16)
	if out.typ == trace.Array {
		n = max(n, out.n)
	}
	for k := range w.c.f.Params {
		p := &w.c.f.Params[k]
		if p.Type != trace.Int || p.Dims > 0 || w.c.in[k].typ != trace.Int {
			continue
		}
		for _, vals := range w.c.vals {
			if v := vals[w.c.in[k].at]; v > n && v < 1<<20 {
				n = v
			}
		}
	}
	return n
}

// status is one status.
func (w *writer) status(p *trace.ParamDef, in, out *node) string {
	if p.Dir == trace.DirOut {
		switch {
		case p.Kind != "status":
			return "room(64)"
		case out.typ == trace.Status && out.n == int64(trace.StatusIgnored):
			return "MPI_STATUS_IGNORE"
		}
		return "&status"
	}
	s := "status_empty()"
	switch trace.StatusForm(in.n) {
	case trace.StatusFilled, trace.StatusIgnored:
		s = fmt.Sprintf("status_of(%s, %s, %s, %s)", w.expr("rank", in.at+1), w.expr("tag", in.at+2),
			w.expr("", in.at+3), w.expr("", in.at+4))
	case trace.StatusAbsent:
		s = "MPI_STATUS_IGNORE"
	}
	if p.Kind == "fstatus" {
		return "fstatus_of(" + s + ")"
	}
	return s
}

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

// literalText is a string over the members.
func (w *writer) literalText(at int) string {
	col := w.c.column(at)
	if same(col) {
		return quote(w.g.strings[uint64(col[0])])
	}
	list := make([]string, len(col))
	for i, v := range col {
		list[i] = quote(w.g.strings[uint64(v)])
	}
	return fmt.Sprintf("%s[member]", w.g.table("char *const", list))
}

func (w *writer) text(p *trace.ParamDef, in, out *node) string {
	if p.Dir == trace.DirOut || in.typ != trace.String {
		room := int64(8192)
		for k := range w.c.f.Params {
			q := &w.c.f.Params[k]
			if q.Type == trace.Int && w.c.in[k].typ == trace.Int && q.Dims == 0 {
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
		if n, ok := w.exists(in.at); ok {
			return fmt.Sprintf("scratch_of(%s, %d)", t, n)
		}
		return "scratch(" + t + ")"
	}
	return t
}

// exists tells whether the file was there before the program opened it, and
// how large it has to be.
func (w *writer) exists(at int) (int64, bool) {
	const modeCreate = 2
	i := w.param("amode")
	if i < 0 || w.c.vals[0][0] != 0 || w.c.f.Name != "MPI_File_open" || w.c.vals[0][w.c.in[i].at]&modeCreate != 0 {
		return 0, false
	}
	return w.v.fileSize(), true
}

// fileSize estimates the size of files that existed: what the program was told
// first, or if it only reads, how far it read.
func (v *variant) fileSize() int64 {
	read, writes := int64(0), false
	for _, c := range v.calls {
		switch name := c.f.Name; {
		case name == "MPI_File_get_size":
			if n := c.out[1]; n.typ == trace.Int {
				return max(0, c.vals[0][n.at])
			}
		case strings.HasPrefix(name, "MPI_File_write"), strings.HasPrefix(name, "MPI_File_iwrite"):
			writes = true
		case strings.HasPrefix(name, "MPI_File_read"):
			end := int64(0)
			for i := range c.f.Params {
				switch {
				case c.f.Params[i].Kind == "offset" && c.in[i].typ == trace.Int:
					end += c.vals[0][c.in[i].at]
				case c.out[i].typ == trace.Status && (c.out[i].n == 1 || c.out[i].n == 2):
					end += max(0, c.vals[0][c.out[i].at+3])
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
