package model

import "github.com/spoor-hpc/spoor/mpi"

// A Type determines which fields of a Value are used.
type Type uint8

// The types.
const (
	TypeNone        Type = iota // nothing recorded
	TypeInt                     // Num
	TypeTime                    // a time, which is not recorded
	TypeHandle                  // Num; see Predefined and Local
	TypeRequest                 // Num; RequestID, RequestForm and RequestThread
	TypeObject                  // Num: opaque object of the tools interface
	TypeAddress                 // Addr
	TypeFunctionRef             // Num: content hash
	TypeString                  // Text, or Null
	TypeArray                   // Elems, or Num is negative: one of the Array… constants
	TypeStatus                  // Status
)

// FirstLocal is the number of a rank's first own handle; smaller positive
// numbers are the standard ABI's predefined handles.
const FirstLocal = mpi.FirstHandleID

// A Function is a trace's description of a function that occurs in it.
type Function struct {
	ID           uint16
	Name         string
	ReturnKind   mpi.Kind // nearly always KindError
	ResultType   Type     // type of the return value, if that is no error code; else TypeNone
	Attrs        Attr
	Params       []ParamDef
	UnknownKinds []string // names of kinds that this version does not know (mpi.KindUnknown), in order: files derived from this one keep them
}

// Has reports whether the function has all attributes of a.
func (f *Function) Has(a Attr) bool { return f.Attrs&a == a }

// Attr is a bit set of a function's properties. The bits are part of the format.
type Attr uint32

// The attributes.
const (
	AttrNonblocking Attr = 1 << iota // creates a one-shot request
	AttrPersistent                   // creates a persistent request
	AttrCompletes                    // may complete requests
	AttrStarts                       // starts persistent requests
	AttrCreatesComm                  // creates a communicator
	AttrCreatesType                  // creates a datatype
	AttrCreatesWin                   // creates a window
	AttrCollective                   // all members of the communicator, window or file must call it
	AttrLocal                        // completes without other processes
	AttrLarge                        // has 64-bit counts
	AttrPosix                        // of POSIX or C: the return code is errno; after a failure there is a result, too
)

// A ParamDef is a parameter's definition in the trace. It determines how the values of signatures are split.
type ParamDef struct {
	Name          string
	Kind          mpi.Kind
	Type          Type // of one element
	Dir           Dir
	Dims          int // 0 scalar, 1 array, 2 array of arrays
	HasIn, HasOut bool
	OnlyRoot      bool   // used by MPI at the root only
	ValidIf       string // name of the parameter that must be non-zero for this one's output to be valid
}

// A Dir is a parameter's direction. The numbers are part of the format.
type Dir uint8

// The directions.
const (
	DirIn Dir = iota
	DirOut
	DirInOut
	DirFree // a handle passed by address, which the call sets to null
)
