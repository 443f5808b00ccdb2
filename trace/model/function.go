package model

import "github.com/spoor-hpc/spoor/mpi"

// A Type is the type of a Value: it determines which of its fields are used.
type Type uint8

// The types of values, each with the fields of Value that it uses.
const (
	TypeNone        Type = iota // no value was recorded
	TypeInt                     // Num
	TypeTime                    // a time, which is not recorded
	TypeHandle                  // Num; see Predefined and Local
	TypeRequest                 // Num; RequestID, RequestForm and RequestThread
	TypeMPITObject              // Num: number of an opaque object of the tools interface (MPI_T)
	TypeAddress                 // Addr
	TypeFunctionRef             // Num: hash of the function's place in its binary; Site
	TypeString                  // Text, or Null
	TypeArray                   // Num: the length, or one of the negative Array… constants; Elems
	TypeStatus                  // Status
)

// FirstCreatedHandle is the lowest number of a handle that the program created. Lower numbers from 0 on are predefined handles,
// as the standard ABI numbers them.
const FirstCreatedHandle = mpi.FirstUserHandleID

// A Function is a trace's description of a function that occurs in it.
type Function struct {
	ID         uint16
	Name       string
	ReturnKind mpi.Kind // kind of the return value, nearly always KindError
	ResultType Type     // type of the return value, if that is no error code; else TypeNone
	Attrs      Attr
	Params     []ParamDef
	// UnknownKinds is the names, in order, of the parameters' kinds that this version of spoor does not know and
	// represents as mpi.KindUnknown. Files derived from this one keep them.
	UnknownKinds []string
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
	AttrLocal                        // returns without waiting for other processes
	AttrLarge                        // has 64-bit counts (MPI_Count)
	AttrPosix                        // of POSIX or C: the return code is errno; there is a result even after a failure
)

// A ParamDef is a parameter's definition in the trace. It determines how the values of signatures are split.
type ParamDef struct {
	Name          string
	Kind          mpi.Kind
	Type          Type // type of the value; of an array: of each element
	Dir           Dir
	Dims          int // 0: one value; 1: array; 2: array of arrays
	HasIn, HasOut bool
	OnlyRoot      bool   // whether MPI uses it only on the root of a collective call
	ValidIf       string // name of the parameter that must be non-zero for this one's output to be valid
}

// A Dir is a parameter's direction. The numbers are part of the format.
type Dir uint8

// The directions: whether a call reads the parameter's value, writes it, or both.
const (
	DirIn Dir = iota
	DirOut
	DirInOut
	DirFree // the parameter is a pointer to a handle; the call frees the object and sets the handle to null
)
