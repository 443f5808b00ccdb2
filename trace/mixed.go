package trace

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// mixed returns the terminals of a class whose times at single places of the first stream are not known, in rising order.
func (r *Reader) mixed(class, terminals int) ([]int, error) {
	if !r.hasSection(container.Mixed) {
		return nil, nil
	}
	var blobs [][]byte
	if err := r.section(container.Mixed, func(w *wire.Reader) { blobs = sections.DecodeBlobs(w, r.ranks.Classes) }); err != nil {
		return nil, err
	}
	w := wire.NewReader(blobs[class], fmt.Sprintf("class %d", class))
	list := sections.DecodeMixed(w, terminals)
	if err := w.Done(); err != nil {
		return nil, r.failed(container.Mixed, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	return list, nil
}

// isMixed tells of each terminal of a rank whether its times at single places are not known.
func (k *Rank) isMixed() (func(terminal int) bool, error) {
	list, err := k.r.mixed(k.nclass, len(k.class.Terminals))
	return func(t int) bool {
		_, found := slices.BinarySearch(list, t)
		return found
	}, err
}
