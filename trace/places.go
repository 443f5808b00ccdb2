package trace

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
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
	if len(blobs[class]) == 0 {
		return nil, nil
	}
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	w := wire.NewReader(blobs[class], fmt.Sprintf("class %d", class))
	list := sections.DecodePlaces(w, sections.Leaves(c.Streams))
	if err := w.Done(); err != nil {
		return nil, r.failed(container.Places, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	return list, nil
}
