package recover

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spoor-hpc/spoor/internal/record/capture"
)

// Move moves process directories below dir, which it makes, together with a
// note that says what they are. Scratch space is often another file system, so
// it copies where it can't rename. Processes that still run keep theirs, and there
// is a link to it. If something fails, all is as it was.
func Move(dirs []string, dir, note string) (err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	var renamed, copied []string
	defer func() {
		if err == nil {
			return
		}
		for _, from := range renamed {
			if e := os.Rename(filepath.Join(dir, filepath.Base(from)), from); e != nil {
				err = errors.Join(err, e)
				return // what is in dir may be all there is
			}
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	if err := os.WriteFile(filepath.Join(dir, "README"), []byte(note), 0o644); err != nil {
		return err
	}
	return moveAll(dirs, dir, &renamed, &copied)
}

// Bring moves the process directories of this host into a directory that is there. Those of processes that still run stay. Of several
// processes that do this for a folder at once, one does it. It returns how many it moved.
func Bring(scratch, dir string) (int, error) {
	f, err := os.Open(scratch)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil // no rank ran here
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return 0, nil // another one is at it
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return 0, fmt.Errorf("%s isn't there on this host", dir)
	}
	dirs, err := Dirs(scratch)
	if err != nil {
		return 0, err
	}
	var renamed, copied []string
	dirs = slices.DeleteFunc(dirs, AliveIn)
	err = moveAll(dirs, dir, &renamed, &copied)
	Forget(Arrivals(scratch))
	_ = os.Remove(scratch) // if it is empty
	return len(dirs), err
}

// moveAll moves process directories, and says which it has.
func moveAll(dirs []string, dir string, moved, copies *[]string) error {
	now := time.Now()
	var renamed, copied []string
	defer func() { *moved, *copies = renamed, copied }()
	for _, from := range dirs {
		to := filepath.Join(dir, filepath.Base(from))
		if AliveIn(from) {
			if err := os.Symlink(from, to); err != nil {
				return err
			}
			continue
		}
		capture.MarkEnded(from, now) // without that it is only not known how long a last call took
		err := os.Rename(from, to)
		switch {
		case err == nil:
			renamed = append(renamed, from)
		case errors.Is(err, syscall.EXDEV):
			err = copyDir(from, to)
			copied = append(copied, from)
		}
		if err != nil {
			return fmt.Errorf("move %s: %w", from, err)
		}
	}
	for _, from := range copied {
		os.RemoveAll(from) // if it stays, there are two
	}
	return nil
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
