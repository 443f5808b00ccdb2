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

// A writer takes the calls of a rank and hands on what they do.
type writer struct {
	ops.NopSink
	s     *ProgramSource
	k     *trace.Rank
	yield func([]dataflow.Op, error) bool

	ops      []dataflow.Op
	site     int32              // the call
	gone     uint64             // how many were handed on before these
	requests map[uint64]int32   // of what was begun, by the operation's ID
	spare    []int32            // requests that are free again
	made     int32              // requests
	late     map[uint64]bool    // receives that begin when they end, as it took too long until that was known
	held     map[uint64]uint64  // receives whose message is still unknown: which operation they are
	order    []uint64           // these by ID, the oldest first
	bundles  map[uint64][]int32 // of operations that have several
	groups   map[*handles.Comm]*commView
	comm     *handles.Comm // that was asked for last, and what is known of it
	ofComm   *commView
	call     dataflow.Collective    // the collective at hand
	parted   map[int64]*partitioned // by persistent request
	act      int                    // which of a call's acts is looked at
	acting   int                    // of this many
	own      *handles.Rank          // nil: not asked for yet
	numbers  map[int32]int64        // of collectives with a request that were taken apart, by context

	strand
	taken map[lockKey]int    // locks so far, number left out
	turns map[lockKey]*epoch // in which the rank is

	views    map[int]float64 // by file, how far its bytes lie apart
	unsynced map[int]int64   // bytes written
	duration float64         // of the call at hand, as it was
	thread   int32           // whose it is
	threads  *threads        // nil: there is one
}

// errStopped ends a rank that nobody wants to know more of.
var errStopped = errors.New("stopped")

const (
	inner = dataflow.OwnRequests
	batch = 256     // operations that are handed on together
	most  = 1 << 14 // operations that wait for what a receive gets
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

// local adds time that follows from nothing else.
func (w *writer) local(kind dataflow.OpKind, ps int64) {
	if ps > 0 {
		w.add(dataflow.Op{Kind: kind, TimePs: ps})
	}
}

// hand yields the operations that are complete: none from the first receive on whose message is unknown.
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

// begin gives an operation a request.
func (w *writer) begin(id uint64, o dataflow.Op) {
	o.Request = w.number()
	w.requests[id] = o.Request
	w.add(o)
}

// number is that of a request that is free.
func (w *writer) number() int32 {
	if n := len(w.spare); n > 0 && w.threads == nil {
		number := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return number
	}
	w.made++
	return inner + w.made - 1
}

// end waits for an operation; false if it was not begun.
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

// receive is the operation that gets a message which is known.
func (w *writer) receive(x *ops.Operation) dataflow.Op {
	return dataflow.Op{Kind: dataflow.OpReceive, Peer: int32(x.World()), Context: context(x.Comm), Tag: x.Tag, Request: dataflow.NoRequest}
}

func (w *writer) send(x *ops.Operation) dataflow.Op {
	o := dataflow.Op{Kind: dataflow.OpSend, Peer: int32(x.World()), Context: context(x.Comm), Tag: x.Tag, Bytes: int64(min(x.SentBytes, 1<<50)), Request: dataflow.NoRequest}
	f := w.s.function(x.StartedBy)
	o.IsSynchronous, o.IsBuffered = f.Call.Has(mpi.AttrSynchronous), f.Call.Has(mpi.AttrBuffered)
	return o
}

// post begins a receive; false if nobody knows the rank that it is to get something from. Of
// one from any rank or with any tag it turns out later what it gets.
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

// got ends a receive; false if it was not begun.
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

// cancel ends a receive that got nothing, or a send that nobody got.
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
