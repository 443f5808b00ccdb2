// Package ops determines what MPI calls do: which messages they send and receive, which collectives they take part
// in, which operations they complete, and how many bytes they move. Analyses, simulation and exports all ask it.
//
// There are two ways to ask. A Source goes through calls in order, rank by rank (Run) or a rank step by step
// (Follow), and reports each to a Sink; its memory grows with the operations under way. A Class computes the bytes of
// distinct calls without expanding a trace: those of the buffers that they read to send, and of the buffers that they
// fill.
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

// A Call is one MPI call with what it did. It is good until its Leave has returned; values and position of the
// trace's Call only until its Enter has, then they may be those of the next call of its kind.
type Call struct {
	*trace.Call
	Start, End int64                 // ns since the first call of any rank
	TimeKind   trace.SampleKind      // how well these are known
	Timing     trace.Timing          // the call's, and of what came before it
	Acts       []Act                 // in the order in which they happened
	Meeting    Meeting               // of a collective call; also where it failed, or never returned
	Place      int                   // the call site, as Source.Places has it
	Values     []trace.AttachedValue // what was attached to it, if Options ask for that
}

// An Act is one thing that a call did.
type Act struct {
	Kind ActKind
	Operation
}

// A ActKind says what an act is.
type ActKind uint8

// The kinds of acts. If one call begins an operation and another completes it, or none does, both acts have the
// operation's ID.
const (
	ActSend      ActKind = iota // a message, by a call that returns when the buffer is free
	ActSendBegin                // a message; SendEnd follows when the buffer may be reused
	ActSendEnd
	ActRecv
	ActRecvBegin // a receive is posted; Peer, Tag and Received are what it asks for
	ActRecvEnd
	ActTested    // an operation was asked for, and had not completed
	ActCancelled // an operation ended without its message
	ActCollective
	ActCollectiveBegin
	ActCollectiveEnd
	ActCommMade
	ActCommFreed
	ActWindowMade
	ActWindowFreed
	ActPut
	ActGet
	ActAtomic       // a one-sided transfer that combines, both ways if Received is not 0
	ActTransferEnd  // of a Put, Get or Atomic, in a call that synchronises the window
	ActTransferDone // of one that has a request
	ActFence
	ActLock   // of Peer's memory, or of all members' if that is AllMembers
	ActUnlock // the same
	ActPost   // memory is opened to Group, Start: that of Group is asked for; Complete ends the latter, Posted the former
	ActStart
	ActComplete
	ActWait
	ActFileOpened
	ActFileClosed
	ActFileSought
	ActFileDeleted
	ActFileViewed // by another view; Call says how
	ActFileSynced
	ActRead      // Received is what the status says, Wanted what was asked for
	ActReadBegin // by a call that returns before it is done
	ActReadEnd
	ActWrite
	ActWriteBegin
	ActWriteEnd
	ActProbed         // a message is there that the next receive of its kind gets, or that is taken for one; with Messages and Finer
	ActNeverCompleted // an operation that a call waits for which never returned
)

// AllMembers in place of a Peer means all members of the communicator.
const AllMembers = -2

// What Root can be besides a rank.
const (
	NoRoot       = -1 // the collective has none
	RootSelf     = -2 // on an intercommunicator: this process
	RootThisSide = -3 // on an intercommunicator: another process of the own group
)

// An Operation is what is known of a message, a collective, or another transfer.
type Operation struct {
	ID                       uint64          // numbers the operations of the rank that have a request, from 1; else 0
	StartedBy                *trace.Function // that began it, or that made the persistent request
	Comm                     *handles.Comm
	Peer                     int   // rank in Comm, or in the remote group of an intercommunicator
	Tag                      int64 // of a message
	Root                     int   // of a collective
	SentBytes, ReceivedBytes uint64
	Message                  uint64                 // numbers a message, the same at both ends, if Options ask for that
	ChannelIndex             uint64                 // of its channel, from 1; 0 where Message is
	RequestedBytes           uint64                 // of a file operation: bytes asked for
	PerMember                *Transfers             // what it moves to and from each member, if Options ask for that
	Neighbours               *handles.Neighbourhood // of a collective along a topology, with Shares or Messages; nil: not known
	Window                   *Window
	Group                    []int // of Post, Start, Complete and Posted: ranks of the world
	File                     *File
	Call                     *trace.Call // of FileOpened, FileSought and Lock: the call, which says how
}

