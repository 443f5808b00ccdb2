package reissue

import (
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
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
	n := predefinedExtent(handle)
	return trace.NewType{Size: n, Extent: n, TrueExtent: n}
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

// predefinedExtent returns the extent of a predefined datatype in bytes on a 64-bit
// machine; 16, more than most have, if it is not known.
func predefinedExtent(handle int64) int64 {
	if n, ok := mpi.TypeExtent(handle); ok {
		return n
	}
	return 16
}
