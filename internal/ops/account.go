package ops

import (
	"iter"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A CallInterpreter determines what single calls of one rank do, in any order. Only one goroutine may use it.
type CallInterpreter struct {
	k      *trace.Rank
	x      *handles.Rank
	moves  *MemberAmounts
	blocks bool // set Operation.PerMember: what is exchanged with each member of a collective
	around bool // set Operation.Neighbours
}

// Interpreter returns a CallInterpreter for a rank, which must have a track.
func (s *Source) Interpreter(k *trace.Rank) (*CallInterpreter, error) {
	x, err := handles.TableOf(s.Reader).Rank(k)
	if err != nil {
		return nil, err
	}
	class := s.classes[k.Class()]
	if class == nil {
		if class, err = NewClassAmounts(s.Reader, k.Class()); err != nil {
			return nil, err
		}
		if len(class.x.Ranks()) > 1 {
			s.classes[k.Class()] = class
		}
	}
	a := &CallInterpreter{k: k, x: x, blocks: s.o.FindBytesPerMember, around: s.o.FindBytesPerMember || s.o.NumberMessages}
	a.moves, err = class.Member(k, x)
	return a, err
}

// Handles returns the meaning of the rank's handles.
func (a *CallInterpreter) Handles() *handles.Rank { return a.x }

// Err returns the first error: terminals of a damaged trace may not be decodable.
func (a *CallInterpreter) Err() error { return a.moves.w.err }

// ActsOf appends the acts of a call at a position of a stream: messages, collectives and one-sided transfers that it makes,
// begins or starts, and receives that it posts. Acts have no numbers, and completions are not among them. unknown counts
// operations whose partners the trace doesn't have.
func (a *CallInterpreter) ActsOf(list []Act, c *trace.Call, stream int, index uint64) (acts []Act, unknown int) {
	switch {
	case c.Return != 0 || c.Func.Has(trace.AttrPersistent):
		return list, 0
	case !c.Func.Has(trace.AttrStarts):
		return a.does(list, c, stream, index, c.Func.Has(trace.AttrNonblocking))
	}
	for _, v := range RequestsOf(c) {
		if v.RequestForm == trace.RequestNull {
			continue
		}
		m, ok := a.x.PersistentRequestCreation(v.RequestID, stream, index)
		if !ok || v.RequestForm != trace.RequestPersistent {
			unknown++
			continue
		}
		n := 0
		list, n = a.does(list, m.Call, m.Stream, m.Index, true)
		unknown += n
	}
	return list, unknown
}

// does appends the acts of a call. begins is whether they only begin operations: those of a call that makes a request
// or, for one that makes a persistent request, those of each start.
func (a *CallInterpreter) does(list []Act, c *trace.Call, stream int, index uint64, begins bool) (acts []Act, unknown int) {
	out, in := a.transfers(c, stream, index)
	kind := func(whole, beginning ActKind) ActKind {
		if begins {
			return beginning
		}
		return whole
	}
	m := meaning.DataMovementOf(c.Name())
	sent := ActCollective
	switch {
	case !out.is && !in.is || m != nil && m.Pattern == meaning.PatternFile:
		return list, 0
	case m == nil || m.Pattern.IsCollective():
		sent = kind(ActCollective, ActCollectiveBegin)
	case m.Pattern == meaning.PatternOneSided:
		sent = transferKind(m)
	default:
		sent = kind(ActSend, ActSendBegin)
	}
	if out.op.Comm == nil {
		return list, 1
	}
	if out.is {
		list = append(list, Act{sent, out.operation(c)})
	}
	if a := (Act{kind(ActRecv, ActRecvBegin), in.operation(c)}); in.is && (begins || a.took(in.told(c))) {
		list = append(list, a)
	}
	return list, 0
}

// transferKind returns the kind of a one-sided transfer.
func transferKind(m *meaning.DataMovement) ActKind {
	switch {
	case m.Index("op") >= 0 || m.Out != nil && m.In != nil:
		return ActAtomic
	case m.Out != nil:
		return ActPut
	}
	return ActGet
}

// RequestsOf yields the requests that a call passes, with their indices.
func RequestsOf(c *trace.Call) iter.Seq2[int, *trace.Value] {
	return func(yield func(int, *trace.Value) bool) {
		for i := range c.Params {
			p := &c.Params[i]
			if p.Def.Type != trace.TypeRequest || p.In.Type == trace.TypeNone {
				continue
			}
			if p.In.Type != trace.TypeArray {
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

// transfers returns what the call at a position sends and receives. For a call that makes a persistent request, it
// is what each start of the request transfers.
func (a *CallInterpreter) transfers(c *trace.Call, stream int, index uint64) (out, in transfer) {
	m := meaning.DataMovementOf(c.Name())
	base := Operation{StartedBy: c.Func, Root: NoRoot, PeerInComm: -1}
	if v := input(c, "comm"); v != nil {
		base.Comm = a.x.Comm(v, stream, index)
	} else if m != nil && m.Pattern == meaning.PatternOneSided {
		base.Comm = a.x.CommOf(c, stream, index)
	}
	out, in = transfer{op: base, tag: -1, status: -1}, transfer{op: base, tag: -1, status: output(c, "status")}
	switch {
	case m == nil:
		out.is = c.Func.Has(trace.AttrCollective)
	case m.Pattern == meaning.PatternToPeer || m.Pattern == meaning.PatternReceive:
		out.message(c, m.Out)
		in.message(c, m.In)
	case m.Pattern == meaning.PatternOneSided:
		out.is = number(c, "target_rank") != mpi.ProcNull
		out.op.PeerInComm = int(number(c, "target_rank"))
	default:
		out.is = true
	}
	if m == nil {
		out.op.PerMember = &Transfers{}
		return out, in
	}
	moved := a.moves.Amounts(c.Terminal, stream, index, a.blocks)
	out.op.SentBytes, in.op.ReceivedBytes = moved.Out.TotalBytes, moved.In.TotalBytes
	if m.Pattern != meaning.PatternToPeer {
		out.op.ReceivedBytes = moved.In.TotalBytes
	}
	if m.Rooted {
		out.op.Root = rootOf(c, base.Comm)
	}
	if a.blocks {
		out.op.PerMember, in.op.PerMember = &moved, &moved
	}
	if a.around && m.Pattern == meaning.PatternNeighbors {
		if n, ok := a.x.Neighbours(c.Param("comm").In.Num, stream, index); ok {
			out.op.Neighbours = &n
		}
	}
	return out, in
}

func (x *transfer) message(c *trace.Call, side *meaning.DataSide) {
	if side == nil {
		return
	}
	x.is = true
	if v := input(c, side.Peer); v != nil {
		x.op.PeerInComm = int(v.Num)
		x.is = v.Num != mpi.ProcNull
	}
	x.tag = slices.IndexFunc(c.Params, func(p trace.Param) bool { return p.Name() == side.Tag })
	if x.tag >= 0 {
		x.op.Tag = c.Params[x.tag].In.Num
	}
}

// rootOf returns the root of a collective as a rank of the communicator, or one of NoRoot, RootSelf and
// RootThisSide.
func rootOf(c *trace.Call, comm *handles.Comm) int {
	root := number(c, "root")
	if comm != nil && comm.RemoteSize > 0 {
		switch root {
		case mpi.MPIRoot:
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

// operation returns what call c moves in one direction. It is x.op, with the tag of c, as tags may differ between the
// calls of a terminal.
func (x *transfer) operation(c *trace.Call) Operation {
	op := x.op
	if x.tag >= 0 {
		op.Tag = c.Params[x.tag].In.Num
	}
	return op
}
