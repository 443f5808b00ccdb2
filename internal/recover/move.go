package recover

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spoor-hpc/spoor/internal/capture"
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
	now := time.Now()
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
