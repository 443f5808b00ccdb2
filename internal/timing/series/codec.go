// A Codec makes few bytes of many times: the durations of calls and the
// gaps before them, exactly or within an error. Some codecs are those of
// "Pilgrim" (TPDS 2022, section 2.3.2), for comparison; Place is spoor's own.
//
// It knows no traces and no MPI. What it knows of a call is its key:
// calls with the same key are expected to take alike. A reader of a trace has
// the keys before it has the times, so they are known on both sides.
//
// Invariants:
//  1. A decoded value v of an original x MUST have |v-x| ≤ bound·x, or |v-x| ≤
//     bound where that is absolute, and be x where the bound is 0, whatever the
//     codec; otherwise what a trace says of its own accuracy is wrong.
//  2. The bytes MUST depend on which calls have equal keys only, not on the
//     numbers: readers number them otherwise than writers.
//  3. All that both sides compute is integers or unfused IEEE arithmetic without
//     library functions; otherwise another machine reads other values.
//  4. Decoding takes memory for the calls that the caller knows of, whatever
//     the bytes say, and never panics.

package series

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/timing"
)

// A Batch is the times of consecutive calls of one thread. Gaps or Durations is nil if these times are not wanted.
type Batch struct {
	Gaps, Durations []uint64
}

// CallInfo is what both encoder and decoder know about the calls of a batch.
type CallInfo struct {
	// Keys has a key for each call, in program order. Calls with the same key are expected to take similar times.
	// Keys should be small, as slices are indexed by them.
	Keys []uint32
	// KindOfKey has for each key the group that it belongs to, such as the function; nil: all keys are in one group.
	// Groups improve prediction if there are many keys.
	KindOfKey []uint32
	// Bound is the error bound of all times.
	Bound Bound
	// KeyBounds, if not nil, has the error bound by key, and Bound is ignored.
	KeyBounds []Bound
	// Only for codec histSig: Bins is the number of bins in the table of each key. SampleCalls is the number of first
	// calls of each key that determine its bins. 0 means DefaultBins or DefaultSampleCalls.
	Bins, SampleCalls int
}

// A Bound is the largest difference between a decoded value and the original. The zero Bound allows none.
type Bound struct {
	Relative float64 // as a share of the value, from 0 to 1
	Absolute uint64  // if not 0: the bound in the unit of the times, and Relative is ignored
}

// RelativeBound returns a bound proportional to the value.
func RelativeBound(share float64) Bound { return Bound{Relative: share} }

// MaxError returns the largest difference allowed for a value x.
func (b Bound) MaxError(x uint64) uint64 {
	if b.Absolute > 0 {
		return b.Absolute
	}
	return saturate(0, float64(x)*b.Relative)
}

func (b Bound) compare(o Bound) int {
	return cmp.Or(cmp.Compare(b.Relative, o.Relative), cmp.Compare(b.Absolute, o.Absolute))
}

// bound returns the error bound for calls with the given key.
func (c *CallInfo) bound(key uint32) Bound {
	if c.KeyBounds != nil {
		return c.KeyBounds[key]
	}
	return c.Bound
}

// check returns an error if the lengths of the slices of c contradict each other.
func (c *CallInfo) check() error {
	if len(c.Keys) == 0 {
		return nil
	}
	top := int(slices.Max(c.Keys))
	if c.KindOfKey != nil && top >= len(c.KindOfKey) || c.KeyBounds != nil && top >= len(c.KeyBounds) {
		return fmt.Errorf("key %d, but %d groups and %d bounds", top, len(c.KindOfKey), len(c.KeyBounds))
	}
	for _, b := range append(slices.Clone(c.KeyBounds), c.Bound) {
		if !(b.Relative >= 0 && b.Relative <= 1) {
			return fmt.Errorf("bound %g: want 0 to 1", b.Relative)
		}
	}
	return nil
}

// A Codec encodes and decodes batches. It has no state: several goroutines may use it at once.
type Codec interface {
	// Name is the codec's name in options and files.
	Name() string
	// Append appends the coded batch to dst. Each list of the batch has as many elements as c.Keys, or is nil.
	Append(dst []byte, b Batch, c *CallInfo) ([]byte, error)
	// Decode decodes src, which must be exactly what Append wrote. want says which lists that batch had.
	Decode(src []byte, want TimeLists, c *CallInfo) (Batch, error)
}

// TimeLists is the set of lists that a batch has: gaps, durations or both.
type TimeLists uint8

// The values of TimeLists.
const (
	TimeListGaps TimeLists = 1 << iota
	TimeListDurations
	TimeListBoth = TimeListGaps | TimeListDurations
)

