// Package handles tells what the handles that a call passes stand for at its position: how
// large the datatype is, which communicator it is and who its members and neighbours are, which
// communicator a window or file spans, which call made the persistent request that is started.
// Bounds tell what a handle stands for at most, for those to whom the position doesn't matter.
//
// A rank's name for an object is the lowest free number of its kind, so that
// the same number may mean one thing early and another late. Mostly it does
// not, and then what a terminal means follows from the terminal alone; where
// it does, GroupOccurrences splits the terminal's occurrences by the positions at which
// the meaning changes. Nothing is expanded either way.
//
// One walk, over the calls of a rank that make objects, finds all of this: a Rank is what it
// finds on one, Comms is what it finds on all of them, for which ranks have the same
// communicator takes all to find out. What ranks of a class have in common is found once.
//
// A thread's calls say nothing of when another's were. Which object a thread has from another one is said by handovers,
// which recorders note in the order of time; Turns are the order of calls that follows. In traces without, an object
// that a thread did not make itself is the last one that another made under that number.
//
// The package does not name handles (internal/record/symbol does, while recording).
package handles

import (
	"iter"
	"slices"
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A kind is a kind of object that handles refer to.
type kind uint8

const (
	datatype kind = iota
	window
	request // only persistent requests
	comm
	file
	kinds
)

var mpiKinds = [kinds]mpi.Kind{mpi.KindDatatype, mpi.KindWin, mpi.KindRequest, mpi.KindComm, mpi.KindFile}

// kindOf returns the kind of the objects whose handles a parameter passes; false if that isn't one of the kinds above.
func kindOf(p *trace.Param) (kind, bool) {
	i := slices.Index(mpiKinds[:], p.Kind())
	return kind(i), i >= 0
}

type key struct {
	kind kind
	id   int64
}

// A Table determines which objects the handles of a trace mean. It caches what its ranks share.
type Table struct {
	r      *trace.Reader
	comms  func() (*Comms, error)
	graphs func() (map[*Comm]*graph, error)

	mu      sync.Mutex
	classes map[int]*class
}

// A class caches what is the same for all ranks of a class.
type class struct {
	makers  []creator
	setters map[int]*setter // by terminal: its function, if that sets an object's name
	uniform bool
	counts  [][]uint64 // by stream, then by terminal: number of calls; nil unless the class is uniform

	mu     sync.Mutex                            // protects the following fields, which are used for uniform classes only
	places map[streamTerminal]*trace.Occurrences // positions of single terminals
	rare   map[int]*rarities
	sought []extent // by creator: which of its calls are in found, the result of the last search
	found  [][]making
}

// A creator is a terminal whose calls may create objects of one kind.
type creator struct {
	terminal int
	of       kind
}

// A streamTerminal is the number of a stream and that of a terminal in it.
type streamTerminal struct{ stream, terminal int }

type tableKey struct{}

// TableOf returns the table of a trace, which all callers share.
func TableOf(r *trace.Reader) *Table {
	return r.Memoize(tableKey{}, func() any { return newTable(r) }).(*Table)
}

func newTable(r *trace.Reader) *Table {
	t := &Table{r: r, classes: make(map[int]*class)}
	t.comms = sync.OnceValues(t.findComms)
	t.graphs = sync.OnceValues(t.findGraphs)
	return t
}

// Comms returns the communicators of the trace, computed at the first use.
func (t *Table) Comms() (*Comms, error) { return t.comms() }

func (t *Table) class(k *trace.Rank) *class {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.classes[k.Class()]; c != nil {
		return c
	}
	c := &class{setters: make(map[int]*setter), places: make(map[streamTerminal]*trace.Occurrences), rare: make(map[int]*rarities)}
	for n := range k.Terminals() {
		call := k.CallWithoutParams(n)
		if of, ok := makerOf(call.Func); ok {
			c.makers = append(c.makers, creator{n, of})
		}
		if s := setters[call.Func.Name]; s != nil {
			c.setters[n] = s
		}
	}
	if c.uniform = k.ClassHasEqualCounts(); c.uniform {
		c.counts = countsOf(k)
	}
	t.classes[k.Class()] = c
	return c
}

// ranks yields the ranks of the classes for which wanted returns true, in order. Of other classes it reads one rank at
// most. It ends after an error.
func (t *Table) ranks(wanted func(*class) bool) iter.Seq2[*trace.Rank, error] {
	return func(yield func(*trace.Rank, error) bool) {
		out := make(map[int]bool)
		for rank := range t.r.Ranks() {
			n := t.r.ClassOf(rank)
			if n < 0 || out[n] {
				continue
			}
			k, err := t.r.Rank(rank)
			if err == nil && !wanted(t.class(k)) {
				out[n] = true
				continue
			}
			if !yield(k, err) || err != nil {
				return
			}
		}
	}
}

func countsOf(k *trace.Rank) [][]uint64 {
	counts := make([][]uint64, k.Streams())
	for s := range counts {
		counts[s] = k.TerminalCounts(s)
	}
	return counts
}

// makerOf returns the kind of objects that a function creates.
func makerOf(f *trace.Function) (of kind, ok bool) {
	switch {
	case f.Has(trace.AttrCreatesType):
		of = datatype
	case f.Has(trace.AttrCreatesWin):
		of = window
	case f.Has(trace.AttrCreatesComm):
		of = comm
	case f.Has(trace.AttrPersistent):
		of = request
	case f.Has(trace.AttrCollective):
		of = file
	default:
		return 0, false
	}
	return of, slices.ContainsFunc(f.Params, func(p trace.ParamDef) bool { return p.HasOut && p.Kind == mpiKinds[of] })
}

// makes returns the object that a call creates; false if it creates none.
func makes(of kind, c *trace.Call) (key, bool) {
	if of == datatype && c.NewType == nil || of == comm && c.NewComm == nil {
		return key{}, false
	}
	for i := range c.Params {
		if p := &c.Params[i]; p.Kind() == mpiKinds[of] {
			if id, ok := own(of, &p.Out); ok {
				return key{of, id}, true
			}
		}
	}
	return key{}, false
}

// own returns the number of the object of a kind that a value is a handle of. It returns false unless the program
// created the object.
func own(of kind, v *trace.Value) (int64, bool) {
	if of == request {
		return v.RequestID, v.Type == trace.TypeRequest && v.RequestForm == trace.RequestPersistent
	}
	return v.Num, v.Type == trace.TypeHandle && v.Num >= trace.FirstCreatedHandle
}

// uses calls visit for each object that a call gets as an input, if the program created it. Of requests, it visits only
// persistent ones that the call starts.
func uses(c *trace.Call, visit func(key)) {
	for i := range c.Params {
		p := &c.Params[i]
		of, ok := kindOf(p)
		if !ok || of == request && !c.Func.Has(trace.AttrStarts) {
			continue
		}
		if id, ok := own(of, &p.In); ok {
			visit(key{of, id})
		}
		for j := range p.In.Elems {
			if id, ok := own(of, &p.In.Elems[j]); ok {
				visit(key{of, id})
			}
		}
	}
}
