// Package dataflow predicts when each rank of a program ends on a machine, if it is known which message each receive
// gets. A message's arrival then depends only on its sender, whatever other ranks do, and no queue of events is
// needed. Each rank continues until it must wait for an operation that another rank has not done yet.
//
// A message of s bytes leaves when the call that sends it begins and the previous message has left its sender:
// max(gap, time of its bytes) after that one did. The call keeps the sender busy for the send overhead. With T(s) as
// the level's one-way time, the receive overhead included, an eager message has arrived T(s) after it left. Its
// receive ends then or, if the wait begins later, a receive overhead after the wait began. A larger message waits for
// its receive: it arrives T(s) after it left if the receive was posted when the announcement arrived, and is late by
// as much as the receive was. Its sender is free when the last byte has left. These are LogGP's rules (Alexandrov et
// al., SPAA 1995) with tables for L and G. As in SIM-MPI (Zhai et al., SC 2014, section V), eager and rendezvous
// messages differ. Only senders are ever congested.
//
// Times are integers in ps. They are sums and maxima of other times, so shifting all inputs by some time shifts all
// results by the same time. Two optimisations rely on that and change no digit. Iterations of a loop that begin in
// the state of an earlier iteration are skipped (fastforward.go), and one rank represents all ranks that do the same
// (alike.go).
package dataflow

import "fmt"

// An OpKind is what an operation does.
type OpKind uint8

// The kinds of operations.
const (
	OpCompute   OpKind = iota // computation that takes TimePs
	OpLocalCall               // a call that waits for no rank; takes TimePs
	OpRecorded                // a call for which there is no model; takes TimePs as recorded
	OpSend
	OpReceive
	OpWait // waits until the request with number Request is complete
	OpMeet
	OpCompletedRequest // makes a request that is complete at once
	OpPut              // writes Bytes to Peer's memory without Peer's participation; complete when the acknowledgement is back
	OpGet              // reads Bytes from Peer's memory without Peer's participation
	OpBackground       // makes a request that is complete after TimePs; the rank goes on
	OpFile             // I/O that takes TimePs
	OpEnter
	OpLeave // with OpEnter marks a call for Options.OnEachCall; a DistinctCallOps doesn't need them
)

// A WaitPattern says which members of a collective, as an OpMeet, wait for which.
type WaitPattern uint8

// The kinds of meetings. A member leaves TimePs after its wait ended.
const (
	WaitForAll       WaitPattern = iota // each member waits for all
	WaitForRoot                         // all others wait for the root
	RootWaitsForAll                     // the root waits for all others
	UninvolvedMember                    // this member waits for nobody and nobody waits for it; it doesn't count in Members
)

// NoRequest as Op.Request makes an operation blocking: it ends before the rank's next operation begins.
const NoRequest = -1

// ReservedRequestCount is how many request numbers, from 0 on, are for requests that one call makes and waits for. In a
// DistinctCallOps all other requests are numbered backwards, see Op.RequestCountsBack.
const ReservedRequestCount = 2

// An Op is an operation of a rank. Sends and receives with equal ranks, context and tag match in the order in which
// they begin; so do the meetings of a context.
type Op struct {
	Kind          OpKind
	IsSynchronous bool // a send waits for its receive, whatever its size
	IsBuffered    bool // a send doesn't wait for its receive, whatever its size
	IsRoot        bool // OpMeet: this member is the root
	// In a DistinctCallOps: Request counts backwards, 1 is the request made last. For an operation that makes a request,
	// Request has no meaning then.
	RequestCountsBack bool
	TakesVisitTime    bool        // in a DistinctCallOps: the operation takes the time that CallVisits.Next returns, not TimePs
	WaitPattern       WaitPattern // for OpMeet
	Request           int32       // number of the request that the operation makes or waits for, or NoRequest
	Peer              int32       // rank that a message, put or get goes to or comes from
	Context           int32
	Members           int32 // OpMeet: number of members
	OperandsIndex     int32 // in a DistinctCallOps: index in CompiledProgram.Operands, where Peer, Context and Tag are
	CallIndex         int32 // index of the call that the operation belongs to
	// In a ThreadProgram: the number of this send, receive or meeting among the rank's with equal ranks, context and
	// tag, from 1; else 0.
	MatchIndex int32
	Thread     int32 // thread, for callers that distinguish threads; the engine ignores it
	Tag        int64
	Bytes      int64 // size, for OpSend, OpPut and OpGet
	TimePs     int64 // duration, for OpCompute, OpLocalCall, OpRecorded, OpMeet, OpBackground and OpFile
}

