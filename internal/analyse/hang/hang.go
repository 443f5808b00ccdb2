// Package hang determines where the ranks of a trace are at its end, who waits for whom, and whether any of them can
// go on. The trace is made from the records of a killed program, or from those that a running one has made so far.
//
// It goes through all calls once (package ops determines what each did) and keeps incomplete operations; graph.go
// decides. Memory grows with the channels of messages, and with the pending operations.
//
// The answer errs on one side only: a rank that might do what others wait for, as far as the trace shows, is assumed
// to do it.
package hang

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// Options hold information that the trace lacks.
type Options struct {
	NameSite      func(trace.Site) string // names a call site; nil: by module and offset
	NameThread    func(trace.Site) string // names a thread's function, from an address in it; nil: Name does
	Progress      func(calls uint64)      // called now and then with the number of calls read since; may be nil
	ProcessOfRank func(rank int) Process  // returns a rank's operating system process; nil: nothing is known of processes
}

// A Process is what is known of the operating system's process of a rank.
type Process struct {
	Host                 string
	PID                  int
	Alive                bool   // the process exists
	Ended                bool   // the process has ended, although others of its MPI_COMM_WORLD run
	MadeCalls            bool   // the process made calls between the two times at which it was looked at
	HeldBy               string // why the process can't run: one of the constants below; "": it can
	HasUnreadableRecords bool   // some of the process's records could not be read
}

// Values of Process.HeldBy.
const (
	HeldByStopSignal = "stopped" // a signal stopped the process
	HeldByDebugger   = "traced"  // a debugger holds the process
	HeldByKernelWait = "device"  // the process waits in the kernel, mostly for a disk
)

// A Report is the state of all ranks of an MPI_COMM_WORLD: where they are, and why they wait.
type Report struct {
	Verdict               Verdict              `json:"verdict"`
	Ranks                 int                  `json:"ranks"`
	Cycles                []Cycle              `json:"cycles"`     // rings of ranks that wait for each other
	States                []RankGroupState     `json:"states"`     // groups of ranks in equal states
	WaitChainEnds         []WaitChainEnd       `json:"awaited"`    // ranks that wait for no rank, but that others wait for
	Receives              []UnmatchedReceive   `json:"receives"`   // receives and probes for which there is no message
	Messages              []UnreceivedMessages `json:"messages"`   // sent messages that no receive takes
	Mismatches            []Mismatch           `json:"mismatches"` // collective calls in which the members of a communicator differ
	RanksWithUnknownCalls []int                `json:"unsure"`     // ranks with calls that aren't known: count as able to go on
	Losses                []ops.Loss           `json:"losses"`     // calls that the trace lacks
}

// A Verdict is the state of an MPI_COMM_WORLD as a whole.
type Verdict string

// The verdicts. If several hold, the world has the first of these, in this order: ended, deadlock, stuck, livelock,
// partial, waiting.
const (
	VerdictEnded          Verdict = "ended"       // all ranks have reached MPI_Finalize
	VerdictDeadlock       Verdict = "deadlock"    // some ranks wait for each other in a ring
	VerdictStuck          Verdict = "stuck"       // some ranks wait for what no rank will do any more
	VerdictLivelock       Verdict = "livelock"    // some ranks poll for something that only waiting ranks could do
	VerdictWaiting        Verdict = "waiting"     // some ranks wait for others that can go on
	VerdictProgressing    Verdict = "progressing" // no rank waits for another
	VerdictMissingRecords Verdict = "partial"     // not known: some ranks, for which others may wait, left no records here
)

// A Cycle is a ring of ranks: each waits for the next, and the last for the first.
type Cycle struct {
	Ranks []int       `json:"ranks"`
	Links []CycleLink `json:"links"`
}

// A CycleLink says in which call a rank of a cycle waits for the next rank, and for what.
type CycleLink struct {
	Rank         int    `json:"rank"`
	Function     string `json:"function"`
	Place        string `json:"place"`
	WaitsForText string `json:"for"`
	TimeInCallNs int64  `json:"open_ns"` // how long the rank has been in the call; 0: not known
}

// A RankGroupState is a state, and the ranks that are in it.
type RankGroupState struct {
	Kind             string      `json:"state"` // one of the State… constants
	Function         string      `json:"function"`
	Place            string      `json:"place"`
	WaitsForText     string      `json:"for"` // what the ranks wait for; "": nothing, or not all for the same
	Stuck            bool        `json:"stuck"`
	HeldBy           string      `json:"held,omitempty"`     // why their processes can't run, as in Process.HeldBy
	CollectiveNumber uint64      `json:"round,omitempty"`    // number of the collective call on Comm, from 1; 0: in none
	Comm             string      `json:"comm,omitempty"`     // name of the collective call's communicator
	ThreadFunction   string      `json:"made_for,omitempty"` // if this is a thread's state: the function that it runs
	Ranks            []RankState `json:"ranks"`
}

