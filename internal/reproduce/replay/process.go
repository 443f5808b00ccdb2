// Package replay re-issues the MPI calls of one rank of a trace. It turns each
// recorded call into words for a C function and keeps the handles, requests and
// memory that the recorded names stand for. It waits for the time that the
// program computed, and sees to it that calls end as they did.
//
// It is not an MPI program: it makes calls through a Host, which in the replayer
// is the MPI and in tests a fake. It doesn't start ranks, and it expands no
// trace: calls are made as the grammar yields them.
//
// Invariants:
//
//  1. A call's words MUST follow from the trace and this process's tables alone,
//     never from what messages contained: contents are not recorded.
//  2. What a handle or address of the trace means is looked up at the call, so
//     that memory is bounded by what is alive.
//  3. A call that could end in several ways MUST be told which way it went, or
//     else the calls behind it no longer fit.
package replay

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// Options control a replay.
type Options struct {
	Speed       float64 `json:"speed,omitempty"`      // factor of computation speed: 2 halves the gaps
	NoCompute   bool    `json:"no_compute,omitempty"` // leave out all gaps
	Pace        Pace    `json:"pace,omitempty"`       // "": PaceOriginalTimes if Speed is 1, else PaceGaps
	FilesFolder string  `json:"files,omitempty"`      // directory for the files that calls open; "": files of MPI-IO keep their paths

	// Windows of recorded addresses for which memory is reserved.
	Windows []reissue.AddressWindow `json:"windows,omitempty"`
	// Where to stop if the program did not finish; nil if it did.
	StreamEnds reissue.StreamEnds `json:"ends,omitempty"`
	Order      *EventOrder        `json:"-"` // the rank's event order, from which receives are derived; nil: receives are the trace's
}

// A Process replays one rank.
type Process struct {
	host    MPIHost
	o       Options
	flavour mpi.Flavour
	unseen  bool // no call of the trace initialises MPI
	unended bool // a call initialises MPI but none finalizes it: an imported trace may lack its end
	foreign bool // the trace was made under an MPI of another flavour
	layout  *mpi.Layout
	trace   *trace.Reader
	rank    *trace.Rank

	mu      sync.Mutex        // guards the fields below, and what streams share
	changed *sync.Cond        // signalled when handles or requests are made, or a stream ends
	handles [256]*handleTable // by mpi.Kind
	// This run's values of attribute keys, error codes and other numbers that the MPI chooses.
	numbers    map[numberKey]int64
	segments   *segments
	allocs     *allocs // allocation events of segments
	relocation *relocation
	blocks     blocks
	plans      map[*trace.Function]*callPlan
	own        *Call // for calls that aren't in the trace
	// By the trace's number of a file handle: path of the file that MPI_File_open created.
	created map[int64]string
	streams []*Stream
	turns   [][]handles.ThreadDependency // dependencies between threads; nil: none known

	started chan struct{} // closed when MPI is initialised, or never will be
	origin  int64         // when MPI was initialised, on the host's clock
	began   int64         // when the original initialised MPI, on the trace's time line
	failed  atomic.Pointer[error]
}

type numberKey struct {
	what   string
	number int64
}

// NewProcess prepares the replay of a rank under an MPI.
func NewProcess(r *trace.Reader, k *trace.Rank, h MPIHost, f mpi.Flavour, o Options) (*Process, error) {
	need, err := reissue.ResourcePlanOf(r, k)
	if err != nil {
		return nil, err
	}
	alloc, err := newAllocs(k)
	if err != nil {
		return nil, err
	}
	memory, err := newSegments(need, mpi.LayoutOf(f), uint64(k.Number()), h, alloc)
	if err != nil {
		return nil, err
	}
	if o.Speed <= 0 {
		o.Speed = 1
	}
	move, err := newRelocation(o.Windows, h)
	if err != nil {
		return nil, err
	}
	p := &Process{
		relocation: move, allocs: alloc, foreign: reissue.TargetMPI{Flavour: f.String()}.IsForeignTo(r.Meta()[trace.MetaMPIFlavour]),
		host: h, o: o, flavour: f, layout: mpi.LayoutOf(f), trace: r, rank: k,
		numbers:  make(map[numberKey]int64),
		segments: memory, plans: make(map[*trace.Function]*callPlan), created: make(map[int64]string),
		blocks: blocks{alloc: h.Alloc}, started: make(chan struct{}),
	}
	own, err := h.Alloc(cellBlock) // C keeps no pointer into Go's heap
	if err != nil {
		return nil, err
	}
	p.own, p.changed = (*Call)(pointer(own)), sync.NewCond(&p.mu)
	if err := p.beginFiles(); err != nil {
		return nil, err
	}
	for _, kind := range mpi.Kinds() {
		if kind.IsHandle() || kind.IsTool() {
			p.handles[kind] = newHandles(kind, f, k.Streams(), h.SymbolAddress)
		}
	}
	turns, err := handles.ThreadDependencies(k)
	if err != nil {
		return nil, err
	}
	nested, err := handles.FreesWithCallbackUses(k)
	if err != nil {
		return nil, err
	}
	for i := range k.Streams() {
		s, err := newStream(p, i)
		if err != nil {
			return nil, err
		}
		if nested != nil {
			s.nested = nested[i]
		}
		if s.turns = turns[i]; len(s.turns) > 0 {
			p.turns = turns
		}
		p.streams = append(p.streams, s)
	}
	return p, nil
}

