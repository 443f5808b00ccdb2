package symbol

import "github.com/spoor-hpc/spoor/internal/file/wire"

// Code codes the state. Requests keep their indices.
func (q *Requests) Code(c *wire.Coder) {
	if c.Reader != nil {
		*q = Requests{cursor: NoRequestIndex}
	}
	c.Uint64(&q.null)
	q.pool.code(c)
	c.Integers(&q.made)
	n := len(q.entries)
	if c.Count(&n, 1); c.Reader != nil {
		q.entries = make([]request, n)
	}
	q.handles.codeAbove(c, 0, func(handle uint64, first *int64) { q.codeHandle(c, handle, first) })
	q.places.code(c, int64(len(q.entries)))
	var free []bool
	if c.Reader != nil {
		free = make([]bool, len(q.entries))
	}
	wire.CodeList(c, &q.unused, 1, func(_ int, i *int32) {
		if wire.CodeIndex(c, i, len(q.entries)); c.Reader != nil && !c.Failed() {
			c.RefuseIf(q.entries[*i].live || free[*i], "an entry that is unused twice")
			free[*i] = true
		}
	})
}

// codeHandle codes the requests with one handle, oldest first; first is 1 + the index of the first of them.
func (q *Requests) codeHandle(c *wire.Coder, handle uint64, first *int64) {
	var chain []int32
	for i := int32(*first) - 1; i != NoRequestIndex; i = q.entries[i].newer {
		chain = append(chain, i)
	}
	wire.CodeList(c, &chain, 8, func(k int, i *int32) {
		if wire.CodeIndex(c, i, len(q.entries)); c.Failed() {
			return
		}
		e := &q.entries[*i]
		if c.Reader != nil {
			c.RefuseIf(e.live || q.handles.Get(handle) != 0, "an entry of two requests")
			*e = request{handle: handle, older: NoRequestIndex, newer: NoRequestIndex, live: true}
		}
		c.Uint64(&e.place)
		wire.CodeAbove(c, &e.thread, noThread, 1<<20)
		wire.CodeIntegers(c, &e.number, &e.posted.Source, &e.posted.Tag, &e.posted.Bytes)
		if wire.CodeIndex(c, &e.kind, int(RequestFileAccess)+1); c.Reader == nil {
			return
		}
		c.RefuseIf(e.number >= 0 && int(e.thread) >= len(q.made), "a request of a thread that made none")
		if e.number >= 0 {
			q.alive++
		}
		if k == 0 {
			*first = int64(*i) + 1
		} else {
			e.older = chain[k-1]
			q.entries[e.older].newer = *i
		}
		q.entries[*first-1].newest = *i
	})
}
