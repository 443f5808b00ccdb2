package traced

import (
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A partitioned is a partitioned send that was started. Ready partitions are sent at once; the last one is the
// message that the receiver waits for.
type partitioned struct {
	op    dataflow.Op // the send as a whole
	id    uint64
	size  int64 // bytes of a partition
	ready int
	of    int
}

// handles resolves the handles that the rank passes; nil if unknown.
func (w *writer) handles() *handles.Rank {
	if w.own == nil {
		w.own, _ = handles.TableOf(w.s.r).Rank(w.k)
	}
	return w.own
}

// started returns the persistent request of a call, and the call that made it. For a call with several requests it is
// the current act's, if each request has one.
func (w *writer) started(c *trace.Call) (id int64, m handles.Creation, ok bool) {
	var v *trace.Value
	n := 0
	for i, r := range ops.RequestsOf(c) {
		if n = i + 1; i == w.act || v == nil {
			v = r
		}
	}
	if v == nil || n > 1 && n != w.acting || v.Type != trace.TypeRequest || v.RequestForm != trace.RequestPersistent || w.handles() == nil {
		return 0, m, false
	}
	m, ok = w.own.PersistentRequestCreation(v.RequestID, c.Stream, c.Index)
	return v.RequestID, m, ok
}

// parts begins a partitioned send; false if it must be sent as a whole.
func (w *writer) parts(c *trace.Call, x *ops.Operation) bool {
	if w.s.function(x.StartedBy).base != "Psend" || w.s.o.apart {
		return false
	}
	id, m, ok := w.started(c)
	if !ok || m.Call.Param("partitions") == nil {
		return false
	}
	n := int(m.Call.Param("partitions").In.Num)
	if n < 1 {
		return false
	}
	p := &partitioned{op: w.send(x), id: x.ID, of: n}
	p.size = p.op.Bytes / int64(n)
	p.op.Request = w.number()
	w.requests[x.ID] = p.op.Request
	w.parted[id] = p
	return true
}

// readies sends partitions that became ready; false if the request isn't known.
func (w *writer) readies(c *trace.Call) bool {
	n := 1
	if high := c.Param("partition_high"); high != nil {
		n = int(high.In.Num-c.Param("partition_low").In.Num) + 1
	} else if list := c.Param("array_of_partitions"); list != nil {
		n = len(list.In.Elems)
	}
	id, _, ok := w.started(c)
	p := w.parted[id]
	if !ok || p == nil || n < 1 || c.Return != 0 {
		return false
	}
	o := p.op
	o.Bytes = p.size * int64(n)
	if p.ready += n; p.ready < p.of { // not the last one: nobody waits for it separately
		o.Kind, o.Request = dataflow.OpPut, w.number()
		w.spare = append(w.spare, o.Request)
		w.add(o)
		return true
	}
	w.add(o)
	delete(w.parted, id)
	return true
}
