// Package event is the record ring as shim/record.h lays it out: what the
// shim writes for each MPI call, and how a reader walks over it, in the same
// process while the program runs or in the files that a dead one left behind.
//
// The package knows where a record starts, its size and its kind. What the
// words inside mean depends on the call; package capture knows that.
//
// Invariants:
//  1. Sizes come from memory that a broken program may have written over: every
//     one MUST be checked before use; otherwise the reader takes the program
//     down with it.
//  2. head MUST be loaded with acquire order, and nothing at or beyond it be
//     looked at; otherwise half a record is read.
package event

// Layout of a ring and of its header, in bytes.
const (
	RingMagic      = 0x474e52524f4f5053 // the bytes "SPOORRNG"
	RingVersion    = 9
	HeaderPageSize = 4096 // size of the header, which precedes the data

	OffVersion     = 8
	OffThread      = 12
	OffCapacity    = 16
	OffHead        = 24
	OffDrained     = 32
	OffReleased    = 40
	OffStackLo     = 48
	OffStackHi     = 56
	OffStackRef    = 64
	OffTID         = 72
	OffStartTicks  = 80
	OffSpaceWanted = 88
	HeaderSize     = 96
)

// A Kind is the type of a record.
type Kind uint8

// The kinds of record. Each comment lists the record's words after Word0. A part is the words of one parameter.
const (
	KindEnter             Kind = 1  // ticks, return address or key, input parts
	KindLeave             Kind = 2  // ticks, [return code], output parts, description of a new communicator or datatype
	KindSkip              Kind = 3  // nothing: skips to the end of the ring
	KindSegment           Kind = 4  // ticks, serial, size, device, class
	KindSegmentFreed      Kind = 5  // ticks, serial
	KindTracingSwitch     Kind = 6  // ticks, 1 on or 0 off
	KindRecordsLost       Kind = 7  // ticks, number of records dropped
	KindStack             Kind = 8  // ticks, key, return addresses or keys of lines, innermost first
	KindAttachedValueName Kind = 9  // ticks, number, length, text
	KindAttachedValues    Kind = 10 // ticks, ticks that belong to no gap, (number of the name, value)…: for the call that ended last
	KindLeftByJump        Kind = 11 // ticks, number of calls that are still unfinished: later ones were left by a jump
	KindSourceLine        Kind = 12 // ticks, key, line, lengths of the file's and the function's name, both names
	KindPhaseStartSite    Kind = 13 // ticks, key, address or key of the call site, length, text: calls with that key begin a phase
	KindThreadStart       Kind = 14 // ticks, outermost return addresses of a thread that takes over the ring, innermost first
	KindSchedulingDelay   Kind = 15 // ticks, ns in which the thread was runnable without a processor: between the last two calls, and in the one that ended last
	kindEnd
)

// Flags of an Enter record.
const (
	FlagFortran    = 1 // called through a Fortran binding
	FlagTracingOff = 2 // tracing is switched off: only effects on handles matter
)

// Flags of a Leave record.
const (
	FlagReturnCode = 1 // the word after ticks is the non-zero return code
	FlagNoOutputs  = 2 // no output parts, as the call failed
)

// Classes of an address, in the top byte of its first word.
const (
	AddressClassRaw     = 0 // second word is the address
	AddressClassSpecial = 1 // second word is one of the special addresses below
	AddressClassHeap    = 3 // rest of the first word is a segment's serial number, second word the offset in the segment
	AddressClassDevice  = 4
	AddressClassMPIMem  = 5
)

// Special addresses.
const (
	AddressBottom          = 0 // NULL and MPI_BOTTOM
	AddressInPlace         = 1
	AddressBufferAutomatic = 2
)

// Special values of an array's length.
const (
	ArrayLenNull           = -1
	ArrayLenUnweighted     = -2
	ArrayLenWeightsEmpty   = -3
	ArrayLenNotSignificant = -4 // MPI_IN_PLACE, or not significant at this rank
	ArrayLenIgnored        = -5 // MPI_STATUSES_IGNORE and the like
)

// Forms of a status.
const (
	StatusFormAbsent  = 0
	StatusFormFilled  = 1
	StatusFormIgnored = 2 // filled, but the program passed MPI_STATUS_IGNORE
	StatusFormEmpty   = 3
	StatusWords       = 6 // form, source, tag, bytes, cancelled, error
)

// Word0 returns the first word of a record.
func Word0(words int, call uint16, kind Kind, flags uint8) uint64 {
	return uint64(uint32(words)) | uint64(call)<<32 | uint64(kind)<<48 | uint64(flags)<<56
}

// StackKey returns the key that replaces the return address in Enter records of calls with a stack. An earlier
// Stack record of the same thread defines it. No address has the highest bit set.
func StackKey(thread, number int) uint64 { return 1<<63 | uint64(thread)<<32 | uint64(number) }

// SourceLineKey returns the key of a line of an interpreted language, which a Source record defines, or of a stack with
// such lines.
func SourceLineKey(thread, number int) uint64 { return StackKey(thread, 1<<31|number) }

// PhaseKey returns the key of calls that begin a phase, which a Phase record defines.
func PhaseKey(thread, number int) uint64 { return StackKey(thread, 1<<30|number) }

// TurnUnknown is the turn of a call if it is unknown which loop began another iteration since the previous call.
const TurnUnknown = 255

// TurnKey adds the turn to the key of a call with a stack. It is 0 if the order of the code implies which loop
// began an iteration. Otherwise it is the number of the loop, among the loops around both calls, outwards from 1.
func TurnKey(key uint64, turn int) uint64 { return key | uint64(turn)<<20 }

// SplitTurnKey reverses TurnKey; the turn of other keys is 0.
func SplitTurnKey(key uint64) (stack uint64, turn int) {
	if !IsSiteKey(key) || key&(3<<30) != 0 {
		return key, 0
	}
	return key &^ (0xff << 20), int(key >> 20 & 0xff)
}

// IsSiteKey reports whether v is a key instead of an address.
func IsSiteKey(v uint64) bool { return v>>63 != 0 }

// A Record is the words of one record; the first is its Word0.
type Record []uint64

// Kind is the record's type.
func (r Record) Kind() Kind { return Kind(r[0] >> 48) }

// FunctionID is the id of the function, in Enter and Leave records.
func (r Record) FunctionID() uint16 { return uint16(r[0] >> 32) }

// Flags are those of the record's kind.
func (r Record) Flags() uint8 { return uint8(r[0] >> 56) }

// Ticks is when the record was made. Skip records have none.
func (r Record) Ticks() uint64 { return r[1] }

// minWords is, by kind, the minimal number of words of a record; 0: no such kind.
var minWords = [256]uint8{KindEnter: 3, KindLeave: 2, KindSkip: 1, KindSegment: 6, KindSegmentFreed: 3, KindTracingSwitch: 3, KindRecordsLost: 3, KindStack: 4, KindAttachedValueName: 4, KindAttachedValues: 3, KindLeftByJump: 3, KindSourceLine: 6, KindPhaseStartSite: 5, KindThreadStart: 3, KindSchedulingDelay: 4}
