package ops

import (
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A plan is what the calls of a terminal have in common. left is the number of further calls for which it is valid:
// after them a handle may have another meaning.
type plan struct {
	act     func(p *process, t *thread, q *plan, c *Call)
	pieces  []handles.OccurrenceGroup
	left    uint64
	out, in transfer
	place   int
	request int // index of the parameter that returns the request; -1: none
	on      int // index of the parameter that identifies the members of a collective call; -1: not collective
	comm    *handles.Comm
	count   *uint64 // counter of the collective calls with these members

	completion completion // for calls that complete requests
}

// A transfer is one direction of what a call moves.
type transfer struct {
	is     bool
	op     Operation
	tag    int // index of the parameter with the tag; -1: none
	status int
}

// act determines the acts of a call.
func (p *process) act(t *thread, c *Call) {
	q := &t.plans[c.Terminal]
	if q.left == 0 {
		p.prepare(t, q, c.Call)
	}
	q.left--
	c.SiteIndex = q.place
	if q.on >= 0 {
		p.meets(q, c)
	}
	if q.act != nil && c.Return == 0 {
		q.act(p, t, q, c)
	} else if c.Return == trace.ReturnCodeNeverReturned {
		if p.s.o.PassUnfinished {
			p.underWay(t, q, c)
		}
	} else if c.Func.Has(trace.AttrCompletes) && c.Return == mpi.ErrInStatus {
		completes(p, t, q, c)
	}
	p.keep(t, q, c)
}

// prepare makes the plan for the calls of a terminal from c on.
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

// rule returns the function that passes the acts of a call; nil if it has no acts.
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

// rules are for functions that move no data, by name.
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
	def, _ := mpi.CallNamed(f.Name)
	return def.Has(a)
}

// IsPassiveTarget reports whether a function is for passive target synchronisation: locks, flushes and MPI_Win_sync.
func IsPassiveTarget(f *trace.Function) bool {
	base := BaseName(f)
	return strings.HasPrefix(base, "Win_flush") || base == "Win_sync" || strings.HasPrefix(base, "Win_lock") || strings.HasPrefix(base, "Win_unlock")
}

// IsLocal reports whether a call never waits for another rank, according to the standard: it is local, or an
// independent I/O operation.
func IsLocal(c *trace.Call) bool {
	m := meaning.DataMovementOf(c.Name())
	return HasAttr(c.Func, mpi.AttrLocal) || m != nil && m.Pattern == meaning.PatternFile && !c.Func.Has(trace.AttrCollective) || OnlyProcNull(c)
}

// AbandonsRequest reports whether a function frees or cancels requests that may be incomplete.
func AbandonsRequest(f *trace.Function) bool {
	base := BaseName(f)
	return base == "Cancel" || base == "Request_free"
}

// CollectiveOperationOf returns which collective operation calls of a function are.
func CollectiveOperationOf(f *trace.Function) meaning.CollectiveOperation {
	def, _ := mpi.CallNamed(f.Name)
	return meaning.CollectiveOperationOf(def)
}

// BaseName returns a function's name without prefixes and suffixes for its variants: "Bcast" for MPI_Bcast,
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

// input returns a parameter's input value; nil if it has none.
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

// output returns the index of the output parameter of that name; -1 if no parameter matches.
func output(c *trace.Call, name string) int {
	for i := range c.Params {
		if c.Params[i].Name() == name && c.Params[i].Def.HasOut {
			return i
		}
	}
	return -1
}
