package convert

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// A RankOperationWriter is a rank's computations and operations in order, the input of replay simulators. The writers for SMPI
// and Dimemas embed it.
type RankOperationWriter struct {
	Source *ops.Source
	Out    *PatchedFile
	Rank   int

	blank  func(length int64) []byte // returns a record of this many bytes that simulators ignore
	last   int64                     // end of the first thread's latest call, in ns
	posted map[uint64]posted         // by Act.ID: receives that are pending
	tags   map[Channel]int
}

// A Channel is what simulators match messages between two ranks by.
type Channel struct {
	Comm int
	Tag  int64
}

// ChannelOf returns a message's channel. The two groups of an intercommunicator have a number each; the channel has the
// smaller one.
func ChannelOf(op *ops.Operation) Channel {
	comm := op.Comm.Number
	if op.Comm.Remote != nil {
		comm = min(comm, op.Comm.Remote.Number)
	}
	return Channel{comm, op.Tag}
}

// A posted is a pending receive, which has a record already. The record is overwritten if no message arrives, or when a
// wildcard's source and tag are known.
type posted struct {
	at, length int64 // offset and length of the receive's record in Out, in bytes
	wild       bool
}

// NewRankOperationWriter checks that the trace has all ranks: the simulator would wait for a missing one. what names the
// output in the error message (e.g. "replay").
func NewRankOperationWriter(s *ops.Source, what string, blank func(length int64) []byte) (RankOperationWriter, error) {
	for rank := range s.Reader.Ranks() {
		if s.Reader.ClassOf(rank) < 0 {
			return RankOperationWriter{}, fmt.Errorf("rank %d left no track, and the others would wait for it in a %s", rank, what)
		}
	}
	return RankOperationWriter{Source: s, blank: blank, tags: make(map[Channel]int)}, nil
}

// StartRank begins the sequence of a rank, at time 0 without pending receives.
func (q *RankOperationWriter) StartRank(k *trace.Rank) {
	q.Rank, q.last, q.posted = k.Number(), 0, make(map[uint64]posted)
}

// FinishRank overwrites the records of receives that are still pending with blank ones.
func (q *RankOperationWriter) FinishRank() {
	for id := range q.posted {
		q.CancelReceive(id)
	}
}

// ComputeNsBeforeCall returns how long the first thread computed before a call. For calls of other threads, which the formats
// can't represent, ok is false. They are counted as lost, for the reason given by parameter is.
func (q *RankOperationWriter) ComputeNsBeforeCall(c *ops.Call, is string) (ns int64, ok bool) {
	if c.Stream > 0 {
		q.Source.Losses.Add("calls of threads but the first: "+is+", which waits for ever if they exchanged messages", 1)
		return 0, false
	}
	ns = max(0, c.StartNs-q.last)
	q.last = max(q.last, c.StartNs)
	return ns, true
}

// Leave notes the end of a call of the first thread. The next computation begins there.
func (q *RankOperationWriter) Leave(c *ops.Call) error {
	if c.Stream == 0 {
		q.last = max(q.last, c.EndNs)
	}
	return nil
}

// ChannelNumber returns a small number for a channel, the same on all ranks.
func (q *RankOperationWriter) ChannelNumber(t Channel) int64 {
	n, _ := once.NumberOf(q.tags, t)
	return int64(n)
}

// PostReceive writes the record of a nonblocking receive. For a wildcard it writes a blank record of room bytes, which
// FillReceive overwrites.
func (q *RankOperationWriter) PostReceive(x *ops.Act, room int64, write func(peer int64)) {
	p := posted{at: q.Out.Position()}
	if peer := int64(x.PeerWorldRank()); peer >= 0 && x.Tag >= 0 {
		write(peer)
	} else {
		p.wild = true
		q.Out.Append(q.blank(room))
	}
	p.length = q.Out.Position() - p.at
	q.posted[x.ID] = p
}

// FillReceive ends a pending receive. If its record was left blank for a wildcard, it is overwritten by record.
func (q *RankOperationWriter) FillReceive(x *ops.Act, record func() []byte) {
	if p, ok := q.posted[x.ID]; ok {
		if p.wild {
			q.Out.Patch(p.at, record())
		}
		delete(q.posted, x.ID)
	}
}

// CancelReceive overwrites the record of a pending receive that never got a message by a blank one. It returns false if
// no receive with this Act.ID is pending.
func (q *RankOperationWriter) CancelReceive(id uint64) bool {
	p, ok := q.posted[id]
	if ok {
		q.Out.Patch(p.at, q.blank(p.length))
		delete(q.posted, id)
	}
	return ok
}

// CountUnsupported counts a one-sided or file operation as lost, as simulators lack it.
func (q *RankOperationWriter) CountUnsupported(x *ops.Act) {
	switch x.Kind {
	case ops.ActPut, ops.ActGet, ops.ActAtomic:
		q.Source.Losses.Add("one-sided transfers", 1)
	case ops.ActRead, ops.ActReadBegin, ops.ActWrite, ops.ActWriteBegin:
		q.Source.Losses.Add("reads and writes of files", 1)
	}
}

// Peer returns the other rank of a message. A rank of another world is counted as lost.
func (q *RankOperationWriter) Peer(x *ops.Act) (rank int64, ok bool) {
	if rank = int64(x.PeerWorldRank()); rank < 0 {
		q.Source.Losses.Add("messages to or from processes of another world", 1)
	}
	return rank, rank >= 0
}
