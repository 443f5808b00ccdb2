package mpi

import "fmt"

// A Kind is the meaning of a parameter's value. It determines the value's width in C, how the recorder stores it, and
// which named constants it may be.
type Kind uint8

// The kinds, grouped by how the recorder treats them.
const (
	KindNone Kind = iota

	// Integers of 32 bits in the small form of a call.
	KindInt           // int without a meaning of its own: a length, version or dimension
	KindCount         // number of elements; MPI_Count in the large form of a call
	KindDisp          // displacement; MPI_Aint or MPI_Count in the large form of a call
	KindRank          // rank of a process, or MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_ROOT, MPI_UNDEFINED
	KindTag           // tag of a message, or MPI_ANY_TAG
	KindLogical       // truth value, 0 or not
	KindIndex         // position in an array, or MPI_UNDEFINED
	KindSplitColor    // color of a communicator split, or MPI_UNDEFINED
	KindSplitKey      // key of a communicator split
	KindError         // error code
	KindErrorClass    // error class
	KindComparison    // result of a comparison: MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR or MPI_UNEQUAL
	KindThreadLevel   // level of thread support, such as MPI_THREAD_SINGLE
	KindTopology      // MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH or MPI_UNDEFINED
	KindCombiner      // which function made a datatype, such as MPI_COMBINER_VECTOR
	KindLockType      // MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED
	KindOrder         // storage order of an array: MPI_ORDER_C or MPI_ORDER_FORTRAN
	KindDistrib       // distribution of an array dimension, such as MPI_DISTRIBUTE_BLOCK
	KindDistribArg    // argument of a KindDistrib, or MPI_DISTRIBUTE_DFLT_DARG
	KindTypeClass     // class of a Fortran type, such as MPI_TYPECLASS_INTEGER
	KindSplitType     // how MPI_Comm_split_type splits, such as MPI_COMM_TYPE_SHARED
	KindAmode         // access mode of an MPI file, a set of bits
	KindMPIWhence     // origin of a file offset in MPI, such as MPI_SEEK_SET
	KindAssert        // assertions of one-sided communication, a set of bits
	KindKeyval        // key of an attribute, such as MPI_TAG_UB
	KindFint          // handle as a Fortran INTEGER
	KindPcontrolLevel // level parameter of MPI_Pcontrol
	KindSocket        // file descriptor of a socket
	KindBindType      // MPI_T: kind of object that a variable is bound to
	KindVarScope      // MPI_T: scope of a control variable, which says where it may be changed
	KindVerbosity     // MPI_T: for which users and in how much detail a variable is meant
	KindPvarClass     // MPI_T: class of a performance variable
	KindCbSafety      // MPI_T: how restricted a callback is, such as async-signal-safe
	KindSourceOrder   // MPI_T: whether the events of a source are in order of time

	// Integers of 64 bits in both forms of a call.
	KindAint      // MPI_Aint that is a distance in memory
	KindOffset    // MPI_Offset that is an offset in a file
	KindFileDisp  // MPI_Offset where a file view begins, or MPI_DISPLACEMENT_CURRENT
	KindCount64   // MPI_Count in both forms of a call
	KindToolClock // time of an MPI_T event in ticks of its source

	KindTime // double: time in seconds

	// MPI handles, of 4 or 8 bytes depending on the flavour.
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

	// Handles of the tools interface MPI_T: opaque pointers.
	KindCvar
	KindPvar
	KindPvarSession
	KindToolEvent
	KindToolEventRegistration
	KindToolEnum
	KindToolBoundHandle // address of the MPI handle that a variable of MPI_T is bound to

	// Addresses in memory.
	KindBuffer     // choice buffer: a buffer of any type
	KindPointer    // address that MPI only passes on: extra state, value of an attribute
	KindPointerOut // address where the call stores a pointer
	KindAddress    // MPI_Aint that holds an absolute address

	KindFunction  // callback function
	KindString    // string that ends with NUL
	KindStatus    // MPI_Status that the call fills or reads
	KindCStatus   // MPI_Status as an argument of a function that converts it
	KindFStatus   // status of mpif.h or module mpi: an array of INTEGERs
	KindF08Status // status of module mpi_f08: a TYPE(MPI_Status)

	// Parameters that are not recorded.
	KindArgc
	KindArgv
	KindVarargs

	// Parameters of functions of POSIX and C, see io.txt.
	KindFileDescriptor    // descriptor of an open file, or AT_FDCWD
	KindFileStream        // FILE *: stream of an open file
	KindDirStream         // DIR *: stream of an open directory
	KindMappedFileAddress // address of a mapped file
	KindFilePath          // name of a file, in which the recorder replaces the rank's number
	KindOpenFlags         // flags of open, such as O_CREAT, a set of bits
	KindFilePermissions   // permissions of a new file, such as 0644
	KindPosixWhence       // origin of a file offset in POSIX, such as SEEK_SET
	KindErrno             // value of errno after the call
	KindZeroOrMinusOne    // result of a function without a value: 0, or -1 after an error
	KindSize              // size_t: number of bytes or elements
	KindSsize             // ssize_t: number of bytes, or -1
	KindOffT              // off_t: offset in a file
	KindOffTPointer       // pointer to an off_t, whose value is recorded; -1 for a null pointer
	KindIovecLength       // length of one block of memory in a struct iovec
	KindTextLengthOnly    // text that is written; only its number of characters is recorded
	KindStringResult      // text that is returned; only its number of characters is recorded, -1 for NULL
	KindAddressOrNull     // address; only whether it is null is recorded
	KindUnrecordedAddress // address that is not recorded

	// Kinds of constants that no parameter has.
	KindLimitConstant // limit of the MPI library, such as MPI_MAX_PROCESSOR_NAME
	KindWinFlavor     // value of the window attribute MPI_WIN_CREATE_FLAVOR
	KindWinModel      // value of the window attribute MPI_WIN_MODEL

	KindUnknown // in readers: a kind that a trace of a newer version has and this version does not know

	kindEnd
)

