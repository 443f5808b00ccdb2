package sections

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// An EncodedFile is a trace ready to be written, except for the times of every call.
type EncodedFile struct {
	head   []byte // the bytes before the times of every call
	series int64  // size of the times of every call, in bytes
	index  []byte // the bytes after the times of every call: their index
}

// PrepareFile encodes c, except for the times of every call.
func PrepareFile(c *Content) (*EncodedFile, error) {
	e, err := prepare(c)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return e, nil
}

func prepare(c *Content) (*EncodedFile, error) {
	raw, err := RawSections(c, wire.EstimatePackedSize, true)
	if err != nil {
		return nil, err
	}
	series := c.Series
	if series != nil && len(series.Sizes) != c.Ranks {
		return nil, fmt.Errorf("times of calls of %d ranks, there are %d", len(series.Sizes), c.Ranks)
	}
	// Content is not used from here on, so that its memory can be reused: tables for compression take as much.
	return assemble(&raw, series)
}

func assemble(raw *[container.SectionCount][]byte, series *Series) (*EncodedFile, error) {
	tail, err := series.tail()
	if err != nil {
		return nil, err
	}
	e := &EncodedFile{head: container.Assemble(*raw, container.PackSection, tail)}
	if series != nil {
		e.series, e.index = series.size(), series.EncodeIndex()
	}
	return e, nil
}

// A Draft is an unfinished trace, in a temporary file in the folder of the final one.
type Draft struct {
	e     *EncodedFile
	file  *os.File
	token [DraftTokenSize]byte
}

// DraftTokenSize is the size of the random token with which a draft begins.
const DraftTokenSize = container.MinFileSize

// CreateDraft makes a file beside path that is to become the trace.
func (e *EncodedFile) CreateDraft(path string) (*Draft, error) {
	if err := CheckReplaceable(path); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+DraftPattern)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	d := &Draft{e: e, file: f}
	rand.Read(d.token[:])
	if _, err := f.WriteAt(d.token[:], 0); err != nil {
		d.Discard()
		return nil, fmt.Errorf("trace: %w", err)
	}
	return d, nil
}

// DraftPattern is what follows the trace's name in the name of its draft. The star becomes a random text.
const DraftPattern = ".draft*"

// Name returns the draft's path, by which other processes can open it too.
func (d *Draft) Name() string { return d.file.Name() }

// Token returns the token with which the draft begins until it is finished. A process on another machine recognises
// by it whether it opened this draft or another file of that name.
func (d *Draft) Token() []byte { return d.token[:] }

// SeriesOffset returns where the times of every call begin.
func (d *Draft) SeriesOffset() int64 { return int64(len(d.e.head)) }

// WriteAt writes to the draft; other processes may write to it at the same time.
func (d *Draft) WriteAt(p []byte, at int64) (int, error) { return d.file.WriteAt(p, at) }

// PublishToken makes the token visible to other machines.
func (d *Draft) PublishToken() error { return d.file.Sync() }

// Finish makes the draft a trace, after all times of calls were written. An existing file is an error unless
// overwrite is set; the draft then remains, for another name in the same folder.
func (d *Draft) Finish(path string, overwrite bool) error {
	if err := d.finish(path, overwrite); err != nil {
		return fmt.Errorf("trace: write %s: %w", path, err)
	}
	return nil
}

func (d *Draft) finish(path string, overwrite bool) error {
	if _, err := d.file.WriteAt(d.e.head, 0); err != nil {
		return err
	}
	if d.e.index != nil {
		if _, err := d.file.WriteAt(d.e.index, d.SeriesOffset()+d.e.series); err != nil {
			return err
		}
	}
	if err := d.file.Truncate(d.SeriesOffset() + d.e.series + int64(len(d.e.index))); err != nil {
		return err
	}
	if err := d.file.Chmod(0o644); err != nil {
		return err
	}
	if err := SyncFile(d.file); err != nil {
		return err
	}
	if err := Rename(d.Name(), path, overwrite); err != nil {
		return err
	}
	return d.file.Close()
}

