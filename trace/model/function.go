package model

import "github.com/spoor-hpc/spoor/mpi"

// A Type says which fields of a Value mean something.
type Type uint8

// The types.
const (
	TypeNone        Type = iota // nothing recorded
	TypeInt                     // Num
	TypeTime                    // a time, which is not kept
	TypeHandle                  // Num; see Predefined and Local
	TypeRequest                 // Num; ID
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

// A Function is what a trace says about a function that occurs in it.
type Function struct {
	ID           uint16
	Name         string
	ReturnKind   mpi.Kind // nearly always KindError
	ResultType   Type     // of what it returns instead of an error code, else None
	Attrs        Attr
	Params       []ParamDef
	UnknownKinds []string // the names of its kinds that are mpi.KindUnknown, in order: files made of this one keep them
}

// Has reports whether the function has all attributes of a.
func (f *Function) Has(a Attr) bool { return f.Attrs&a == a }

// Attr is a set of facts about a function. The bits are part of the format.
type Attr uint32

// The attributes.
const (
	AttrNonblocking Attr = 1 << iota // a new one-shot request comes out
	AttrPersistent                   // a new persistent request comes out
	AttrCompletes                    // may finish requests
	AttrStarts                       // starts persistent requests
	AttrCreatesComm                  // a new communicator comes out
	AttrCreatesType                  // a new datatype comes out
	AttrCreatesWin                   // a new window comes out
	AttrCollective                   // all members must call
	AttrLocal                        // completes without other processes
	AttrLarge                        // has 64-bit counts
	AttrPosix                        // of POSIX or C: the return code is errno, and a result there too where it failed
)

// A ParamDef is what a trace says about a parameter. It fixes how the values
// of signatures are to be taken apart.
type ParamDef struct {
	Name          string
	Kind          mpi.Kind
	Type          Type // of one element
	Dir           Dir
	Dims          int // 0 scalar, 1 array, 2 array of arrays
	HasIn, HasOut bool
	OnlyRoot      bool   // significant only at the root
	ValidIf       string // valid on exit only if this parameter comes out non-zero
}

// A Dir is a parameter's direction. The numbers are part of the format.
type Dir uint8

// The directions.
const (
	DirIn Dir = iota
	DirOut
	DirInOut
	DirFree // a handle passed by address, which becomes null
)
