package signature

import (
	"bytes"
	"unsafe"
)

// A Key is a signature as the table stores it: call, site, values. The caller determines the order of values; the
// table only compares.
//
// A key may represent calls of one thread that differ in some values, which are in a lane. These values are 0 in
// the key. After the values follow their positions in the key, and the number of positions.
type Key []int64

// KeyHeaderWords is how many words of a Key come before the values.
const KeyHeaderWords = 2

// SetHeader fills the words before the values.
func (k Key) SetHeader(call uint16, site uint64) {
	k[0], k[1] = int64(call), int64(site)
}

// FunctionID is the function's id.
func (k Key) FunctionID() uint16 { return uint16(k[0]) }

// Site is the call site.
func (k Key) Site() uint64 { return uint64(k[1]) }

// Values returns the words of the call's values. Values in a lane are 0.
func (k Key) Values() []int64 {
	if !k.HasLane() {
		return k[KeyHeaderWords:]
	}
	end := len(k) - 1
	return k[KeyHeaderWords : end-int(k[end])]
}

// AppendLaneKey appends to an empty key the lane key for calls of a thread that equal k except for some words. words are
// their positions in rising order.
func AppendLaneKey(to Key, thread int, k Key, words []int64) Key {
	to = append(to, k[:KeyHeaderWords+len(k.Values())]...)
	to[0] = int64(k.FunctionID()) | int64(thread+1)<<threadShift
	for _, w := range words {
		to[w] = 0
	}
	return append(append(to, words...), int64(len(words)))
}

const threadShift = 16

// HasLane reports whether the key represents calls with a lane.
func (k Key) HasLane() bool { return k[0]>>threadShift != 0 }

// LanePositions returns the positions of the lane's values in keys of its calls without a lane; nil if k has no lane.
func (k Key) LanePositions() []int64 {
	if !k.HasLane() {
		return nil
	}
	end := len(k) - 1
	return k[end-int(k[end]) : end]
}

// Thread returns the thread that makes the lane's calls.
func (k Key) Thread() int { return int(k[0]>>threadShift) - 1 }

// EqualKeys reports whether two keys are the same.
func EqualKeys(a, b Key) bool {
	return len(a) == len(b) && bytes.Equal(raw(a), raw(b))
}

// raw returns the words as bytes, for fast comparison.
func raw(k Key) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(k))), len(k)*8)
}
