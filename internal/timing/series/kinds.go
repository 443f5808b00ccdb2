package series

import (
	"strconv"

	"spoor/internal/timing"
)

// A Signature is what tells a rank's distinct calls apart.
type Signature struct {
	Call, Site uint64 // of the same rank: equal numbers mean the same
	Vals       []int64
}

// KindsOf returns the kind of each terminal of a rank, and the bound of each kind,
// nil if the mode is lossless. Terminals with equal signatures are one kind; kinds are
// numbered by first occurrence, so that who writes and who reads have the same, even
// if one of them tells more terminals apart.
func KindsOf(o timing.Options, names []string, sigs []Signature) (kinds []uint32, bounds []float64) {
	known := make(map[string]uint32)
	var key []byte
	for t, s := range sigs {
		key = strconv.AppendUint(key[:0], s.Call, 36)
		key = strconv.AppendUint(append(key, ' '), s.Site, 36)
		for _, v := range s.Vals {
			key = strconv.AppendInt(append(key, ' '), v, 36)
		}
		k, ok := known[string(key)]
		if !ok {
			k = uint32(len(known))
			known[string(key)] = k
			if o.Mode.Lossy() {
				bounds = append(bounds, o.Bound(names[t]))
			}
		}
		kinds = append(kinds, k)
	}
	return kinds, bounds
}
