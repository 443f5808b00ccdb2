package signature

// Classes of the segment in an address.
const (
	SegSpecial = 0 // NULL, MPI_BOTTOM, MPI_IN_PLACE: see the offset
	SegHeap    = 1
	SegDevice  = 2
	SegStatic  = 3 // data of an executable or library
	SegStack   = 4
	SegUnknown = 5 // only equality is known
	SegMPI     = 6 // MPI_Alloc_mem and windows
	segEnd     = 7
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