// A ValueForm is how values of a kind are passed in C and stored in a record.
type ValueForm uint8

// The forms.
const (
	ValueFormNone       ValueForm = iota // values are not recorded
	ValueFormInt                         // an integer
	ValueFormDouble                      // a double
	ValueFormHandle                      // an MPI handle
	ValueFormToolObject                  // a handle of the tools interface MPI_T
	ValueFormAddress                     // a memory address, recorded as a segment and an offset
	ValueFormFunction                    // the address of a function
	ValueFormString                      // the bytes of a string
	ValueFormStatus                      // an MPI_Status, or a status in Fortran
)

// A Width is the size of a value of some kind in C.
type Width uint8

// The widths. Width32 and Width64 are the number of bits.
const (
	WidthHandle  Width = 0  // size of a handle, as returned by Layout.HandleSize
	WidthPointer Width = 1  // size of a pointer
	Width32      Width = 32 // int and enums: 32 bits
	Width64      Width = 64 // MPI_Aint, MPI_Count, MPI_Offset and double: 64 bits
)

type kindInfo struct {
	name         string
	form         ValueForm
	small, large Width
	bits         bool // values are sets of bits, whose names are joined by |
}

var kindTable = [kindEnd]kindInfo{
	KindNone: {name: "none"},

	KindInt:           int32Kind("int"),
	KindCount:         {name: "count", form: ValueFormInt, small: Width32, large: Width64},
	KindDisp:          {name: "disp", form: ValueFormInt, small: Width32, large: Width64},
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
	KindAmode:         {name: "amode", form: ValueFormInt, small: Width32, large: Width32, bits: true},
	KindMPIWhence:     int32Kind("whence"),
	KindAssert:        {name: "assert", form: ValueFormInt, small: Width32, large: Width32, bits: true},
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
	KindTime:      {name: "time", form: ValueFormDouble, small: Width64, large: Width64},

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

	KindCvar:                  pointerKind("cvar", ValueFormToolObject),
	KindPvar:                  pointerKind("pvar", ValueFormToolObject),
	KindPvarSession:           pointerKind("pvarsession", ValueFormToolObject),
	KindToolEvent:             pointerKind("event", ValueFormToolObject),
	KindToolEventRegistration: pointerKind("eventreg", ValueFormToolObject),
	KindToolEnum:              pointerKind("enum", ValueFormToolObject),
	KindToolBoundHandle:       pointerKind("toolobj", ValueFormToolObject),

	KindBuffer:     pointerKind("buffer", ValueFormAddress),
	KindPointer:    pointerKind("pointer", ValueFormAddress),
	KindPointerOut: pointerKind("pointerout", ValueFormAddress),
	KindAddress:    {name: "address", form: ValueFormAddress, small: Width64, large: Width64},

	KindFunction:  pointerKind("function", ValueFormFunction),
	KindString:    pointerKind("string", ValueFormString),
	KindStatus:    pointerKind("status", ValueFormStatus),
	KindCStatus:   pointerKind("cstatus", ValueFormStatus),
	KindFStatus:   pointerKind("fstatus", ValueFormStatus),
	KindF08Status: pointerKind("f08status", ValueFormStatus),

	KindArgc:    pointerKind("argc", ValueFormNone),
	KindArgv:    pointerKind("argvp", ValueFormNone),
	KindVarargs: {name: "varargs"},

	KindFileDescriptor:    {name: "descriptor", form: ValueFormHandle, small: Width64, large: Width64},
	KindFileStream:        {name: "stream", form: ValueFormHandle, small: Width64, large: Width64},
	KindDirStream:         {name: "directory", form: ValueFormHandle, small: Width64, large: Width64},
	KindMappedFileAddress: {name: "mapping", form: ValueFormHandle, small: Width64, large: Width64},
	KindFilePath:          pointerKind("path", ValueFormString),
	KindOpenFlags:         {name: "openflags", form: ValueFormInt, small: Width32, large: Width32, bits: true},
	KindFilePermissions:   int32Kind("filemode"),
	KindPosixWhence:       int32Kind("seek"),
	KindErrno:             int32Kind("errno"),
	KindZeroOrMinusOne:    int32Kind("outcome"),
	KindSize:              int64Kind("size"),
	KindSsize:             int64Kind("ssize"),
	KindOffT:              int64Kind("pos"),
	KindOffTPointer:       int64Kind("posat"),
	KindIovecLength:       int64Kind("iovec"),
	KindTextLengthOnly:    int64Kind("text"),
	KindStringResult:      int64Kind("line"),
	KindAddressOrNull:     int64Kind("found"),
	KindUnrecordedAddress: pointerKind("opaque", ValueFormNone),

	KindLimitConstant: {name: "limit"},
	KindWinFlavor:     {name: "winflavor"},
	KindWinModel:      {name: "winmodel"},
	KindUnknown:       {name: "unknown"},
}

