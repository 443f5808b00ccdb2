package ops

import (
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// messages handles sends and receives. Those with a request are completed by a later call.
func messages(p *process, _ *thread, q *plan, c *Call) {
	begins := q.request >= 0
	if q.out.is {
		op := q.out.operation(c.Call)
		if kind := ActSend; p.known(&op) {
			p.number(&op, p.k.Number(), op.PeerWorldRank(), false)
			if begins {
				kind, op.ID = ActSendBegin, p.nextID()
			}
			c.add(kind, &op)
		}
	}
	if !q.in.is {
		return
	}
	op := q.in.operation(c.Call)
	if v := input(c.Call, "message"); v != nil {
		m := p.messages[v.Num]
		op.Comm, op.MessageNumber, op.ChannelIndex = m.comm, m.number, m.nth
	}
	if !p.known(&op) {
		return
	}
	if begins {
		op.ID = p.nextID()
		p.posted(&op)
		c.add(ActRecvBegin, &op)
		return
	}
	if p.received(&op, q.in.told(c.Call)) {
		c.add(ActRecv, &op)
	}
}

// A ReceiveSelection is the message that a receive or probe asks for.
type ReceiveSelection struct {
	Source, Tag *trace.Param // parameters of the call
	HasWildcard bool         // source or tag is a wildcard, such as MPI_ANY_TAG
}

// ReceiveSelectionOf returns the message that a call asks for; false if it asks for none, or gets it by a message handle.
func ReceiveSelectionOf(c *trace.Call) (r ReceiveSelection, ok bool) {
	def, _ := mpi.CallByID(c.Func.ID)
	w := meaning.WaitBehaviourOf(def)
	if w.Source == "" || w.Tag == "" {
		return r, false
	}
	r.Source, r.Tag = c.Param(w.Source), c.Param(w.Tag)
	if r.Source == nil || r.Tag == nil || r.Source.In.Type != trace.TypeInt || r.Tag.In.Type != trace.TypeInt {
		return r, false
	}
	r.HasWildcard = meaning.IsWildcard(r.Source.In.Num, r.Tag.In.Num)
	return r, true
}

// A matched is a message that a matched probe removed from the queue.
type matched struct {
	comm        *handles.Comm
	number, nth uint64 // Message and ChannelIndex of its Operation; 0: unknown
}

// probes handles a probe that waits for a message, and a matched probe.
func probes(p *process, _ *thread, _ *plan, c *Call) {
	m := c.Param("message")
	takes := m != nil && m.Out.Type == trace.TypeHandle
	if m != nil && !takes {
		return
	}
	op := Operation{StartedBy: c.Func, Comm: p.comm(c), PeerInComm: -1, Root: NoRoot}
	known := false
	if s := scalarStatus(c.Call); s != nil && op.Comm != nil {
		found := *s
		found.Cancelled = false // MPICH's probes leave that field unchanged
		known = op.took(&found) && op.PeerInComm >= 0
	}
	if known && p.s.o.NumberMessages {
		from, to := op.PeerWorldRank(), p.k.Number()
		if takes {
			p.number(&op, from, to, true)
		} else {
			by := op.Channel(from, to)
			op.ChannelIndex = *p.got.of(by) + 1 // the next receive gets this message
			op.MessageNumber = by.HashMessage(op.ChannelIndex)
		}
		if p.s.o.PassFineSync {
			c.add(ActProbed, &op)
		}
	}
	if takes {
		p.messages[m.Out.Num] = matched{op.Comm, op.MessageNumber, op.ChannelIndex}
	}
}

// took sets the peer, tag and size of a received message's operation from the status; false if no message was received.
func (op *Operation) took(s *trace.StatusValue) bool {
	if s == nil || s.Form != trace.StatusFormFilled && s.Form != trace.StatusFormIgnored {
		return true
	}
	if s.Source == mpi.ProcNull || s.Cancelled {
		return false
	}
	op.PeerInComm, op.Tag = int(s.Source), s.Tag
	if s.ReceivedBytes >= 0 {
		op.ReceivedBytes = uint64(s.ReceivedBytes)
	}
	return true
}

// received completes and numbers the operation of a received message; false if no message was received.
func (p *process) received(op *Operation, s *trace.StatusValue) bool {
	if !op.took(s) {
		return false
	}
	if op.PeerInComm < 0 {
		p.lose(lostSource, 1)
		return false
	}
	p.number(op, op.PeerWorldRank(), p.k.Number(), true)
	return true
}

// posted numbers the message that a receive is to get, unless it has a wildcard.
func (p *process) posted(op *Operation) {
	if op.PeerInComm >= 0 && op.Tag >= 0 {
		p.number(op, op.PeerWorldRank(), p.k.Number(), true)
	}
}

// known reports whether the operation's communicator is known; if not, the operation is ignored.
func (p *process) known(op *Operation) bool {
	if op.Comm == nil || op.Comm.RemoteSize > 0 && op.Comm.Remote == nil {
		p.lose(lostComm, 1)
		return false
	}
	return true
}

func (p *process) nextID() uint64 {
	p.lastID++
	return p.lastID
}

// comm returns the communicator that a call passes.
func (p *process) comm(c *Call) *handles.Comm {
	v := input(c.Call, "comm")
	if v == nil {
		return nil
	}
	return p.x.Comm(v, c.Stream, c.Index)
}

// A Channel carries messages in order: the k-th one sent is the k-th one received.
type Channel struct {
	Comm                       int // handles.Comm.ChannelID of the communicator
	FromWorldRank, ToWorldRank int // world ranks of sender and receiver
	Tag                        int64
}

// Channel returns the channel of a message.
func (o *Operation) Channel(from, to int) Channel {
	return Channel{o.Comm.ChannelID(), from, to, o.Tag}
}

// number gives a message the number that it has at its other end: the n-th that is sent on a
// channel is the n-th that is received there, in the order in which receives were posted.
// A receive with a wildcard is numbered when it is known what it got.
func (p *process) number(op *Operation, from, to int, receiving bool) {
	if !p.s.o.NumberMessages || op.MessageNumber != 0 {
		return
	}
	by := op.Channel(from, to)
	counts := &p.sent
	if receiving {
		counts = &p.got
	}
	n := counts.of(by)
	*n++
	op.ChannelIndex = *n
	op.MessageNumber = by.HashMessage(op.ChannelIndex)
}

// counts is the number of messages on each channel.
type counts struct {
	all    map[Channel]*uint64
	recent [16]struct { // cache of the latest channels, as map lookups are slow
		Channel
		n *uint64
	}
}

// of returns a pointer to the number of messages on a channel so far.
func (x *counts) of(by Channel) *uint64 {
	last := &x.recent[uint64(by.FromWorldRank^by.ToWorldRank^int(by.Tag))%uint64(len(x.recent))]
	if last.n == nil || last.Channel != by {
		n := x.all[by]
		if n == nil {
			n = new(uint64)
			x.all[by] = n
		}
		last.Channel, last.n = by, n
	}
	return last.n
}

// HashMessage returns a number for the n-th message of a channel, by a 64-bit hash: among k messages the probability of
// a collision is about k²/2⁶⁴.
func (c Channel) HashMessage(n uint64) uint64 {
	h := uint64(0)
	for _, v := range [...]uint64{n, uint64(c.Comm), uint64(c.FromWorldRank), uint64(c.ToWorldRank), uint64(c.Tag)} {
		h ^= v
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
		h += 0x9e3779b97f4a7c15
	}
	return max(h, 1)
}
