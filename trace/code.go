package trace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// readCode reads the section with the program's code structure; it returns nil if the trace has none.
func (r *Reader) readCode() (c *Code, err error) {
	if !r.hasSection(container.SectionCode) {
		return nil, nil
	}
	t, err := r.tables()
	if err != nil {
		return nil, err
	}
	err = r.section(container.SectionCode, func(w *wire.Reader) {
		c = sections.DecodeCode(w, sections.CodeCalls(t.sigs, t.sites, r.byID))
	})
	if err != nil {
		return nil, err
	}
	for _, x := range c.CallSiteVertices {
		if r.byID[x.FunctionID] == nil {
			return nil, r.failed(container.SectionCode, fmt.Errorf("function %d does not occur: %w", x.FunctionID, ErrFormat))
		}
	}
	return c, nil
}

// AddCode writes the section with the program's code structure into the trace file path, replacing an existing one.
// Contexts in c use the site numbers of from: this trace, or one of which the file has a part of the calls.
func AddCode(path string, c *Code, from *Reader) error {
	b, err := encodedCode(path, c, from)
	if err == nil {
		err = rewrite(path, func(w io.Writer, src io.ReaderAt, size int64) error {
			return container.WriteCopyWithSection(w, src, size, container.SectionCode, b)
		})
	}
	if err != nil {
		return fmt.Errorf("trace: %s: section %q: %w", path, container.SectionNames[container.SectionCode], err)
	}
	return nil
}

// encodedCode returns the encoded section with the code structure, limited to the contexts whose calls occur in the
// file at path.
func encodedCode(path string, c *Code, from *Reader) ([]byte, error) {
	r := from
	if path != from.Name() {
		var err error
		if r, err = Open(path); err != nil {
			return nil, err
		}
		defer r.Close()
	}
	own, err := r.tables()
	if err != nil {
		return nil, err
	}
	others, err := from.tables()
	if err != nil {
		return nil, err
	}
	number := make(map[string]int, len(own.sites.List))
	for i := range own.sites.List[1:] {
		number[framesOf(own.sites, i+1)] = i
	}
	out := *c
	out.CallSiteVertices = nil
	for _, x := range c.CallSiteVertices {
		if n, here := number[framesOf(others.sites, x.SiteIndex+1)]; here && r.byID[x.FunctionID] != nil {
			x.SiteIndex = n
			out.CallSiteVertices = append(out.CallSiteVertices, x)
		}
	}
	return sections.AppendCode(&out, sections.CodeCalls(own.sigs, own.sites, r.byID), nil), nil
}

// framesOf returns a key that a site has in all traces of the program: the frames of its call stack, and its turn.
func framesOf(t *sections.SiteTable, n int) string {
	b := fmt.Append(nil, t.Turns[n], " ")
	for _, f := range t.List[n].Frames() {
		b = fmt.Appendf(b, "%q %s %d ", f.Module, f.BuildID, f.Offset)
	}
	return string(b)
}

// rewrite replaces a file: write gets the old content and its size, and writes the new content.
func rewrite(path string, write func(w io.Writer, src io.ReaderAt, size int64) error) error {
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	return drafted(path, info.Mode().Perm(), true, func(w io.Writer) error { return write(w, src, info.Size()) })
}

// drafted writes a file under a temporary name, and renames it when it is complete.
func drafted(path string, mode os.FileMode, overwrite bool, write func(w io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+sections.DraftPattern)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := sections.SyncFile(f); err != nil {
		return err
	}
	return sections.Rename(f.Name(), path, overwrite)
}

// Code returns the structure of the program's machine code; nil if the trace has none. Don't change it.
func (r *Reader) Code() (*Code, error) { return r.code() }
