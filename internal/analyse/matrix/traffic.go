package matrix

import (
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A visitor is told what a call sends.
type visitor interface {
	// send: messages of one size to a rank of the world; -1 outside of it.
	send(to int, bytes int64, sized bool)
	// receive: the same, from a rank (of a one-sided read).
	receive(from int, bytes int64, sized bool)
	// spread: the same to all others of a communicator, or to all of the
	// remote group. self is the own rank in it.
	spread(c *handles.Comm, self int, bytes int64, sized bool)
	// collect: from each other member, or each of the remote group.
	collect(c *handles.Comm, self int, bytes int64, sized bool)
	// unknown: a call whose partners are not known.
	unknown()
}

// A traffic finds out what the calls of a rank send.
type traffic struct {
	x    *handles.Rank
	rank int
	opts *Options
	out  visitor

	last     *handles.Comm // for which own was looked for
	lastOf   int
	lastSelf int
}

// A site is a call at a position that resolves its handles.
type site struct {
	c      *trace.Call
	means  *meaning.Call
	stream int
	index  uint64
}

// wants reports whether calls of a function are to be counted. What makes a persistent
// request counts where it is started.
func (o *Options) wants(f *trace.Function) bool {
	if f.Has(trace.Starts) {
		return o.PointToPoint || o.Collectives
	}
	m := meaning.Of(f.Name)
	return m != nil && !m.Later && o.pattern(m.Pattern)
}

func (o *Options) pattern(p meaning.Pattern) bool {
	switch {
	case p == meaning.ToPeer:
		return o.PointToPoint
	case p == meaning.OneSided:
		return o.RMA
	}
	return o.Collectives && p.Collective()
}

// call visits what a call sends. Calls that failed or never came back send
// nothing that is known of.
func (t *traffic) call(c *trace.Call, stream int, index uint64) {
	s := site{c, meaning.Of(c.Name()), stream, index}
	switch {
	case c.Return != 0:
	case c.Func.Has(trace.Starts):
		t.start(s)
	case s.means != nil && !s.means.Later:
		t.act(s)
	}
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
			if means := meaning.Of(m.Call.Name()); means != nil {
				t.act(site{m.Call, means, m.Stream, m.Index})
			}
		}
	}
}

func (t *traffic) act(s site) {
	switch p := s.means.Pattern; {
	case !t.opts.pattern(p):
	case p == meaning.ToPeer:
		t.send(s)
	case p == meaning.OneSided:
		t.rma(s)
	default:
		t.collective(s)
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

// data returns how many bytes a block of one side is.
func (t *traffic) data(s *site, x *meaning.Side) (bytes int64, sized bool) {
	n, ok := int64(1), true
	if x.Count != "" {
		n, ok = s.num(x.Count)
	}
	p := s.c.Param(x.Type)
	if p == nil || !ok {
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

func (t *traffic) comm(s *site) *handles.Comm {
	p := s.c.Param("comm")
	if p == nil {
		return nil
	}
	return t.x.Comm(&p.In, s.stream, s.index)
}

func (t *traffic) send(s site) {
	dest, ok := s.num(s.means.Out.Peer)
	if dest == mpi.ProcNull {
		return
	}
	comm := t.comm(&s)
	if !ok || comm == nil {
		t.out.unknown()
		return
	}
	bytes, sized := t.data(&s, s.means.Out)
	if parts, ok := s.num(s.means.Out.Parts); ok && sized {
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
	if target == mpi.ProcNull {
		return
	}
	comm := t.x.CommOf(s.c, s.stream, s.index)
	if !ok || comm == nil {
		t.out.unknown()
		return
	}
	peer := comm.WorldRank(int(target))
	if x := s.means.Out; x != nil {
		bytes, sized := t.data(&s, x)
		t.out.send(peer, bytes, sized)
	}
	if x := s.means.In; x != nil {
		bytes, sized := t.data(&s, x)
		t.out.receive(peer, bytes, sized)
	}
}
