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

// noteName is the name of the file in a partial folder that explains the other files.
const noteName = "README"

// note returns the text of the file noteName, which differs for each scratch folder.
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

// PartialFolder returns the folder for the records of a dead run, beside its trace, whose path is out. The folder is
// PROGRAM.spoor.partial, or a numbered name if that is another run's. The scratch folder identifies the run, so that
// all its hosts find the same folder. "": it doesn't exist yet.
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

// MakePartialFolder returns PartialFolder, and makes it if needed. The folder has a link for each host until that
// host's records have been moved.
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

// makeHome makes a partial folder and its note atomically, as other hosts may do the same.
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
		SetPendingHosts(made, scratch, hosts...)
		err = os.Rename(made, dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(made))
	}
	return nil
}

// taken reports whether renaming a folder failed because the name exists.
func taken(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) || errors.Is(err, syscall.ENOTDIR)
}

// PendingHosts lists the hosts that have a link in partial folder home: their records may be missing there.
func PendingHosts(home, scratch string) (hosts []string) {
	entries, _ := os.ReadDir(home)
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(home, e.Name())); err == nil && target == scratch {
			hosts = append(hosts, e.Name())
		}
	}
	return hosts
}

// SetPendingHosts makes links to the scratch folder for the given hosts in partial folder home, and removes those of other
// hosts.
func SetPendingHosts(home, scratch string, hosts ...string) {
	for _, host := range PendingHosts(home, scratch) {
		if !slices.Contains(hosts, host) {
			_ = os.Remove(filepath.Join(home, host))
		}
	}
	for _, host := range hosts {
		_ = os.Symlink(scratch, filepath.Join(home, host))
	}
}

// RemoveEmptyPartialFolder removes a partial folder that got no records.
func RemoveEmptyPartialFolder(dir, scratch string) {
	if dirs, err := ProcessDirs(dir); err == nil && len(dirs) == 0 {
		SetPendingHosts(dir, scratch)
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 1 && entries[0].Name() == noteName {
		_ = os.RemoveAll(dir)
	}
}
