package trace

import (
	"fmt"
	"io"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// waitKinds is the number of kinds of wait states (WaitSite.Kind) that the file format allows.
const waitKinds = 64

func (r *Reader) readWaits() (w *Waits, err error) {
	if !r.hasSection(container.SectionWaits) {
		return nil, nil
	}
	n, err := r.waitBounds()
	if err == nil {
		err = r.section(container.SectionWaits, func(b *wire.Reader) { w = sections.DecodeWaits(b, n) })
	}
	return w, err
}

// waitBounds returns how many functions, sites and ranks the trace has. In sections waits and when, numbers of these
// that are too high are errors.
func (r *Reader) waitBounds() (n sections.DecodingLimits, err error) {
	t, err := r.tables()
	if err == nil {
		n = sections.DecodingLimits{Ranks: r.Ranks(), Functions: len(r.schema), Sites: len(t.sites.List) - 1, Kinds: waitKinds}
	}
	return n, err
}

// Waits returns the wait states, which the ranks determined at the end of the run; nil if they did not. The caller must
// not change it.
func (r *Reader) Waits() (*Waits, error) { return r.waits() }

// AddWaits writes the wait states into the trace file path, replacing existing ones. Functions and sites must be
// numbered as in that file.
func AddWaits(path string, w *Waits) error {
	return addSection(path, container.SectionWaits, sections.AppendWaits(nil, w))
}

func addSection(path string, id int, b []byte) error {
	err := rewrite(path, func(to io.Writer, src io.ReaderAt, size int64) error {
		return container.WriteCopyWithSection(to, src, size, byte(id), b)
	})
	if err != nil {
		return fmt.Errorf("trace: %s: section %q: %w", path, container.SectionNames[id], err)
	}
	return nil
}
