//go:build cgo

package main

import (
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/run/deliver"
	"github.com/spoor-hpc/spoor/internal/track"
)

// piece packs the times of the rank's calls into an unnamed file, which the caller closes. If there is no room for a
// file, it packs them only for their size; then they are packed again when they are written into the trace. They are
// never all in memory.
func (r *recorder) piece(own *track.Track) (*deliver.SeriesPiece, io.Closer, error) {
	for _, dir := range []string{r.host.dir(), os.TempDir(), "/tmp"} {
		if dir == "" {
			continue
		}
		f, err := unnamed(dir)
		if err != nil {
			continue
		}
		if p, err := pack(own, f); err == nil {
			p.Write = func(w io.Writer) error {
				_, err := io.Copy(w, io.NewSectionReader(f, 0, p.Size))
				return err
			}
			return p, f, nil
		}
		f.Close()
	}
	p, err := pack(own, io.Discard)
	if err != nil {
		return nil, nil, fmt.Errorf("engine: %w", err)
	}
	p.Write = func(w io.Writer) error {
		_, err := merge.WriteCallTimes(own, w)
		return err
	}
	return p, io.NopCloser(nil), nil
}

// pack writes the encoded times of the rank's calls to to, and returns their size and checksum.
func pack(own *track.Track, to io.Writer) (*deliver.SeriesPiece, error) {
	sum := crc32.New(wire.Castagnoli)
	n, err := merge.WriteCallTimes(own, io.MultiWriter(to, sum))
	return &deliver.SeriesPiece{Size: n, Checksum: sum.Sum32()}, err
}

// unnamed creates a file that disappears when it is closed.
func unnamed(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".spoor-times-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
