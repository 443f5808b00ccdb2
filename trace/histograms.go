package trace

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/sections"
)

// Places returns the number of the place, a function called from a site, of each
// terminal of a class.
func (r *Reader) Places(class int) ([]int, error) {
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	of, _ := sections.PlacesOf(c.Groups())
	return of, nil
}

// Histograms returns the histograms of a class, over all of its ranks; nil if
// none were kept.
func (r *Reader) Histograms(class int) ([]Histogram, error) {
	_, list, err := r.timesOf(class)
	return list, err
}

// checkHistograms holds the histograms of a class against its statistics.
func (r *Reader) checkHistograms(n int, list []Histogram, calls []uint64) error {
	all, sum := uint64(0), uint64(0)
	for _, c := range calls {
		all += c
	}
	for _, h := range list {
		if h.Duration.Count() != h.Gap.Count() {
			return r.failed(container.Times, fmt.Errorf("class %d: terminal %d: histograms of %d durations and %d gaps: %w",
				n, h.Terminal, h.Duration.Count(), h.Gap.Count(), ErrFormat))
		}
		sum += h.Duration.Count()
	}
	if sum > all {
		return r.failed(container.Times, fmt.Errorf("class %d: histograms of %d calls, there are %d: %w", n, sum, all, ErrFormat))
	}
	return nil
}
