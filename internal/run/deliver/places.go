package deliver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/show"
)

// Numbered is app.spoor, app-2.spoor, app-3.spoor, …: names in turn for traces of one program.
func Numbered(name string, n int) string {
	if n <= 1 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext)
}

// Elsewhere lists the folders, none of which need exist, for traces of a run that can't
// be written where they should be. scratch is a folder of the run's own.
func Elsewhere(scratch string) []string {
	list := []string{scratch}
	for _, dir := range []string{os.TempDir(), "/tmp"} {
		if dir = filepath.Join(dir, filepath.Base(scratch)); !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return list
}

// Places lists where a trace of that name may go, the folders of Elsewhere last.
func Places(name string, overwrite bool, scratch string) []Place {
	list := []Place{{Name: name, Overwrite: overwrite}}
	for _, dir := range Elsewhere(scratch) {
		list = append(list, Place{Name: filepath.Join(dir, filepath.Base(name)), Make: true})
	}
	return list
}

// Home is the command that brings a trace to where it should be.
func Home(path, wanted string) string {
	move := show.Quote([]string{"mv", path, wanted})
	if _, err := os.Stat(filepath.Dir(wanted)); errors.Is(err, fs.ErrNotExist) {
		return show.Quote([]string{"mkdir", "-p", filepath.Dir(wanted)}) + " && " + move
	}
	return move
}

// Probed is the variable in the ranks' environment that names the host on which the place
// has been probed.
const Probed = "SPOOR_PROBED"

// room is about what a small trace takes.
const room = 64 << 10

// Probe finds out whether a trace of that name could be written.
func Probe(name string) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".probe*")
	if err == nil {
		_, err = f.Write(make([]byte, room))
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return fmt.Errorf("can't write %s: %w", name, Reason(err))
	}
	return nil
}

// Reason is what an error says of the file system, without the names of our temporary files.
func Reason(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	if link := (*os.LinkError)(nil); errors.As(err, &link) {
		return link.Err
	}
	return err
}
