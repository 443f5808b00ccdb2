package trace

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// mixed returns the terminals of a class whose times at single places of the first stream are not known, in rising order.
func (r *Reader) mixed(class, terminals int) ([]int, error) {
	blobs, err := r.byClass(container.Mixed)
	if err != nil {
		return nil, err
	}
	var list []int
	err = r.ofClass(container.Mixed, class, blobs[class], func(w *wire.Reader) { list = sections.DecodeMixed(w, terminals) })
	return list, err
}

// isMixed tells of each terminal of a rank whether its times at single places are not known.
func (k *Rank) isMixed() (func(terminal int) bool, error) {
	list, err := k.r.mixed(k.nclass, len(k.class.Terminals))
	return func(t int) bool {
		_, found := slices.BinarySearch(list, t)
		return found
	}, err
}
