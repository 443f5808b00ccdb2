package trace

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/unfold"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// Placed is the mean times of the calls at one leaf, in nanoseconds, where they are not
// those of all calls that look alike. It is of the first thread of a class; see Leaves.
type Placed struct {
	Leaf          int
	Gap, Duration float64
	Entry         float64 // gap before a call with which a loop is entered; NaN: as the others
}

// appendPlaces and decodePlaces: what leaves have of their own.
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

func decodePlaces(r *wire.Reader) []Placed {
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
func decodeMean(r *wire.Reader) float64     { return decodeRounded(r, meanBits) }

// placed returns what the leaves of a class's first thread have of their own.
func (r *Reader) placed(class int) ([]Placed, error) {
	if !r.hasSection(container.Places) {
		return nil, nil
	}
	var blobs [][]byte
	if err := r.section(container.Places, func(w *wire.Reader) { blobs = decodeBlobs(w, r.ranks.classes) }); err != nil {
		return nil, err
	}
	w := wire.NewReader(blobs[class], fmt.Sprintf("class %d", class))
	list := decodePlaces(w)
	if err := w.Done(); err != nil {
		return nil, r.failed(container.Places, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	return list, nil
}

// checkPlaces looks whether the leaves that have times of their own exist.
func (r *Reader) checkPlaces(class int, c *class) error {
	list, err := r.placed(class)
	if err != nil || len(list) == 0 {
		return err
	}
	leaves := 0
	if len(c.streams) > 0 {
		leaves = len(unfold.New(c.streams[0], unfold.Limit).Terminal)
	}
	if last := list[len(list)-1].Leaf; last >= leaves {
		return r.failed(container.Places, fmt.Errorf("class %d: times of leaf %d of %d: %w", class, last, leaves, ErrFormat))
	}
	return nil
}
