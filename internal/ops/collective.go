package ops

import "github.com/spoor-hpc/spoor/trace"

// collective is what a call does in which all members of a communicator take part.
func collective(p *process, _ *thread, q *plan, c *Call) {
	op := q.out.op
	if !p.known(&op) {
		return
	}
	kind := Collective
	if q.request >= 0 {
		kind, op.ID = CollectiveBegin, p.nextID()
	}
	c.add(kind, &op)
}

// makesComm is what a call does that makes a communicator.
func makesComm(p *process, _ *thread, _ *plan, c *Call) {
	for i := range c.Params {
		q := &c.Params[i]
		if q.Kind() != "comm" || q.Out.Type != trace.Handle || c.NewComm == nil {
			continue
		}
		if comm := p.x.Comm(&q.Out, c.Stream, c.Index); comm != nil {
			c.add(CommMade, &Operation{Function: c.Func, Comm: comm})
		}
	}
}

func freesComm(p *process, _ *thread, _ *plan, c *Call) {
	if comm := p.comm(c); comm != nil {
		c.add(CommFreed, &Operation{Function: c.Func, Comm: comm})
	}
}
