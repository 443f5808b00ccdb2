// Package ops determines what MPI calls do: which messages they send and receive, which collectives they take part
// in, which operations they complete, and how many bytes they move. Analyses, simulation and exports all ask it.
//
// There are two ways to ask. A Source goes through calls in order, rank by rank (Run) or a rank step by step
// (Follow), and reports each to a Sink; its memory grows with the operations under way. A ClassAmounts computes the
// bytes of distinct calls without expanding a trace: those of the buffers that they read to send, and of the buffers
// that they fill.
//
// What goes out is what the process hands to MPI: a broadcast is counted once, not once for each receiver, an
// all-to-all with all its blocks. What comes in is what the status says of a blocking receive, and the posted
// size of a non-blocking one; both are counted where the call is that names the buffer, those of persistent
// requests where they are started. MPI_IN_PLACE counts like the buffer it saves, files like messages,
// MPI_PROC_NULL and failed calls not at all. Packing and local reductions move nothing.
//
// Losses counts by name what the trace doesn't hold. It does not know how an MPI library carries
// out a collective.
package ops

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A Call is one MPI call with its acts. It is valid until its Leave has returned. Values and position of the
// embedded trace's Call are valid only until its Enter has returned: then they may be those of the next call of its
// terminal.
type Call struct {
	*trace.Call
	StartNs, EndNs int64                 // ns since the first call of any rank
	TimeKind       trace.SampleKind      // accuracy of Start and End
	Timing         trace.Timing          // times of the call and the gap before it
	Acts           []Act                 // in the order in which they happened
	Meeting        Meeting               // set for a collective call, even if it failed or never returned
	SiteIndex      int                   // index of the call site in Source.Sites
	Values         []trace.AttachedValue // attached values, if Options ask for them
}

// An Act is one operation or completion in a call.
type Act struct {
	Kind ActKind
	Operation
}

// An ActKind is the kind of an act.
type ActKind uint8

// The kinds of acts. If one call begins an operation and another completes it, or none does, both acts have the
// operation's ID.
const (
	ActSend      ActKind = iota // a message, by a call that returns when the buffer is free
	ActSendBegin                // a message; ActSendEnd follows when the buffer may be reused
	ActSendEnd
	ActRecv
	ActRecvBegin // a receive is posted; Peer, Tag and ReceivedBytes are its arguments
	ActRecvEnd
	ActTestedIncomplete // a test found the operation incomplete
	ActCancelled        // the operation ended without a message
	ActCollective
	ActCollectiveBegin
	ActCollectiveEnd
	ActCommMade
	ActCommFreed
	ActWindowMade
	ActWindowFreed
	ActPut
	ActGet
	ActAtomic          // a one-sided operation that combines values; it transfers both ways if ReceivedBytes is not 0
	ActRMAEndBySync    // end of an ActPut, ActGet or ActAtomic, in a call that synchronises the window
	ActRMAEndByRequest // end of a one-sided operation with a request
	ActWinFence
	ActWinLock   // lock of Peer's memory, or of all members' if Peer is AllMembers
	ActWinUnlock // unlock, as for ActWinLock
	ActWinPost   // exposes memory to Group; ActWinStart begins access to that of Group, ActWinComplete ends the access, ActWinWait the exposure
	ActWinStart
	ActWinComplete
	ActWinWait
	ActFileOpened
	ActFileClosed
	ActFileSought
	ActFileDeleted
	ActFileViewed // a new view is set; Call has it
	ActFileSynced
	ActRead      // ReceivedBytes is from the status, RequestedBytes from the arguments
	ActReadBegin // by a call that returns before the read completes
	ActReadEnd
	ActWrite
	ActWriteBegin
	ActWriteEnd
	ActProbed         // a probe found the message that the next matching receive gets, or that a matched probe removed; only with Messages and PassFineSync
	ActNeverCompleted // an operation that a call waited for without returning
)

// AllMembers in place of a Peer means all members of the communicator.
const AllMembers = -2

// Values of a collective's root that are not ranks.
const (
	NoRoot       = -1 // the collective has no root
	RootSelf     = -2 // on an intercommunicator: this process
	RootThisSide = -3 // on an intercommunicator: another process of the local group
)

// An Operation is the description of a message, a collective, or another transfer.
type Operation struct {
	ID                       uint64          // number of the operation among those of the rank that have a request, from 1; else 0
	StartedBy                *trace.Function // the function that began it, or that made the persistent request
	Comm                     *handles.Comm
	PeerInComm               int   // rank in Comm, or in the remote group of an intercommunicator
	Tag                      int64 // tag of a message
	Root                     int   // root of a collective, as a rank like Peer; else NoRoot, RootSelf or RootThisSide
	SentBytes, ReceivedBytes uint64
	MessageNumber            uint64                 // a message's number, equal at both ends; 0: not numbered
	ChannelIndex             uint64                 // index of the message in its channel, from 1; 0 without Message
	RequestedBytes           uint64                 // of a file operation: bytes asked for
	PerMember                *Transfers             // bytes sent to and received from each member, if Options ask for that
	Neighbours               *handles.Neighbourhood // of a neighbourhood collective, with PerMember or Messages; nil: unknown
	Window                   *Window
	GroupWorldRanks          []int // of ActWinPost, ActWinStart, ActWinComplete and ActWinWait: world ranks
	File                     *File
	Call                     *trace.Call // of ActFileOpened, ActFileSought, ActFileViewed, ActWinLock: the call
}

