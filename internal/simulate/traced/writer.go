package traced

import (
	"errors"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A writer converts the calls of a rank to operations.
type writer struct {
	ops.NopSink
	s     *ProgramSource
	k     *trace.Rank
	yield func([]dataflow.Op, error) bool

	ops      []dataflow.Op
	site     int32              // index of the current call
	gone     uint64             // number of operations yielded before ops
	requests map[uint64]int32   // pending requests, by the operation's ID
	spare    []int32            // request numbers for reuse
	made     int32              // number of requests made
	late     map[uint64]bool    // by operation's ID: receives that the simulation begins only at their end, as their message became known too late
	held     map[uint64]uint64  // by operation's ID: receives whose message is still unknown, with the number of their operation among those yielded
	order    []uint64           // IDs of the receives in held, the oldest first
	bundles  map[uint64][]int32 // by operation's ID: the requests of an operation that has several
	groups   map[*handles.Comm]*commView
	comm     *handles.Comm // cache: the latest communicator, and its view
	ofComm   *commView
	call     dataflow.Collective    // the current collective
	parted   map[int64]*partitioned // partitioned sends that were started, by ID of their persistent request
	act      int                    // index of the current act in its call
	acting   int                    // number of the call's acts
	own      *handles.Rank          // nil: not read yet
	numbers  map[int32]int64        // by context: number of nonblocking collectives that were decomposed

	strand
	taken map[lockKey]int    // number of locks taken so far, by key with number 0
	turns map[lockKey]*epoch // open epochs of the rank, by key with number 0

	views    map[int]float64 // by file: how scattered the view's bytes are
	unsynced map[int]int64   // by file: bytes written since the last sync
	duration float64         // recorded duration of the current call
	thread   int32           // thread of the current call
	threads  *threads        // nil: the rank has one thread
}

// errStopped ends a rank whose operations are no longer wanted.
var errStopped = errors.New("stopped")

const (
	inner = dataflow.OwnRequests
	batch = 256     // operations yielded together
	most  = 1 << 14 // largest number of operations kept back because a receive's message is unknown
)

func (w *writer) Begin(k *trace.Rank) error {
	w.k = k
	if w.s.o.sizes {
		return nil
	}
	own, err := k.TimesKept()
	if err != nil || own && !w.s.o.MeanGaps && !w.s.o.MedianGaps {
		return err
	}
	for stream := range k.Streams() {
		if w.threads != nil {
			w.turn(stream)
		}
		if w.of, w.leaves, err = w.s.placesOf(k, stream); err != nil {
			return err
		}
		w.cursor = w.of.Cursor(k)
	}
	return nil
}

// times returns the gap before a call and its duration, in ns.
func (w *writer) times(c *ops.Call) (gap, duration float64) {
	if w.leaves == nil {
		return float64(c.Timing.Gap.Ns), float64(c.Timing.Duration.Ns)
	}
	i, loops, _ := w.cursor.Next()
	return times(&w.leaves[i], loops > 0)
}

// times returns the gap before a call at a place, in ns, and its duration.
func times(x *reissue.LeafGaps, enters bool) (gap, duration float64) {
	if enters && x.Entries > 0 {
		return x.EntryGap, x.Duration
	}
	return x.Gap, x.Duration
}

func (w *writer) add(o dataflow.Op) {
	o.Site, o.Thread = w.site, w.thread
	w.ops = append(w.ops, o)
}

// local adds a time that depends on no other rank.
func (w *writer) local(kind dataflow.OpKind, ps int64) {
	if ps > 0 {
		w.add(dataflow.Op{Kind: kind, TimePs: ps})
	}
}

// hand yields the complete operations: those before the first receive whose message is unknown.
func (w *writer) hand(all bool) error {
	for len(w.order) > 0 {
		at, ok := w.held[w.order[0]]
		if ok && !all && len(w.ops)-int(at-w.gone) <= most {
			break
		}
		if ok {
			w.ops[at-w.gone] = dataflow.Op{Thread: w.ops[at-w.gone].Thread}
			delete(w.held, w.order[0])
			w.late[w.order[0]] = true
		}
		w.order = w.order[1:]
	}
	n := len(w.ops)
	if len(w.order) > 0 {
		n = int(w.held[w.order[0]] - w.gone)
	}
	if n == 0 || n < batch && !all {
		return nil
	}
	if !w.yield(w.ops[:n], nil) {
		return errStopped
	}
	w.ops = append(w.ops[:0], w.ops[n:]...)
	w.gone += uint64(n)
	return nil
}

func (w *writer) End(*trace.Rank) error {
	if w.threads != nil {
		w.threads.end(w)
	}
	return w.hand(true)
}

// begin adds an operation with a new request, and stores the request under the operation's ID.
func (w *writer) begin(id uint64, o dataflow.Op) {
	o.Request = w.number()
	w.requests[id] = o.Request
	w.add(o)
}

// number returns a free request number.
func (w *writer) number() int32 {
	if n := len(w.spare); n > 0 && w.threads == nil {
		number := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return number
	}
	w.made++
	return inner + w.made - 1
}

// end adds the wait for the operation with an ID; false if it was not begun.
func (w *writer) end(id uint64) bool {
	if list, ok := w.bundles[id]; ok {
		delete(w.bundles, id)
		w.endAll(list)
		return true
	}
	n, ok := w.requests[id]
	if !ok {
		return false
	}
	delete(w.requests, id)
	w.spare = append(w.spare, n)
	w.add(dataflow.Op{Kind: dataflow.OpWait, Request: n})
	return true
}

// receive returns the operation of a receive whose message is known.
func (w *writer) receive(x *ops.Operation) dataflow.Op {
	return dataflow.Op{Kind: dataflow.OpReceive, Peer: int32(x.World()), Context: context(x.Comm), Tag: x.Tag, Request: dataflow.NoRequest}
}

func (w *writer) send(x *ops.Operation) dataflow.Op {
	o := dataflow.Op{Kind: dataflow.OpSend, Peer: int32(x.World()), Context: context(x.Comm), Tag: x.Tag, Bytes: int64(min(x.SentBytes, 1<<50)), Request: dataflow.NoRequest}
	f := w.s.function(x.StartedBy)
	o.IsSynchronous, o.IsBuffered = f.Call.Has(mpi.AttrSynchronous), f.Call.Has(mpi.AttrBuffered)
	return o
}

// post begins a receive; false if the sender is not known to the simulation. A wildcard receive gets its message
// later.
func (w *writer) post(x *ops.Operation) bool {
	if x.Peer >= 0 && x.World() < 0 {
		return false
	}
	if x.Peer >= 0 && x.Tag >= 0 {
		w.begin(x.ID, w.receive(x))
		return true
	}
	w.held[x.ID] = w.gone + uint64(len(w.ops))
	w.order = append(w.order, x.ID)
	w.begin(x.ID, dataflow.Op{Kind: dataflow.OpReceive})
	return true
}

// got adds the wait for a receive, whose message is known by now; false if it was not begun.
func (w *writer) got(x *ops.Operation) bool {
	n, ok := w.requests[x.ID]
	if !ok {
		return false
	}
	o := w.receive(x)
	o.Request = n
	if x.World() < 0 {
		w.cancel(x.ID)
		return false
	}
	if at, held := w.held[x.ID]; held {
		o.Site, o.Thread = w.ops[at-w.gone].Site, w.ops[at-w.gone].Thread
		w.ops[at-w.gone] = o
		delete(w.held, x.ID)
	} else if w.late[x.ID] {
		delete(w.late, x.ID)
		w.add(o)
	}
	return w.end(x.ID)
}

// cancel ends a cancelled receive or send.
func (w *writer) cancel(id uint64) {
	if at, held := w.held[id]; held {
		w.ops[at-w.gone] = dataflow.Op{Thread: w.ops[at-w.gone].Thread}
		delete(w.held, id)
	}
	if n, ok := w.requests[id]; ok {
		delete(w.requests, id)
		w.spare = append(w.spare, n)
	}
}
