package capture

import (
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
)

// A frame is one call under way.
type frame struct {
	prog   *program
	flags  uint8
	begin  uint64 // ticks
	gap    uint64
	left   uint64        // ticks at which the record of a call ended that stays under way; 0: it has not
	values [][]uint64    // what was attached to such a call
	slot   int           // of its terminal in the stream's held
	key    signature.Key // in the order of recording: return code, inputs, outputs, aux words

	parent   int64 // communicator that a new one is made from
	requests []int // of the inputs, in order: index or symbol.None
	named    []namedRequest
	ended    []int // which of them
	flag     int64 // output of a completing call; -1: has none
	index    int64 // the same; -1: undefined
	indices  []int64
	statuses int // of an array: taken so far
	array    int // where in the key the array before begins
	pending  []bool
	passes   uint64 // see stream.passes; 0: it leaves no array of requests
	leftOut  bool   // that isn't in the key
	told     bool   // the call says which of them it ended
	rc       int64
	newComm  int64                     // name; -1: none
	place    making                    // of the call
	posted   signature.ReceiveEnvelope // of a receive
	status   int                       // where in the record the statuses begin
	follow   []statusOrigin            // of each of them
	frees    []freed                   // handles that go when it ends
	error    int64                     // of the status read last

	// Position of the ENTER record of a call whose LEAVE did not follow at once, and the epoch of the names after it.
	from, names uint64

	handleWords []handleWord
	entered     int  // words of the ENTER record, once it is read
	opaque      bool // the call can't be cached
}

// A freed handle is one that a call gives back.
type freed struct {
	kind mpi.Kind
	raw  uint64
}

// position of the return code in a key.
const rcAt = signature.KeyHeader

func (f *frame) reset(p *program, rec event.Record, ticks, last uint64) {
	f.prog, f.flags = p, rec.Flags()
	f.begin, f.gap, f.left, f.values = ticks, 0, 0, nil
	if last != 0 && ticks > last {
		f.gap = ticks - last
	}
	f.key = append(f.key[:0], int64(p.call.ID), 0, NeverReturned)
	f.parent, f.flag, f.index, f.newComm = 0, -1, -1, symbol.UnknownHandle
	f.requests, f.named, f.ended = f.requests[:0], f.named[:0], f.ended[:0]
	f.indices, f.pending = f.indices[:0], f.pending[:0]
	f.statuses, f.rc, f.passes, f.leftOut, f.frees = 0, 0, 0, false, f.frees[:0]
	f.posted, f.follow = signature.UnknownEnvelope, f.follow[:0]
	f.handleWords, f.entered, f.opaque = f.handleWords[:0], 0, false
}

// statusAt notes the position of a status in the record.
func (f *frame) statusAt(at int) {
	if len(f.follow) == 0 {
		f.status = at
	}
	f.follow = append(f.follow, apart)
}

func (f *frame) muted() bool { return f.flags&event.FlagMuted != 0 }

// requestOf is the request that the next status of the call belongs to.
func (f *frame) requestOf(array bool) int {
	i := 0
	switch {
	case array && len(f.indices) > 0:
		if f.statuses >= len(f.indices) {
			return symbol.NoRequestIndex
		}
		i = int(f.indices[f.statuses])
	case array:
		i = f.statuses
	case f.prog.hasIndex:
		i = int(f.index)
	}
	if i < 0 || i >= len(f.requests) {
		return symbol.NoRequestIndex
	}
	return f.requests[i]
}
