package reissue

import (
	"strings"

	"spoor/mpi"
	"spoor/trace"
)

// types knows how far datatypes reach. A number may stand for one type after
// the other: then it is as if it were all of them at once.
type types struct{ known map[int64]trace.NewType }

func newTypes() *types { return &types{known: make(map[int64]trace.NewType)} }

func (t *types) define(handle int64, n *trace.NewType) {
	if handle < trace.FirstLocal || IsAddress(n.TrueLowerBound) {
		return // what holds addresses is used with MPI_BOTTOM
	}
	old, ok := t.known[handle]
	if !ok {
		t.known[handle] = *n
		return
	}
	high := max(old.TrueLowerBound+old.TrueExtent, n.TrueLowerBound+n.TrueExtent)
	if abs(n.Extent) > abs(old.Extent) {
		old.Extent = n.Extent
	}
	old.Size = max(old.Size, n.Size)
	old.TrueLowerBound = min(old.TrueLowerBound, n.TrueLowerBound)
	old.TrueExtent = high - old.TrueLowerBound
	t.known[handle] = old
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// of returns what is known of a type.
func (t *types) of(handle int64) trace.NewType {
	if n, ok := t.known[handle]; ok {
		return n
	}
	size := SizeOf(handle)
	return trace.NewType{Size: size, Extent: size, TrueExtent: size}
}

// span returns the bytes that count elements of a type take, relative to the
// address that a call is given.
func (t *types) span(handle, count int64) (low, high int64) {
	if count <= 0 {
		return 0, 0
	}
	n := t.of(handle)
	first, last := n.TrueLowerBound, n.TrueLowerBound+n.TrueExtent
	step := (count - 1) * n.Extent
	return min(first, first+step), max(last, last+step)
}

// SizeOf returns the size of a predefined datatype in bytes on a 64-bit
// machine; 16, more than most have, if it is not known.
func SizeOf(handle int64) int64 {
	name := mpi.ConstantName(mpi.KindDatatype, handle)
	if n, ok := predefinedSizes[name]; ok {
		return n
	}
	// Sized types end with their number of bytes or bits.
	digits := strings.TrimLeft(strings.TrimSuffix(name, "_T"), "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	n := int64(0)
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 16
		}
		n = n*10 + int64(d-'0')
	}
	switch {
	case n == 0 || n > 1024:
		return 16
	case strings.HasSuffix(name, "_T") || n > 32:
		return max(1, n/8)
	}
	return n
}

var predefinedSizes = map[string]int64{
	"MPI_DATATYPE_NULL": 0, "MPI_LB": 0, "MPI_UB": 0,
	"MPI_AINT": 8, "MPI_COUNT": 8, "MPI_OFFSET": 8, "MPI_PACKED": 1, "MPI_SHORT": 2, "MPI_INT": 4, "MPI_LONG": 8,
	"MPI_LONG_LONG": 8, "MPI_UNSIGNED_SHORT": 2, "MPI_UNSIGNED": 4, "MPI_UNSIGNED_LONG": 8,
	"MPI_UNSIGNED_LONG_LONG": 8, "MPI_FLOAT": 4, "MPI_C_FLOAT_COMPLEX": 8, "MPI_CXX_FLOAT_COMPLEX": 8,
	"MPI_DOUBLE": 8, "MPI_C_DOUBLE_COMPLEX": 16, "MPI_CXX_DOUBLE_COMPLEX": 16, "MPI_LOGICAL": 4, "MPI_INTEGER": 4,
	"MPI_REAL": 4, "MPI_COMPLEX": 8, "MPI_DOUBLE_PRECISION": 8, "MPI_DOUBLE_COMPLEX": 16, "MPI_LONG_DOUBLE": 16,
	"MPI_C_LONG_DOUBLE_COMPLEX": 32, "MPI_CXX_LONG_DOUBLE_COMPLEX": 32, "MPI_FLOAT_INT": 8, "MPI_DOUBLE_INT": 16,
	"MPI_LONG_INT": 16, "MPI_2INT": 8, "MPI_SHORT_INT": 8, "MPI_LONG_DOUBLE_INT": 32, "MPI_2REAL": 8,
	"MPI_2DOUBLE_PRECISION": 16, "MPI_2INTEGER": 8, "MPI_C_BOOL": 1, "MPI_CXX_BOOL": 1, "MPI_WCHAR": 4, "MPI_CHAR": 1,
	"MPI_SIGNED_CHAR": 1, "MPI_UNSIGNED_CHAR": 1, "MPI_BYTE": 1, "MPI_CHARACTER": 1, "MPI_2COMPLEX": 16,
	"MPI_2DOUBLE_COMPLEX": 32, "MPIX_C_FLOAT16": 2, "MPIX_BFLOAT16": 2,
}
