package otf2

import (
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/mpi"
)

// An outcome is the operation that a request turned out to be when it completed.
type outcome struct {
	kind       uint8 // id of the record that completed it; 0: not completed
	peer       int64
	comm       uint32
	tag        int64
	root       uint64
	sent, recv uint64
}

// outcomes numbers distinct outcomes; number 0 means unknown.
type outcomes struct {
	number map[outcome]uint32
	list   []outcome
}

func (o *outcomes) of(x outcome) uint32 {
	n, fresh := once.NumberOf(o.number, x)
	if fresh {
		o.list = append(o.list, x)
	}
	return n
}

// outcomeOf returns the outcome in a completing record.
func outcomeOf(e *Event) outcome {
	v := &e.Values
	if e.ID == EvMpiIrecv {
		return outcome{kind: e.ID, peer: int64(v[0]), comm: uint32(v[1]), tag: int64(uint32(v[2])), recv: v[3]}
	}
	return outcome{kind: e.ID, comm: uint32(v[1]), root: v[2], sent: v[3], recv: v[4]}
}

// A scanner reads a rank's events in a first pass, for what later events show about earlier calls.
type scanner struct {
	w    *world
	k    *rank
	all  *outcomes
	open map[uint64]begun // by id of a request: its operation
	// Outcomes of operations whose begin, on another thread, is read later.
	early map[uint64]outcome

	thread int
	events *EventReader
	inside []*mpi.Call // functions of the open regions, outermost first; nil for functions that aren't MPI's
}

// A begun identifies an operation with a request: by its thread, and its index in rank.begun of that thread.
type begun struct{ thread, at int }

// scanned is the scanner's action for each kind of event.
var scanned = [256]func(*scanner, *Event){
	EvMeasurementOnOff:    (*scanner).onOff,
	EvEnter:               (*scanner).enter,
	EvCallingContextEnter: (*scanner).enter,
	EvLeave:               (*scanner).leave,
	EvCallingContextLeave: (*scanner).leave,
	EvMpiIrecvRequest:     (*scanner).begin,
	EvCollectiveRequest:   (*scanner).begin,
	EvMpiIrecv:            (*scanner).complete,
	EvCollectiveComplete:  (*scanner).complete,
	EvProgramBegin:        (*scanner).programBegin,
	EvCommCreate:          (*scanner).commCreate,
}

func (w *world) scan(k *rank, all *outcomes) error {
	x := &scanner{w: w, k: k, all: all, open: make(map[uint64]begun), early: make(map[uint64]outcome)}
	k.first = math.MaxUint64
	k.begun = make([][]uint32, len(k.threads))
	k.off = make([]bool, len(k.threads))
	for thread, location := range k.threads {
		if err := x.scanThread(thread, location); err != nil {
			return err
		}
	}
	return nil
}

func (x *scanner) scanThread(thread int, location uint64) (err error) {
	if x.events, err = x.w.a.Events(location); err != nil {
		return err
	}
	defer x.events.Close()
	x.thread, x.inside = thread, make([]*mpi.Call, 0, 8)
	for x.events.Next() {
		e := &x.events.Event
		row := &rows[e.ID]
		if row.alone && !slices.ContainsFunc(x.inside, func(c *mpi.Call) bool { return c != nil }) {
			x.call(e.TimeTicks)
		}
		if row.uses != nil {
			x.k.use(row.uses(x.w, e))
		}
		x.k.ends = x.k.ends || row.ends
		if at := scanned[e.ID]; at != nil {
			at(x, e)
		}
	}
	return x.events.Err()
}

// call counts a call that begins.
func (x *scanner) call(time uint64) {
	x.k.first, x.k.last = min(x.k.first, time), max(x.k.last, time)
	x.k.calls++
}

func (x *scanner) onOff(e *Event) { x.k.off[x.thread] = e.Values[0] == MeasurementOff }

