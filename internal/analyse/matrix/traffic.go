package matrix

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A visitor counts the messages of a rank's calls. bytes is the size of each message; if sized is false, it isn't
// known.
type visitor interface {
	// send counts a message that the rank sends to a world rank; -1: to a rank outside the world.
	send(to int, bytes uint64, sized bool)
	// receive counts a message that the rank gets from a world rank by a one-sided read.
	receive(from int, bytes uint64, sized bool)
	// spread counts a message from the rank to each other member of a communicator, or to each member of the remote
	// group. self is the rank in the communicator.
	spread(c *handles.Comm, self int, bytes uint64, sized bool)
	// collect counts a message to the rank from each other member of a communicator, or of the remote group.
	collect(c *handles.Comm, self int, bytes uint64, sized bool)
	// unknown counts a call whose partners are not known.
	unknown()
}

// A traffic computes which messages a rank's calls send and get, and passes them to a visitor.
type traffic struct {
	account *ops.CallInterpreter
	rank    int
	opts    *Options
	out     visitor
	acts    []ops.Act
}

// wants reports whether the messages of a function's calls are counted. Those of persistent requests count at
// MPI_Start.
func (o *Options) wants(f *trace.Function) bool {
	if f.Has(trace.AttrStarts) {
		return o.PointToPoint || o.Collectives
	}
	m := meaning.DataMovementOf(f.Name)
	return m != nil && !m.TakesEffectAtStart && o.pattern(m.Pattern)
}

func (o *Options) pattern(p meaning.Pattern) bool {
	switch {
	case p == meaning.PatternToPeer:
		return o.PointToPoint
	case p == meaning.PatternOneSided:
		return o.RMA
	}
	return o.Collectives && p.IsCollective()
}

// call passes a call's messages to the visitor. Of calls that failed or never returned, no messages are known.
func (t *traffic) call(c *trace.Call, stream int, index uint64) {
	if !t.opts.wants(c.Func) {
		return
	}
	var unknown int
	t.acts, unknown = t.account.ActsOf(t.acts[:0], c, stream, index)
	for range unknown {
		t.out.unknown()
	}
	for i := range t.acts {
		a := &t.acts[i]
		if m := meaning.DataMovementOf(a.StartedBy.Name); m == nil || !t.opts.pattern(m.Pattern) {
			continue
		}
		switch s := a.PerMember; a.Kind {
		case ops.ActSend, ops.ActSendBegin:
			t.out.send(a.PeerWorldRank(), s.Out.BytesPerMember, !s.Out.HasUnknownSizes)
		case ops.ActPut:
			t.out.send(a.PeerWorldRank(), s.Out.BytesPerMember, !s.Out.HasUnknownSizes)
		case ops.ActGet:
			t.out.receive(a.PeerWorldRank(), s.In.BytesPerMember, !s.In.HasUnknownSizes)
		case ops.ActAtomic:
			t.out.send(a.PeerWorldRank(), s.Out.BytesPerMember, !s.Out.HasUnknownSizes)
			if meaning.DataMovementOf(a.StartedBy.Name).In != nil {
				t.out.receive(a.PeerWorldRank(), s.In.BytesPerMember, !s.In.HasUnknownSizes)
			}
		case ops.ActCollective, ops.ActCollectiveBegin:
			t.collective(&a.Operation)
		}
	}
}

func (t *traffic) collective(op *ops.Operation) {
	comm, out := op.Comm, &op.PerMember.Out
	self := comm.RankOf(t.rank)
	atRoot := op.Root == ops.RootSelf || op.Root == self
	switch p := meaning.DataMovementOf(op.StartedBy.Name).Pattern; {
	case op.Root == ops.RootThisSide:
	case p == meaning.PatternFromRoot || p == meaning.PatternPartFromRoot:
		if atRoot {
			t.blocks(comm, self, out)
		}
	case p == meaning.PatternToRoot:
		if !atRoot {
			t.out.send(comm.PeerWorldRank(op.Root), out.BytesPerMember, !out.HasUnknownSizes)
		}
	case p == meaning.PatternToAll || p == meaning.PatternPartToAll:
		t.blocks(comm, self, out)
	case p == meaning.PatternPartReduced:
		each := out.BytesPerMember
		if self >= 0 && self < len(out.BytesByMember) {
			each = out.BytesByMember[self]
		}
		t.out.collect(comm, self, each, !out.HasUnknownSizes)
	case p == meaning.PatternToNext:
		if self >= 0 && self+1 < comm.Size {
			t.out.send(comm.WorldRank(self+1), out.BytesPerMember, !out.HasUnknownSizes)
		}
	case p == meaning.PatternNeighbors:
		t.neighbours(op)
	}
}

// blocks passes the visitor a message from the rank to each other member: with equal sizes, or with a size for each
// (MPI_Alltoallv). Of the latter, empty ones don't count.
func (t *traffic) blocks(comm *handles.Comm, self int, out *ops.Transfer) {
	switch {
	case out.BytesByMember == nil:
		t.out.spread(comm, self, out.BytesPerMember, !out.HasUnknownSizes)
		return
	case out.HasUnknownSizes: // messages with different sizes that aren't known
		t.out.unknown()
		return
	}
	for i, b := range out.BytesByMember {
		if b > 0 && (comm.RemoteSize > 0 || i != self) {
			t.out.send(comm.PeerWorldRank(i), b, true)
		}
	}
}

// neighbours passes the visitor a message to each neighbour of the rank in the communicator's topology.
func (t *traffic) neighbours(op *ops.Operation) {
	n, out := op.Neighbours, &op.PerMember.Out
	differs := func(b uint64) bool { return b != out.BytesByMember[0] }
	if n == nil || !n.DestinationsAreOrdered && slices.ContainsFunc(out.BytesByMember, differs) || out.BytesByMember != nil && len(out.BytesByMember) < len(n.Destinations) {
		t.out.unknown()
		return
	}
	for i, rank := range n.Destinations {
		if rank < 0 {
			continue // no neighbour: the rank is at the edge of a grid
		}
		each := out.BytesPerMember
		if out.BytesByMember != nil {
			each = out.BytesByMember[i]
		}
		t.out.send(op.Comm.WorldRank(rank), each, !out.HasUnknownSizes)
	}
}
