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

// NumberedName is app.spoor, app-2.spoor, app-3.spoor, …: names in turn for traces of one program.
func NumberedName(name string, n int) string {
	if n <= 1 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext)
}

// MetaRun is the key of the run that made a trace, in what the trace has of it as text.
const MetaRun = "run"

// RunName names a run after its scratch folder, as no two have the same.
func RunName(scratch string) string { return filepath.Base(scratch) }

// FallbackFolders lists folders, which need not exist, for traces of a run that can't be written to their place. scratch is a
// folder of the run's own.
func FallbackFolders(scratch string) []string {
	list := []string{scratch}
	for _, dir := range []string{os.TempDir(), "/tmp"} {
		if dir = filepath.Join(dir, filepath.Base(scratch)); !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return list
}

// Destinations lists where a trace of that name may go, the folders of Elsewhere last.
func Destinations(name string, overwrite bool, scratch string) []Destination {
	list := []Destination{{Name: name, Overwrite: overwrite}}
	for _, dir := range FallbackFolders(scratch) {
		list = append(list, Destination{Name: filepath.Join(dir, filepath.Base(name)), MakeFolder: true})
	}
	return list
}

// BringCommand is the command that brings a trace to where it should be.
func BringCommand(path, wanted string) string {
	move := show.QuoteCommand([]string{"mv", path, wanted})
	if _, err := os.Stat(filepath.Dir(wanted)); errors.Is(err, fs.ErrNotExist) {
		return show.QuoteCommand([]string{"mkdir", "-p", filepath.Dir(wanted)}) + " && " + move
	}
	return move
}

// ProbedVariable is the variable in the ranks' environment that names the host on which the place
// has been probed.
const ProbedVariable = "SPOOR_PROBED"

// room is about what a small trace takes.
const room = 64 << 10

// ProbeDestinations finds out whether a trace of that name could be written.
func ProbeDestinations(name string) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".probe*")
	if err == nil {
		_, err = f.Write(make([]byte, room))
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return fmt.Errorf("can't write %s: %w", name, FileSystemReason(err))
	}
	return nil
}

// FileSystemReason is what an error says of the file system, without the names of our temporary files.
func FileSystemReason(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	if link := (*os.LinkError)(nil); errors.As(err, &link) {
		return link.Err
	}
	return err
}

// deepest bounds how many processes are between a program and one that it starts.
const deepest = 100

// StartedByRecordedProgram reports whether a recorded program that still runs started this one: a process that this one comes from has records beside dir,
// the process's own folder HOST-PID. The name of the run's trace is that program's.
func StartedByRecordedProgram(dir string) bool {
	host, ok := strings.CutSuffix(strings.TrimSuffix(filepath.Base(dir), filepath.Ext(dir)), "-"+strconv.Itoa(os.Getpid()))
	if !ok { // the name of a host has dots, too
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

// Parent returns the number of the process that a process comes from, 0 if that isn't known.
func Parent(pid int) int {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	// The name, in parentheses, may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1])
	return n
}

var errElsewhere = errors.New("not the same file")

// OpenShared opens a file that another process makes, to write into it beside others. It is
// the same file only if it begins with the token.
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

// Magic numbers of file systems whose clients may write more of a page than a process
// wrote, and so undo what another host writes beside it.
const (
	nfs  = 0x6969
	smb  = 0x517b
	cifs = 0xff534d42
	smb2 = 0xfe534d42
	v9fs = 0x01021997
	fuse = 0x65735546
)

// coherent reports whether several hosts can write to a file side by side.
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
