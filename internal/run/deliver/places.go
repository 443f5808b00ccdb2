package deliver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spoor-hpc/spoor/internal/show"
)

// NumberedName returns app.spoor, app-2.spoor, app-3.spoor, … for n = 1, 2, 3, …
func NumberedName(name string, n int) string {
	if n <= 1 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext)
}

// MetaRun is the key in a trace's metadata for the name of its run.
const MetaRun = "run"

// RunName returns a run's unique name: that of its scratch folder.
func RunName(scratch string) string { return filepath.Base(scratch) }

// FallbackFolders lists folders for traces that can't be written to their destination. They need not exist. scratch
// is the run's scratch folder.
func FallbackFolders(scratch string) []string {
	list := []string{scratch}
	for _, dir := range []string{os.TempDir(), "/tmp"} {
		if dir = filepath.Join(dir, filepath.Base(scratch)); !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return list
}

// Destinations lists paths for a trace of a name: first the name itself, then the name in the fallback folders.
func Destinations(name string, overwrite bool, scratch string) []Destination {
	list := []Destination{{Name: name, Overwrite: overwrite}}
	for _, dir := range FallbackFolders(scratch) {
		list = append(list, Destination{Name: filepath.Join(dir, filepath.Base(name)), MakeFolder: true})
	}
	return list
}

// MoveTraceCommand returns the shell command that moves a trace from path to its destination, wanted.
func MoveTraceCommand(path, wanted string) string {
	move := show.QuoteCommand([]string{"mv", path, wanted})
	if _, err := os.Stat(filepath.Dir(wanted)); errors.Is(err, fs.ErrNotExist) {
		return show.QuoteCommand([]string{"mkdir", "-p", filepath.Dir(wanted)}) + " && " + move
	}
	return move
}

// ProbingHostVariable is the environment variable that names the host on which the destination has been tested.
const ProbingHostVariable = "SPOOR_PROBED"

// room is the size in bytes of the file by which ProbeDestinations tries to write: that of a small trace.
const room = 64 << 10

// ProbeDestinations tests whether a trace of a name can be written.
func ProbeDestinations(name string) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".probe*")
	if err == nil {
		_, err = f.Write(make([]byte, room))
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return fmt.Errorf("can't write %s: %w", name, CauseWithoutTempNames(err))
	}
	return nil
}

// CauseWithoutTempNames returns an error's cause without the names of temporary files.
func CauseWithoutTempNames(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	if link := (*os.LinkError)(nil); errors.As(err, &link) {
		return link.Err
	}
	return err
}

// deepest is the largest number of ancestors of a process that are searched.
const deepest = 100

// StartedByRecordedProgram reports whether this process descends from a recorded program that still runs: an ancestor
// has records beside dir, the process's own folder HOST-PID. The run's trace name then belongs to that program.
func StartedByRecordedProgram(dir string) bool {
	host, ok := strings.CutSuffix(strings.TrimSuffix(filepath.Base(dir), filepath.Ext(dir)), "-"+strconv.Itoa(os.Getpid()))
	if !ok { // the name of a host may have dots, so the suffix cut off was part of it
		host, ok = strings.CutSuffix(filepath.Base(dir), "-"+strconv.Itoa(os.Getpid()))
	}
	if dir == "" || !ok {
		return false
	}
	for pid, n := os.Getppid(), 0; pid > 1 && n < deepest; pid, n = Parent(pid), n+1 {
		if _, err := os.Stat(filepath.Join(filepath.Dir(dir), host+"-"+strconv.Itoa(pid))); err == nil {
			return true
		}
	}
	return false
}

// Parent returns the number of a process's parent, 0 if that isn't known.
func Parent(pid int) int {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	// The second field, the process's name, is in parentheses and may contain any character.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1])
	return n
}

var errElsewhere = errors.New("not the same file")

// OpenShared opens a file made by another process, to write to it together with others. It fails unless the file
// begins with the token.
func OpenShared(name string, token []byte, sameHost bool) (io.WriterAt, func() error, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	begin := make([]byte, len(token))
	if _, err := f.ReadAt(begin, 0); err != nil || !bytes.Equal(begin, token) || !sameHost && !coherent(f) {
		f.Close()
		return nil, nil, errElsewhere
	}
	return f, func() (err error) {
		if !sameHost {
			err = f.Sync()
		}
		return errors.Join(err, f.Close())
	}, nil
}

// Magic numbers of file systems whose clients may write whole pages, and so overwrite what another host wrote beside.
const (
	nfs  = 0x6969
	smb  = 0x517b
	cifs = 0xff534d42
	smb2 = 0xfe534d42
	v9fs = 0x01021997
	fuse = 0x65735546
)

// coherent reports whether several hosts can write to a file at the same time.
func coherent(f *os.File) bool {
	var s syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &s); err != nil {
		return false
	}
	switch uint32(s.Type) {
	case nfs, smb, cifs, smb2, v9fs, fuse:
		return false
	}
	return true
}
