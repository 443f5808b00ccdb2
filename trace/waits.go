package trace

import (
	"fmt"
	"io"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// waitKinds is how many reasons to wait the format has.
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

// waitBounds are those of places and ranks that sections name.
func (r *Reader) waitBounds() (n sections.WaitBounds, err error) {
	t, err := r.tables()
	if err == nil {
		n = sections.WaitBounds{Ranks: r.Ranks(), Functions: len(r.schema), Sites: len(t.sites.List) - 1, Kinds: waitKinds}
	}
	return n, err
}

// Waits returns who waited for whom, as the ranks found out at the end of the run; nil if they were not asked. Don't change it.
func (r *Reader) Waits() (*Waits, error) { return r.waits() }

// AddWaits writes the section into a trace file, and replaces the one that is there. Places number the schema and the
// sites of this trace.
func AddWaits(path string, w *Waits) error {
	return addSection(path, container.SectionWaits, sections.AppendWaits(nil, w))
}

func addSection(path string, id int, b []byte) error {
	err := rewrite(path, func(to io.Writer, src io.ReaderAt, size int64) error {
		return container.AddSection(to, src, size, byte(id), b)
	})
	if err != nil {
		return fmt.Errorf("trace: %s: section %q: %w", path, container.SectionNames[id], err)
	}
	return nil
}
