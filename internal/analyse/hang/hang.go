// Package hang tells where the ranks of a trace are at its end, who waits for whom, and whether
// any of them can go on: of the records that a program left that was killed, or of those that a
// running one has made so far.
//
// It goes through all calls once (package ops says what each did) and keeps what has not come
// to its end; graph.go decides. Memory follows the channels that messages go on, and what
// is under way.
//
// The answer errs on one side: a rank that might do what others wait for, as far as the trace
// tells, is taken to do it.
package hang

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// Options say what is known besides the trace.
type Options struct {
	Name     func(trace.Site) string // names call sites
	Thread   func(trace.Site) string // names what threads were made for, by places in it; nil: as Name does
	Progress func(calls uint64)      // called now and then with the number of further calls that were read
	Process  func(rank int) Process  // nil: nothing is known
}

// A Process is what is known of the operating system's process of a rank.
type Process struct {
	Host      string
	PID       int
	Alive     bool   // it runs
	Ended     bool   // it doesn't, although others of its world do
	MadeCalls bool   // it made calls while it was looked at
	HeldBy    string // what keeps it from running, one of the Held… constants; empty: nothing
	// Damaged says that not all of its records could be read.
	Damaged bool
}

// What keeps a process from running.
const (
	ProcessStopped      = "stopped"
	ProcessTraced       = "traced"
	ProcessInDeviceWait = "device" // a disk, or what else the kernel waits for
)

// A Report is where all ranks of a world are.
type Report struct {
	Verdict    Verdict              `json:"verdict"`
	Ranks      int                  `json:"ranks"`
	Cycles     []Cycle              `json:"cycles"`     // ranks that wait for each other in a ring
	States     []RankGroupState     `json:"states"`     // the ranks, those in equal states together
	Awaited    []Awaited            `json:"awaited"`    // ranks that others wait for in the end and that wait for nobody
	Receives   []UnmatchedReceive   `json:"receives"`   // without a message
	Messages   []UnreceivedMessages `json:"messages"`   // that no receive takes
	Mismatches []Mismatch           `json:"mismatches"` // of collective calls
	Unsure     []int                `json:"unsure"`     // ranks whose calls are not all known: they count as ranks that can proceed
	Losses     []ops.Loss           `json:"losses"`     // what the trace does not have
}

// A Verdict is the state of a world.
type Verdict string

// The verdicts.
const (
	VerdictEnded       Verdict = "ended"       // all ranks have reached MPI_Finalize
	VerdictDeadlock    Verdict = "deadlock"    // some ranks wait for each other in a ring
	VerdictStuck       Verdict = "stuck"       // some ranks wait for what nobody will do any more
	VerdictLivelock    Verdict = "livelock"    // some ranks ask again and again for what nobody does who waits
	VerdictWaiting     Verdict = "waiting"     // some ranks wait for others that can go on
	VerdictProgressing Verdict = "progressing" // nobody waits
	VerdictPartial     Verdict = "partial"     // none: some ranks left no records here, and those that did may wait for them
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

// A RankGroupState is ranks that are at the same place in the same way.
type RankGroupState struct {
	Kind            string      `json:"state"` // one of the Kind… constants
	Function        string      `json:"function"`
	Place           string      `json:"place"`
	WaitsForText    string      `json:"for"` // what they wait for, where that is the same for all
	Stuck           bool        `json:"stuck"`
	HeldBy          string      `json:"held,omitempty"`     // what keeps their processes from running
	CollectiveIndex uint64      `json:"round,omitempty"`    // in a collective call: which one of the communicator it is, from 1
	Comm            string      `json:"comm,omitempty"`     // that one
	ThreadFunction  string      `json:"made_for,omitempty"` // of a thread: what the program made it for
	Ranks           []RankState `json:"ranks"`
}

// The kinds of states.
const (
	StateBlocked   = "blocked"   // in a call that waits for others
	StateInside    = "inside"    // in a call that waits for nobody, as far as is known
	StatePolling   = "polling"   // asks again and again for something that has not come
	StateOutside   = "outside"   // outside of MPI, after its last call
	StateFinalized = "finalized" // in MPI_Finalize, or after it
	StateEnded     = "ended"     // without MPI_Finalize, while others run on
	StateMoving    = "moving"    // made calls while it was looked at
	StateUnknown   = "unknown"   // left no records here
)

// A RankState is where one rank is.
type RankState struct {
	Rank             int              `json:"rank"`
	Host             string           `json:"host,omitempty"`
	PID              int              `json:"pid,omitempty"`
	Calls            int64            `json:"calls"`
	SinceNs          int64            `json:"since_ns"` // how long it has been so, 0: not known
	Polls            uint64           `json:"polls,omitempty"`
	WaitsFor         []int            `json:"waits_for"`
	WaitsForText     string           `json:"for"`
	Call             string           `json:"call"`              // the last, in full
	SpawnedProcesses int              `json:"spawns,omitempty"`  // the number of processes in MPI_Comm_spawn that it waits for
	Threads          []RankGroupState `json:"threads,omitempty"` // of a rank with several: where they are
}

// Awaited is a rank that others wait for, directly or by way of others.
type Awaited struct {
	Rank         int   `json:"rank"`
	WaitingRanks []int `json:"by"`
}

// An UnmatchedReceive operation is a receive that has no message, or a probe.
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
	Function string `json:"function"` // of the last of them
	Place    string `json:"place"`
}

