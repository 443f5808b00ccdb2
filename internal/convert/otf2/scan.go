package otf2

import (
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/mpi"
)

// An outcome is what an operation with a request turned out to be when it was completed.
type outcome struct {
	kind       uint8 // the record that completed it; 0: none did
	peer       int64
	comm       uint32
	tag        int64
	root       uint64
	sent, recv uint64
}

// outcomes numbers them; number 0 is that nothing is known.
type outcomes struct {
	number map[outcome]uint32
	list   []outcome
}

func (o *outcomes) of(x outcome) uint32 {
	n, fresh := once.Number(o.number, x)
	if fresh {
		o.list = append(o.list, x)
	}
	return n
}

// outcomeOf is what a record says that completes an operation.
func outcomeOf(e *Event) outcome {
	v := &e.Values
	if e.ID == EvMpiIrecv {
		return outcome{kind: e.ID, peer: int64(v[0]), comm: uint32(v[1]), tag: int64(uint32(v[2])), recv: v[3]}
	}
	return outcome{kind: e.ID, comm: uint32(v[1]), root: v[2], sent: v[3], recv: v[4]}
}

// scan goes through the events of a rank for what later calls say of earlier ones.
func (w *world) scan(k *rank, all *outcomes) error {
	type place struct{ thread, at int }
	open := make(map[uint64]place)
	early := make(map[uint64]outcome) // of another thread, whose events come later here
	k.first = math.MaxUint64
	k.begun = make([][]uint32, len(k.threads))
	k.off = make([]bool, len(k.threads))
	for thread, location := range k.threads {
		es, err := w.a.Events(location)
		if err != nil {
			return err
		}
		inside := make([]*mpi.Call, 0, 8)
		for es.Next() {
			e := &es.Event
			row := &rows[e.ID]
			if row.alone && !slices.ContainsFunc(inside, func(c *mpi.Call) bool { return c != nil }) {
				k.first, k.last = min(k.first, e.Time), max(k.last, e.Time)
				k.calls++
			}
			if row.uses != nil {
				k.use(row.uses(w, e))
			}
			k.ends = k.ends || row.ends
			switch e.ID {
			case EvMeasurementOnOff:
				k.off[thread] = e.Values[0] == RecordingOff
			case EvEnter, EvCallingContextEnter:
				c := w.regions[w.region(e)]
				if inside = append(inside, c); c == nil {
					continue
				}
				k.first, k.last = min(k.first, e.Time), max(k.last, e.Time)
				k.calls++
				k.begins = k.begins || c.Has(mpi.Begins)
				k.finished = k.finished || c.Has(mpi.Ends)
				if c.Has(mpi.CreatesComm) {
					k.makers = append(k.makers, commCreation{c, Undefined})
				}
			case EvLeave, EvCallingContextLeave:
				k.last = max(k.last, e.Time)
				if i := lastIndex(inside, func(c *mpi.Call) bool { return c == w.regions[w.region(e)] }); i >= 0 {
					inside = slices.Delete(inside, i, i+1)
				}
			case EvMpiIrecvRequest, EvCollectiveRequest:
				id := e.Values[0]
				n := uint32(0)
				if x, ok := early[id]; ok {
					n = all.of(x)
					delete(early, id)
				} else {
					open[id] = place{thread, len(k.begun[thread])}
				}
				k.begun[thread] = append(k.begun[thread], n)
			case EvMpiIrecv, EvCollectiveComplete:
				id := e.Values[4]
				if e.ID == EvCollectiveComplete {
					id = e.Values[5]
				}
				if p, ok := open[id]; ok {
					k.begun[p.thread][p.at] = all.of(outcomeOf(e))
					delete(open, id)
				} else {
					early[id] = outcomeOf(e)
				}
			case EvProgramBegin:
				if w.command == "" {
					words := make([]string, len(es.Refs))
					for i, s := range es.Refs {
						words[i] = w.a.String(s)
					}
					w.command = show.Quote(words)
				}
			case EvCommCreate:
				if n := len(k.makers); n > 0 && len(inside) > 0 && inside[len(inside)-1] == k.makers[n-1].call {
					k.makers[n-1].comm = uint32(e.Values[0])
				}
			}
		}
		err = es.Err()
		es.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// lastIndex is that of the innermost of a stack which is such a one, -1 if none is: some tools leave functions in another order.
func lastIndex[F any](stack []F, is func(F) bool) int {
	for i, f := range slices.Backward(stack) {
		if is(f) {
			return i
		}
	}
	return -1
}

func (k *rank) use(comm uint32) {
	if comm == Undefined {
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
		return w.a.Contexts[id].Region
	}
	return id
}

// scanAll goes through the events of all ranks.
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