// lists returns which lists b has. It returns an error if a list has not as many elements as there are calls.
func (b *Batch) lists(c *CallInfo) (l TimeLists, err error) {
	for i, list := range [][]uint64{b.Gaps, b.Durations} {
		if list != nil {
			l |= 1 << i
			if len(list) != len(c.Keys) {
				return 0, fmt.Errorf("%d times of %d calls", len(list), len(c.Keys))
			}
		}
	}
	return l, c.check()
}

// make returns a batch with these lists, each of n elements.
func (l TimeLists) make(n int) (b Batch) {
	if l&TimeListGaps != 0 {
		b.Gaps = make([]uint64, n)
	}
	if l&TimeListDurations != 0 {
		b.Durations = make([]uint64, n)
	}
	return b
}

// Codecs returns all codecs, in the order of tables in the documentation.
func Codecs() []Codec { return slices.Clone(all) }

var all = []Codec{
	RawCodec{}, ZstdCodec{}, LosslessCodec{}, cfg, histSig, sz, szSig, ZFPCodec{}, ZFPCodec{BySignature: true}, PlaceCodec{},
}

// CodecNamed returns the codec with the given name.
func CodecNamed(name string) (Codec, error) {
	var names []string
	for _, c := range all {
		if c.Name() == name {
			return c, nil
		}
		names = append(names, c.Name())
	}
	return nil, fmt.Errorf("no timing codec %q: there are %q", name, names)
}

// dense numbers keys in the order of their first use. numbers has the number of each call's key, first the key of
// each number.
func dense(keys []uint32) (numbers, first []uint32) {
	numbers = make([]uint32, len(keys))
	known := make([]uint32, 256) // by key: its number plus 1; 0: no number yet
	var far map[uint32]uint32    // numbers of keys that are too large for slice known
	for i, k := range keys {
		if int(k) >= len(known) && int(k) <= 2*len(keys)+1024 {
			known = append(known, make([]uint32, max(int(k)+1, 2*len(known))-len(known))...)
		}
		if int(k) >= len(known) {
			if far == nil {
				far = map[uint32]uint32{}
			}
			n, ok := far[k]
			if !ok {
				n = uint32(len(first))
				far[k] = n
				first = append(first, k)
			}
			numbers[i] = n
			continue
		}
		if known[k] == 0 {
			first = append(first, k)
			known[k] = uint32(len(first))
		}
		numbers[i] = known[k] - 1
	}
	return numbers, first
}

// A CallIdentity is the function, call site and values of a terminal. Terminals of a rank with equal ones are of one
// kind.
type CallIdentity struct {
	FunctionID, SiteID uint64 // numbers of function and site, comparable within one rank only
	Vals               []int64
}

// CallKindsOf returns the kind of each terminal of a rank. It also returns SimilarCallKinds without KindOfCall, which
// the caller sets. The rank's clock has ticksPerNs ticks in a nanosecond. names has the function of each terminal,
// sigs its identity.
//
// Kinds are numbered by first occurrence: so writers and readers have the same numbers, even if one of them has more
// terminals.
func CallKindsOf(o timing.Options, ticksPerNs float64, names []string, sigs []CallIdentity) (of []uint32, k SimilarCallKinds) {
	known := make(map[string]uint32)
	functions := make(map[uint64]uint32)
	k.FunctionOfKind, k.Bins, k.SampleCalls = []uint32{}, o.Bins, o.SampleCalls
	var key []byte
	for t, s := range sigs {
		key = strconv.AppendUint(key[:0], s.FunctionID, 36)
		key = strconv.AppendUint(append(key, ' '), s.SiteID, 36)
		for _, v := range s.Vals {
			key = strconv.AppendInt(append(key, ' '), v, 36)
		}
		n, ok := known[string(key)]
		if !ok {
			n = uint32(len(known))
			known[string(key)] = n
			f, _ := once.NumberOf(functions, s.FunctionID)
			k.FunctionOfKind = append(k.FunctionOfKind, f)
			if o.Mode.IsLossy() {
				k.ErrorBoundOfKind = append(k.ErrorBoundOfKind, TicksBound(o.Bound(names[t]), ticksPerNs))
			}
		}
		of = append(of, n)
	}
	return of, k
}

// TicksBound converts an error bound to ticks. An absolute bound of less than a tick becomes the zero Bound.
func TicksBound(b timing.Bound, ticksPerNs float64) Bound {
	if b.Absolute == 0 {
		return RelativeBound(b.Relative)
	}
	ticks := math.Floor(float64(float64(b.Absolute) * ticksPerNs))
	if ticks >= 1<<63 {
		return Bound{Absolute: 1 << 63}
	}
	return Bound{Absolute: uint64(ticks)}
}
