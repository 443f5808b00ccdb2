package trace

import (
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// A Call is one MPI call of one rank, or a distinct call (a terminal). Calls of the same terminal share their slices
// and pointed-to values: treat them as read-only.
type Call struct {
	Rank                int
	Stream              int    // thread of the rank, 0 is the one that initialised MPI
	Index               uint64 // position in the stream, from 0
	Terminal            int    // number of the distinct call in the rank's class, from 0; it indexes Rank.ClassTimes
	Func                *Function
	Site                Site
	Phase               string // name of the marked phase that begins with the call; "" if none begins
	ThreadStartFunction *Site  // of a thread's first call: the thread's start function; nil: unknown, or a later call
	Turn                int    // which loop began another iteration before this call, 0 if not stored; see TurnUnknown
	Return              int64  // return code in the standard ABI's numbers, ReturnCodeNeverReturned or ReturnCodeLeftByJump
	Result              Value  // the return value of the few functions that return no error code
	Params              []Param

	NewComm *NewComm // the communicator that the call made; nil: none
	NewType *NewType // the datatype that the call made; nil: none
}

// TurnUnknown as Call.Turn says that the recorder read loop counters, but could not determine which loop began another
// iteration between the thread's previous call and this one. Otherwise Call.Turn is 0, or the loop's number if the
// order of the code does not imply it. Loops around both calls are counted outwards from 1, the innermost.
const TurnUnknown = 255

// ReturnCodeNeverReturned is the return code of a call that was under way when the
// process died.
const ReturnCodeNeverReturned = -1 << 31

// ReturnCodeLeftByJump is the return code of a call that the program left by longjmp or an exception. As the time of the jump is
// unknown, its duration lasts to the end of the last call that was made inside of it, as by an error handler.
const ReturnCodeLeftByJump = ReturnCodeNeverReturned + 1

// Name is the function's name.
func (c *Call) Name() string { return c.Func.Name }

// A FunctionSite is a function called from a site.
type FunctionSite struct {
	Function string
	Site     Site
}

// WithoutCallers returns f with only the innermost frame of the site's call stack.
func (f FunctionSite) WithoutCallers() FunctionSite {
	return FunctionSite{f.Function, f.Site.WithoutCallers()}
}

// FunctionSite returns the call's function and call site.
func (c *Call) FunctionSite() FunctionSite { return FunctionSite{c.Name(), c.Site} }

// Param finds a parameter by name; it returns nil if the function has none of that name.
func (c *Call) Param(name string) *Param {
	for i := range c.Params {
		if c.Params[i].Name() == name {
			return &c.Params[i]
		}
	}
	return nil
}

// A Param is one parameter of a call. In is the value that the program passed, Out the value after the call. A
// missing value has type TypeNone.
type Param struct {
	Def     *ParamDef
	In, Out Value
}

// Name is the parameter's name in the standard.
func (p *Param) Name() string { return p.Def.Name }

// Kind is the parameter's kind as calls.txt has it: count, rank, comm, ….
func (p *Param) Kind() mpi.Kind { return p.Def.Kind }

// Values of Value.Num for arrays (TypeArray) that have no elements in a call.
const (
	ArrayNull           = -1 // NULL
	ArrayUnweighted     = -2 // MPI_UNWEIGHTED
	ArrayWeightsEmpty   = -3 // MPI_WEIGHTS_EMPTY
	ArrayInsignificant  = -4 // MPI ignores the argument in this call
	ArrayStatusesIgnore = -5 // MPI_STATUSES_IGNORE

	// ArrayFromEarlierCall occurs only in distinct calls: the array has the requests that an earlier call left in it
	// (signature.LengthFromEarlierCall). In calls of a stream, the requests are listed as elements.
	ArrayFromEarlierCall = signature.LengthFromEarlierCall
)

// UnknownHandle is the number of a handle whose creation was not recorded.
const UnknownHandle = -1

// A Value is one recorded value, decoded.
type Value struct {
	Type         Type
	IsNullString bool // TypeString: the string is a null pointer
	// Num is the number for TypeInt, TypeHandle, TypeRequest, TypeMPITObject and TypeFunctionRef. For TypeArray it is the
	// length or one of the Array… constants.
	Num           int64
	RequestID     int64 // TypeRequest: which request; what it counts depends on RequestForm
	RequestThread int   // TypeRequest of form RequestOfOtherThread: the thread that created the request
	RequestForm   RequestForm
	Text          string
	Addr          SymbolicAddress
	Status        *StatusValue
	Site          *Site // TypeFunctionRef: where the function is in its binary; nil if unknown
	Elems         []Value
}

// Predefined reports whether the value is a predefined handle, MPI_COMM_WORLD
// or MPI_INT for instance. Num is its number in the standard ABI.
func (v *Value) Predefined() bool {
	return v.Type == TypeHandle && v.Num >= 0 && v.Num < FirstCreatedHandle
}

// CreatedHandleNumber returns the number, from 0, of a handle that the program made; false for other values.
func (v *Value) CreatedHandleNumber() (int64, bool) {
	return v.Num - FirstCreatedHandle, v.Type == TypeHandle && v.Num >= FirstCreatedHandle
}

// A RequestForm says which kind of request a value is, and so what Value.RequestID counts.
type RequestForm uint8

// The forms of requests.
const (
	RequestNull          RequestForm = iota // MPI_REQUEST_NULL
	RequestOneShot                          // RequestID: how many one-shot requests the stream made before it
	RequestPersistent                       // RequestID: number of a persistent request; freed numbers are used again
	RequestUnknown                          // the request's creation was not recorded
	RequestOfOtherThread                    // made by RequestThread; RequestID: how many of its creations ago, from 1
)

// A StatusForm says which fields of a status are known, and whether the program gets them.
type StatusForm int64

// The forms of statuses.
const (
	StatusFormAbsent  StatusForm = signature.StatusFormAbsent // the call did not fill in the status
	StatusFormFilled  StatusForm = signature.StatusFormFilled
	StatusFormIgnored StatusForm = signature.StatusFormIgnored // the program passed MPI_STATUS_IGNORE, but the fields are filled in
	StatusFormEmpty   StatusForm = signature.StatusFormEmpty   // the empty status of a null or inactive request
	StatusFormOfSend  StatusForm = signature.StatusFormOfSend  // the status of a send request: only Cancelled is defined

	// StatusFormImplied and StatusFormImpliedIgnored occur only in distinct calls: the status follows from the receive that made
	// the request, and is not recorded. In calls of a stream they are replaced by StatusFormFilled and StatusFormIgnored.
	StatusFormImplied        StatusForm = signature.StatusFormImplied
	StatusFormImpliedIgnored StatusForm = signature.StatusFormImpliedIgnored
)

// A StatusValue is a decoded MPI_Status.
type StatusValue struct {
	Form          StatusForm
	Source        int64
	Tag           int64
	ReceivedBytes int64 // bytes received; -1: undefined
	Cancelled     bool
	Error         int64
	HasError      bool // Error was recorded: the call returned MPI_ERR_IN_STATUS
}

// IsPending reports whether a request is still under way although the call that waited for it has returned
// (MPI_ERR_PENDING). A nil status is of a request that has completed.
func (s *StatusValue) IsPending() bool { return s != nil && s.HasError && s.Error == mpi.ErrPending }

// NewComm is what the recorder knew of a communicator at its creation. Creations are equal if the same function made
// them from the same parent. If it made them from a group, the members must be equal, too; if it joined two groups, the
// leaders.
type NewComm struct {
	EqualCreationsBefore  int64 // number of equal creations before this one
	LeaderWorldRank       int64 // rank 0 of the new communicator, as a rank in MPI_COMM_WORLD; -1 if outside of that
	Rank                  int64 // rank of the calling process in it
	Size                  int64
	RemoteLeaderWorldRank int64 // rank 0 of the remote group, as a rank in MPI_COMM_WORLD; -1: no remote group, or that rank is outside this MPI_COMM_WORLD
	RemoteSize            int64 // number of processes in the remote group; 0: an intracommunicator
	MembersHash           int64 // hash of the list of members if the communicator was made from a group; else 0
}

// Indices of the sizes of a new communicator or datatype among the values of a signature, counted from
// Positions.NewObjectValues.
const (
	NewCommSizePosition       = signature.NewCommSizePosition
	NewCommRemoteSizePosition = signature.NewCommRemoteSizePosition
	NewTypeSizePosition       = signature.NewTypeSizePosition
)

// NewType is what the recorder knew of a datatype at its creation, in bytes. Unknown fields are -1.
type NewType struct {
	Size, LowerBound, Extent, TrueLowerBound, TrueExtent int64
}
