// Package mergetest takes the tracks of virtual ranks the whole way that those
// of a real run take: through the merge into a file, and opens it. Tests of
// what comes after recording read their traces from here; nothing else imports
// the package.
package mergetest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A TB can fail a test: *testing.T, *testing.B or *rapid.T.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Name is the name of the traces in messages.
const Name = "app.spoor"

// Run runs a program on virtual ranks and opens its trace.
func Run(t TB, ranks int, program func(r *tracktest.Recorder)) *trace.Reader {
	t.Helper()
	return Open(t, tracktest.RunAll(ranks, program), nil)
}

// Open merges tracks, writes a trace with the given facts, and opens it.
func Open(t TB, tracks []*track.Track, meta map[string]string) *trace.Reader {
	t.Helper()
	file := File(t, tracks, meta)
	r, err := trace.ReadBytes(file, Name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// File merges tracks and returns the bytes of the trace.
func File(t TB, tracks []*track.Track, meta map[string]string) []byte {
	t.Helper()
	s, err := merge.MergeAll(tracks, len(tracks))
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Content(meta)
	if err != nil {
		t.Fatal(err)
	}
	c.NoTimes = !slices.ContainsFunc(tracks, func(tr *track.Track) bool { return tr == nil || !tr.Timeless })
	if err := series(c, tracks); err != nil {
		t.Fatal(err)
	}
	file, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// series adds the times of each call, where tracks have them.
func series(c *sections.Content, tracks []*track.Track) error {
	var all bytes.Buffer
	sizes, some := make([]int64, len(tracks)), false
	for i, tr := range tracks {
		if tr.TimeLog == nil {
			continue
		}
		n, err := merge.WriteCallTimes(tr, &all)
		if err != nil {
			return err
		}
		sizes[i], some = n, true
	}
	if some {
		c.Series = &sections.Series{Sizes: sizes, Data: bytes.NewReader(all.Bytes())}
	}
	return nil
}

// Written writes a derived trace to a file and checks that everything in it can be read.
func Written(t TB, x interface {
	Write(path string, overwrite bool) error
}) (*trace.Reader, []byte) {
	t.Helper()
	dir, err := os.MkdirTemp("", "written")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, Name)
	if err := x.Write(path, false); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out, err := trace.ReadBytes(b, Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Check(out); err != nil {
		t.Fatal(err)
	}
	return out, b
}
