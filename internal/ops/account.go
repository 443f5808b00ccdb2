package ops

import (
	"iter"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// An Account determines what single calls of one rank do, in any order. Only one goroutine may use it.
type Account struct {
	k      *trace.Rank
	x      *handles.Rank
	moves  *Member
	blocks bool // include the blocks of each member of a collective
	around bool // and whom a member has for neighbours
}

// Account returns the account of a rank, which must have a track.
func (s *Source) Account(k *trace.Rank) (*Account, error) {
	x, err := handles.Of(s.Reader).Rank(k)
	if err != nil {
		return nil, err
	}
	class := s.classes[k.Class()]
	if class == nil {
		if class, err = ClassOf(s.Reader, k.Class()); err != nil {
			return nil, err
		}
		if len(class.x.Ranks()) > 1 {
			s.classes[k.Class()] = class
		}
	}
	a := &Account{k: k, x: x, blocks: s.o.PerMember, around: s.o.PerMember || s.o.Messages}
	a.moves, err = class.Member(k, x)
	return a, err
}

// Handles returns the meaning of the rank's handles.
func (a *Account) Handles() *handles.Rank { return a.x }

// Err returns the first error: a damaged trace may have terminals that can't be read.
func (a *Account) Err() error { return a.moves.w.err }

// At appends the acts of a call at a position of a stream: messages, collectives and one-sided transfers that it makes,
// begins or starts, and receives that it posts. Acts have no numbers, and completions are not among them. unknown counts
// operations whose partners the trace doesn't have.
func (a *Account) At(list []Act, c *trace.Call, stream int, index uint64) (acts []Act, unknown int) {
	switch {
	case c.Return != 0 || c.Func.Has(trace.Persistent):
		return list, 0
	case !c.Func.Has(trace.Starts):
		return a.does(list, c, stream, index, c.Func.Has(trace.Nonblocking))
	}
	for _, v := range Requests(c) {
		if v.Form == trace.RequestNull {
			continue
		}
		m, ok := a.x.Request(v.ID, stream, index)
		if !ok || v.Form != trace.RequestPersistent {
			unknown++
			continue
		}
		n := 0
		list, n = a.does(list, m.Call, m.Stream, m.Index, true)
		unknown += n
	}
	return list, unknown
}

// does appends the acts of a call, or of starting the persistent request that it makes.
func (a *Account) does(list []Act, c *trace.Call, stream int, index uint64, begins bool) (acts []Act, unknown int) {
	out, in := a.transfers(c, stream, index)
	kind := func(whole, beginning Kind) Kind {
		if begins {
			return beginning
		}
		return whole
	}
	m := meaning.Of(c.Name())
	sent := Collective
	switch {
	case !out.is && !in.is || m != nil && m.Pattern == meaning.File:
		return list, 0
	case m == nil || m.Pattern.Collective():
		sent = kind(Collective, CollectiveBegin)
	case m.Pattern == meaning.OneSided:
		sent = transferKind(m)
	default:
		sent = kind(Send, SendBegin)
	}
	if out.op.Comm == nil {
		return list, 1
	}
	if out.is {
		list = append(list, Act{sent, out.operation(c)})
	}
	if a := (Act{kind(Recv, RecvBegin), in.operation(c)}); in.is && (begins || a.took(in.told(c))) {
		list = append(list, a)
	}
	return list, 0
}

// transferKind says what a one-sided transfer is.
func transferKind(m *meaning.Call) Kind {
	switch {
	case m.Index("op") >= 0 || m.Out != nil && m.In != nil:
		return Atomic
	case m.Out != nil:
		return Put
	}
	return Get
}

// Requests yields the requests that a call is given, numbered.
func Requests(c *trace.Call) iter.Seq2[int, *trace.Value] {
	return func(yield func(int, *trace.Value) bool) {
		for i := range c.Params {
			p := &c.Params[i]
			if p.Def.Type != trace.Request || p.In.Type == trace.None {
				continue
			}
			if p.In.Type != trace.Array {
				yield(0, &p.In)
				return
			}
			for k := range p.In.Elems {
				if !yield(k, &p.In.Elems[k]) {
					return
				}
			}
			return
		}
	}
}

// transfers returns what the call at a position moves; for one that makes a persistent request, what moves whenever
// that is started.
func (a *Account) transfers(c *trace.Call, stream int, index uint64) (out, in transfer) {
	m := meaning.Of(c.Name())
	base := Operation{Function: c.Func, Root: NoRoot, Peer: -1}
	if v := input(c, "comm"); v != nil {
		base.Comm = a.x.Comm(v, stream, index)
	} else if m != nil && m.Pattern == meaning.OneSided {
		base.Comm = a.x.CommOf(c, stream, index)
	}
	out, in = transfer{op: base, tag: -1, status: -1}, transfer{op: base, tag: -1, status: output(c, "status")}
	switch {
	case m == nil:
		out.is = c.Func.Has(trace.Collective)
	case m.Pattern == meaning.ToPeer || m.Pattern == meaning.Receive:
		out.message(c, m.Out)
		in.message(c, m.In)
	case m.Pattern == meaning.OneSided:
		out.is = number(c, "target_rank") != mpi.ProcNull
		out.op.Peer = int(number(c, "target_rank"))
	default:
		out.is = true
	}
	if m == nil {
		out.op.Shares = &Transfers{}
		return out, in
	}
	moved := a.moves.Amounts(c.Terminal, stream, index, a.blocks)
	out.op.Sent, in.op.Received = moved.Out.Bytes, moved.In.Bytes
	if m.Pattern != meaning.ToPeer {
		out.op.Received = moved.In.Bytes
	}
	if m.Rooted {
		out.op.Root = rootOf(c, base.Comm)
	}
	if a.blocks {
		out.op.Shares, in.op.Shares = &moved, &moved
	}
	if a.around && m.Pattern == meaning.Neighbors {
		if n, ok := a.x.Neighbours(c.Param("comm").In.Num, stream, index); ok {
			out.op.Neighbours = &n
		}
	}
	return out, in
}

func (x *transfer) message(c *trace.Call, side *meaning.Side) {
	if side == nil {
		return
	}
	x.is = true
	if v := input(c, side.Peer); v != nil {
		x.op.Peer = int(v.Num)
		x.is = v.Num != mpi.ProcNull
	}
	x.tag = slices.IndexFunc(c.Params, func(p trace.Param) bool { return p.Name() == side.Tag })
	if x.tag >= 0 {
		x.op.Tag = c.Params[x.tag].In.Num
	}
}

// rootOf returns the root of a collective as a rank of the communicator, or what else it is.
func rootOf(c *trace.Call, comm *handles.Comm) int {
	root := number(c, "root")
	if comm != nil && comm.RemoteSize > 0 {
		switch root {
		case mpi.RootHere:
			return RootSelf
		case mpi.ProcNull:
			return RootThisSide
		}
	}
	return int(root)
}

// told returns the status of a receiving call; nil if it has none.
func (x *transfer) told(c *trace.Call) *trace.StatusValue {
	if x.status < 0 {
		return nil
	}
	return c.Params[x.status].Out.Status
}

// operation returns what a call moves in one direction, with the values that are others in each.
func (x *transfer) operation(c *trace.Call) Operation {
	op := x.op
	if x.tag >= 0 {
		op.Tag = c.Params[x.tag].In.Num
	}
	return op
}
