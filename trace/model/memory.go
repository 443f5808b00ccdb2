package model

import "strconv"

// An AllocEvent is the beginning or the end of a segment. A beginning is recorded just before the first call that
// uses the segment, an end before the next call of the thread that freed it.
type AllocEvent struct {
	Free    bool
	Calls   uint64   // calls of the stream between the previous event and this one
	Segment Location // the segment's beginning
	Size    uint64   // bytes; an end has 0
}

// A Location is a symbolic memory address.
type Location struct {
	Class  AddressClass
	Device int   // 0: the host; n+1: GPU n
	ID     int64 // number of the segment, module, thread or unknown address
	Offset int64
}

// An AddressClass is the kind of memory that an address points into.
type AddressClass uint8

// The classes; the offset counts from the beginning of the segment or module,
// or from the thread's first MPI call on its stack.
const (
	AddressSpecial AddressClass = 0 // Offset is one of the AddressSpecial… constants
	AddressHeap    AddressClass = 1 // allocated memory
	AddressDevice  AddressClass = 2 // allocated on an accelerator
	AddressStatic  AddressClass = 3 // data of a program or library
	AddressStack   AddressClass = 4 // a thread's stack
	AddressUnknown AddressClass = 5 // unknown: addresses can only be compared
	AddressMPI     AddressClass = 6 // allocated by MPI
)

// FirstUncomparableAddress is the lowest number of addresses of class AddressUnknown that cannot even be compared.
const FirstUncomparableAddress = 1 << 20

// Offsets of addresses of class AddressSpecial.
const (
	SpecialNull            = 0 // NULL, MPI_BOTTOM
	SpecialInPlace         = 1 // MPI_IN_PLACE
	SpecialBufferAutomatic = 2 // MPI_BUFFER_AUTOMATIC
)

var addressNames = [...]string{
	AddressHeap: "heap", AddressDevice: "device", AddressStatic: "static", AddressStack: "stack", AddressUnknown: "mem", AddressMPI: "mpimem",
}

// Text renders a location: the segment, module or stack, and the offset in it.
func (l Location) Text() string { return string(l.AppendText(nil)) }

// AppendText appends what Text returns.
func (l Location) AppendText(b []byte) []byte {
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
