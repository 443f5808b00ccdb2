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

// Options hold information from outside the trace.
type Options struct {
	Name     func(trace.Site) string // names call sites
	Thread   func(trace.Site) string // names the function for which a thread was made, from a code address in it; nil: Name does
	Progress func(calls uint64)      // called now and then with the number of further calls that were read
	Process  func(rank int) Process  // returns a rank's operating system process; nil: nothing is known
}

// A Process is what is known of the operating system's process of a rank.
type Process struct {
	Host      string
	PID       int
	Alive     bool   // it exists
	Ended     bool   // it has ended, although other processes of its world run
	MadeCalls bool   // it made calls during the observation
	HeldBy    string // why it can't run, one of the Process… constants; empty: it can
	// Damaged: some of its records could not be read.
	Damaged bool
}

// Reasons why a process can't run.
const (
	ProcessStopped      = "stopped"
	ProcessTraced       = "traced"
	ProcessInDeviceWait = "device" // waits in the kernel, mostly for a disk
)

// A Report is the state of all ranks of a world.
type Report struct {
	Verdict    Verdict              `json:"verdict"`
	Ranks      int                  `json:"ranks"`
	Cycles     []Cycle              `json:"cycles"`     // ranks that wait for each other in a ring
	States     []RankGroupState     `json:"states"`     // the ranks, those in equal states together
	Awaited    []Awaited            `json:"awaited"`    // ranks that wait for nobody, and that others wait for, directly or by way of others
	Receives   []UnmatchedReceive   `json:"receives"`   // receives and probes without a message
	Messages   []UnreceivedMessages `json:"messages"`   // messages that no receive takes
	Mismatches []Mismatch           `json:"mismatches"` // collective calls in which the members of a communicator differ
	Unsure     []int                `json:"unsure"`     // ranks some of whose calls are not known: they count as able to proceed
	Losses     []ops.Loss           `json:"losses"`     // calls that the trace lacks
}

// A Verdict is the state of a world.
type Verdict string

// The verdicts.
const (
	VerdictEnded       Verdict = "ended"       // all ranks have reached MPI_Finalize
	VerdictDeadlock    Verdict = "deadlock"    // some ranks wait for each other in a ring
	VerdictStuck       Verdict = "stuck"       // some ranks wait for what nobody will do any more
	VerdictLivelock    Verdict = "livelock"    // some ranks poll for something that only waiting ranks could do
	VerdictWaiting     Verdict = "waiting"     // some ranks wait for others that can go on
	VerdictProgressing Verdict = "progressing" // nobody waits
	VerdictPartial     Verdict = "partial"     // no verdict: some ranks left no records here, and ranks with records may wait for them
)

// A Cycle is ranks each of which waits for the next, and the last for the first.
type Cycle struct {
	Ranks []int       `json:"ranks"`
	Links []CycleLink `json:"links"`
}

// A CycleLink is why one rank of a cycle waits.
type CycleLink struct {
	Rank         int    `json:"rank"`
	Function     string `json:"function"`
	Place        string `json:"place"`
	WaitsForText string `json:"for"`
	OpenNs       int64  `json:"open_ns"` // how long the call has been open, 0: not known
}

// A RankGroupState is ranks in the same state.
type RankGroupState struct {
	Kind            string      `json:"state"` // one of the State… constants
	Function        string      `json:"function"`
	Place           string      `json:"place"`
	WaitsForText    string      `json:"for"` // what they wait for, if it is the same for all
	Stuck           bool        `json:"stuck"`
	HeldBy          string      `json:"held,omitempty"`     // why their processes can't run, one of the Process… constants
	CollectiveIndex uint64      `json:"round,omitempty"`    // in a collective call: its number in the communicator, from 1
	Comm            string      `json:"comm,omitempty"`     // the communicator of that call
	ThreadFunction  string      `json:"made_for,omitempty"` // of a thread: the function that the program made it for
	Ranks           []RankState `json:"ranks"`
}

