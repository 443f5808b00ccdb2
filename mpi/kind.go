package mpi

import "fmt"

// A Kind is the meaning of a parameter. It determines the width in C, how the recorder stores the value, and which
// named constants can occur.
type Kind uint8

// The kinds, grouped by how the recorder treats them.
const (
	KindNone Kind = iota

	// Integers of 32 bits in the small form of a call.
	KindInt           // plain int: lengths, versions, dimensions
	KindCount         // number of elements; MPI_Count in the large form
	KindDisp          // displacement; MPI_Aint or MPI_Count in the large form
	KindRank          // process rank, with ANY_SOURCE, PROC_NULL, ROOT, UNDEFINED
	KindTag           // message tag, with ANY_TAG
	KindLogical       // truth value
	KindIndex         // position in an array, with UNDEFINED
	KindSplitColor    // of a split, with UNDEFINED
	KindSplitKey      // key of a split
	KindError         // error code
	KindErrorClass    // error class
	KindComparison    // IDENT, CONGRUENT, SIMILAR, UNEQUAL
	KindThreadLevel   // THREAD_SINGLE …
	KindTopology      // CART, GRAPH, DIST_GRAPH, UNDEFINED
	KindCombiner      // how a datatype was made
	KindLockType      // LOCK_EXCLUSIVE, LOCK_SHARED
	KindOrder         // ORDER_C, ORDER_FORTRAN
	KindDistrib       // DISTRIBUTE_BLOCK …
	KindDistribArg    // argument of a distribution, with DFLT_DARG
	KindTypeClass     // TYPECLASS_INTEGER …
	KindSplitType     // COMM_TYPE_SHARED …
	KindAmode         // file access mode, a bit set
	KindMPIWhence     // SEEK_SET …
	KindAssert        // one-sided assertions, a bit set
	KindKeyval        // attribute key
	KindFint          // Fortran INTEGER that is a handle
	KindPcontrolLevel // of MPI_Pcontrol
	KindSocket        // file descriptor of a socket
	KindBindType      // MPI_T: kind of object a variable is bound to
	KindVarScope      // MPI_T: who may write a control variable
	KindVerbosity     // MPI_T: audience and detail
	KindPvarClass     // MPI_T: class of a performance variable
	KindCbSafety      // MPI_T: what a callback may do
	KindSourceOrder   // MPI_T: ordering of events of a source

	// Integers of 64 bits in both forms.
	KindAint      // MPI_Aint that is a distance
	KindOffset    // MPI_Offset
	KindFileDisp  // MPI_Offset where a file view begins, with DISPLACEMENT_CURRENT
	KindCount64   // MPI_Count in the small form too
	KindToolClock // clock of MPI_T events

	KindTime // double, seconds

	// Handles. 4 or 8 bytes wide, depending on the flavour.
	KindComm
	KindGroup
	KindDatatype
	KindOp
	KindRequest
	KindMessage
	KindWin
	KindFile
	KindInfo
	KindErrhandler
	KindSession

	// Objects of the tools interface: opaque, of pointer size.
	KindCvar
	KindPvar
	KindPvarSession
	KindToolEvent
	KindToolEventRegistration
	KindToolEnum
	KindToolBoundHandle // address of an MPI handle that a tool variable is bound to

	// Addresses.
	KindBuffer     // choice buffer
	KindPointer    // opaque address: extra state, attribute value
	KindPointerOut // address of a pointer that the call sets
	KindAddress    // MPI_Aint that holds an absolute address

	KindFunction  // callback
	KindString    // characters, NUL-terminated
	KindStatus    // MPI_Status
	KindCStatus   // MPI_Status as an operand of a conversion function
	KindFStatus   // status as an INTEGER array
	KindF08Status // TYPE(MPI_Status)

	// These are not recorded.
	KindArgc
	KindArgv
	KindVarargs

	// For functions of POSIX and C, see io.txt.
	KindFileDescriptor    // of an open file, or AT_FDCWD
	KindFileStream        // FILE *
	KindDirStream         // DIR *
	KindMappedFileAddress // address of a mapped file
	KindFilePath          // name of a file; the rank's number in it is replaced
	KindOpenFlags         // flags of open, a bit set
	KindFilePermissions   // permissions
	KindPosixWhence       // SEEK_SET …
	KindErrno             // value of errno after the call
	KindZeroOrMinusOne    // 0 or -1
	KindSize              // size_t
	KindSsize             // ssize_t
	KindOffT              // off_t
	KindOffTPointer       // off_t by pointer, -1 if it is null
	KindIovecLength       // length of a piece of memory
	KindTextLength        // characters; only their number is recorded
	KindStringResult      // a string as the result; its length is recorded, -1 for NULL
	KindAddressOrNull     // an address, or none
	KindOpaque            // an address that is not recorded

	// Kinds of constants that are never a parameter's.
	KindLimitConstant // MPI_MAX_… and the like
	KindWinFlavor     // value of the attribute WIN_CREATE_FLAVOR
	KindWinModel      // value of the attribute WIN_MODEL

	KindUnknown // kind of a newer version's trace that this version does not know

	kindEnd
)