// LacksInitCall reports whether no call of the rank initialises MPI: the recorder started later, or an import lacks the
// call. The host must then initialise MPI before streams run; they finalize it if no call does.
func (p *Process) LacksInitCall() (bool, error) {
	calls, err := p.rank.DistinctCalls()
	has := func(is func(def *mpi.Call) bool) bool {
		return slices.ContainsFunc(calls, func(c *trace.Call) bool { def, ok := mpi.CallNamed(c.Name()); return ok && is(def) })
	}
	begins := has(func(def *mpi.Call) bool { return def.Has(mpi.AttrInitialises) })
	p.unseen = err == nil && len(calls) > 0 && !begins && !has(func(def *mpi.Call) bool { return def.Name == "MPI_Session_init" })
	p.unended = begins && !has(func(def *mpi.Call) bool { return def.Has(mpi.AttrFinalises) })
	return p.unseen, err
}

// Streams returns the threads to replay. The first one initialises MPI.
func (p *Process) Streams() []*Stream { return p.streams }

// A callPlan is what all calls of a function share.
type callPlan struct {
	call     *mpi.Call
	address  uint64
	through  uint64 // for functions on files: address of the C function that calls them
	params   []argument
	keeps    bool // arrays that a call reads must stay until its request completes
	starts   bool // other threads may call MPI after such a call
	directed bool // the outcome of a call may have to be forced
	waits    meaning.WaitBehaviour
}

// An argument is one parameter of the function of a callPlan.
type argument struct {
	def   *mpi.Param
	index int // index in trace.Call.Params; -1: the trace lacks the parameter
	width int // bytes of one element
	table *mpi.NumberTable
}

// plan returns the plan of a function, made at first use. The process is locked.
func (p *Process) plan(f *trace.Function) (*callPlan, error) {
	if q := p.plans[f]; q != nil {
		return q, nil
	}
	call, ok := mpi.CallNamed(f.Name)
	if !ok {
		return nil, fmt.Errorf("no function %s is known", f.Name)
	}
	q := &callPlan{call: call, address: p.host.FunctionAddress(f.Name), directed: HasForcedOutcome(f.Name), waits: meaning.WaitBehaviourOf(call)}
	if q.address == 0 {
		return nil, fmt.Errorf("this MPI has no %s", f.Name)
	}
	if call.Has(mpi.AttrPosix) {
		if q.through = p.host.FunctionAddress(filesCall); q.through == 0 {
			return nil, fmt.Errorf("the replayer has no %s", filesCall)
		}
	}
	q.starts = call.Has(mpi.AttrInitialises) || f.Name == "MPI_Session_init"
	q.keeps = call.Has(mpi.AttrNonblocking) || call.Has(mpi.AttrPersistent)
	at := 0
	for i := range call.Params {
		d := &call.Params[i]
		if d.LargeOnly && !call.Large {
			continue
		}
		s := argument{def: d, index: -1, width: p.widthOf(call, d)}
		if d.Kind.ValueForm() != mpi.ValueFormNone || d.Kind == mpi.KindArgc || d.Kind == mpi.KindArgv {
			for ; at < len(f.Params); at++ {
				if f.Params[at].Name == d.Name {
					s.index = at
					break
				}
			}
			if s.index < 0 {
				at = 0
			}
		}
		if d.Kind.ValueForm() == mpi.ValueFormInt {
			s.table = mpi.NumberTableOf(p.flavour, d.Kind)
		}
		q.params = append(q.params, s)
	}
	if len(q.params) > CallWords {
		return nil, fmt.Errorf("%s has %d parameters", f.Name, len(q.params))
	}
	p.plans[f] = q
	return q, nil
}

func (p *Process) widthOf(call *mpi.Call, d *mpi.Param) int {
	switch w := call.Width(d); w {
	case mpi.Width32:
		return 4
	case mpi.WidthHandle:
		return p.layout.HandleSize(d.Kind)
	}
	return 8
}

// invoke makes a call that isn't in the trace, in memory c, when it is due on the host's clock.
func (p *Process) invoke(c *Call, name string, due int64, words ...uint64) (uint64, error) {
	*c = Call{FunctionAddress: p.host.FunctionAddress(name), NotBeforeNs: due}
	if c.FunctionAddress == 0 {
		return 0, fmt.Errorf("this MPI has no %s", name)
	}
	copy(c.Words[:], words)
	p.host.MakeCall(c)
	return c.Result, nil
}

// ask makes a call that isn't in the trace, at once. The process is locked, or no other thread makes calls.
func (p *Process) ask(name string, words ...uint64) (uint64, error) {
	return p.invoke(p.own, name, 0, words...)
}

// fail keeps the first error and wakes threads that wait for others.
func (p *Process) fail(err error) {
	p.failed.CompareAndSwap(nil, &err)
	p.mu.Lock()
	p.changed.Broadcast()
	p.mu.Unlock()
}

// Err returns why the replay ended early; nil if it did not.
func (p *Process) Err() error {
	if e := p.failed.Load(); e != nil {
		return *e
	}
	return nil
}