// The values of RankGroupState.Kind.
const (
	StateBlocked   = "blocked"   // in a call that waits for others
	StateInside    = "inside"    // in a call that waits for nobody, as far as is known
	StatePolling   = "polling"   // polls for something that has not happened
	StateOutside   = "outside"   // outside of MPI, after its last call
	StateFinalized = "finalized" // in MPI_Finalize, or after it
	StateEnded     = "ended"     // ended without MPI_Finalize, while others run
	StateMoving    = "moving"    // made calls during the observation
	StateUnknown   = "unknown"   // left no records here
)

// A RankState is where one rank is.
type RankState struct {
	Rank             int              `json:"rank"`
	Host             string           `json:"host,omitempty"`
	PID              int              `json:"pid,omitempty"`
	Calls            int64            `json:"calls"`
	SinceNs          int64            `json:"since_ns"` // how long it has been in this state; 0: not known
	Polls            uint64           `json:"polls,omitempty"`
	WaitsFor         []int            `json:"waits_for"`
	WaitsForText     string           `json:"for"`
	Call             string           `json:"call"`              // the last call, in full
	SpawnedProcesses int              `json:"spawns,omitempty"`  // the number of processes in MPI_Comm_spawn that it waits for
	Threads          []RankGroupState `json:"threads,omitempty"` // of a rank with several threads: their states
}

// Awaited is a rank that others wait for, directly or by way of others.
type Awaited struct {
	Rank         int   `json:"rank"`
	WaitingRanks []int `json:"by"`
}

// An UnmatchedReceive is a receive or probe without a message.
type UnmatchedReceive struct {
	Rank     int    `json:"rank"`
	Function string `json:"function"`
	Place    string `json:"place"`
	Source   int    `json:"source"` // rank of the world, -1 any
	Tag      int64  `json:"tag"`    // -1 any
	Comm     string `json:"comm"`
}

// UnreceivedMessages are messages of one kind that no receive takes.
type UnreceivedMessages struct {
	From     int    `json:"from"` // ranks of the world
	To       int    `json:"to"`
	Tag      int64  `json:"tag"`
	Comm     string `json:"comm"`
	Count    uint64 `json:"count"`
	Function string `json:"function"` // function that sent the last of them
	Place    string `json:"place"`
}

// A Mismatch is a position at which members of a communicator make different collective calls.
type Mismatch struct {
	Comm  string           `json:"comm"`
	Index uint64           `json:"index"` // number of the communicator's collective calls before
	Calls []MismatchedCall `json:"calls"`
}

// A MismatchedCall is the call that some of the members made.
type MismatchedCall struct {
	Function string `json:"function"`
	Root     int    `json:"root"` // rank in the communicator; -1: the call has no root
	Place    string `json:"place"`
	Ranks    []int  `json:"ranks"`
}

