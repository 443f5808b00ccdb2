//go:build cgo

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"spoor/internal/merge"
	"spoor/internal/track"
	"spoor/trace"
)

// gather brings the times of all ranks' calls together on rank 0, in a file beside
// the trace that has no name any more. The result is nil if there is nothing, and with
// an error what there is. Whatever goes wrong here, this rank takes
// part until the others are through.
func (r *recorder) gather(g *merge.Gathering, own *track.Track) (*trace.Series, error) {
	piece, size, trouble := r.piece(own)
	if r.host.Rank() > 0 {
		if err := g.Send(piece, size, nil); err != nil {
			return nil, err
		}
		return nil, trouble
	}
	s := &trace.Series{Sizes: make([]int64, r.host.Size())}
	f, err := unnamed(filepath.Dir(r.wanted()))
	at := int64(0)
	if err2 := g.Send(piece, size, func(rank int, data []byte) error {
		if err != nil {
			return err
		}
		_, err = f.WriteAt(data, at)
		at += int64(len(data))
		s.Sizes[rank] += int64(len(data))
		return err
	}); err2 != nil {
		return nil, err2
	}
	if err != nil {
		return nil, err
	}
	s.Data = f
	return s, trouble
}

// piece packs the rank's own times, into a file if there is a place for one.
func (r *recorder) piece(own *track.Track) (io.ReaderAt, int64, error) {
	if dir := r.host.dir(); dir != "" {
		if f, err := unnamed(dir); err == nil {
			n, err := merge.WriteSeries(own, f)
			if err != nil {
				return f, 0, fmt.Errorf("engine: %w", err)
			}
			return f, n, nil
		}
	}
	var b bytes.Buffer
	n, err := merge.WriteSeries(own, &b)
	if err != nil {
		n, err = 0, fmt.Errorf("engine: %w", err)
	}
	return bytes.NewReader(b.Bytes()), n, err
}

// unnamed makes a file that is gone when it is closed.
func unnamed(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".spoor-times-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