// A Mismatch is a collective call in which members of a communicator don't call the same.
type Mismatch struct {
	Comm  string           `json:"comm"`
	Index uint64           `json:"index"` // how many collective calls of the communicator came before
	Calls []MismatchedCall `json:"calls"`
}

// A MismatchedCall is what some of the members call.
type MismatchedCall struct {
	Function string `json:"function"`
	Root     int    `json:"root"` // rank in the communicator, -1 none
	Place    string `json:"place"`
	Ranks    []int  `json:"ranks"`
}

// Analyse looks at the end of a trace.
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
		if o.IgnoreTimes, err = s.OneThread(); o.IgnoreTimes && err == nil { // else times say which thread's call came first
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

// manyPolls is how often a thread must have asked in vain to be said to poll.
const manyPolls = 100

// brief is how long a call must have been open to be sure that it does not just do its work:
// messages may be on their way, and many sends need no receiver.
const brief = 20e6

var _ ops.Sink = (*follower)(nil)

// unmet lists the receives and probes that have no message.
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

// A Snapshot is where all ranks of a world are: what each is inside of, and what it has begun.
type Snapshot struct {
	Ranks    []RankWait
	Groups   []ProcessGroup // communicators
	Messages map[Channel]MessageCount
	// Operations are those that had not completed: of a rank in the order in which it began them.
	Operations []Operation
}

// A MessageCount is of the messages of a channel.
type MessageCount struct {
	Sent     uint64 // begun
	Received uint64 // taken by receives that have completed
	place    int    // where the last one was sent
}

// A RankWait is where one rank is.
type RankWait struct {
	Ended   bool
	Stopped bool // its process does not run
	// Threads are the threads that wait. A rank waits if none of its threads does anything else.
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
	// CollectiveProgress is what each member has entered of the collective calls of the communicator; empty
	// where there were none.
	CollectiveProgress []CollectiveProgress
}

// CollectiveProgress is how far a member has come with the collective calls of a communicator.
type CollectiveProgress struct {
	Count uint64           // how many were entered
	Last  []CollectiveCall // of these the last ones, in order
}

// A CollectiveCall is what has to be the same in all members that meet in a call.
type CollectiveCall struct {
	Function string
	Root     int // -1: it has none
	UserData int // for the caller's use: it need not be the same
}

// Matches reports whether two calls can be the same collective operation.
func (c CollectiveCall) Matches(d CollectiveCall) bool {
	return c.Function == d.Function && c.Root == d.Root
}

// at returns the call at a position, if it is known.
func (p *CollectiveProgress) at(position uint64) (CollectiveCall, bool) {
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

// A OperationKind says what an operation is.
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

	CollectiveIndex uint64 // of a collective: which one of the communicator, from 0
	AwaitedMembers  meaning.Need
	Root            int // rank of the world
}

func (o *Operation) channel() Channel { return Channel{o.Comm, o.Rank, o.Peer, o.Tag} }
