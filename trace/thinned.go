package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Thinned returns the sizes that were merged to make the trace smaller; nil of a trace that has all as they were.
func (r *Reader) Thinned() (list []Thinned, err error) {
	err = r.optional(container.Thinned, func(w *wire.Reader) { list = sections.DecodeThinned(w, r.ranks.Ranks) })
	return list, err
}
