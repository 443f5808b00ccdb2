package traced

import (
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A partitioned is a partitioned send that was started and whose partitions are not all ready. Ready partitions are
// sent at once; the last one is the message that the receiver waits for.
type partitioned struct {
	op    dataflow.Op // the send with all partitions
	id    uint64
	size  int64 // bytes of a partition
	ready int
	of    int
}

// handles returns the meanings of the rank's handles; nil if they can't be determined.
func (w *writer) handles() *handles.Rank {
	if w.own == nil {
		w.own, _ = handles.TableOf(w.s.r).Rank(w.k)
	}
	return w.own
}

// started returns the number of the persistent request that a call starts or marks partitions of, and the call that
// made it. If a call has as many requests as acts, it is that of the act w.act; else the call must have only one.
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

// parts begins a partitioned send. It returns false if it must be sent as a whole.
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

// readies adds the sending of partitions that a call marks as ready. It returns false if the send isn't known.
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
	if p.ready += n; p.ready < p.of { // not the last ones: nobody waits for these alone
		o.Kind, o.Request = dataflow.OpPut, w.number()
		w.spare = append(w.spare, o.Request)
		w.add(o)
		return true
	}
	w.add(o)
	delete(w.parted, id)
	return true
}
