package capture

import (
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
)

// A frame is one unfinished call.
type frame struct {
	prog   *program
	flags  uint8
	begin  uint64 // ticks of the ENTER record
	gap    uint64
	left   uint64        // ticks of the LEAVE record of a call that nevertheless stays unfinished, see program.stays; 0: no LEAVE yet
	values [][]uint64    // records of values attached to a call with left set, while it stays unfinished
	slot   int           // index in the stream's held
	key    signature.Key // in the order of recording: return code, inputs, outputs, aux words

	parent   int64 // communicator that a new one is created from
	requests []int // requests among the inputs, in order: index in Capture.requests, or symbol.NoRequestIndex
	named    []namedRequest
	ended    []int // indices in requests of those that the call completed
	flag     int64 // output flag of a call that completes requests; -1: it has no such output
	index    int64 // output index of a call that completes requests; negative: undefined, or it has no such output
	indices  []int64
	statuses int // number of elements of the array of statuses read so far
	array    int // index in the key at which the latest array begins
	pending  []bool
	passes   uint64 // number, from 1, of the call among those that stream.passes counts; 0: it isn't counted
	leftOut  bool   // the key omits the call's array of requests
	told     bool   // the call's output says which requests of its array were completed
	rc       int64
	newComm  int64                     // name of the communicator that the call makes; -1: it makes none
	place    making                    // position of the call, as the maker of objects
	posted   signature.ReceiveEnvelope // envelope of the receive that the call posts
	status   int                       // index in the LEAVE record at which the statuses begin
	follow   []statusOrigin            // relation of each status to its receive
	frees    []freed                   // handles to release at the end of the call
	error    int64                     // error field of the last status

	// If LEAVE did not directly follow ENTER: position of the ENTER record in the ring, and Capture.renamed after it.
	from, names uint64

	handleWords []handleWord
	entered     int  // number of words of the ENTER record, after reading it
	opaque      bool // the call cannot be cached
}

// A freed is a handle that a call frees.
type freed struct {
	kind mpi.Kind
	raw  uint64
}

// rcAt is the index of the return code in a key.
const rcAt = signature.KeyHeaderWords

func (f *frame) reset(p *program, rec event.Record, ticks, last uint64) {
	f.prog, f.flags = p, rec.Flags()
	f.begin, f.gap, f.left, f.values = ticks, 0, 0, nil
	if last != 0 && ticks > last {
		f.gap = ticks - last
	}
	f.key = append(f.key[:0], int64(p.call.ID), 0, ReturnCodeNeverReturned)
	f.parent, f.flag, f.index, f.newComm = 0, -1, -1, symbol.UnknownHandle
	f.requests, f.named, f.ended = f.requests[:0], f.named[:0], f.ended[:0]
	f.indices, f.pending = f.indices[:0], f.pending[:0]
	f.statuses, f.rc, f.passes, f.leftOut, f.frees = 0, 0, 0, false, f.frees[:0]
	f.posted, f.follow = signature.UnknownEnvelope, f.follow[:0]
	f.handleWords, f.entered, f.opaque = f.handleWords[:0], 0, false
}

// statusAt records the position of a status in the record.
func (f *frame) statusAt(at int) {
	if len(f.follow) == 0 {
		f.status = at
	}
	f.follow = append(f.follow, apart)
}

func (f *frame) muted() bool { return f.flags&event.FlagTracingOff != 0 }

// requestOf returns the index of the request that the next status belongs to.
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
