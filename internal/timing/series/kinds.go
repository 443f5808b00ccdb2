package series

import (
	"math"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/timing"
)

// A Signature is what tells a rank's distinct calls apart.
type Signature struct {
	Call, Site uint64 // of the same rank: equal numbers mean the same
	Vals       []int64
}

// KindsOf returns the kind of each terminal of a rank whose clock has so many ticks
// in a nanosecond, and what a block has to know of kinds, with Of left to the caller. Terminals with equal signatures are one kind;
// kinds are numbered by first occurrence, so that who writes and who reads have the
// same, even if one of them tells more terminals apart.
func KindsOf(o timing.Options, ticksPerNs float64, names []string, sigs []Signature) (of []uint32, k Kinds) {
	known := make(map[string]uint32)
	functions := make(map[uint64]uint32)
	k.Groups, k.Bins, k.Sample = []uint32{}, o.Bins, o.Sample
	var key []byte
	for t, s := range sigs {
		key = strconv.AppendUint(key[:0], s.Call, 36)
		key = strconv.AppendUint(append(key, ' '), s.Site, 36)
		for _, v := range s.Vals {
			key = strconv.AppendInt(append(key, ' '), v, 36)
		}
		n, ok := known[string(key)]
		if !ok {
			n = uint32(len(known))
			known[string(key)] = n
			f, ok := functions[s.Call]
			if !ok {
				f = uint32(len(functions))
				functions[s.Call] = f
			}
			k.Groups = append(k.Groups, f)
			if o.Mode.Lossy() {
				k.Bounds = append(k.Bounds, Ticks(o.Bound(names[t]), ticksPerNs))
			}
		}
		of = append(of, n)
	}
	return of, k
}

// Ticks is a bound for times in ticks. One of less than a tick leaves no error.
func Ticks(b timing.Bound, ticksPerNs float64) Bound {
	if b.Absolute == 0 {
		return Relative(b.Relative)
	}
	ticks := math.Floor(float64(float64(b.Absolute) * ticksPerNs))
	if ticks >= 1<<63 {
		return Bound{Absolute: 1 << 63}
	}
	return Bound{Absolute: uint64(ticks)}
}
