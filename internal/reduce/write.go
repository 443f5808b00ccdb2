package reduce

import (
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/trace"
)

// CodeOf has the part have what another trace knows of the program's code.
func (p *Part) CodeOf(r *trace.Reader) (err error) {
	p.from = r
	p.code, err = r.Code()
	return err
}

// Write writes the part to a file, with what the trace knows of the program's code.
func (p *Part) Write(path string, overwrite bool) error {
	if err := sections.WriteFile(path, p.Content, overwrite); err != nil || p.code == nil {
		return err
	}
	return trace.AddCode(path, p.code, p.from)
}

// Reader reads the part, without what the trace knows of the program's code.
func (p *Part) Reader(name string) (*trace.Reader, error) {
	file, err := sections.Encode(p.Content)
	if err != nil {
		return nil, err
	}
	return trace.NewBytes(file, name)
}
