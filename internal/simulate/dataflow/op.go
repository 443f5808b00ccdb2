// Package dataflow predicts when each rank of a program ends on a machine, where it is known
// which message each receive gets: a message then arrives when its sender says, whatever other
// ranks do, and no queue of events is needed. Each rank goes on until it waits for what another
// has not done yet.
//
// A message of s bytes leaves when the call that sends it begins and the message before it has
// left its sender: max(gap, time of its bytes) after that one did. The call keeps the sender for
// the send overhead. With T(s) as the level's one-way time, the receive overhead in it, an eager
// message has arrived T(s) after it left, and its receive ends then or, if that is waited for
// later, a receive overhead after the wait began. A larger message waits for its receive: it
// arrives T(s) after it left if the receive was posted when word of it came, and is late by as
// much as the receive was. Its sender is free when the last byte has left. These are LogGP's
// rules (Alexandrov et al., SPAA 1995) with tables for L and G, and as in SIM-MPI (Zhai et al.,
// SC 2014, section V) eager and rendezvous apart. Nothing is ever crowded but a sender.
//
// Times are integers, in picoseconds. They follow from sums and maxima of times alone, so that
// what happens a while later happens all the same but for that while. Two short cuts rest on
// this, and change no digit: rounds of a loop that begin as an earlier one did are not gone
// through again (fastforward.go), and of ranks that do the same one stands for all (alike.go).
package dataflow

import "fmt"

// A OpKind is what an operation does.
type OpKind uint8

// The kinds of operations.
const (
	OpCompute  OpKind = iota // the program itself takes Time
	OpOverhead               // a call that waits for nobody takes Time
	OpRecorded               // a call without a model takes Time
	OpSend
	OpReceive
	OpWait // for Request
	OpMeet
	OpNull  // makes a request for which nobody has to wait
	OpPut   // to the memory of Peer, which does nothing: until word of its end is back
	OpGet   // from there
	OpLater // takes Time beside all else
	OpFile  // takes Time, waiting for what is no rank
	OpEnter
	OpLeave // a call lies between these two, for Options.EachCall; a Code needs none
)

// A Meeting is which members wait for which in a Meet.
type Meeting uint8

// The meetings. A member leaves when it has waited, and its Time has passed since.
const (
	MeetAll      Meeting = iota // each member waits for all
	MeetFromRoot                // all others wait for the root
	MeetToRoot                  // the root waits for all others
	MeetNobody                  // the member waits for nobody, and nobody for it: it is no one of Members
)

// NoRequest in place of a request means that the operation ends before the next one begins.
const NoRequest = -1

// OwnRequests is how many requests, the first ones, are for what a call begins and ends itself, if others
// are counted back.
const OwnRequests = 2

// An Op is what a rank does next. Sends and receives of the same two ranks, context and tag
// match in the order in which they were begun; so do the meetings of a context.
type Op struct {
	Kind           OpKind
	IsSynchronous  bool    // a Send waits for its receive, whatever its size
	IsBuffered     bool    // it doesn't, whatever its size
	IsRoot         bool    // of a Meet: this member is it
	CountsBack     bool    // of a Code: Request is counted back, 1 for the newest; of what makes one it says nothing
	TakesVisitTime bool    // of a Code: it takes what the visit took
	Meeting        Meeting // of a Meet
	Request        int32   // that is begun or waited for
	Peer           int32   // the other rank
	Context        int32
	Members        int32 // of a Meet
	Slot           int32 // in a Code: has Peer, Context and Tag
	Site           int32 // the call that it is a part of
	MatchIndex     int32 // of a Send, Receive or Meet of a Thread: which one of the rank it is of those that match with the same, from 1; else 0
	Thread         int32 // for callers that distinguish threads; the engine ignores it
	Tag            int64
	Bytes          int64 // of Send, Put and Get
	TimePs         int64 // of Compute, Overhead, Recorded, Meet, Later and File
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
	return [...]string{OpCompute: "a computation", OpOverhead: "a local call", OpRecorded: "a call", OpWait: "a wait", OpNull: "no message", OpPut: "a put", OpGet: "a get", OpLater: "a transfer", OpFile: "a file", OpEnter: "a call", OpLeave: "a call"}[o.Kind]
}

// A RankTime is how a rank's time is made up, in ps. The parts add up to End.
type RankTime struct {
	End      int64 `json:"end_ps"`
	Compute  int64 `json:"compute_ps"`
	Overhead int64 `json:"overhead_ps"` // of messages at either end, and local calls
	Wait     int64 `json:"wait_ps"`     // for another rank to begin its part
	Transfer int64 `json:"transfer_ps"` // for messages under way
	Recorded int64 `json:"recorded_ps"` // calls without a model
}

// A Program gives what a rank does.
type Program interface {
	// Next returns operations that follow, none at the end. They are good until it is called again.
	Next() ([]Op, error)
}

// A CompiledProgram program does distinct calls again and again.
type CompiledProgram struct {
	Code   *CallCode
	Slots  []RankSlot // that operations of the code speak of
	Visits CallVisits
}

// A CallCode is the distinct calls that ranks make that do alike.
type CallCode struct {
	OpsOfCall   [][]Op // the operations of each; peers, contexts and tags are in slots of the rank
	RequestMask uint32 // one less than a power of two: the most open requests
}

// A RankSlot is what an operation has of its own on a rank.
type RankSlot struct {
	IsMeeting bool // of members of a context; else of messages
	IsSend    bool // these are sent
	Peer      int32
	Context   int32
	Tag       int64
}

// CallVisits are the calls that a rank makes.
type CallVisits interface {
	// Next returns the next call, the time computed before it, and that of its operations that
	// are Timed, in ps; ok is false at the end.
	Next() (call int, gap, took int64, ok bool, err error)
	// EqualityKey is equal where ranks of the same code make the same calls with the same times, nil
	// where that isn't known.
	EqualityKey() any
	// MainLoopRounds is how many rounds the loop has in which most calls are, if it is one of the
	// outermost and its rounds are alike; else 0.
	MainLoopRounds() uint64
	// RoundsLeft returns how many of these iterations are to come if the next call begins one, or directly follows the last.
	RoundsLeft() (rounds uint64, between bool)
	// SkipRounds skips this many iterations there.
	SkipRounds(rounds uint64)
}

// Next is not for the engine, which goes through compiled programs itself: it resolves what
// slots and visits say.
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
			s := &p.Slots[o.Slot]
			o.Peer, o.Context, o.Tag = s.Peer, s.Context, s.Tag
		}
		ops = append(ops, o)
	}
	return ops, nil
}
