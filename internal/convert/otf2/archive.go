package otf2

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// An Archive is an open OTF2 archive with its global definitions.
type Archive struct {
	Path        string // of the anchor file
	Creator     string // the program that wrote it
	Description string
	Machine     string
	Properties  map[string]string
	Definitions

	base       string // the path without .otf2
	eventChunk int64
	defChunk   int64
}

// Limits of the format, in bytes.
const (
	leastChunk = 256 << 10
	mostChunk  = 16 << 20
	mostAnchor = 16 << 20
)

// OpenArchive opens an archive: its anchor file, or a folder with one in it.
func OpenArchive(path string) (*Archive, error) {
	if st, err := os.Stat(path); err != nil {
		return nil, err
	} else if st.IsDir() {
		if path, err = anchorIn(path); err != nil {
			return nil, err
		}
	}
	a := &Archive{Path: path, base: strings.TrimSuffix(path, ".otf2")}
	if err := a.anchor(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, a.global(a.base + ".def")
}

func anchorIn(dir string) (string, error) {
	list, err := filepath.Glob(filepath.Join(dir, "*.otf2"))
	switch {
	case err != nil:
		return "", err
	case len(list) == 0:
		return "", fmt.Errorf("%s: no anchor file NAME.otf2 in this folder", dir)
	case len(list) > 1:
		return "", fmt.Errorf("%s: several anchor files in this folder; name one: %s", dir, strings.Join(list, ", "))
	}
	return list[0], nil
}

// anchor reads the anchor file.
func (a *Archive) anchor() error {
	st, err := os.Stat(a.Path)
	if err != nil {
		return err
	}
	if st.Size() > mostAnchor {
		return errors.New("too large for an anchor file of OTF2")
	}
	b, err := os.ReadFile(a.Path)
	if err != nil {
		return err
	}
	if len(b) < 7 || b[0] != BufferChunkHeader || string(b[2:7]) != "OTF2\x00" {
		return errors.New("no anchor file of an OTF2 trace")
	}
	order, err := orderOf(b[1])
	if err != nil {
		return err
	}
	return a.anchored(&byteReader{b: b, at: 7, order: order})
}

func (a *Archive) anchored(r *byteReader) error {
	if n := r.u8(); n != 3 && r.err == nil {
		return fmt.Errorf("anchor file of format %d; 3 is known", n)
	}
	if n := r.u8(); (n < 1 || n > 3) && r.err == nil {
		return fmt.Errorf("trace of format %d; 1 to 3 are known", n)
	}
	r.take(3) // version of the library
	a.eventChunk, a.defChunk = int64(r.full64()), int64(r.full64())
	if r.err == nil && (a.eventChunk < leastChunk || a.eventChunk > mostChunk || a.defChunk < leastChunk || a.defChunk > mostChunk) {
		return fmt.Errorf("chunks of %d and %d bytes; OTF2 has them from %d to %d", a.eventChunk, a.defChunk, leastChunk, mostChunk)
	}
	if n := r.u8(); n != 1 && r.err == nil {
		return fmt.Errorf("files of kind %d; plain files (1, POSIX) can be read, SIONlib's can't", n)
	}
	if n := r.u8(); n != 1 && r.err == nil {
		return errors.New("compressed chunks, which can't be read; write the trace without (SCOREP_TRACING_COMPRESS=false)")
	}
	r.full64() // number of locations
	r.full64() // number of global definitions
	a.Machine, a.Creator, a.Description = r.text(), r.text(), r.text()
	a.Properties = make(map[string]string)
	for n := r.full32(); n > 0 && r.err == nil; n-- {
		name := r.text()
		a.Properties[name] = r.text()
	}
	return r.err
}

// file is the path of a location's definitions (def) or events (evt).
func (a *Archive) file(location uint64, kind string) string {
	return filepath.Join(a.base, fmt.Sprintf("%d.%s", location, kind))
}
