package replay

import "github.com/spoor-hpc/spoor/internal/reproduce/reissue"

// CallWords is how many words a Call has; no MPI function has more parameters.
const CallWords = 18

// A Call is a call of an MPI function: every parameter of these is an integer
// or a pointer in C, so each is a word. The layout is that of struct call in
// replayer/call.h, and calls live in memory that the garbage collector does not
// know.
type Call struct {
	Function    uint64 // address
	Outcome     uint64 // address of an Outcome, or 0
	NotBeforeNs int64  // on the host's clock; 0: at once
	ReadyNs     int64  // when it began to wait for that
	BeginNs     int64  // when it went into the MPI
	EndNs       int64  // and came out
	Result      uint64
	Words       [CallWords]uint64
}

// RepeatedCall is how many times a Call is to be made again, and when. The layout is that
// of struct repeats in replayer/call.h.
type RepeatedCall struct {
	NextIndex int64 // those from here on are to be made,
	Count     int64
	Last      int64 // when the call before came out
	LateNs    int64 // ns that calls were made later than due, and no gap has made up for
	HeldNs    int64 // ns that they waited for the line, in sum
	MPINs     int64 // ns that they were in the MPI
	From      int64 // when the one under way was due, or could be made if that was later; read meanwhile, as Next is
	At        [repeatsAtOnce]struct {
		Line int64 // when it is due, 0: at once
		Gap  int64 // how long after the call before
	}
}

const repeatsAtOnce = 256

// A MPIHost is a process that has an MPI: the replayer, or a fake in tests.
// Addresses are those of its C side.
type MPIHost interface {
	// FunctionAddress returns the address of an MPI function, 0 if the MPI has none of
	// that name.
	FunctionAddress(name string) uint64

	// SymbolAddress returns the address of an object of the MPI library.
	SymbolAddress(name string) (uint64, bool)

	// StandInAddress returns the address of a callback in place of the program's.
	StandInAddress(kind reissue.StandIn) uint64

	// HasTool reports whether a tool between the program and the MPI looks at the calls: then requests are kept at the
	// program's addresses.
	HasTool() bool

	// MakeCall makes the call on the thread of the caller and fills in what came
	// of it.
	MakeCall(c *Call)

	// RepeatCall makes a call repeatedly, until r.Count calls are made or one does not return 0; outputs are of the last
	// one.
	RepeatCall(c *Call, r *RepeatedCall)

	// Alloc returns that many bytes outside of Go's memory; they are zero.
	Alloc(size int64) (uint64, error)

	// Free takes back what Alloc returned.
	Free(addr uint64, size int64)

	// ReserveAddress maps memory at a fixed address that is still free.
	ReserveAddress(addr uint64, size int64) error

	// ClockNs returns nanoseconds from a fixed point on.
	ClockNs() int64
}
