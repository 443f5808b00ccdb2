package trace

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

func (r *Reader) readWhen() (w *When, err error) {
	if !r.hasSection(container.SectionWhen) {
		return nil, nil
	}
	n, err := r.waitBounds()
	if err == nil {
		err = r.section(container.SectionWhen, func(b *wire.Reader) { w = sections.DecodeWhen(b, n) })
	}
	return w, err
}

// When returns when ranks computed and waited, and which iterations differ from others. The ranks determined it at the
// end of the run; nil if they did not. The caller must not change it.
func (r *Reader) When() (*When, error) { return r.when() }

// AddWhen writes section when into the trace file path, replacing an existing one. Functions and sites must be numbered
// as in that file.
func AddWhen(path string, w *When) error {
	b := sections.AppendWhen(nil, w)
	r := wire.NewReader(b, "section when")
	sections.DecodeWhen(r, sections.DecodingLimits{Ranks: MaxRanks, Functions: math.MaxInt32, Sites: math.MaxInt32, Kinds: waitKinds})
	if err := r.Finish(); err != nil { // the encoded section can't be decoded, and is not written
		return fmt.Errorf("%s: when ranks computed is left out: %w", path, err)
	}
	return addSection(path, container.SectionWhen, b)
}
