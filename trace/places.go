package trace

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/unfold"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// placed returns what the leaves of a class's first thread have of their own.
func (r *Reader) placed(class int) ([]sections.Placed, error) {
	if !r.hasSection(container.Places) {
		return nil, nil
	}
	var blobs [][]byte
	if err := r.section(container.Places, func(w *wire.Reader) { blobs = sections.DecodeBlobs(w, r.ranks.Classes) }); err != nil {
		return nil, err
	}
	w := wire.NewReader(blobs[class], fmt.Sprintf("class %d", class))
	list := sections.DecodePlaces(w)
	if err := w.Done(); err != nil {
		return nil, r.failed(container.Places, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	return list, nil
}

// checkPlaces looks whether the leaves that have times of their own exist.
func (r *Reader) checkPlaces(class int, c *sections.Decoded) error {
	list, err := r.placed(class)
	if err != nil || len(list) == 0 {
		return err
	}
	leaves := 0
	if len(c.Streams) > 0 {
		leaves = len(unfold.New(c.Streams[0], unfold.Limit).Terminal)
	}
	if last := list[len(list)-1].Leaf; last >= leaves {
		return r.failed(container.Places, fmt.Errorf("class %d: times of leaf %d of %d: %w", class, last, leaves, ErrFormat))
	}
	return nil
}