// The values of RankGroupState.Kind.
const (
	StateBlocked     = "blocked"   // in a call that waits for other ranks
	StateInLocalCall = "inside"    // in a call that, as far as is known, waits for no other rank
	StatePolling     = "polling"   // polling for something that has not happened
	StateOutsideMPI  = "outside"   // outside of MPI, after its last call
	StateFinalized   = "finalized" // in MPI_Finalize, or after it
	StateEnded       = "ended"     // ended without MPI_Finalize, while other ranks run
	StateMakingCalls = "moving"    // at work: made calls between the two times at which its process was looked at
	StateUnknown     = "unknown"   // not known, as the rank left no records here
)

// A RankState is in which call one rank is, since when, and for which ranks it waits.
type RankState struct {
	Rank             int              `json:"rank"`
	Host             string           `json:"host,omitempty"`
	PID              int              `json:"pid,omitempty"`
	Calls            int64            `json:"calls"`
	TimeInStateNs    int64            `json:"since_ns"` // how long it has been in this state; 0: not known
	Polls            uint64           `json:"polls,omitempty"`
	WaitsFor         []int            `json:"waits_for"`
	WaitsForText     string           `json:"for"`
	LastCallText     string           `json:"call"`              // the last call with its parameters, as text
	SpawnedProcesses int              `json:"spawns,omitempty"`  // number of processes that MPI_Comm_spawn starts
	Threads          []RankGroupState `json:"threads,omitempty"` // states of the threads, if the rank has several
}

// WaitChainEnd is a rank that waits for no rank itself, and the ranks that wait for it, directly or for ranks that do.
type WaitChainEnd struct {
	Rank         int   `json:"rank"`
	WaitingRanks []int `json:"by"`
}

// An UnmatchedReceive is a receive or probe for which there is no message.
type UnmatchedReceive struct {
	Rank            int    `json:"rank"`
	Function        string `json:"function"`
	Place           string `json:"place"`
	SourceWorldRank int    `json:"source"` // world rank asked for; -1: MPI_ANY_SOURCE
	Tag             int64  `json:"tag"`    // tag asked for; -1: MPI_ANY_TAG
	Comm            string `json:"comm"`
}

// UnreceivedMessages are the sent messages of one channel (communicator, sender, receiver, tag) that no receive takes.
type UnreceivedMessages struct {
	From     int    `json:"from"` // world rank of the sender
	To       int    `json:"to"`   // world rank of the receiver
	Tag      int64  `json:"tag"`
	Comm     string `json:"comm"`
	Count    uint64 `json:"count"`
	Function string `json:"function"` // function that sent the channel's last message
	Place    string `json:"place"`
}

// A Mismatch is a collective call on a communicator in which members differ: in function or root.
type Mismatch struct {
	Comm            string           `json:"comm"`
	CollectiveIndex uint64           `json:"index"` // number of collective calls on the communicator before this one
	Calls           []MismatchedCall `json:"calls"`
}

// A MismatchedCall is one of the different calls of a Mismatch, with the world ranks that made it.
type MismatchedCall struct {
	Function   string `json:"function"`
	RootInComm int    `json:"root"` // rank in the communicator; -1: the call has no root
	Place      string `json:"place"`
	Ranks      []int  `json:"ranks"`
}

// Analyse determines the state of all ranks at the end of a trace: in which calls they are, and whether they can go on.
func Analyse(r *trace.Reader, o Options) (*Report, error) {
	if o.NameSite == nil {
		o.NameSite = func(s trace.Site) string { return fmt.Sprintf("%s+0x%x", s.Module, s.Offset) }
	}
	if o.NameThread == nil {
		o.NameThread = o.NameSite
	}
	if o.ProcessOfRank == nil {
		o.ProcessOfRank = func(int) Process { return Process{} }
	}
	f, err := follow(r, o.Progress)
	if err != nil {
		return nil, err
	}
	v := &view{follower: f, o: o, r: r}
	if err := v.look(); err != nil {
		return nil, err
	}
	return v.report(), nil
}

// follow goes through all calls of a trace with a follower, and returns it.
func follow(r *trace.Reader, progress func(calls uint64)) (*follower, error) {
	o := ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, PassUnfinished: true, IsIdle: idle, AddProgress: progress}
	s, err := ops.NewSource(r, o)
	if err == nil {
		// Only if a rank has several threads are times needed, for the order of their calls.
		if o.IgnoreTimes, err = s.HasOneThreadPerRank(); o.IgnoreTimes && err == nil {
			s, err = ops.NewSource(r, o)
		}
	}
	if err != nil {
		return nil, err
	}
	f := newFollower(s, r.Ranks())
	if err := s.Run(f); err != nil {
		return nil, err
	}
	for by, n := range f.counts {
		f.snap.Messages[by] = *n
	}
	return f, nil
}

// manyPolls is from how many polls in vain on, one after the other, a thread counts as polling.
const manyPolls = 100

// brief is for how many ns a rank must be in a send or collective call to count as waiting. In a shorter time, messages
// may be on their way, or a send may complete without the receiver.
const brief = 20e6