// IsExclusiveLock reports whether the lock of an ActWinLock is exclusive.
func (o *Operation) IsExclusiveLock() bool {
	p := o.Call.Param("lock_type")
	return p != nil && p.In.Num == mpi.LockExclusive
}

// PeerWorldRank returns the world rank of Peer; -1 if unknown.
func (o *Operation) PeerWorldRank() int { return o.Comm.PeerWorldRank(o.PeerInComm) }

// A Window is an MPI window. All of its ranks share one Window.
type Window struct {
	Number int // index in Source.Windows
	MadeBy string
	Comm   *handles.Comm
	Name   string // the first name that a rank set; "" if none did

	WindowsAndFilesBefore int // the number of windows and files that the communicator's ranks had made before
}

// String returns a display name of the window.
func (w *Window) String() string {
	if w.Name != "" {
		return fmt.Sprintf("window %q", w.Name)
	}
	return fmt.Sprintf("window %d of %s", w.Number+1, w.Comm)
}

// A File is a file that all ranks of a communicator opened together. They share one File.
type File struct {
	Number int
	Name   string
	Comm   *handles.Comm

	WindowsAndFilesBefore int // the number of windows and files that the communicator's ranks had made before
}

// A Sink receives calls, rank by rank. Those of a thread come in order: Enter when a call began, Leave when it had
// returned, nested calls between these two. At Enter all of the call is known. Calls of different threads of a rank
// may alternate.
type Sink interface {
	Begin(k *trace.Rank) error
	Enter(c *Call) error
	Leave(c *Call) error
	End(k *trace.Rank) error
}

// NopSink provides empty methods for Sinks that do not need all of them.
type NopSink struct{}

func (NopSink) Begin(*trace.Rank) error { return nil }
func (NopSink) Leave(*Call) error       { return nil }
func (NopSink) End(*trace.Rank) error   { return nil }

var kindNames = [...]string{
	ActSend: "send", ActSendBegin: "send begin", ActSendEnd: "send end", ActRecv: "receive", ActRecvBegin: "receive begin", ActRecvEnd: "receive end",
	ActTestedIncomplete: "tested", ActCancelled: "cancelled", ActCollective: "collective", ActCollectiveBegin: "collective begin", ActCollectiveEnd: "collective end",
	ActCommMade: "communicator made", ActCommFreed: "communicator freed", ActWindowMade: "window made", ActWindowFreed: "window freed",
	ActPut: "put", ActGet: "get", ActAtomic: "atomic", ActRMAEndBySync: "transfer end", ActRMAEndByRequest: "transfer done", ActWinFence: "fence",
	ActWinLock: "lock", ActWinUnlock: "unlock", ActFileOpened: "file opened", ActFileClosed: "file closed", ActFileSought: "seek", ActFileDeleted: "file deleted",
	ActRead: "read", ActReadBegin: "read begin", ActReadEnd: "read end", ActWrite: "write", ActWriteBegin: "write begin", ActWriteEnd: "write end",
	ActProbed: "probed", ActNeverCompleted: "awaited", ActWinPost: "post", ActWinStart: "start", ActWinComplete: "complete", ActWinWait: "posted", ActFileViewed: "view", ActFileSynced: "sync",
}

func (k ActKind) String() string { return kindNames[k] }

// Losses counts by name what an export could not express.
type Losses map[string]uint64

// Add adds n to the count of a loss.
func (l Losses) Add(name string, n uint64) { l[name] += n }

// A Loss is one name with its count.
type Loss struct {
	Reason string `json:"what"`
	Count  uint64 `json:"count"`
}

// List returns the losses, the most frequent first.
func (l Losses) List() []Loss {
	list := []Loss{}
	for _, what := range slices.Sorted(maps.Keys(l)) {
		list = append(list, Loss{what, l[what]})
	}
	slices.SortStableFunc(list, func(a, b Loss) int { return cmp.Compare(b.Count, a.Count) })
	return list
}

// Names of losses that every export has: what this package itself cannot determine.
const (
	lostComm    = "operations on a communicator whose members the trace does not have"
	lostSource  = "receives whose sender the trace does not have"
	lostRequest = "completions of requests that were not seen being made"
	lostFreed   = "operations whose request was freed before they completed"
	lostWindow  = "one-sided transfers and synchronisations on a window that was not seen being made"
	lostFile    = "file operations on a file that was not seen being opened"
	lostFailed  = "operations that failed when they were to be completed"
)

// LossUnfinished names the loss of operations that had not completed when the trace ended.
const LossUnfinished = "operations that nothing completed"