// Analyse determines the state of all ranks at the end of a trace.
func Analyse(r *trace.Reader, o Options) (*Report, error) {
	if o.Name == nil {
		o.Name = func(s trace.Site) string { return fmt.Sprintf("%s+0x%x", s.Module, s.Offset) }
	}
	if o.Thread == nil {
		o.Thread = o.Name
	}
	if o.Process == nil {
		o.Process = func(int) Process { return Process{} }
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

// follow goes through all calls of a trace.
func follow(r *trace.Reader, progress func(calls uint64)) (*follower, error) {
	o := ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, Unfinished: true, IsIdle: idle, Progress: progress}
	s, err := ops.NewSource(r, o)
	if err == nil {
		if o.IgnoreTimes, err = s.OneThread(); o.IgnoreTimes && err == nil { // otherwise times decide which thread's call came first
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

// manyPolls is the number of successive vain polls after which a thread counts as polling.
const manyPolls = 100

// brief is the time in ns after which an open call counts as waiting. Shorter ones may just be at work: messages may
// be on their way, and many sends need no receiver.
const brief = 20e6

var _ ops.Sink = (*follower)(nil)

// unmet lists the receives and probes without a message.
func (v *view) unmet() []UnmatchedReceive {
	list := []UnmatchedReceive{}
	for i := range v.snap.Operations {
		o := &v.snap.Operations[i]
		if o.Kind != OperationReceive && o.Kind != OperationProbe || v.analysis.PeerArrived[i] {
			continue
		}
		p := v.places[v.placeOfOperation[i]]
		list = append(list, UnmatchedReceive{o.Rank, p.Function, v.o.Name(p.Site), o.Peer, o.Tag, v.names[o.Comm].String()})
	}
	return list
}

// A Snapshot is the state of all ranks of a world: their open calls and incomplete operations.
type Snapshot struct {
	Ranks    []RankWait
	Groups   []ProcessGroup // communicators
	Messages map[Channel]MessageCount
	// Operations are the incomplete ones, for each rank in the order in which it began them.
	Operations []Operation
}

// A MessageCount counts the messages of a channel.
type MessageCount struct {
	Sent     uint64 // begun
	Received uint64 // taken by receives that have completed
	place    int    // number of the call site that sent the last one
}

// A RankWait is what one rank waits for.
type RankWait struct {
	Ended   bool
	Stopped bool // its process does not run
	// Threads are the threads that wait. The rank waits only if OtherThreadBusy is false.
	Threads         []ThreadWait
	OtherThreadBusy bool // another thread is outside of MPI, or in a call that waits for nobody
}

// A ThreadWait is what the open call of a thread waits for.
type ThreadWait struct {
	Operations  []int // indices into Snapshot.Operations
	AnySuffices bool  // one of these is enough; else all are needed
}

// A ProcessGroup is the processes of a communicator.
type ProcessGroup struct {
	Members []int // ranks of the world, -1: not known
	// CollectiveProgress has each member's progress in the communicator's collective calls; empty if there were none.
	CollectiveProgress []CollectiveProgress
}

// CollectiveProgress is the collective calls that a member has entered on a communicator.
type CollectiveProgress struct {
	Count uint64           // number of calls entered
	Last  []CollectiveCall // the last of them, in order
}

// A CollectiveCall is the part of a collective call that must be equal in all members.
type CollectiveCall struct {
	Function string
	Root     int // -1: it has none
	UserData int // for the caller's use: it need not be the same
}

// Matches reports whether two calls can be the same collective operation.
func (c CollectiveCall) Matches(d CollectiveCall) bool {
	return c.Function == d.Function && c.Root == d.Root
}

// at returns the call at a position, if it is still kept.
func (p *CollectiveProgress) at(position uint64) (CollectiveCall, bool) {
	first := p.Count - uint64(len(p.Last))
	if position < first || position >= p.Count {
		return CollectiveCall{}, false
	}
	return p.Last[position-first], true
}

// A Channel is the key of MPI's ordering: messages of one channel don't overtake each other.
type Channel struct {
	Comm     int
	From, To int // ranks of the world
	Tag      int64
}

// Wildcards of a receive or probe.
const (
	AnySource = -1
	AnyTag    = -1
)

// An OperationKind is a kind of operation.
type OperationKind uint8

// The kinds of operations.
const (
	OperationSend OperationKind = iota // a message that the receiver has to take before the sender can go on
	OperationReceive
	OperationProbe
	OperationCollective
)

// An Operation is a message, a receive or a collective that one rank has begun.
type Operation struct {
	Kind OperationKind
	Rank int // of the world
	Comm int // index into Groups

	Peer          int    // rank of the world, or AnySource
	Tag           int64  // or AnyTag
	MessageNumber uint64 // of a send: which message of its channel it is, from 1

	CollectiveIndex uint64 // of a collective: its number in the communicator, from 0
	AwaitedMembers  meaning.Need
	Root            int // rank of the world
}

func (o *Operation) channel() Channel { return Channel{o.Comm, o.Rank, o.Peer, o.Tag} }
