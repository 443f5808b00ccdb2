package oracle

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A Report is the outcome of a comparison.
type Report struct {
	Calls   int // compared
	Wrong   []string
	Omitted int // errors beyond those in Wrong
	Excused map[Exception]int
}

// maxWrong bounds the errors that are spelled out.
const maxWrong = 25

// Compare tests a process's part of a trace, the calls of each stream in
// order, against the process's log. Without comms, members of communicators
// aren't tested.
func Compare(p *Process, streams [][]trace.Call, comms CommFinder) *Report {
	c := &comparer{
		rank:      p.Rank,
		comms:     comms,
		names:     newNames(p.Constants),
		handles:   make(map[mpi.Kind]*pairs),
		functions: make(map[string]*pairs),
		addresses: newAddresses(),
		requests:  requests{made: make(map[int]int64)},
	}
	c.report.Excused = make(map[Exception]int)
	var threads [][]*Call
	for _, calls := range p.Threads {
		// A thread may have no calls that count; it has no stream then.
		if list := c.relevant(calls); len(list) > 0 {
			threads = append(threads, list)
		}
	}
	parts, err := assign(threads, streams)
	if err != nil {
		c.wrong("%v", err)
		return &c.report
	}
	var events []event
	for _, part := range parts {
		events = append(events, c.pair(part)...)
	}
	for _, f := range p.Freed {
		events = append(events, event{order: f.Order, freed: f.Addr})
	}
	sort.Slice(events, func(i, j int) bool { return events[i].order < events[j].order })
	for _, e := range events {
		switch {
		case e.call == nil:
			c.addresses.free(e.freed)
		case e.exit:
			c.leave(e.call)
		default:
			if e.newThread {
				c.addresses.forgetStack(e.call.stream)
			}
			c.enter(e.call)
		}
	}
	return &c.report
}

type comparer struct {
	rank      int
	comms     CommFinder
	names     names
	handles   map[mpi.Kind]*pairs
	functions map[string]*pairs // by parameter: predefined ones have one value for several kinds of objects
	addresses addresses
	requests  requests
	report    Report
	fortran   bool // calls came through a Fortran binding
}

func (c *comparer) wrong(format string, args ...any) {
	if len(c.report.Wrong) >= maxWrong {
		c.report.Omitted++
		return
	}
	c.report.Wrong = append(c.report.Wrong, fmt.Sprintf("rank %d: ", c.rank)+fmt.Sprintf(format, args...))
}

func (c *comparer) excuse(e Exception) {
	if Reasons[e] == "" {
		panic("oracle: exception without a reason: " + string(e))
	}
	c.report.Excused[e]++
}

// A pending call is one under comparison, on both sides.
type pending struct {
	stream   int
	log      *Call
	trace    *trace.Call
	used     map[*request]bool
	requests []*request // of its request arguments, in order
	file     bool       // a file operation, or one that waits for such
}

// An event is one end of a call, or a block of memory given back.
type event struct {
	order uint64
	exit  bool
	call  *pending // nil: freed
	freed uint64

	newThread bool // the first call of a thread
}

// relevant drops what a trace isn't meant to have.
func (c *comparer) relevant(calls []*Call) []*Call {
	var list []*Call
	muted := false
	finalize := uint64(math.MaxUint64)
	for _, call := range calls {
		fortran := fortranLibrary(call.Library)
		c.fortran = c.fortran || fortran
		entry, known := mpi.CallNamed(call.Name)
		if call.Name == "MPI_Pcontrol" && len(call.In) > 0 && call.In[0].Int != 0 {
			muted = false // this call is the first that is recorded again
		}
		switch {
		case fortran && helper(call):
			c.excuse(Conversion)
		case call.Profiling && call.Depth > 0 && !fortran:
			c.excuse(ProfilingCall)
		case call.Finalised:
			c.excuse(AfterFinalize)
		case !known || entry.WrapperClass == mpi.WrapperAbsent:
			c.excuse(NotTraced)
		case call.Entered > finalize && call.Name != "MPI_Finalize":
			c.excuse(InsideFinalize)
		case muted:
			c.excuse(Muted)
		default:
			list = append(list, call)
		}
		if call.Name == "MPI_Finalize" {
			finalize = call.Entered
		}
		if call.Name == "MPI_Pcontrol" {
			muted = muted || len(call.In) > 0 && call.In[0].Int == 0
		}
	}
	return list
}