var _ ops.Sink = (*follower)(nil)

// unmet lists the receives and probes for which there is no message.
func (v *view) unmet() []UnmatchedReceive {
	list := []UnmatchedReceive{}
	for i := range v.snap.Operations {
		o := &v.snap.Operations[i]
		if o.Kind != OperationReceive && o.Kind != OperationProbe || v.analysis.OperationWillComplete[i] {
			continue
		}
		p := v.places[v.placeOfOperation[i]]
		list = append(list, UnmatchedReceive{o.Rank, p.Function, v.o.NameSite(p.Site), o.PeerWorldRank, o.Tag, v.names[o.GroupIndex].String()})
	}
	return list
}

// A Snapshot is the state of all ranks of an MPI_COMM_WORLD: their open calls and incomplete operations.
type Snapshot struct {
	Ranks    []RankWait               // by rank
	Groups   []CollectiveGroup        // communicators, windows and files; see CollectiveGroup
	Messages map[Channel]MessageCount // messages sent and received so far
	// Operations are the operations that have not completed. Those of a rank are in the order in which it began them.
	Operations []Operation
}

// A MessageCount counts the messages of a channel.
type MessageCount struct {
	Sent     uint64 // number of messages whose sending has begun
	Received uint64 // number of messages that completed receives took
	place    int    // index of the call site that sent the last message
}

// A RankWait is what one rank waits for.
type RankWait struct {
	EndedOrFinalizing bool // the rank has ended or is in MPI_Finalize
	IsProcessHeld     bool // the rank's process can't run
	// Threads are the threads that wait. The rank as a whole waits only if OtherThreadBusy is false.
	Threads         []ThreadWait
	OtherThreadBusy bool // some thread is outside of MPI, or in a call that doesn't wait
}

// A ThreadWait is what the open call of a thread waits for.
type ThreadWait struct {
	Operations  []int // operations that must complete, as indices in Snapshot.Operations
	AnySuffices bool  // the call returns when any of Operations completes; else all must
}

// A CollectiveGroup is the processes that make collective calls together: on a communicator, a window or a file.
type CollectiveGroup struct {
	Members []int // world ranks of the members; -1: not known
	// CollectiveProgress has the collective calls of each member, by its index in Members; empty: none were made.
	CollectiveProgress []CollectiveProgress
}

// CollectiveProgress is the collective calls that one member of a CollectiveGroup has entered.
type CollectiveProgress struct {
	Count       uint64           // number of calls entered
	LatestCalls []CollectiveCall // the latest of these calls, in order; older ones aren't kept
}

// A CollectiveCall is what members of a CollectiveGroup must have in common in a collective call.
type CollectiveCall struct {
	Function   string
	RootInComm int // rank in the communicator; -1: the function has no root
	UserData   int // not compared: who makes a Snapshot may store something here
}

// Matches reports whether the calls of two members can belong to the same collective operation.
func (c CollectiveCall) Matches(d CollectiveCall) bool {
	return c.Function == d.Function && c.RootInComm == d.RootInComm
}

// at returns the call that the member made after position others, and whether that call is kept.
func (p *CollectiveProgress) at(position uint64) (CollectiveCall, bool) {
	first := p.Count - uint64(len(p.LatestCalls))
	if position < first || position >= p.Count {
		return CollectiveCall{}, false
	}
	return p.LatestCalls[position-first], true
}

// A Channel is all messages with the same communicator, sender, receiver and tag. They don't overtake each other.
type Channel struct {
	GroupIndex int // index in Snapshot.Groups
	From, To   int // world ranks of sender and receiver
	Tag        int64
}

// Values of Operation.PeerWorldRank and Operation.Tag for MPI_ANY_SOURCE and MPI_ANY_TAG.
const (
	AnySource = -1
	AnyTag    = -1
)

// An OperationKind says what an Operation does.
type OperationKind uint8

// The kinds of operations.
const (
	OperationSend OperationKind = iota // a message that the receiver has to take before the sender can go on
	OperationReceive
	OperationProbe
	OperationCollective
)

// An Operation is a send, receive, probe or collective operation that one rank has begun and not completed.
type Operation struct {
	Kind       OperationKind
	Rank       int // world rank that began the operation
	GroupIndex int // index in Snapshot.Groups

	// Of sends, receives and probes.
	PeerWorldRank int    // world rank of the other side, or AnySource
	Tag           int64  // tag, or AnyTag
	MessageNumber uint64 // a send's message is the MessageNumber-th of its channel, from 1

	// Of collective operations.
	CollectiveIndex uint64                 // number of the group's collective calls before this one
	AwaitedMembers  meaning.AwaitedMembers // which members the caller waits for
	RootWorldRank   int                    // world rank of the root; -1: none, or not known
}

func (o *Operation) channel() Channel { return Channel{o.GroupIndex, o.Rank, o.PeerWorldRank, o.Tag} }
