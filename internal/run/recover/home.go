package recover

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spoor-hpc/spoor/internal/run/deliver"
)

// noteName is the file in a home that says what the others are.
const noteName = "README"

// note is what it says, of a home by its name and of the scratch folder of its run. No two runs have the same.
func note(name, scratch string) string {
	return fmt.Sprintf(`What ranks of a traced MPI program recorded before they died.
Make a trace of it with

    spoor recover %[1]s

See where its ranks were, and who waited for whom, with

    spoor where %[1]s

Each directory here is one process. Ranks on other nodes left theirs in
    %[2]s
on those nodes; copy them here first.
`, name, scratch)
}

// PartialFolder returns the folder next to a trace that receives the records of a dead run: PROGRAM.spoor.partial, or a numbered
// name if another run has that. The run is identified by its scratch folder, so that all its hosts find the same home.
// Empty: none exists yet.
func PartialFolder(out, scratch string) string {
	for n := 1; ; n++ {
		dir := home(out, n)
		if _, err := os.Lstat(dir); err != nil {
			return ""
		}
		if isHome(dir, scratch) {
			return dir
		}
	}
}

// MakePartialFolder is Home for a run that has something to bring there. Whoever makes it puts a link for each of the hosts into it, until what is
// on them has come.
func MakePartialFolder(out, scratch string, hosts ...string) (string, error) {
	for n := 1; ; n++ {
		dir := home(out, n)
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			if err := makeHome(dir, scratch, hosts); err != nil && !taken(err) {
				return "", err
			}
		}
		if isHome(dir, scratch) {
			return dir, nil
		}
	}
}

func home(out string, n int) string { return deliver.NumberedName(out, n) + ".partial" }

func isHome(dir, scratch string) bool {
	text, err := os.ReadFile(filepath.Join(dir, noteName))
	return err == nil && string(text) == note(filepath.Base(dir), scratch)
}

// makeHome makes a home with its note in it at once, as other hosts may be about to make it.
func makeHome(dir, scratch string, hosts []string) error {
	made, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".")
	if err != nil {
		return err
	}
	err = os.WriteFile(filepath.Join(made, noteName), []byte(note(filepath.Base(dir), scratch)), 0o644)
	if err == nil {
		err = os.Chmod(made, 0o755)
	}
	if err == nil {
		LinkHosts(made, scratch, hosts...)
		err = os.Rename(made, dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(made))
	}
	return nil
}

// taken reports whether a folder could not get a name because there is another one.
func taken(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) || errors.Is(err, syscall.ENOTDIR)
}

// LinkedHosts lists the hosts with files that may be missing in a home.
func LinkedHosts(home, scratch string) (hosts []string) {
	entries, _ := os.ReadDir(home)
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(home, e.Name())); err == nil && target == scratch {
			hosts = append(hosts, e.Name())
		}
	}
	return hosts
}

// LinkHosts puts links for hosts into a home in place of those that are there.
func LinkHosts(home, scratch string, hosts ...string) {
	for _, host := range LinkedHosts(home, scratch) {
		if !slices.Contains(hosts, host) {
			_ = os.Remove(filepath.Join(home, host))
		}
	}
	for _, host := range hosts {
		_ = os.Symlink(scratch, filepath.Join(home, host))
	}
}

// RemoveEmptyPartialFolder removes a home to which nothing has come.
func RemoveEmptyPartialFolder(dir, scratch string) {
	if dirs, err := ProcessDirs(dir); err == nil && len(dirs) == 0 {
		LinkHosts(dir, scratch)
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 1 && entries[0].Name() == noteName {
		_ = os.RemoveAll(dir)
	}
}