// fortranLibrary reports whether a library holds Fortran bindings.
func fortranLibrary(name string) bool {
	return slices.ContainsFunc([]string{"libmpichf", "libmpifort", "libmpi_mpifh", "libmpi_usempi"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// helper reports whether a Fortran binding makes a call on its own account:
// the function it was called for, as far as it has a name, is another one.
func helper(call *Call) bool {
	name := strings.ToLower(strings.TrimPrefix(call.Name, "MPI_"))
	name = strings.TrimSuffix(name, "_c") // large is another word there
	if call.Caller != "" {
		return !strings.Contains(strings.ToLower(call.Caller), name)
	}
	return strings.Contains(name, "_c2f") || strings.Contains(name, "_f2c")
}

// pair joins the calls of a thread with those of its part of a stream.
func (c *comparer) pair(part part) []event {
	var events []event
	stream := part.stream
	rest := part.trace
	for i, call := range part.calls {
		rest = c.skipAlone(rest, call.Name)
		at := part.first + len(part.trace) - len(rest)
		if len(rest) == 0 {
			c.wrong("stream %d ends after %d calls, log goes on with %s", stream, at, call.Name)
			break
		}
		t := &rest[0]
		if t.Name() == call.Name+"_c" && fortranLibrary(call.Library) {
			c.excuse(SmallForLarge)
		} else if t.Name() != call.Name {
			c.wrong("stream %d call %d: logged %s, trace has %s", stream, at, call.Name, t.Name())
			return events
		}
		rest = rest[1:]
		p := &pending{stream: stream, log: call, trace: t, used: make(map[*request]bool),
			file: strings.HasPrefix(call.Name, "MPI_File_")}
		events = append(events, event{order: call.Entered, call: p, newThread: i == 0})
		if call.Done {
			events = append(events, event{order: call.Left, exit: true, call: p})
		} else if t.Return != trace.ReturnCodeNeverReturned {
			c.wrong("stream %d call %d: %s never returned, trace has return code %d", stream, at, call.Name, t.Return)
		}
	}
	if rest = c.skipAlone(rest, ""); len(rest) > 0 {
		c.wrong("log of stream %d ends after %d calls, trace goes on with %s", stream, len(part.calls), rest[0].Name())
	}
	return events
}

// skipAlone drops calls that a Fortran binding does without a C function, up
// to the one that was logged next.
func (c *comparer) skipAlone(rest []trace.Call, logged string) []trace.Call {
	for c.fortran && len(rest) > 0 && rest[0].Name() != logged && doneAlone(c.names.mpich, rest[0].Name()) {
		c.excuse(BindingAlone)
		rest = rest[1:]
	}
	return rest
}

func (c *comparer) enter(p *pending) {
	c.report.Calls++
	for i := range p.trace.Params {
		param := &p.trace.Params[i]
		if param.Def.HasIn {
			c.argument(p, i, p.log.In, &param.In, false)
		}
		// The value may be handed out anew before this call is seen to end.
		if param.Def.Dir == trace.DirFree {
			c.released(p, i)
		}
	}
	// The MPI's own call of free is not in the log.
	if base := p.trace.Param("base"); p.log.Name == "MPI_Free_mem" && base != nil {
		c.addresses.free(c.addresses.base[place{base.In.Addr.Class, base.In.Addr.Device, base.In.Addr.ID}])
	}
}

func (c *comparer) leave(p *pending) {
	c.returned(p)
	c.gone(p)
	if p.trace.Return != 0 && !c.inStatus(p.trace.Return) {
		c.excuse(FailedOutput)
		return
	}
	for i := range p.trace.Params {
		param := &p.trace.Params[i]
		if param.Def.HasOut && c.valid(p, param.Def.ValidIf) {
			c.argument(p, i, p.log.Out, &param.Out, true)
		}
	}
	c.made(p)
}

// made tests the descriptions of what the call made.
func (c *comparer) made(p *pending) {
	for _, wrong := range []string{c.newComm(p), c.newType(p)} {
		if wrong != "" {
			c.wrong("stream %d call %d: %s: %s", p.stream, p.trace.Index, p.log.Name, wrong)
		}
	}
}

// argument compares parameter i at one end of the call.
func (c *comparer) argument(p *pending, i int, logged []Value, v *trace.Value, exit bool) {
	def := p.trace.Params[i].Def
	kind := def.Kind
	var wrong string
	switch {
	case i >= len(logged) && kind != mpi.KindVarargs:
		wrong = fmt.Sprintf("log has only %d arguments", len(logged))
	case kind == mpi.KindUnknown:
		wrong = "unknown kind"
	case v.Type == trace.TypeNone:
		wrong = fmt.Sprintf("not in the trace, logged %v", logged[i])
	default:
		wrong = c.value(&arg{call: p, def: def, kind: kind, exit: exit}, logged[i], v)
	}
	// Open MPI's mpi_f08 since 6.0 passes zeros on where the root alone looks.
	if wrong != "" && def.OnlyRoot && fortranLibrary(p.log.Library) && i < len(logged) && logged[i].zero() {
		c.excuse(Insignificant)
		return
	}
	if wrong != "" {
		end := "in"
		if exit {
			end = "out"
		}
		c.wrong("stream %d call %d: %s: %s %s: %s", p.stream, p.trace.Index, p.log.Name, def.Name, end, wrong)
	}
}

// returned compares what the function itself returned, a code or a value.
func (c *comparer) returned(p *pending) {
	f := p.trace.Func
	var wrong string
	switch {
	case f.ReturnKind == mpi.KindError:
		wrong = c.names.integer(mpi.KindError, p.log.Ret.Int, p.trace.Return)
	case p.trace.Return != 0:
		wrong = fmt.Sprintf("trace has code %d of a function that returns none", p.trace.Return)
	case f.ReturnKind == mpi.KindRequest:
		c.excuse(ConvertedRequest)
	default:
		if p.trace.Result.Type == trace.TypeNone {
			wrong = "not in the trace"
			break
		}
		def := trace.ParamDef{Kind: f.ReturnKind, Type: f.ResultType}
		wrong = c.scalar(&arg{call: p, def: &def, kind: f.ReturnKind, exit: true}, p.log.Ret, &p.trace.Result)
	}
	if wrong != "" {
		c.wrong("stream %d call %d: %s: returned: %s", p.stream, p.trace.Index, p.log.Name, wrong)
	}
}

var errInStatus = abi("MPI_ERR_IN_STATUS")

func (c *comparer) inStatus(code int64) bool { return code == errInStatus }

// valid tells whether an output that depends on a flag counts.
func (c *comparer) valid(p *pending, flag string) bool {
	if flag == "" {
		return true
	}
	v := p.trace.Param(flag)
	return v == nil || v.Out.Num != 0
}

// released notes that a handle was given back.
func (c *comparer) released(p *pending, i int) {
	kind := p.trace.Params[i].Def.Kind
	if i < len(p.log.In) && p.log.In[i].Form == Handle {
		c.pairsOf(kind).stale[p.log.In[i].Raw] = true
	}
}

// gone forgets the requests whose variables the call made null.
func (c *comparer) gone(p *pending) {
	next := 0
	for i := range p.trace.Params {
		def := p.trace.Params[i].Def
		if def.Type != trace.TypeRequest || !def.HasIn || i >= len(p.log.Out) {
			continue
		}
		in, out := []Value{p.log.In[i]}, []Value{p.log.Out[i]}
		if in[0].Form == List {
			in, out = in[0].List, out[0].List
		}
		for j := range in {
			if next >= len(p.requests) {
				return
			}
			r := p.requests[next]
			next++
			if r != nil && j < len(out) && out[j].Form == Request && c.names.null(mpi.KindRequest, out[j].Raw) {
				c.requestGone(r)
			}
		}
	}
}
