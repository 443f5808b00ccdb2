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

// A writer converts the calls of a rank to operations of the engine.
type writer struct {
	ops.NopSink
	s     *ProgramSource
	k     *trace.Rank
	yield func([]dataflow.Op, error) bool

	ops      []dataflow.Op
	site     int32            // index of the current call, for Op.CallIndex
	gone     uint64           // number of operations that were yielded and removed from ops
	requests map[uint64]int32 // by ID of a pending send, receive or collective: number of its request
	spare    []int32          // numbers of ended requests, for reuse
	made     int32            // number of different request numbers given so far
	// By ID: receives whose message was unknown for too long. The simulation begins them only at their end.
	late map[uint64]bool
	// By ID: receives whose message is still unknown. The value is the index of the receive's operation among all
	// operations of the rank.
	held map[uint64]uint64
	// IDs of the receives that were put into held, the oldest first; some may have left held since.
	order   []uint64
	bundles map[uint64][]int32 // by ID: the numbers of the requests, for an operation that has several
	groups  map[*handles.Comm]*commView
	comm    *handles.Comm // the communicator of the latest use, whose view is in ofComm: a cache
	ofComm  *commView
	call    dataflow.Collective // the collective that is being added, here to save allocations
	// Partitioned sends that were started, by ID of their persistent request in the trace.
	parted map[int64]*partitioned
	act    int           // index of the current act in its call
	acting int           // number of acts of the current call
	own    *handles.Rank // the rank's handles; nil: not read yet
	// By context of a communicator: number of nonblocking collectives that were decomposed, used as their tag.
	numbers map[int32]int64

	strand
	taken map[lockKey]int    // number of locks that the rank took so far; the key's own number is 0
	turns map[lockKey]*epoch // lock epochs that the rank has open; the key's own number is 0

	// By number of the file: extent of the view's filetype divided by its size; 1 for contiguous bytes.
	views    map[int]float64
	unsynced map[int]int64 // by number of the file: bytes that this rank has written since the last sync
	duration float64       // recorded duration of the current call, in ns
	thread   int32         // stream of the current call
	threads  *threads      // the rank's threads; nil: the rank has one thread
}

// errStopped ends the conversion of a rank's calls because nobody wants more operations.
var errStopped = errors.New("stopped")

const (
	inner = dataflow.ReservedRequestCount
	batch = 256     // least number of operations that are yielded together, except at the end
	most  = 1 << 14 // largest number of operations that wait for a receive whose message is still unknown
)

func (w *writer) Begin(k *trace.Rank) error {
	w.k = k
	if w.s.o.sizes {
		return nil
	}
	own, err := k.HasTimeOfEachCall()
	if err != nil || own && !w.s.o.UseMeanGaps && !w.s.o.UseMedianGaps {
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

// times returns the gap and the duration of a call at a leaf, in ns. enters means that a loop is entered there.
func times(x *reissue.LeafGaps, enters bool) (gap, duration float64) {
	if enters && x.Entries > 0 {
		return x.MeanEntryGapNs, x.MeanDurationNs
	}
	return x.MeanGapNs, x.MeanDurationNs
}

func (w *writer) add(o dataflow.Op) {
	o.CallIndex, o.Thread = w.site, w.thread
	w.ops = append(w.ops, o)
}

// local adds an operation that takes the given time and waits for no other rank.
func (w *writer) local(kind dataflow.OpKind, ps int64) {
	if ps > 0 {
		w.add(dataflow.Op{Kind: kind, TimePs: ps})
	}
}

// hand yields the operations before the first receive whose message is still unknown. It does so for a whole batch
// only, unless all is set; then it yields all operations.
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

// begin adds operation o with a new request, and remembers the request for end(id).
func (w *writer) begin(id uint64, o dataflow.Op) {
	o.Request = w.number()
	w.requests[id] = o.Request
	w.add(o)
}

// number returns the number for a new request, if possible one that is no longer in use.
func (w *writer) number() int32 {
	if n := len(w.spare); n > 0 && w.threads == nil {
		number := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return number
	}
	w.made++
	return inner + w.made - 1
}

// end adds the wait for the request that was begun under the ID. It returns false if no request was.
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

// receive returns the engine's operation for a receive whose message is known.
func (w *writer) receive(x *ops.Operation) dataflow.Op {
	return dataflow.Op{Kind: dataflow.OpReceive, Peer: int32(x.PeerWorldRank()), Context: context(x.Comm), Tag: x.Tag, Request: dataflow.NoRequest}
}

func (w *writer) send(x *ops.Operation) dataflow.Op {
	o := dataflow.Op{Kind: dataflow.OpSend, Peer: int32(x.PeerWorldRank()), Context: context(x.Comm), Tag: x.Tag, Bytes: int64(min(x.SentBytes, 1<<50)), Request: dataflow.NoRequest}
	f := w.s.function(x.StartedBy)
	o.IsSynchronous, o.IsBuffered = f.Call.Has(mpi.AttrSynchronous), f.Call.Has(mpi.AttrBuffered)
	return o
}

// post begins a receive. It returns false if the sender is unknown in the trace. A receive with a wildcard gets its
// sender and tag later, in got.
func (w *writer) post(x *ops.Operation) bool {
	if x.PeerInComm >= 0 && x.PeerWorldRank() < 0 {
		return false
	}
	if x.PeerInComm >= 0 && x.Tag >= 0 {
		w.begin(x.ID, w.receive(x))
		return true
	}
	w.held[x.ID] = w.gone + uint64(len(w.ops))
	w.order = append(w.order, x.ID)
	w.begin(x.ID, dataflow.Op{Kind: dataflow.OpReceive})
	return true
}

// got adds the wait for a receive, whose sender and tag are known now. It returns false if the receive was not begun.
func (w *writer) got(x *ops.Operation) bool {
	n, ok := w.requests[x.ID]
	if !ok {
		return false
	}
	o := w.receive(x)
	o.Request = n
	if x.PeerWorldRank() < 0 {
		w.cancel(x.ID)
		return false
	}
	if at, held := w.held[x.ID]; held {
		o.CallIndex, o.Thread = w.ops[at-w.gone].CallIndex, w.ops[at-w.gone].Thread
		w.ops[at-w.gone] = o
		delete(w.held, x.ID)
	} else if w.late[x.ID] {
		delete(w.late, x.ID)
		w.add(o)
	}
	return w.end(x.ID)
}

// cancel removes a pending receive or send, so that nothing waits for it.
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
