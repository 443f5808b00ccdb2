package hang

import "github.com/spoor-hpc/spoor/mpi/meaning"

// A Snapshot is where all ranks of a world are: what each is inside of, and what it has begun.
type Snapshot struct {
	Ranks  []RankWait
	Groups []Group // communicators
	// Sent and Received count messages by channel: those that were begun, and those that a
	// receive took which has completed.
	Sent, Received map[Channel]uint64
	// Operations are those that had not completed: of a rank in the order in which it began them.
	Operations []Operation
}

// A RankWait is where one rank is.
type RankWait struct {
	Gone bool
	// Threads are the threads that wait. A rank waits if none of its threads does anything else.
	Threads []Wait
	Busy    bool // another thread is outside of MPI, or in a call that waits for nobody
}

// A Wait is what the open call of a thread waits for.
type Wait struct {
	Operations []int // indices into Snapshot.Operations
	Any        bool  // one of these is enough; else all are needed
}

// A Group is the processes of a communicator.
type Group struct {
	Members []int // ranks of the world, -1: not known
	// Entered is what each member has entered of the collective calls of the communicator; empty
	// where there were none.
	Entered []Progress
}

// Progress is how far a member has come with the collective calls of a communicator.
type Progress struct {
	Count uint64           // so many were entered
	Last  []CollectiveCall // of these the last ones, in order
}

// A CollectiveCall is what has to be the same in all members that meet in a call.
type CollectiveCall struct {
	Function string
	Root     int // -1: it has none
	Where    int // for the caller's use: it need not be the same
}

// Same reports whether two calls can be the same collective operation.
func (c CollectiveCall) Same(d CollectiveCall) bool {
	return c.Function == d.Function && c.Root == d.Root
}

// at returns the call at a position, if it is known.
func (p *Progress) at(position uint64) (CollectiveCall, bool) {
	first := p.Count - uint64(len(p.Last))
	if position < first || position >= p.Count {
		return CollectiveCall{}, false
	}
	return p.Last[position-first], true
}

// A Channel is what messages don't overtake each other on.
type Channel struct {
	Comm     int
	From, To int // ranks of the world
	Tag      int64
}

// What a receive or probe may leave open.
const (
	AnySource = -1
	AnyTag    = -1
)

// A Kind says what an operation is.
type Kind uint8

// The kinds of operations.
const (
	Send Kind = iota // a message that the receiver has to take before the sender can go on
	Receive
	Probe
	Collective
)

// An Operation is a message, a receive or a collective that one rank has begun.
type Operation struct {
	Kind Kind
	Rank int // of the world
	Comm int // index into Groups

	Peer   int    // rank of the world, or AnySource
	Tag    int64  // or AnyTag
	Serial uint64 // of a send: which message of its channel it is, from 1

	Position uint64 // of a collective: which one of the communicator, from 0
	Need     meaning.Need
	Root     int // rank of the world
}

func (o *Operation) channel() Channel { return Channel{o.Comm, o.Rank, o.Peer, o.Tag} }
