package model

import "strconv"

// An AllocEvent is the beginning or the end of a segment. A beginning is recorded just before the first call that
// uses the segment, an end before the next call of the thread that freed it.
type AllocEvent struct {
	IsFree             bool
	CallsSincePrevious uint64          // number of calls that the stream began between its previous event and this one
	Segment            SymbolicAddress // address of the segment's first byte
	Size               uint64          // bytes of the segment; 0 if Free is set
}

// A SymbolicAddress is a symbolic memory address.
type SymbolicAddress struct {
	Class  AddressClass
	Device int   // 0: memory of the host; n+1: memory of GPU n
	ID     int64 // number of the segment, of the program's module, of the thread, or of the unknown address
	Offset int64
}

// An AddressClass is the kind of memory that an address points into.
type AddressClass uint8

// The classes of addresses. Location.Offset is in bytes: from the beginning of the segment or module, or from where the
// thread's first MPI call was on its stack.
const (
	AddressSpecial AddressClass = 0 // no address: Offset is one of the Special… constants
	AddressHeap    AddressClass = 1 // allocated memory
	AddressDevice  AddressClass = 2 // allocated on an accelerator
	AddressStatic  AddressClass = 3 // static data of an executable or library
	AddressStack   AddressClass = 4 // a thread's stack
	AddressUnknown AddressClass = 5 // unknown memory: whether two addresses are equal is all that is known
	AddressMPI     AddressClass = 6 // allocated by MPI (e.g. MPI_Alloc_mem)
)

// FirstUncomparableAddress is the lowest ID of addresses of class AddressUnknown of which not even equality is known.
const FirstUncomparableAddress = 1 << 20

// Offsets of addresses of class AddressSpecial.
const (
	SpecialNull            = 0 // NULL or MPI_BOTTOM
	SpecialInPlace         = 1 // MPI_IN_PLACE
	SpecialBufferAutomatic = 2 // MPI_BUFFER_AUTOMATIC
)

var addressNames = [...]string{
	AddressHeap: "heap", AddressDevice: "device", AddressStatic: "static", AddressStack: "stack", AddressUnknown: "mem", AddressMPI: "mpimem",
}

// Text renders a location: the segment, module or stack, and the offset in it (e.g. heap3+16).
func (l SymbolicAddress) Text() string { return string(l.AppendText(nil)) }

// AppendText appends what Text returns to b.
func (l SymbolicAddress) AppendText(b []byte) []byte {
	if l.Class == AddressSpecial {
		switch l.Offset {
		case SpecialNull:
			return append(b, "NULL"...)
		case SpecialInPlace:
			return append(b, "MPI_IN_PLACE"...)
		case SpecialBufferAutomatic:
			return append(b, "MPI_BUFFER_AUTOMATIC"...)
		}
		return strconv.AppendInt(append(b, "special"...), l.Offset, 10)
	}
	if l.Class == AddressUnknown && l.ID >= FirstUncomparableAddress {
		return append(b, '?')
	}
	if l.Device > 0 {
		b = append(strconv.AppendInt(append(b, "gpu"...), int64(l.Device-1), 10), ':')
	}
	name := "place"
	if int(l.Class) < len(addressNames) {
		name = addressNames[l.Class]
	}
	b = strconv.AppendInt(append(b, name...), l.ID, 10)
	if l.Offset > 0 {
		b = append(b, '+')
	}
	if l.Offset != 0 {
		b = strconv.AppendInt(b, l.Offset, 10)
	}
	return b
}