// A Form is how values of a kind are passed in C and laid out in a record.
type Form uint8

// The forms.
const (
	FormNone     Form = iota // not recorded, or no parameter at all
	FormInt                  // integer
	FormDouble               // double
	FormHandle               // MPI handle
	FormObject               // tool object
	FormAddress              // memory address, recorded as segment and offset
	FormFunction             // code address
	FormString               // bytes
	FormStatus               // MPI_Status or one of its Fortran twins
)

// A Width is the size of a value in C.
type Width uint8

// The widths. Width32 and Width64 are numbers of bits.
const (
	WidthHandle  Width = 0  // as Layout.HandleSize says
	WidthPointer Width = 1  // size of a pointer
	Width32      Width = 32 // int and enums
	Width64      Width = 64 // MPI_Aint, MPI_Count, MPI_Offset, double
)

type kindInfo struct {
	name         string
	form         Form
	small, large Width
	bits         bool // a set of bits: names are joined by |
}

var kindTable = [kindEnd]kindInfo{
	KindNone: {name: "none"},

	KindInt:           int32Kind("int"),
	KindCount:         {name: "count", form: FormInt, small: Width32, large: Width64},
	KindDisp:          {name: "disp", form: FormInt, small: Width32, large: Width64},
	KindRank:          int32Kind("rank"),
	KindTag:           int32Kind("tag"),
	KindLogical:       int32Kind("logical"),
	KindIndex:         int32Kind("index"),
	KindSplitColor:    int32Kind("color"),
	KindSplitKey:      int32Kind("key"),
	KindError:         int32Kind("error"),
	KindErrorClass:    int32Kind("errorclass"),
	KindComparison:    int32Kind("comparison"),
	KindThreadLevel:   int32Kind("threadlevel"),
	KindTopology:      int32Kind("topology"),
	KindCombiner:      int32Kind("combiner"),
	KindLockType:      int32Kind("locktype"),
	KindOrder:         int32Kind("order"),
	KindDistrib:       int32Kind("distrib"),
	KindDistribArg:    int32Kind("darg"),
	KindTypeClass:     int32Kind("typeclass"),
	KindSplitType:     int32Kind("splittype"),
	KindAmode:         {name: "amode", form: FormInt, small: Width32, large: Width32, bits: true},
	KindMPIWhence:     int32Kind("whence"),
	KindAssert:        {name: "assert", form: FormInt, small: Width32, large: Width32, bits: true},
	KindKeyval:        int32Kind("keyval"),
	KindFint:          int32Kind("fint"),
	KindPcontrolLevel: int32Kind("level"),
	KindSocket:        int32Kind("fd"),
	KindBindType:      int32Kind("bindtype"),
	KindVarScope:      int32Kind("varscope"),
	KindVerbosity:     int32Kind("verbosity"),
	KindPvarClass:     int32Kind("pvarclass"),
	KindCbSafety:      int32Kind("cbsafety"),
	KindSourceOrder:   int32Kind("sourceorder"),

	KindAint:      int64Kind("aint"),
	KindOffset:    int64Kind("offset"),
	KindFileDisp:  int64Kind("filedisp"),
	KindCount64:   int64Kind("count64"),
	KindToolClock: int64Kind("tick"),
	KindTime:      {name: "time", form: FormDouble, small: Width64, large: Width64},

	KindComm:       handleKind("comm"),
	KindGroup:      handleKind("group"),
	KindDatatype:   handleKind("datatype"),
	KindOp:         handleKind("op"),
	KindRequest:    handleKind("request"),
	KindMessage:    handleKind("message"),
	KindWin:        handleKind("win"),
	KindFile:       handleKind("file"),
	KindInfo:       handleKind("info"),
	KindErrhandler: handleKind("errhandler"),
	KindSession:    handleKind("session"),

	KindCvar:                  pointerKind("cvar", FormObject),
	KindPvar:                  pointerKind("pvar", FormObject),
	KindPvarSession:           pointerKind("pvarsession", FormObject),
	KindToolEvent:             pointerKind("event", FormObject),
	KindToolEventRegistration: pointerKind("eventreg", FormObject),
	KindToolEnum:              pointerKind("enum", FormObject),
	KindToolBoundHandle:       pointerKind("toolobj", FormObject),

	KindBuffer:     pointerKind("buffer", FormAddress),
	KindPointer:    pointerKind("pointer", FormAddress),
	KindPointerOut: pointerKind("pointerout", FormAddress),
	KindAddress:    {name: "address", form: FormAddress, small: Width64, large: Width64},

	KindFunction:  pointerKind("function", FormFunction),
	KindString:    pointerKind("string", FormString),
	KindStatus:    pointerKind("status", FormStatus),
	KindCStatus:   pointerKind("cstatus", FormStatus),
	KindFStatus:   pointerKind("fstatus", FormStatus),
	KindF08Status: pointerKind("f08status", FormStatus),

	KindArgc:    pointerKind("argc", FormNone),
	KindArgv:    pointerKind("argvp", FormNone),
	KindVarargs: {name: "varargs"},

	KindFileDescriptor:    {name: "descriptor", form: FormHandle, small: Width64, large: Width64},
	KindFileStream:        {name: "stream", form: FormHandle, small: Width64, large: Width64},
	KindDirStream:         {name: "directory", form: FormHandle, small: Width64, large: Width64},
	KindMappedFileAddress: {name: "mapping", form: FormHandle, small: Width64, large: Width64},
	KindFilePath:          pointerKind("path", FormString),
	KindOpenFlags:         {name: "openflags", form: FormInt, small: Width32, large: Width32, bits: true},
	KindFilePermissions:   int32Kind("filemode"),
	KindPosixWhence:       int32Kind("seek"),
	KindErrno:             int32Kind("errno"),
	KindZeroOrMinusOne:    int32Kind("outcome"),
	KindSize:              int64Kind("size"),
	KindSsize:             int64Kind("ssize"),
	KindOffT:              int64Kind("pos"),
	KindOffTPointer:       int64Kind("posat"),
	KindIovecLength:       int64Kind("iovec"),
	KindTextLength:        int64Kind("text"),
	KindStringResult:      int64Kind("line"),
	KindAddressOrNull:     int64Kind("found"),
	KindOpaque:            pointerKind("opaque", FormNone),

	KindLimitConstant: {name: "limit"},
	KindWinFlavor:     {name: "winflavor"},
	KindWinModel:      {name: "winmodel"},
	KindUnknown:       {name: "unknown"},
}

