package ops

import (
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// underWay tells what a call was about that never returned: the message that it sends, the one
// that it waits for, as it was asked for, or the operations that it waits for.
func (p *process) underWay(t *thread, q *plan, c *Call) {
	if c.Func.Has(trace.Completes) {
		p.awaits(t, c)
		return
	}
	m := meaning.Of(c.Func.Name)
	if m == nil || m.Later || q.request >= 0 || m.Pattern != meaning.ToPeer && m.Pattern != meaning.Receive || c.Param("message") != nil {
		return
	}
	for _, x := range []struct {
		kind Kind
		transfer
	}{{Send, q.out}, {Recv, q.in}} {
		if op := x.operation(c.Call); x.is && p.known(&op) {
			c.add(x.kind, &op)
		}
	}
}

// awaits tells which operations a call waits for, or asks about.
func (p *process) awaits(t *thread, c *Call) {
	await := func(v *trace.Value) {
		if x, _ := p.find(t, v); x != nil {
			for i := range x.n {
				c.add(Awaited, &x.acts[i].Operation)
			}
		}
	}
	if v := input(c.Call, "request"); v != nil {
		await(v)
	} else if v := input(c.Call, "array_of_requests"); v != nil {
		for i := range v.Elems {
			await(&v.Elems[i])
		}
	}
}