// Rename gives a file another name in its folder. A name that another file has is an error unless overwrite is set.
func Rename(from, to string, overwrite bool) error {
	if err := CheckReplaceable(to); err != nil {
		return err
	}
	if overwrite {
		return os.Rename(from, to)
	}
	// Unlike a rename, a link never replaces a file, even if another process creates it now.
	err := os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	} else if _, not := os.Lstat(to); !errors.Is(not, fs.ErrNotExist) {
		return cmp.Or(not, error(&fs.PathError{Op: "write", Path: to, Err: fs.ErrExist}))
	} else if errors.Is(err, fs.ErrNotExist) {
		return err // the folder is gone
	}
	return os.Rename(from, to) // this file system has no links
}

// CheckReplaceable returns an error if a path is that of a device, a FIFO or a socket, which a new file must not
// replace.
func CheckReplaceable(path string) error {
	if what := SpecialFileKind(path); what != "" {
		return fmt.Errorf("%s is a %s: name a file", path, what)
	}
	return nil
}

// SpecialFileKind returns the kind of a device, FIFO or socket at a path; "" for files, folders and missing ones.
// Everything in /proc, and in /dev except /dev/shm, counts as a device, as links there may lead to open files.
func SpecialFileKind(path string) string {
	if abs, err := filepath.Abs(path); err == nil && (strings.HasPrefix(abs, "/dev/") && !strings.HasPrefix(abs, "/dev/shm/") || strings.HasPrefix(abs, "/proc/")) {
		if _, err := os.Lstat(abs); err == nil {
			return "device"
		}
	}
	st, err := os.Stat(path)
	switch {
	case err != nil || st.Mode().IsRegular() || st.IsDir():
		return ""
	case st.Mode()&fs.ModeNamedPipe != 0:
		return "FIFO"
	case st.Mode()&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// Discard removes the draft.
func (d *Draft) Discard() {
	d.file.Close()
	os.Remove(d.Name())
}

// WriteFile writes c to a file, which appears under its name when it is complete. An existing file is an error
// unless overwrite is set.
func WriteFile(path string, c *Content, overwrite bool) error {
	e, err := prepare(c)
	if err != nil {
		return fmt.Errorf("trace: write %s: %w", path, err)
	}
	return e.writeFile(path, c.Series, overwrite)
}

func (e *EncodedFile) writeFile(path string, series *Series, overwrite bool) error {
	d, err := e.CreateDraft(path)
	if err != nil {
		return err
	}
	if series != nil {
		if err := series.CopyTo(io.NewOffsetWriter(d, d.SeriesOffset())); err != nil {
			d.Discard()
			return fmt.Errorf("trace: write %s: %w", path, err)
		}
	}
	if err := d.Finish(path, overwrite); err != nil {
		d.Discard()
		return err
	}
	return nil
}

// Magic numbers of file systems on local disks or in memory, which write everything that they have accepted.
var local = []uint32{
	0x0000ef53, // ext4
	0x01021994, // tmpfs
	0x2fc12fc1, // zfs
	0x58465342, // xfs
	0x794c7630, // overlay
	0x9123683e, // btrfs
}

// SyncFile is called after a file was written completely, before it gets its name. Network file systems may report only
// now that there was no room. On a local one it only begins to write: waiting for that takes several milliseconds, and
// helps only if the machine fails within the next seconds.
func SyncFile(f *os.File) error {
	var s syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &s); err != nil || !slices.Contains(local, uint32(s.Type)) {
		return f.Sync()
	}
	const write = 2 // SYNC_FILE_RANGE_WRITE
	if syscall.SyncFileRange(int(f.Fd()), 0, 0, write) != nil {
		return f.Sync()
	}
	return nil
}