func (o *Op) String() string {
	switch o.Kind {
	case OpSend:
		return fmt.Sprintf("a send of %d bytes to rank %d with tag %d", o.Bytes, o.Peer, o.Tag)
	case OpReceive:
		return fmt.Sprintf("a receive from rank %d with tag %d", o.Peer, o.Tag)
	case OpMeet:
		return fmt.Sprintf("a collective of %d ranks", o.Members)
	}
	return [...]string{OpCompute: "a computation", OpLocalCall: "a local call", OpRecorded: "a call", OpWait: "a wait", OpCompletedRequest: "no message", OpPut: "a put", OpGet: "a get", OpBackground: "a transfer", OpFile: "a file", OpEnter: "a call", OpLeave: "a call"}[o.Kind]
}

// A RankTime is the parts of a rank's time, in ps. They add up to End.
type RankTime struct {
	EndPs      int64 `json:"end_ps"`
	ComputePs  int64 `json:"compute_ps"`
	OverheadPs int64 `json:"overhead_ps"` // overhead of sends and receives, and time of local calls
	WaitPs     int64 `json:"wait_ps"`     // waiting until another rank began its part of a message or collective
	TransferPs int64 `json:"transfer_ps"` // waiting for messages in transit, and I/O
	RecordedPs int64 `json:"recorded_ps"` // time of calls without a model, as recorded
}

// A Program yields the operations of a rank.
type Program interface {
	// Next returns the next operations; an empty slice at the program's end. They are valid until Next is called
	// again.
	Next() ([]Op, error)
}

// A CompiledProgram is a program that repeats distinct calls.
type CompiledProgram struct {
	Code     *DistinctCallOps
	Operands []RankOperands // what Op.OperandsIndex means on this rank
	Visits   CallVisits
}

// A DistinctCallOps is the operations of distinct calls, which ranks that do the same share.
type DistinctCallOps struct {
	OpsOfCall   [][]Op // by call: its operations, whose peers, contexts and tags are in CompiledProgram.Operands
	RequestMask uint32 // a power of two minus one; not less than the largest number of requests pending at a time
}

// A RankOperands is what differs between ranks in operations with the same Op.OperandsIndex: their peer, context and tag.
type RankOperands struct {
	IsMeeting bool // the operations are meetings of the context; else they send or receive
	IsSend    bool // the operations send to Peer; else they receive from Peer
	Peer      int32
	Context   int32
	Tag       int64
}

// CallVisits yields the calls that a rank makes.
type CallVisits interface {
	// Next returns the index of the next call in DistinctCallOps.OpsOfCall, the gap before it, and the time of its
	// operations with TakesVisitTime, both in ps. ok is false after the last call.
	Next() (call int, gap, took int64, ok bool, err error)
	// EqualityKey returns a value that is equal on ranks with the same code that make the same calls with the same
	// times. nil: that isn't known.
	EqualityKey() any
	// MainLoopRounds returns the number of iterations of the loop with most calls. It returns 0 if this loop is
	// inside another one or its iterations differ.
	MainLoopRounds() uint64
	// RoundsLeft returns how many iterations of the loop of MainLoopRounds are still to come. between is false if the
	// next call neither begins an iteration nor directly follows the last one.
	RoundsLeft() (rounds uint64, between bool)
	// SkipRounds skips a number of these iterations. It must be called at a position where RoundsLeft returns between
	// as true.
	SkipRounds(rounds uint64)
}

// Next returns the operations of the next call with the rank's peers, contexts and tags. The engine doesn't use it,
// as it runs compiled programs directly.
func (p *CompiledProgram) Next() ([]Op, error) {
	call, gap, took, ok, err := p.Visits.Next()
	if !ok || err != nil {
		return nil, err
	}
	ops := []Op{{Kind: OpCompute, TimePs: gap, Request: NoRequest}}
	for _, o := range p.Code.OpsOfCall[call] {
		if o.TakesVisitTime {
			o.TimePs = took
		}
		switch o.Kind {
		case OpSend, OpReceive, OpMeet:
			s := &p.Operands[o.OperandsIndex]
			o.Peer, o.Context, o.Tag = s.Peer, s.Context, s.Tag
		}
		ops = append(ops, o)
	}
	return ops, nil
}
