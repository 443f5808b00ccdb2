package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// Bits of a file's access mode in the standard ABI.
const modeCreate = 2

// file returns the path of the file that a call opens or deletes in place of
// the one it names; "" if it is to be that one. The process is locked.
func (p *Process) file(c *trace.Call) (string, error) {
	name := c.Param("filename")
	if p.o.Files == "" || name == nil || name.In.Null {
		return "", nil
	}
	path := scratchPath(p.o.Files, name.In.Text)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", err
	}
	if c.Return != 0 {
		if _, err := os.Stat(path); err == nil {
			return path, nil // what was wrong was not that it is missing
		}
		return filepath.Join(p.o.Files, "missing", filepath.Base(path)), nil
	}
	mode, fh := c.Param("amode"), c.Param("fh")
	if mode == nil || fh == nil {
		return path, nil
	}
	if mode.In.Num&modeCreate == 0 {
		if err := provide(path, name.In.Text); err != nil {
			return "", fmt.Errorf("file to read: %w", err)
		}
	} else if id, ok := fh.Out.Local(); ok {
		p.created[id] = path
	}
	return path, nil
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

// here is the folder that stands for the program's working directory. The scratch directory is
// the root of all names, as internal/again/proxy/runtime/posix.h has it for other calls on files.
const here = "here"

// scratchPath is where the file of a name lives in the replay. A prefix that
// chooses a file system (ufs:, nfs:) is left out.
func scratchPath(dir, name string) string {
	name = mpi.FileName(name)
	if !filepath.IsAbs(name) {
		from := "/" + here
		if wd, err := os.Getwd(); err == nil {
			if below, err := filepath.Rel(dir, wd); err == nil && filepath.IsLocal(below) {
				from = "/" + below // the program went there
			}
		}
		name = filepath.Join(from, name)
	}
	return filepath.Join(dir, filepath.Clean("/"+name))
}

// unknownSize is the size of a file that the program read and that is no longer
// there; it takes no room on the disk.
const unknownSize = 1 << 30

// provide makes a file that the program found when it began: as large, and
// empty.
func provide(path, original string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	size := int64(unknownSize)
	if st, err := os.Stat(original); err == nil && st.Mode().IsRegular() {
		size = st.Size()
	}
	if err := errors.Join(f.Truncate(size), f.Chmod(0o666), f.Close()); err != nil {
		return err
	}
	// Other ranks see it when it has its size. One of them may have been first.
	if err := os.Link(f.Name(), path); err == nil || errors.Is(err, os.ErrExist) {
		return nil
	}
	return os.Rename(f.Name(), path) // a file system without links
}