// Exclusive reports whether a Lock is for the rank alone.
func (o *Operation) Exclusive() bool {
	p := o.Call.Param("lock_type")
	return p != nil && p.In.Num == mpi.LockExclusive
}

// World is Peer as a rank of the world; -1 if unknown.
func (o *Operation) World() int { return o.Comm.PeerWorldRank(o.Peer) }

// A Window is memory that ranks open to each other. They share the Window.
type Window struct {
	Number int // in the order of the lowest rank that knows it
	MadeBy string
	Comm   *handles.Comm
	Name   string // that a rank gave it first; empty: none

	Ordinal int // the number of windows and files that the communicator's ranks had made before
}

// String names a window for people.
func (w *Window) String() string {
	if w.Name != "" {
		return fmt.Sprintf("window %q", w.Name)
	}
	return fmt.Sprintf("window %d of %s", w.Number+1, w.Comm)
}

// A File is a file as it was opened by all ranks of a communicator together. They share the File.
type File struct {
	Number int
	Name   string
	Comm   *handles.Comm

	Ordinal int // as that of a Window
}

// A Sink takes calls, rank by rank. Those of a thread come in order: Enter when a call began,
// Leave when it had returned, calls from within calls between these two. All there is to say
// of a call is known at its Enter. Threads of a rank take turns.
type Sink interface {
	Begin(k *trace.Rank) error
	Enter(c *Call) error
	Leave(c *Call) error
	End(k *trace.Rank) error
}

// NopSink is for Sinks that have nothing to do in some of these.
type NopSink struct{}

func (NopSink) Begin(*trace.Rank) error { return nil }
func (NopSink) Leave(*Call) error       { return nil }
func (NopSink) End(*trace.Rank) error   { return nil }

var kindNames = [...]string{
	ActSend: "send", ActSendBegin: "send begin", ActSendEnd: "send end", ActRecv: "receive", ActRecvBegin: "receive begin", ActRecvEnd: "receive end",
	ActTested: "tested", ActCancelled: "cancelled", ActCollective: "collective", ActCollectiveBegin: "collective begin", ActCollectiveEnd: "collective end",
	ActCommMade: "communicator made", ActCommFreed: "communicator freed", ActWindowMade: "window made", ActWindowFreed: "window freed",
	ActPut: "put", ActGet: "get", ActAtomic: "atomic", ActTransferEnd: "transfer end", ActTransferDone: "transfer done", ActFence: "fence",
	ActLock: "lock", ActUnlock: "unlock", ActFileOpened: "file opened", ActFileClosed: "file closed", ActFileSought: "seek", ActFileDeleted: "file deleted",
	ActRead: "read", ActReadBegin: "read begin", ActReadEnd: "read end", ActWrite: "write", ActWriteBegin: "write begin", ActWriteEnd: "write end",
	ActProbed: "probed", ActNeverCompleted: "awaited", ActPost: "post", ActStart: "start", ActComplete: "complete", ActWait: "posted", ActFileViewed: "view", ActFileSynced: "sync",
}

func (k ActKind) String() string { return kindNames[k] }

// Losses counts what an export does not say, by name.
type Losses map[string]uint64

// Add counts n more.
func (l Losses) Add(name string, n uint64) { l[name] += n }

// A Loss is one name with its count.
type Loss struct {
	What  string `json:"what"`
	Count uint64 `json:"count"`
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

// What this package itself can't say, and so no format can.
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
