package replay

import "github.com/spoor-hpc/spoor/internal/reproduce/reissue"

// CallWords is the number of argument words of a Call. No MPI function has more parameters.
const CallWords = 18

// A Call is a call of an MPI function. Every parameter is an integer or a pointer in C, so each is a word. The layout
// equals struct call in replayer/call.h. Calls are in memory outside of Go's garbage collection.
type Call struct {
	FunctionAddress uint64 // address of the function
	OutcomeAddress  uint64 // address of a struct under_outcome, or 0
	NotBeforeNs     int64  // earliest begin, on the host's clock; 0: at once
	ReadyNs         int64  // when the wait for NotBeforeNs began, on the host's clock
	BeginNs         int64  // when the MPI was entered, on the host's clock
	EndNs           int64  // when the MPI returned, on the host's clock
	Result          uint64
	Words           [CallWords]uint64
}

// RepeatedCall describes repetitions of a Call, and when each is due. The layout equals struct repeats in
// replayer/call.h.
type RepeatedCall struct {
	NextIndex     int64 // index in DueTimes of the next repetition
	Count         int64
	PreviousEndNs int64 // when the previous call returned, on the host's clock
	LateNs        int64 // ns by which calls were later than due and that no gap has made up for
	HeldNs        int64 // sum of the ns that calls waited for Line after their gaps
	MPINs         int64 // sum of the ns that calls spent in the MPI
	// When the current repetition was due or ready, whichever is later, on the host's clock. Other threads read it,
	// like NextIndex.
	CurrentDueNs int64
	DueTimes     [repeatsAtOnce]struct {
		Line int64 // earliest begin of the call, on the host's clock; 0: no limit
		Gap  int64 // ns to wait after the previous call
	}
}

const repeatsAtOnce = 256

// An MPIHost is a process with an MPI: the replayer, or a fake in tests. Addresses are addresses in C.
type MPIHost interface {
	// FunctionAddress returns the address of an MPI function, 0 if the MPI lacks it.
	FunctionAddress(name string) uint64

	// SymbolAddress returns the address of an object of the MPI library; false if the library lacks it.
	SymbolAddress(name string) (uint64, bool)

	// StandInAddress returns the address of a stand-in for a callback.
	StandInAddress(kind reissue.StandIn) uint64

	// HasTool reports whether a tool between the replayer and the MPI sees the calls. Requests are then stored in
	// arrays as the program stored them, since tools identify them by address.
	HasTool() bool

	// MakeCall makes the call on the caller's thread and fills in the outputs.
	MakeCall(c *Call)

	// RepeatCall repeats the call until r.Count calls are made or one does not return 0. Outputs are those of the
	// last call.
	RepeatCall(c *Call, r *RepeatedCall)

	// Alloc returns zeroed memory outside of Go's heap.
	Alloc(size int64) (uint64, error)

	// Free frees memory from Alloc.
	Free(addr uint64, size int64)

	// ReserveAddress maps memory at a fixed address that must be free.
	ReserveAddress(addr uint64, size int64) error

	// ClockNs returns nanoseconds since a fixed point.
	ClockNs() int64
}
