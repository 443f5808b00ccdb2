package ops

import (
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A plan is what the calls of a terminal do, as far as it is the same in all of them: until
// left is 0, since then a handle may mean something else.
type plan struct {
	act     func(p *process, t *thread, q *plan, c *Call)
	pieces  []handles.OccurrenceGroup
	left    uint64
	out, in transfer
	place   int
	request int // parameter that gives the request; -1: none
	on      int // parameter that says who makes the call together; -1: none
	comm    *handles.Comm
	count   *uint64 // of its collective calls

	completion completion // of what completes requests
}

// A transfer is one direction of what a call moves.
type transfer struct {
	is     bool
	op     Operation
	tag    int // parameter, -1: none
	status int
}

// act finds out what a call does.
func (p *process) act(t *thread, c *Call) {
	q := &t.plans[c.Terminal]
	if q.left == 0 {
		p.prepare(t, q, c.Call)
	}
	q.left--
	c.Place = q.place
	if q.on >= 0 {
		p.meets(q, c)
	}
	if q.act != nil && c.Return == 0 {
		q.act(p, t, q, c)
	} else if c.Return == trace.NeverReturned {
		if p.s.o.Unfinished {
			p.underWay(t, q, c)
		}
	} else if c.Func.Has(trace.AttrCompletes) && c.Return == mpi.ErrInStatus {
		completes(p, t, q, c)
	}
	p.keep(t, q, c)
}

// prepare makes the plan for calls of a terminal from one on.
func (p *process) prepare(t *thread, q *plan, c *trace.Call) {
	if q.pieces == nil {
		q.pieces = p.x.GroupOccurrences(t.stream, c)
		q.place = p.s.place(c.Site)
		q.request, q.on = output(c, "request"), meetsOn(c)
		q.act = rule(c)
		if c.Func.Has(trace.AttrCompletes) {
			q.completion = completionOf(c)
		}
	}
	q.left = q.pieces[0].Count
	if len(q.pieces) > 1 {
		q.pieces = q.pieces[1:]
	}
	if q.on >= 0 && c.Params[q.on].Kind() == mpi.KindComm {
		q.count = nil
		q.comm = p.x.Comm(&c.Params[q.on].In, t.stream, c.Index)
	}
	if q.act != nil {
		q.out, q.in = p.transfers(c, t.stream, c.Index)
	}
}

// rule returns the function that passes on the acts of a call; nil if the call has none.
func rule(c *trace.Call) func(*process, *thread, *plan, *Call) {
	f := c.Func
	m := meaning.DataMovementOf(f.Name)
	switch {
	case f.Has(trace.AttrStarts):
		return starts
	case f.Has(trace.AttrCompletes):
		return completes
	case f.Has(trace.AttrCreatesWin):
		return makesWindow
	case f.Has(trace.AttrCreatesComm):
		return makesComm
	case m != nil && m.TakesEffectAtStart:
		return nil
	case HasAttr(f, mpi.AttrBarrier) && !f.Has(trace.AttrPersistent):
		return collective
	case m == nil:
		return rules[BaseName(f)]
	case m.Pattern == meaning.PatternToPeer || m.Pattern == meaning.PatternReceive:
		return messages
	case m.Pattern == meaning.PatternOneSided:
		return oneSided
	case m.Pattern == meaning.PatternFile:
		return fileTransfer
	}
	return collective
}

// rules are of functions that move no data.
var rules map[string]func(*process, *thread, *plan, *Call)

func init() {
	rules = map[string]func(*process, *thread, *plan, *Call){
		"Comm_free": freesComm, "Comm_disconnect": freesComm, "Probe": probes, "Mprobe": probes, "Improbe": probes,
		"Win_free": freesWindow, "Win_set_name": namesWindow, "Win_fence": fence, "Win_lock": locks, "Win_lock_all": locks, "Win_unlock": unlocks, "Win_unlock_all": unlocks,
		"Win_flush": flushes, "Win_flush_all": flushes, "Win_flush_local": flushes, "Win_flush_local_all": flushes, "Win_complete": completesGroup, "Win_post": opensToGroup, "Win_start": opensToGroup, "Win_wait": waitsForGroup, "Win_test": waitsForGroup,
		"Comm_group": makesGroup, "Comm_remote_group": makesGroup, "Win_get_group": makesGroup, "File_get_group": makesGroup,
		"Group_incl": makesGroup, "Group_excl": makesGroup, "Group_range_incl": makesGroup, "Group_range_excl": makesGroup, "Group_union": makesGroup,
		"Group_intersection": makesGroup, "Group_difference": makesGroup, "Group_free": freesGroup,
		"File_open": opensFile, "File_close": closesFile, "File_delete": deletesFile, "File_seek": seeks, "File_seek_shared": seeks, "File_set_view": views, "File_sync": syncs,
		"File_read_all_end": endsSplit, "File_read_at_all_end": endsSplit, "File_read_ordered_end": endsSplit,
		"File_write_all_end": endsSplit, "File_write_at_all_end": endsSplit, "File_write_ordered_end": endsSplit,
	}
}

// HasAttr reports whether calls of a function have an attribute, by the table of the standard.
func HasAttr(f *trace.Function, a mpi.Attr) bool {
	def, _ := mpi.Lookup(f.Name)
	return def.Has(a)
}

// IsPassiveTarget reports whether calls of a function synchronise with the memory of ranks that do nothing for it: locks, flushes
// and MPI_Win_sync.
func IsPassiveTarget(f *trace.Function) bool {
	base := BaseName(f)
	return strings.HasPrefix(base, "Win_flush") || base == "Win_sync" || strings.HasPrefix(base, "Win_lock") || strings.HasPrefix(base, "Win_unlock")
}

// IsLocal reports whether calls wait for no other rank, by what the standard says of their function: they are local, or
// transfer to or from a file by themselves.
func IsLocal(c *trace.Call) bool {
	m := meaning.DataMovementOf(c.Name())
	return HasAttr(c.Func, mpi.AttrLocal) || m != nil && m.Pattern == meaning.PatternFile && !c.Func.Has(trace.AttrCollective) || OnlyProcNull(c)
}

// AbandonsRequest reports whether calls of a function free or cancel a request before it has completed.
func AbandonsRequest(f *trace.Function) bool {
	base := BaseName(f)
	return base == "Cancel" || base == "Request_free"
}

// OperationOf returns which collective operation calls of a function are.
func OperationOf(f *trace.Function) meaning.Operation {
	def, _ := mpi.Lookup(f.Name)
	return meaning.OperationOf(def)
}

// BaseName returns a function's name without what says how it is called: "Bcast" of MPI_Bcast,
// MPI_Ibcast_c and MPI_Bcast_init.
func BaseName(f *trace.Function) string {
	name := strings.TrimSuffix(strings.TrimPrefix(f.Name, "MPI_"), "_c")
	if f.Has(trace.AttrPersistent) {
		name = strings.TrimSuffix(name, "_init")
	}
	if f.Has(trace.AttrNonblocking) && strings.HasPrefix(name, "I") && len(name) > 1 {
		name = strings.ToUpper(name[1:2]) + name[2:]
	}
	return name
}

func (c *Call) add(kind ActKind, op *Operation) { c.Acts = append(c.Acts, Act{kind, *op}) }

// input returns what a call passes for a parameter, nil if nothing.
func input(c *trace.Call, name string) *trace.Value {
	if p := c.Param(name); p != nil && p.In.Type != trace.TypeNone {
		return &p.In
	}
	return nil
}

func number(c *trace.Call, name string) int64 {
	if v := input(c, name); v != nil {
		return v.Num
	}
	return 0
}

// output returns which parameter of that name a call gives back, -1 if none.
func output(c *trace.Call, name string) int {
	for i := range c.Params {
		if c.Params[i].Name() == name && c.Params[i].Def.HasOut {
			return i
		}
	}
	return -1
}
