package replay

import (
	"fmt"
	"os"

	"github.com/spoor-hpc/spoor/trace"
)

// Bits of a file's access mode in the standard ABI.
const modeCreate = 2

// What again_file in internal/reproduce/proxy/runtime/posix.h has to know of a file, besides how large one is that the program found.
const (
	nothingFound = -1
	notThere     = -2
	unknownSize  = 1 << 30 // of a file that the program read and that is no longer there; it takes no room on the disk
)

// file returns where the path is of the file that a call opens or deletes in place of the one it names; 0 if it is to be
// that one. The process is locked.
func (s *Stream) file(c *trace.Call) (uint64, error) {
	name := c.Param("filename")
	if s.p.o.Files == "" || name == nil || name.In.Null {
		return 0, nil
	}
	found, created := int64(nothingFound), false
	switch mode := c.Param("amode"); {
	case c.Return != 0:
		found = notThere
	case mode == nil:
	case mode.In.Num&modeCreate != 0:
		created = true
	default:
		found = unknownSize
		if st, err := os.Stat(name.In.Text); err == nil && st.Mode().IsRegular() {
			found = st.Size()
		}
	}
	at, err := s.p.ask(filesPlace, s.cstring(&name.In), uint64(found))
	if fh := c.Param("fh"); created && err == nil && fh != nil {
		if id, ok := fh.Out.Local(); ok {
			s.p.created[id] = textAt(at)
		}
	}
	return at, err
}

// fileSize makes a file that is empty here as large as the program was told: one that
// it would have created, had it not been there from an earlier run. The process is locked.
func (p *Process) fileSize(c *trace.Call) error {
	fh, size := c.Param("fh"), c.Param("size")
	if c.Return != 0 || fh == nil || size == nil || size.Out.Num <= 0 {
		return nil
	}
	id, ok := fh.In.Local()
	path := p.created[id]
	if !ok || path == "" {
		return nil
	}
	if st, err := os.Stat(path); err != nil || st.Size() != 0 {
		return nil
	}
	if err := os.Truncate(path, size.Out.Num); err != nil {
		return fmt.Errorf("file that was there before: %w", err)
	}
	return nil
}
