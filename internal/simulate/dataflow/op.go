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

// A Kind is what an operation does.
type Kind uint8

// The kinds of operations.
const (
	Compute  Kind = iota // the program itself takes Time
	Overhead             // a call that waits for nobody takes Time
	Recorded             // a call without a model takes Time
	Send
	Receive
	Wait // for Request
	Meet
	Null  // makes a request for which nobody has to wait
	Put   // to the memory of Peer, which does nothing: until word of its end is back
	Get   // from there
	Later // takes Time beside all else
	File  // takes Time, waiting for what is no rank
	Enter
	Leave // a call lies between these two, for Options.Calls; a Code needs none
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
	Kind        Kind
	Synchronous bool    // a Send waits for its receive, whatever its size
	Buffered    bool    // it doesn't, whatever its size
	Root        bool    // of a Meet: this member is it
	Ago         bool    // of a Code: Request is counted back, 1 for the newest; of what makes one it says nothing
	Timed       bool    // of a Code: it takes what the visit took
	Meeting     Meeting // of a Meet
	Request     int32   // that is begun or waited for
	Peer        int32   // the other rank
	Context     int32
	Members     int32 // of a Meet
	Slot        int32 // in a Code: has Peer, Context and Tag
	Site        int32 // the call that it is a part of
	Nth         int32 // of a Send, Receive or Meet of a Thread: which one of the rank it is of those that match with the same, from 1; else 0
	Thread      int32 // for callers that distinguish threads; the engine ignores it
	Tag         int64
	Bytes       int64 // of Send, Put and Get
	Time        int64 // of Compute, Overhead, Recorded, Meet, Later and File
}

func (o *Op) String() string {
	switch o.Kind {
	case Send:
		return fmt.Sprintf("a send of %d bytes to rank %d with tag %d", o.Bytes, o.Peer, o.Tag)
	case Receive:
		return fmt.Sprintf("a receive from rank %d with tag %d", o.Peer, o.Tag)
	case Meet:
		return fmt.Sprintf("a collective of %d ranks", o.Members)
	}
	return [...]string{Compute: "a computation", Overhead: "a local call", Recorded: "a call", Wait: "a wait", Null: "no message", Put: "a put", Get: "a get", Later: "a transfer", File: "a file", Enter: "a call", Leave: "a call"}[o.Kind]
}

// A Time is how a rank's time is made up, in ps. The parts add up to End.
type Time struct {
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
	Code   *Code
	Slots  []Slot // that operations of the code speak of
	Visits Visits
}

// A Code is the distinct calls that ranks make that do alike.
type Code struct {
	Calls [][]Op // the operations of each; peers, contexts and tags are in slots of the rank
	Mask  uint32 // one less than a power of two: the most open requests
}

// A Slot is what an operation has of its own on a rank.
type Slot struct {
	Meet    bool // of members of a context; else of messages
	Out     bool // these are sent
	Peer    int32
	Context int32
	Tag     int64
}

// Visits are the calls that a rank makes.
type Visits interface {
	// Next returns the next call, the time computed before it, and that of its operations that
	// are Timed, in ps; ok is false at the end.
	Next() (call int, gap, took int64, ok bool, err error)
	// Same is equal where ranks of the same code make the same calls with the same times, nil
	// where that isn't known.
	Same() any
	// Rounds is how many rounds the loop has in which most calls are, if it is one of the
	// outermost and its rounds are alike; else 0.
	Rounds() uint64
	// Left returns how many of these iterations are to come if the next call begins one, or directly follows the last.
	Left() (rounds uint64, between bool)
	// Skip skips this many iterations there.
	Skip(rounds uint64)
}

// Next is not for the engine, which goes through compiled programs itself: it resolves what
// slots and visits say.
func (p *CompiledProgram) Next() ([]Op, error) {
	call, gap, took, ok, err := p.Visits.Next()
	if !ok || err != nil {
		return nil, err
	}
	ops := []Op{{Kind: Compute, Time: gap, Request: NoRequest}}
	for _, o := range p.Code.Calls[call] {
		if o.Timed {
			o.Time = took
		}
		switch o.Kind {
		case Send, Receive, Meet:
			s := &p.Slots[o.Slot]
			o.Peer, o.Context, o.Tag = s.Peer, s.Context, s.Tag
		}
		ops = append(ops, o)
	}
	return ops, nil
}
