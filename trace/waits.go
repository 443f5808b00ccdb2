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
	if !r.hasSection(container.Waits) {
		return nil, nil
	}
	t, err := r.tables()
	if err != nil {
		return nil, err
	}
	n := sections.WaitBounds{Ranks: r.Ranks(), Functions: len(r.schema), Sites: len(t.sites.List) - 1, Kinds: waitKinds}
	err = r.section(container.Waits, func(b *wire.Reader) { w = sections.DecodeWaits(b, n) })
	return w, err
}

// Waits returns who waited for whom, as the ranks found out at the end of the run; nil if they were not asked. Don't change it.
func (r *Reader) Waits() (*Waits, error) { return r.waits() }

// AddWaits puts that into a trace file, in place of which a new one comes. Places number the schema and the sites of this trace.
func AddWaits(path string, w *Waits) error {
	b := sections.AppendWaits(nil, w)
	err := rewrite(path, func(to io.Writer, src io.ReaderAt, size int64) error {
		return container.Add(to, src, size, container.Waits, b)
	})
	if err != nil {
		return fmt.Errorf("trace: %s: section %q: %w", path, container.Names[container.Waits], err)
	}
	return nil
}
