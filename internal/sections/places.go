package sections

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/wire"
)

// Placed is the mean times of the calls at one leaf, in nanoseconds, where they are not
// those of all calls that look alike. It is of the first thread of a class; see Leaves.
type Placed struct {
	Leaf          int
	Gap, Duration float64
	Entry         float64 // gap before a call with which a loop is entered; NaN: as the others
}

// appendPlaces and DecodePlaces: what leaves have of their own.
//
//	places = per class blob
//	blob   = (2·(leaf, as a difference to the one before) + entry) uvarint, gap mean, duration mean,
//	         entry mean if it is 1…
//
// A mean has eight significant bits.
func appendPlaces(classes [][]Placed) []byte {
	blobs, any := make([][]byte, len(classes)), false
	for i := range classes {
		last := 0
		for _, p := range classes[i] {
			any = true
			entry := uint64(1)
			if math.IsNaN(p.Entry) {
				entry = 0
			}
			b := wire.AppendUvarint(blobs[i], uint64(p.Leaf-last)<<1|entry)
			last = p.Leaf
			b = appendMean(appendMean(b, p.Gap), p.Duration)
			if entry == 1 {
				b = appendMean(b, p.Entry)
			}
			blobs[i] = b
		}
	}
	if !any {
		return nil
	}
	return appendBlobs(nil, blobs)
}

// DecodePlaces reads the blob of one class.
func DecodePlaces(r *wire.Reader) []Placed {
	var list []Placed
	last := uint64(0)
	for r.Rest() > 0 && r.Err() == nil {
		head := r.Uvarint()
		if last += head >> 1; head>>1 == 0 && len(list) > 0 || last >= 1<<31 {
			r.Fail("leaf %d behind leaf %d", last, last-head>>1)
			return nil
		}
		p := Placed{Leaf: int(last), Gap: decodeMean(r), Duration: decodeMean(r), Entry: math.NaN()}
		if head&1 != 0 {
			p.Entry = decodeMean(r)
		}
		list = append(list, p)
	}
	return list
}

// meanBits is how many bits behind the first one a mean keeps.
const meanBits = 7

func appendMean(b []byte, f float64) []byte { return appendRounded(b, f, meanBits) }

func decodeMean(r *wire.Reader) float64 { return DecodeRounded(r, meanBits) }