func int32Kind(name string) kindInfo {
	return kindInfo{name: name, form: ValueFormInt, small: Width32, large: Width32}
}

func int64Kind(name string) kindInfo {
	return kindInfo{name: name, form: ValueFormInt, small: Width64, large: Width64}
}

func handleKind(name string) kindInfo {
	return kindInfo{name: name, form: ValueFormHandle, small: WidthHandle, large: WidthHandle}
}

func pointerKind(name string, form ValueForm) kindInfo {
	return kindInfo{name: name, form: form, small: WidthPointer, large: WidthPointer}
}

var kindByName = func() map[string]Kind {
	m := make(map[string]Kind, kindEnd)
	for k := KindNone + 1; k < kindEnd; k++ {
		m[kindTable[k].name] = k
	}
	return m
}()

// Kinds returns all kinds except KindNone.
func Kinds() []Kind {
	list := make([]Kind, 0, kindEnd)
	for k := KindNone + 1; k < kindEnd; k++ {
		list = append(list, k)
	}
	return list
}

// KindNamed returns the kind with a name of calls.txt, io.txt or constants.txt.
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

// Name returns the kind's name in calls.txt or io.txt.
func (k Kind) Name() string { return k.info().name }

func (k Kind) String() string { return k.info().name }

// ValueForm returns how values of the kind are passed and recorded.
func (k Kind) ValueForm() ValueForm { return k.info().form }

// Width returns the size of values of the kind in C. It may differ in the large form of a call.
func (k Kind) Width(large bool) Width {
	if large {
		return k.info().large
	}
	return k.info().small
}

// WidensInLargeForm reports whether values of the kind are wider in the large form of a call than in the small one.
func (k Kind) WidensInLargeForm() bool { return k.info().small != k.info().large }

// IsHandle reports whether values are handles of MPI, or of open files of POSIX and C.
func (k Kind) IsHandle() bool { return k.info().form == ValueFormHandle }

// IsTool reports whether values are handles of the tools interface MPI_T.
func (k Kind) IsTool() bool { return k.info().form == ValueFormToolObject }

// IsBitSet reports whether values are sets of bits.
func (k Kind) IsBitSet() bool { return k.info().bits }

// IsPosix reports whether only functions of POSIX and C, those of io.txt, have parameters of the kind.
func (k Kind) IsPosix() bool { return k >= KindFileDescriptor && k <= KindUnrecordedAddress }

// IsStatus reports whether values are statuses of C or of Fortran.
func (k Kind) IsStatus() bool { return k.info().form == ValueFormStatus }

// IsParam reports whether a parameter may be of this kind, instead of only constants.
func (k Kind) IsParam() bool { return k > KindNone && k < KindLimitConstant }
