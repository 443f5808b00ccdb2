package model

import "github.com/spoor-hpc/spoor/mpi"

// A Type says which fields of a Value mean something.
type Type uint8

// The types.
const (
	None        Type = iota // nothing recorded
	Int                     // Num
	Time                    // a time, which is not kept
	Handle                  // Num; see Predefined and Local
	Request                 // Num; ID
	Object                  // Num: opaque object of the tools interface
	Address                 // Addr
	FunctionRef             // Num: content hash
	String                  // Text, or Null
	Array                   // Elems, or Num is negative: one of the Array… constants
	Status                  // Status
)

// FirstLocal is the number of a rank's first own handle; smaller positive
// numbers are the standard ABI's predefined handles.
const FirstLocal = mpi.FirstHandleID

// A Function is what a trace says about a function that occurs in it.
type Function struct {
	ID      uint16
	Name    string
	Returns mpi.Kind // nearly always KindError
	Result  Type     // of what it returns instead of an error code, else None
	Attrs   Attr
	Params  []ParamDef
	Unknown []string // the names of its kinds that are mpi.KindUnknown, in order: files made of this one keep them
}

// Has reports whether the function has all attributes of a.
func (f *Function) Has(a Attr) bool { return f.Attrs&a == a }

// Attr is a set of facts about a function. The bits are part of the format.
type Attr uint32

// The attributes.
const (
	Nonblocking Attr = 1 << iota // a new one-shot request comes out
	Persistent                   // a new persistent request comes out
	Completes                    // may finish requests
	Starts                       // starts persistent requests
	CreatesComm                  // a new communicator comes out
	CreatesType                  // a new datatype comes out
	CreatesWin                   // a new window comes out
	Collective                   // all members must call
	Local                        // completes without other processes
	Large                        // has 64-bit counts
	Posix                        // of POSIX or C: the return code is errno, and a result there too where it failed
)

// A ParamDef is what a trace says about a parameter. It fixes how the values
// of signatures are to be taken apart.
type ParamDef struct {
	Name     string
	Kind     mpi.Kind
	Type     Type // of one element
	Dir      Dir
	Dims     int // 0 scalar, 1 array, 2 array of arrays
	In, Out  bool
	OnlyRoot bool   // significant only at the root
	If       string // valid on exit only if this parameter comes out non-zero
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
