package matrix

import (
	"strings"

	"spoor/internal/objects"
	"spoor/trace"
)

// A visitor is told what a call sends.
type visitor interface {
	// send: messages of one size to a rank of the world; -1 outside of it.
	send(to int, bytes int64, sized bool)
	// receive: the same, from a rank (of a one-sided read).
	receive(from int, bytes int64, sized bool)
	// spread: the same to all others of a communicator, or to all of the
	// remote group. self is the own rank in it.
	spread(c *trace.Comm, self int, bytes int64, sized bool)
	// collect: from each other member, or each of the remote group.
	collect(c *trace.Comm, self int, bytes int64, sized bool)
	// unknown: a call whose partners are not known.
	unknown()
}

// A traffic finds out what the calls of a rank send.
type traffic struct {
	x    *objects.Rank
	rank int
	opts *Options
	out  visitor

	last     *trace.Comm // for which own was looked for
	lastOf   int
	lastSelf int
}

// A site is a call at a position that resolves its handles.
type site struct {
	c      *trace.Call
	stream int
	index  uint64
}

// wants reports whether calls of a role are to be counted.
func (o *Options) wants(r role) bool {
	switch r {
	case other:
		return false
	case send:
		return o.PointToPoint
	case rma:
		return o.RMA
	case start:
		return o.PointToPoint || o.Collectives
	}
	return o.Collectives
}

// call visits what a call sends. Calls that failed or never came back send
// nothing that is known of.
func (t *traffic) call(s site) {
	r, later := roleOf(s.c.Func)
	if later || s.c.Return != 0 {
		return
	}
	if r == start {
		t.start(s)
		return
	}
	t.act(r, s)
}

// start visits what persistent requests send.
func (t *traffic) start(s site) {
	for i := range s.c.Params {
		p := &s.c.Params[i]
		if p.Kind() != "request" {
			continue
		}
		list := p.In.Elems
		if p.In.Type == trace.Request {
			list = []trace.Value{p.In}
		}
		for j := range list {
			if list[j].Form == trace.RequestNull {
				continue
			}
			m, ok := t.x.Request(list[j].ID, s.stream, s.index)
			if !ok || list[j].Form != trace.RequestPersistent {
				t.out.unknown()
				continue
			}
			r, _ := roleOf(m.Call.Func)
			t.act(r, site{m.Call, m.Stream, m.Index})
		}
	}
}

func (t *traffic) act(r role, s site) {
	switch {
	case !t.opts.wants(r):
	case r == send:
		t.send(s)
	case r == rma:
		t.rma(s)
	default:
		t.collective(r, s)
	}
}

// num returns an integer that a call passes.
func (s *site) num(name string) (int64, bool) {
	p := s.c.Param(name)
	if p == nil || p.In.Type != trace.Int {
		return 0, false
	}
	return p.In.Num, true
}

// data returns how many bytes a count of a datatype is.
func (t *traffic) data(s *site, count, datatype string) (bytes int64, sized bool) {
	n, ok := s.num(count)
	if !ok {
		return 0, false
	}
	p := s.c.Param(datatype)
	if p == nil {
		return 0, false
	}
	return t.bytes(s, n, &p.In)
}

func (t *traffic) bytes(s *site, n int64, datatype *trace.Value) (bytes int64, sized bool) {
	if n <= 0 {
		return 0, true
	}
	if datatype.Type != trace.Handle {
		return 0, false
	}
	size, ok := t.x.TypeSize(datatype.Num, s.stream, s.index)
	if !ok || size < 0 || size > 0 && n > maxBytes/size {
		return 0, false
	}
	return n * size, true
}

// maxBytes is more than any message has, and keeps sums from wrapping around
// early.
const maxBytes = 1 << 50

func (t *traffic) comm(s *site) *trace.Comm {
	p := s.c.Param("comm")
	if p == nil {
		return nil
	}
	return t.x.Comm(&p.In, s.stream, s.index)
}

const procNull = -3 // MPI_PROC_NULL of the standard ABI

func (t *traffic) send(s site) {
	dest, ok := s.num("dest")
	if dest == procNull {
		return
	}
	comm := t.comm(&s)
	if !ok || comm == nil {
		t.out.unknown()
		return
	}
	count, datatype := "count", "datatype"
	if s.c.Param("sendcount") != nil {
		count, datatype = "sendcount", "sendtype"
	}
	bytes, sized := t.data(&s, count, datatype)
	if parts, ok := s.num("partitions"); ok && sized {
		if sized = parts >= 0 && (bytes == 0 || parts <= maxBytes/bytes); sized {
			bytes *= parts
		} else {
			bytes = 0
		}
	}
	t.out.send(comm.Peer(int(dest)), bytes, sized)
}

func (t *traffic) rma(s site) {
	target, ok := s.num("target_rank")
	if target == procNull {
		return
	}
	var comm *trace.Comm
	if p := s.c.Param("win"); p != nil && ok {
		if m, ok := t.x.Window(p.In.Num, s.stream, s.index); ok {
			comm = t.comm(&site{m.Call, m.Stream, m.Index})
		}
	}
	if comm == nil {
		t.out.unknown()
		return
	}
	peer := comm.WorldRank(int(target))
	name := strings.TrimSuffix(s.c.Name(), "_c")
	var bytes int64
	var sized bool
	switch {
	case s.c.Param("origin_count") != nil:
		bytes, sized = t.data(&s, "origin_count", "origin_datatype")
	case s.c.Param("datatype") != nil: // one element
		bytes, sized = t.bytes(&s, 1, &s.c.Param("datatype").In)
	}
	gets := false
	switch name {
	case "MPI_Get", "MPI_Rget":
		t.out.receive(peer, bytes, sized)
		return
	case "MPI_Get_accumulate", "MPI_Rget_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap":
		gets = true
	}
	t.out.send(peer, bytes, sized)
	if gets {
		if s.c.Param("result_count") != nil {
			bytes, sized = t.data(&s, "result_count", "result_datatype")
		}
		t.out.receive(peer, bytes, sized)
	}
}
