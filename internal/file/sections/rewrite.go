package sections

import (
	"fmt"
	"io"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Rewrite writes the trace that src holds to a file, with other metadata and other times of calls. All other sections stay.
func Rewrite(path string, src io.ReaderAt, size int64, meta func(map[string]string), times *Series, overwrite bool) error {
	e, err := rewritten(src, size, meta, times)
	if err != nil {
		return fmt.Errorf("trace: write %s: %w", path, err)
	}
	return e.writeFile(path, times, overwrite)
}

func rewritten(src io.ReaderAt, size int64, meta func(map[string]string), times *Series) (*EncodedFile, error) {
	list, err := container.ReadDirectory(src, size)
	if err != nil {
		return nil, err
	}
	var raw [container.SectionCount][]byte
	for i := range list {
		s := &list[i]
		if s.ID == container.SectionSeries {
			continue
		}
		b, err := s.Load(src)
		if err != nil {
			return nil, fmt.Errorf("section %q: %w", s.Name(), err)
		}
		if s.ID == container.SectionMeta {
			r := wire.NewReader(b, s.Name())
			pairs := DecodeMeta(r)
			if err := r.Finish(); err != nil {
				return nil, err
			}
			meta(pairs)
			b = appendMeta(pairs)
		}
		raw[s.ID] = append([]byte{}, b...) // not nil, as the section is there
	}
	return assemble(&raw, times)
}