func (x *scanner) enter(e *Event) {
	c := x.w.regions[x.w.region(e)]
	if x.inside = append(x.inside, c); c == nil {
		return
	}
	x.call(e.TimeTicks)
	x.k.begins = x.k.begins || c.Has(mpi.AttrInitialises)
	x.k.finished = x.k.finished || c.Has(mpi.AttrFinalises)
	if c.Has(mpi.AttrCreatesComm) {
		x.k.makers = append(x.k.makers, commCreation{c, UndefinedRef})
	}
}

func (x *scanner) leave(e *Event) {
	x.k.last = max(x.k.last, e.TimeTicks)
	if i := lastIndex(x.inside, func(c *mpi.Call) bool { return c == x.w.regions[x.w.region(e)] }); i >= 0 {
		x.inside = slices.Delete(x.inside, i, i+1)
	}
}

// begin notes that an operation with a request begins; its outcome may be known already, from another thread.
func (x *scanner) begin(e *Event) {
	id := e.Values[0]
	n := uint32(0)
	if o, ok := x.early[id]; ok {
		n = x.all.of(o)
		delete(x.early, id)
	} else {
		x.open[id] = begun{x.thread, len(x.k.begun[x.thread])}
	}
	x.k.begun[x.thread] = append(x.k.begun[x.thread], n)
}

func (x *scanner) complete(e *Event) {
	id := e.Values[4]
	if e.ID == EvCollectiveComplete {
		id = e.Values[5]
	}
	if p, ok := x.open[id]; ok {
		x.k.begun[p.thread][p.at] = x.all.of(outcomeOf(e))
		delete(x.open, id)
	} else {
		x.early[id] = outcomeOf(e)
	}
}

func (x *scanner) programBegin(*Event) {
	if x.w.command != "" {
		return
	}
	words := make([]string, len(x.events.ProgramStringRefs))
	for i, s := range x.events.ProgramStringRefs {
		words[i] = x.w.a.String(s)
	}
	x.w.command = show.QuoteCommand(words)
}

// commCreate sets the communicator that the surrounding call made.
func (x *scanner) commCreate(e *Event) {
	if n := len(x.k.makers); n > 0 && len(x.inside) > 0 && x.inside[len(x.inside)-1] == x.k.makers[n-1].call {
		x.k.makers[n-1].comm = uint32(e.Values[0])
	}
}

// lastIndex returns the index of the innermost element for which is holds; -1: none. Some tools leave functions in a
// different order.
func lastIndex[F any](stack []F, is func(F) bool) int {
	for i, f := range slices.Backward(stack) {
		if is(f) {
			return i
		}
	}
	return -1
}

func (k *rank) use(comm uint32) {
	if comm == UndefinedRef {
		return
	}
	if _, ok := k.used[comm]; !ok {
		k.used[comm] = len(k.uses)
		k.uses = append(k.uses, use{comm, len(k.makers)})
	}
}

// region is the region that an event enters or leaves.
func (w *world) region(e *Event) uint32 {
	id := uint32(e.Values[0])
	if e.ID == EvCallingContextEnter || e.ID == EvCallingContextLeave {
		return w.a.CallingContexts[id].Region
	}
	return id
}

// scanAll scans the events of all ranks.
func (w *world) scanAll(progress func()) (*outcomes, error) {
	all := &outcomes{map[outcome]uint32{{}: 0}, []outcome{{}}}
	for _, k := range w.ranks {
		if err := w.scan(k, all); err != nil {
			return nil, fmt.Errorf("rank %d: %w", k.number, err)
		}
		progress()
	}
	w.first = math.MaxUint64
	for _, k := range w.ranks {
		w.bounds = w.bounds || k.begins || k.finished
		if k.calls > 0 {
			w.first = min(w.first, k.first)
		}
	}
	for _, k := range w.ranks {
		if k.calls == 0 {
			k.first, k.last = w.first, w.first
		}
	}
	if w.first == math.MaxUint64 {
		return nil, fmt.Errorf("%s: no call of MPI in any rank's events", w.a.Path)
	}
	return all, nil
}
