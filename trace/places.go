package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// placed returns what the leaves of a class's first thread have of their own.
func (r *Reader) placed(class int) ([]sections.Placed, error) {
	blobs, err := r.byClass(container.Places)
	if err != nil || len(blobs[class]) == 0 {
		return nil, err
	}
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	var list []sections.Placed
	err = r.ofClass(container.Places, class, blobs[class], func(w *wire.Reader) { list = sections.DecodePlaces(w, sections.Leaves(c.Streams)) })
	return list, err
}
