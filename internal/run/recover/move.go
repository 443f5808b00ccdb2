package recover

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spoor-hpc/spoor/internal/record/capture"
	"github.com/spoor-hpc/spoor/internal/run/launch"
)

// MoveProcessDirs moves process directories into directory dir. It copies them if dir is on another file system.
// Processes that still run keep theirs, and dir gets a link to it. After an error everything is as before.
func MoveProcessDirs(dirs []string, dir string) (err error) {
	var made []string
	renamed := make(map[string]string) // by path before renaming: the path after it
	defer func() {
		if err == nil {
			return
		}
		for from := range renamed {
			if e := os.Rename(renamed[from], from); e != nil {
				err = errors.Join(err, e)
			}
		}
		for _, to := range made {
			err = errors.Join(err, os.RemoveAll(to))
		}
	}()
	var copied []string
	now := time.Now()
	for _, from := range dirs {
		if IsAliveIn(from) {
			to := filepath.Join(dir, filepath.Base(from))
			if err := os.Symlink(from, to); err != nil {
				return err
			}
			made = append(made, to)
			continue
		}
		to, isCopy, err := move(from, dir, now)
		if err != nil {
			return fmt.Errorf("move %s: %w", from, err)
		}
		if isCopy {
			made, copied = append(made, to), append(copied, from)
		} else {
			renamed[from] = to
		}
	}
	for _, from := range copied {
		discard(from)
	}
	return nil
}

// MoveEndedProcesses moves records and arrival marks of a job's ended processes on this host from the scratch folder
// into an existing directory. It returns the number of processes moved. It may be killed at any time: the next call
// moves what was not moved completely.
func MoveEndedProcesses(scratch, dir string) (int, error) {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return 0, fmt.Errorf("%s isn't there on this host", dir)
	}
	dirs, marks, err := LocalRecords(scratch)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	n := 0
	for _, from := range slices.DeleteFunc(dirs, IsAliveIn) {
		_, isCopy, err := move(from, dir, now)
		if err != nil {
			return n, fmt.Errorf("move %s: %w", from, err)
		}
		if isCopy {
			discard(from)
		}
		n++
	}
	for _, a := range marks {
		if a.Alive {
			continue
		}
		if err := copyFile(a.path, filepath.Join(dir, filepath.Base(a.path))); err != nil && !errors.Is(err, os.ErrExist) {
			return n, err
		}
		_ = os.Remove(a.path)
	}
	sweep(scratch)
	here, _ := os.Hostname()
	for _, host := range PendingHosts(dir, scratch) {
		if launch.SameHost(host, here) {
			_ = os.Remove(filepath.Join(dir, host))
		}
	}
	return n, nil
}

// CopyRecords copies what this host's processes have recorded so far, and their arrival marks, from the scratch
// folder into an existing directory.
func CopyRecords(scratch, dir string) error {
	dirs, marks, err := LocalRecords(scratch)
	if err != nil {
		return err
	}
	for _, from := range dirs {
		to := filepath.Join(dir, filepath.Base(from))
		const tries = 8 // the process may keep writing while its records are copied
		for try := 0; try < tries; try++ {
			if err = errors.Join(os.RemoveAll(to), copyDir(from, to)); err == nil {
				if err = readProcess(to).Damage; err == nil {
					break
				}
			}
		}
	}
	for _, a := range marks {
		// It fails if the process has left the call, as the mark is gone then.
		_ = copyFile(a.path, filepath.Join(dir, filepath.Base(a.path)))
	}
	return nil // whoever reads the copied records reports damage
}

// LocalRecords lists the process directories and arrival marks of this host's processes in a scratch folder, which
// several hosts may see. If the folder is in this host's memory, all are this host's, even if containers have other
// names.
func LocalRecords(scratch string) (dirs []string, marks []InitFinalizeMark, err error) {
	dirs, err = ProcessDirs(scratch)
	marks = ReadInitFinalizeMarks(scratch)
	host, _ := os.Hostname()
	var st syscall.Statfs_t
	if err != nil || host == "" || syscall.Statfs(scratch, &st) == nil && st.Type == tmpfs {
		return dirs, marks, err
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return !strings.HasPrefix(filepath.Base(dir), host+"-") })
	return dirs, slices.DeleteFunc(marks, func(a InitFinalizeMark) bool { return a.Host != host }), nil
}

// tmpfs is the number by which statfs identifies an in-memory file system.
const tmpfs = 0x01021994

// LockScratch locks a scratch folder against others that move its records, until unlock is called. ok is false if it
// can't be locked within wait.
func LockScratch(scratch string, wait time.Duration) (unlock func(), ok bool) {
	f, err := os.Open(scratch)
	if err != nil {
		return func() {}, errors.Is(err, os.ErrNotExist)
	}
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return func() { f.Close() }, true
		}
		if time.Since(begin) >= wait {
			f.Close()
			return func() {}, false
		}
	}
}

// move moves a process directory into directory dir. to is its new path; isCopy: the original still exists. Processes
// of different hosts may have the same name, as in containers, so the path may get a number.
func move(from, dir string, now time.Time) (to string, isCopy bool, err error) {
	_ = capture.MarkProcessEnded(from, now) // without that, only the duration of the last call stays unknown
	about, err := os.ReadFile(filepath.Join(from, contextName))
	if err != nil {
		about = []byte(from)
	}
	part := filepath.Join(dir, fmt.Sprintf("%s%s.%.8x", hidden, filepath.Base(from), sha256.Sum256(about)))
	for n := 0; ; n++ {
		to = filepath.Join(dir, filepath.Base(from))
		if n > 0 {
			to += fmt.Sprintf(".%d", n)
		}
		if isLink(to, from) { // MoveProcessDirs made this link while the process ran
			_ = os.Remove(to)
		}
		if there, err := os.ReadFile(filepath.Join(to, contextName)); err == nil && bytes.Equal(about, there) {
			// An earlier move was killed after it copied the directory and before it removed the original.
			return to, true, nil
		}
		if isCopy {
			err = os.Rename(part, to)
		} else if err = os.Rename(from, to); errors.Is(err, syscall.EXDEV) {
			isCopy = true
			if err = errors.Join(os.RemoveAll(part), copyDir(from, part)); err == nil {
				err = os.Rename(part, to)
			}
		}
		switch {
		case err == nil:
			return to, isCopy, nil
		case !taken(err):
			return to, isCopy, errors.Join(err, os.RemoveAll(part))
		}
	}
}

// isLink reports whether path is a symbolic link to the existing directory dir.
func isLink(path, dir string) bool {
	if _, err := os.Readlink(path); err != nil {
		return false
	}
	a, err := os.Stat(path)
	b, err2 := os.Stat(dir)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// hidden is the prefix of the names of incomplete process directories: copies in progress, and those being removed.
const hidden = "."

// discard removes a process directory that has been copied. If that fails, both the original and the copy exist.
func discard(dir string) {
	gone := filepath.Join(filepath.Dir(dir), hidden+filepath.Base(dir))
	if os.Rename(dir, gone) == nil {
		dir = gone
	}
	_ = os.RemoveAll(dir)
}

// sweep removes the hidden directories of a scratch folder, and the folder itself if it has nothing else.
func sweep(scratch string) {
	entries, _ := os.ReadDir(scratch)
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), hidden) {
			_ = os.RemoveAll(filepath.Join(scratch, e.Name()))
		}
	}
	_ = os.Remove(scratch)
}

func copyDir(from, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		if err := copyFile(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