func int32Kind(name string) kindInfo {
	return kindInfo{name: name, form: FormInt, small: Width32, large: Width32}
}

func int64Kind(name string) kindInfo {
	return kindInfo{name: name, form: FormInt, small: Width64, large: Width64}
}

func handleKind(name string) kindInfo {
	return kindInfo{name: name, form: FormHandle, small: WidthHandle, large: WidthHandle}
}

func pointerKind(name string, form Form) kindInfo {
	return kindInfo{name: name, form: form, small: WidthPointer, large: WidthPointer}
}

var kindByName = func() map[string]Kind {
	m := make(map[string]Kind, kindEnd)
	for k := KindNone + 1; k < kindEnd; k++ {
		m[kindTable[k].name] = k
	}
	return m
}()

// Kinds lists all kinds.
func Kinds() []Kind {
	list := make([]Kind, 0, kindEnd)
	for k := KindNone + 1; k < kindEnd; k++ {
		list = append(list, k)
	}
	return list
}

// KindNamed finds a kind by the name it has in calls.txt and constants.txt.
func KindNamed(name string) (Kind, bool) {
	k, ok := kindByName[name]
	return k, ok
}

func (k Kind) info() *kindInfo {
	if k >= kindEnd {
		panic(fmt.Sprintf("mpi: no kind %d", uint8(k)))
	}
	return &kindTable[k]
}

// Name returns the kind's name in calls.txt.
func (k Kind) Name() string { return k.info().name }

func (k Kind) String() string { return k.info().name }

// Form says how values of the kind are passed and recorded.
func (k Kind) Form() Form { return k.info().form }

// Width returns the size in C, in the small or in the large form of a call.
func (k Kind) Width(large bool) Width {
	if large {
		return k.info().large
	}
	return k.info().small
}

// WidensInLargeForm reports whether the large form of a call has a wider type here.
func (k Kind) WidensInLargeForm() bool { return k.info().small != k.info().large }

// IsHandle reports whether the kind is an MPI handle.
func (k Kind) IsHandle() bool { return k.info().form == FormHandle }

// IsTool reports whether the kind is an object of the tools interface.
func (k Kind) IsTool() bool { return k.info().form == FormObject }

// IsBits reports whether values are sets of bits.
func (k Kind) IsBits() bool { return k.info().bits }

// IsFile reports whether the kind occurs in io.txt only, which has the functions of POSIX and C.
func (k Kind) IsFile() bool { return k >= KindFileDescriptor && k <= KindOpaque }

// IsStatus reports whether the kind is a status in one of its three shapes.
func (k Kind) IsStatus() bool { return k.info().form == FormStatus }

// IsParam reports whether a parameter can be of this kind.
func (k Kind) IsParam() bool { return k > KindNone && k < KindLimitConstant }
