package mpi

import "sync"

// TypeSize returns how many bytes of data a predefined datatype has on a 64-bit machine, by
// its number in the standard ABI. It is false for MPI_DATATYPE_NULL and for
// numbers that mean nothing.
func TypeSize(handle int64) (int64, bool) {
	t, ok := typeSizes()[handle]
	return t.size, ok && t.size >= 0
}

// TypeExtent returns the extent of a predefined datatype.
func TypeExtent(handle int64) (int64, bool) {
	t, ok := typeSizes()[handle]
	if t.extent < 0 {
		return t.size, ok && t.size >= 0
	}
	return t.extent, ok
}

// A typeSize is what constants.txt says of a datatype; -1 is nothing.
type typeSize struct{ size, extent int64 }

var typeSizes = sync.OnceValue(func() map[int64]typeSize {
	m := make(map[int64]typeSize)
	for _, c := range Constants(KindDatatype) {
		m[c.Value] = c.bytes
	}
	return m
})

func (t *typeSize) field(name string) *int64 {
	switch name {
	case "size":
		return &t.size
	case "extent":
		return &t.extent
	}
	return nil
}
