package signature

import "github.com/spoor-hpc/spoor/trace/model"

// Classes of the segment in an address, as package model has them.
const (
	SegClassSpecial = int64(model.AddressSpecial)
	SegClassHeap    = int64(model.AddressHeap)
	SegClassDevice  = int64(model.AddressDevice)
	SegClassStatic  = int64(model.AddressStatic)
	SegClassStack   = int64(model.AddressStack)
	SegClassUnknown = int64(model.AddressUnknown)
	SegClassMPI     = int64(model.AddressMPI)
	segEnd          = SegClassMPI + 1
)

// PackSegName packs a segment's number, device and class into one value.
func PackSegName(id, device, class int64) int64 { return id<<8 | device<<3 | class }

// UnpackSegName reverses PackSegName.
func UnpackSegName(name int64) (id, device, class int64) { return name >> 8, name >> 3 & 31, name & 7 }

// SegClassOf returns the class of a segment, given its packed name.
func SegClassOf(name int64) int64 { return name & 7 }

// HasByteOffsets reports whether offsets in a segment, given its packed name, are distances in bytes. They are not for
// special and unknown addresses.
func HasByteOffsets(name int64) bool {
	class := SegClassOf(name)
	return class != SegClassSpecial && class != SegClassUnknown && class < segEnd
}
