package signature

import "github.com/spoor-hpc/spoor/trace/model"

// Classes of the segment in an address, as package model has them.
const (
	SegSpecial = int64(model.Special)
	SegHeap    = int64(model.Heap)
	SegDevice  = int64(model.DeviceMemory)
	SegStatic  = int64(model.Static)
	SegStack   = int64(model.Stack)
	SegUnknown = int64(model.UnknownPlace)
	SegMPI     = int64(model.MPIMemory)
	segEnd     = SegMPI + 1
)

// SegName packs a segment's number, device and class.
func SegName(id, device, class int64) int64 { return id<<8 | device<<3 | class }

// SegOf takes the name of a segment apart.
func SegOf(name int64) (id, device, class int64) { return name >> 8, name >> 3 & 31, name & 7 }

// SegClass is the class alone.
func SegClass(name int64) int64 { return name & 7 }

// IsDistance reports whether offsets in a segment are distances.
func IsDistance(name int64) bool {
	class := SegClass(name)
	return class != SegSpecial && class != SegUnknown && class < segEnd
}
