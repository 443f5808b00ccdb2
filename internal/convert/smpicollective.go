package convert

import (
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// SMPI replays only blocking collectives of MPI_COMM_WORLD. Other collectives are decomposed into messages: a
// blocking call into trees, rings and rounds; a nonblocking call into a direct message for each pair, as no message
// may depend on one that arrives in between.

// A commView is a communicator as one of its members sees it: the member's rank in it, and its size.
type commView struct{ me, size int }

// A sendReceive is a step of a decomposed collective: out bytes are sent to one member, in bytes received from one.
// Members are ranks of the communicator; -1: no message.
type sendReceive struct {
	to, from int
	out, in  uint64
}

// own returns the rank that the current rank has in a communicator, -1 if it is not a member.
func (w *SMPIWriter) own(c *handles.Comm) int {
	switch {
	case c.Number < 0:
		return 0
	case c.WorldRank(w.Rank) == w.Rank:
		return w.Rank
	}
	n, ok := w.self[c]
	if !ok {
		n = -1
		for i := range c.Size {
			if c.WorldRank(i) == w.Rank {
				n = i
				break
			}
		}
		w.self[c] = n
	}
	return n
}

// everybody reports whether a communicator has exactly the ranks of MPI_COMM_WORLD, in order.
func (w *SMPIWriter) everybody(c *handles.Comm) bool {
	if c.Number < 0 {
		return false
	}
	return once.GetOrMake(w.world, c, func() bool {
		same := c.Size == w.Source.Reader.Ranks() && c.RemoteSize == 0
		for i := 0; same && i < c.Size; i++ {
			same = c.WorldRank(i) == i
		}
		return same
	})
}

// barrier writes a barrier of all members of a communicator.
func (w *SMPIWriter) barrier(c *handles.Comm) {
	if w.everybody(c) {
		w.action("barrier")
		return
	}
	w.steps = all(w.steps[:0], commView{w.own(c), c.Size}, 1)
	w.inOrder(c)
}

func (w *SMPIWriter) collective(x *ops.Act) {
	p := meaning.PatternNone // stays so for a barrier, which moves no data
	if m := meaning.DataMovementOf(x.StartedBy.Name); m != nil {
		p = m.Pattern
	}
	c := x.Comm
	lost := ""
	switch {
	case p == meaning.PatternNeighbors:
		lost = "collectives along a topology (MPI_Neighbor_…)"
	case c.RemoteSize > 0:
		lost = "collectives between two groups"
	case w.own(c) < 0:
		lost = "collectives on a communicator whose members the trace does not have"
	}
	if lost != "" {
		if x.Kind != ops.ActCollectiveEnd {
			w.Source.Losses.Add(lost, 1)
		}
		return
	}
	if x.Kind == ops.ActCollective && w.everybody(c) && w.known(p, x) {
		return
	}
	g := commView{w.own(c), c.Size}
	w.steps = steps(w.steps[:0], p, &x.Operation, g, x.Kind != ops.ActCollective)
	switch x.Kind {
	case ops.ActCollective:
		w.inOrder(c)
	case ops.ActCollectiveBegin:
		w.begin(c)
	case ops.ActCollectiveEnd:
		w.end(c)
	}
}

// known writes a blocking collective of all ranks as the action that SMPI has for it. It returns false if SMPI has
// none.
func (w *SMPIWriter) known(p meaning.Pattern, x *ops.Act) bool {
	whole := int64(max(x.SentBytes, x.ReceivedBytes))
	root, n := int64(x.Root), int64(x.Comm.Size)
	switch operation := ops.CollectiveOperationOf(x.StartedBy); {
	case p == meaning.PatternNone:
		w.action("barrier")
	case operation == meaning.CollectiveBcast:
		w.action("bcast", whole, root)
	case operation == meaning.CollectiveReduce:
		w.action("reduce", whole, 0, root)
	case operation == meaning.CollectiveAllreduce:
		w.action("allreduce", whole, 0)
	case operation == meaning.CollectiveGather:
		part := int64(x.SentBytes)
		if int64(x.Root) == int64(w.own(x.Comm)) {
			part = int64(x.ReceivedBytes) / n
		}
		w.action("gather", part, part, root)
	case operation == meaning.CollectiveScatter:
		part := int64(x.ReceivedBytes)
		if int64(x.Root) == int64(w.own(x.Comm)) {
			part = int64(x.SentBytes) / n
		}
		w.action("scatter", part, part, root)
	case operation == meaning.CollectiveAllgather:
		w.action("allgather", int64(x.ReceivedBytes)/n, int64(x.ReceivedBytes)/n)
	case operation == meaning.CollectiveAlltoall:
		w.action("alltoall", int64(x.SentBytes)/n, int64(x.SentBytes)/n)
	default:
		return false
	}
	return true
}

// inOrder writes w.steps one after the other. A step's receive is posted before its send, so that members that send to
// each other don't deadlock.
func (w *SMPIWriter) inOrder(c *handles.Comm) {
	t := w.ChannelNumber(Channel{Comm: c.Number, Tag: collectiveTag})
	for _, s := range w.steps {
		to, from := int64(c.WorldRank(s.to)), int64(c.WorldRank(s.from))
		switch {
		case s.from < 0:
			w.action("send", to, t, sizeOf(s.out))
		case s.to < 0:
			w.action("recv", from, t, sizeOf(s.in))
		default:
			w.action("irecv", from, t, sizeOf(s.in))
			w.action("send", to, t, sizeOf(s.out))
			w.action("wait", from, int64(w.Rank), t)
		}
	}
}

// begin writes the nonblocking sends and receives of w.steps, which don't depend on each other.
func (w *SMPIWriter) begin(c *handles.Comm) {
	t := w.ChannelNumber(Channel{Comm: c.Number, Tag: flatTag})
	for _, s := range w.steps {
		if s.from >= 0 {
			w.action("irecv", int64(c.WorldRank(s.from)), t, sizeOf(s.in))
		}
	}
	for _, s := range w.steps {
		if s.to >= 0 {
			w.action("isend", int64(c.WorldRank(s.to)), t, sizeOf(s.out))
		}
	}
}

// end writes the waits for the messages that begin wrote.
func (w *SMPIWriter) end(c *handles.Comm) {
	t := w.ChannelNumber(Channel{Comm: c.Number, Tag: flatTag})
	for _, s := range w.steps {
		if s.from >= 0 {
			w.action("wait", int64(c.WorldRank(s.from)), int64(w.Rank), t)
		}
		if s.to >= 0 {
			w.action("wait", int64(w.Rank), int64(c.WorldRank(s.to)), t)
		}
	}
}

// steps appends the messages that member g.me sends and receives in a collective. With flat, none depends on another,
// as nonblocking collectives need.
func steps(list []sendReceive, p meaning.Pattern, op *ops.Operation, g commView, flat bool) []sendReceive {
	whole := max(op.SentBytes, op.ReceivedBytes)
	same := func(bytes uint64) func(int) uint64 { return func(int) uint64 { return bytes } }
	out, in := share(op.PerMember.Out.BytesByMember), share(op.PerMember.In.BytesByMember)
	operation := ops.CollectiveOperationOf(op.StartedBy)
	atRoot := op.Root == g.me
	n := uint64(g.size)
	switch {
	case p == meaning.PatternNone || operation == meaning.CollectiveAllreduce:
		if p == meaning.PatternNone {
			whole = 1
		}
		if flat {
			return exchange(list, g, same(whole), same(whole))
		}
		return all(list, g, whole)
	case p == meaning.PatternFromRoot && !flat:
		return downTree(list, g, op.Root, whole)
	case p == meaning.PatternFromRoot:
		return star(list, g, op.Root, false, same(whole))
	case operation == meaning.CollectiveReduce && !flat:
		return upTree(list, g, op.Root, whole)
	case p == meaning.PatternToRoot:
		part := same(whole) // in a reduction all members send equally many bytes
		switch {
		case operation == meaning.CollectiveReduce:
		case !atRoot:
			part = same(op.SentBytes)
		case in != nil:
			part = in
		default:
			part = same(op.ReceivedBytes / n)
		}
		return star(list, g, op.Root, true, part)
	case p == meaning.PatternPartFromRoot:
		part := same(op.ReceivedBytes)
		if atRoot && out != nil {
			part = out
		} else if atRoot {
			part = same(op.SentBytes / n)
		}
		return star(list, g, op.Root, false, part)
	case operation == meaning.CollectiveAllgather || operation == meaning.CollectiveAllgatherv:
		if in == nil {
			in = same(op.ReceivedBytes / n)
		}
		if flat {
			return exchange(list, g, same(in(g.me)), in)
		}
		return ring(list, g, in)
	case p == meaning.PatternToNext:
		return chain(list, g, whole, flat)
	}
	if p == meaning.PatternPartReduced {
		own := op.ReceivedBytes
		if out != nil {
			own = out(g.me)
		} else {
			out = same(own)
		}
		in = same(own)
	}
	if out == nil {
		out = same(op.SentBytes / n)
	}
	if in == nil {
		in = same(op.ReceivedBytes / n)
	}
	return exchange(list, g, out, in)
}

// share returns a function that looks up the bytes of a member by its rank in the communicator. It returns nil if list
// is nil.
func share(list []uint64) func(int) uint64 {
	if list == nil {
		return nil
	}
	return func(i int) uint64 {
		if i < len(list) {
			return list[i]
		}
		return 0
	}
}

// all appends about log₂ n steps (dissemination), after which the member depends on all others.
func all(list []sendReceive, g commView, bytes uint64) []sendReceive {
	for far := 1; far < g.size; far *= 2 {
		list = append(list, sendReceive{(g.me + far) % g.size, (g.me - far + g.size) % g.size, bytes, bytes})
	}
	return list
}

// exchange appends a message to each other member and one from each. out and in return a message's bytes for the other
// member's rank.
func exchange(list []sendReceive, g commView, out, in func(int) uint64) []sendReceive {
	for far := 1; far < g.size; far++ {
		to, from := (g.me+far)%g.size, (g.me-far+g.size)%g.size
		list = append(list, sendReceive{to, from, out(to), in(from)})
	}
	return list
}

// ring appends the member's steps for a ring: in each it passes what it got in the step before to the next member. At
// first it passes its own part. part returns the bytes of a member's part.
func ring(list []sendReceive, g commView, part func(int) uint64) []sendReceive {
	next, before := (g.me+1)%g.size, (g.me-1+g.size)%g.size
	for i := range g.size - 1 {
		list = append(list, sendReceive{next, before, part((g.me - i + g.size) % g.size), part((before - i + g.size) % g.size)})
	}
	return list
}

// star appends direct messages between the root and the other members: to the root if up is set, else from it. part
// returns the bytes for the other member's rank.
func star(list []sendReceive, g commView, root int, up bool, part func(int) uint64) []sendReceive {
	if g.me != root {
		s := sendReceive{-1, root, 0, part(g.me)}
		if up {
			s = sendReceive{root, -1, part(g.me), 0}
		}
		return append(list, s)
	}
	for i := range g.size {
		switch {
		case i == root:
		case up:
			list = append(list, sendReceive{-1, i, 0, part(i)})
		default:
			list = append(list, sendReceive{i, -1, part(i), 0})
		}
	}
	return list
}

// downTree passes the root's data down a binomial tree.
func downTree(list []sendReceive, g commView, root int, bytes uint64) []sendReceive {
	me := (g.me - root + g.size) % g.size
	far := 1
	for ; far < g.size; far *= 2 {
		if me&far != 0 {
			list = append(list, sendReceive{-1, (me - far + root) % g.size, 0, bytes})
			break
		}
	}
	for far /= 2; far > 0; far /= 2 {
		if me+far < g.size {
			list = append(list, sendReceive{(me + far + root) % g.size, -1, bytes, 0})
		}
	}
	return list
}

// upTree passes the data of all members up a binomial tree to the root. Each message has the same number of bytes, as
// in a reduction.
func upTree(list []sendReceive, g commView, root int, bytes uint64) []sendReceive {
	me := (g.me - root + g.size) % g.size
	for far := 1; far < g.size; far *= 2 {
		if me&far != 0 {
			return append(list, sendReceive{(me - far + root) % g.size, -1, bytes, 0})
		}
		if me+far < g.size {
			list = append(list, sendReceive{-1, (me + far + root) % g.size, 0, bytes})
		}
	}
	return list
}

// chain sends partial results from each member to the next. With flat, each member sends directly to all later ones.
func chain(list []sendReceive, g commView, bytes uint64, flat bool) []sendReceive {
	if flat {
		for i := range g.size {
			switch {
			case i < g.me:
				list = append(list, sendReceive{-1, i, 0, bytes})
			case i > g.me:
				list = append(list, sendReceive{i, -1, bytes, 0})
			}
		}
		return list
	}
	if g.me > 0 {
		list = append(list, sendReceive{-1, g.me - 1, 0, bytes})
	}
	if g.me+1 < g.size {
		list = append(list, sendReceive{g.me + 1, -1, bytes, 0})
	}
	return list
}
