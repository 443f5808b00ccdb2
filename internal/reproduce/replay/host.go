package replay

import "github.com/spoor-hpc/spoor/internal/reproduce/reissue"

// CallWords is how many words a Call has; no MPI function has more parameters.
const CallWords = 18

// A Call is a call of an MPI function: every parameter of these is an integer
// or a pointer in C, so each is a word. The layout is that of struct call in
// replayer/call.h, and calls live in memory that the garbage collector does not
// know.
type Call struct {
	Function  uint64 // address
	Outcome   uint64 // address of an Outcome, or 0
	NotBefore int64  // on the host's clock; 0: at once
	Ready     int64  // when it began to wait for that
	Begin     int64  // when it went into the MPI
	End       int64  // and came out
	Result    uint64
	Words     [CallWords]uint64
}

// Repeats is how many times a Call is to be made again, and when. The layout is that
// of struct repeats in replayer/call.h.
type Repeats struct {
	Next  int64 // those from here on are to be made,
	N     int64
	Last  int64 // when the call before came out
	Late  int64 // ns that calls were made later than due, and no gap has made up for
	Held  int64 // ns that they waited for the line, in sum
	MPINs int64 // ns that they were in the MPI
	From  int64 // when the one under way was due, or could be made if that was later; read meanwhile, as Next is
	At    [repeatsAtOnce]struct {
		Line int64 // when it is due, 0: at once
		Gap  int64 // how long after the call before
	}
}

const repeatsAtOnce = 256

// A Host is a process that has an MPI: the replayer, or a fake in tests.
// Addresses are those of its C side.
type Host interface {
	// Function returns the address of an MPI function, 0 if the MPI has none of
	// that name.
	Function(name string) uint64

	// Symbol returns the address of an object of the MPI library.
	Symbol(name string) (uint64, bool)

	// StandIn returns the address of a callback in place of the program's.
	StandIn(kind reissue.StandIn) uint64

	// Traced reports whether a tool between the program and the MPI looks at the calls: then requests are kept at the
	// program's addresses.
	Traced() bool

	// Make makes the call on the thread of the caller and fills in what came
	// of it.
	Make(c *Call)

	// Repeat makes a call repeatedly, until r.Count calls are made or one does not return 0; outputs are of the last
	// one.
	Repeat(c *Call, r *Repeats)

	// Alloc returns that many bytes outside of Go's memory; they are zero.
	Alloc(size int64) (uint64, error)

	// Free takes back what Alloc returned.
	Free(addr uint64, size int64)

	// Reserve maps memory at a fixed address that is still free.
	Reserve(addr uint64, size int64) error

	// Clock returns nanoseconds from a fixed point on.
	Clock() int64
}
