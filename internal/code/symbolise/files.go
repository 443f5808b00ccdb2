package symbolise

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// debugRoots are where distributions put separate debug files.
var debugRoots = []string{"/usr/lib/debug"}

// open finds the file of a module as it was when it was traced, and its debug information. It returns nil and a note if
// there is no such file, and a module and a note if its information is incomplete.
func (o *Options) open(path, id string) (*module, string) {
	var other string // build id of a file that is in the module's place
	var gone error
	for _, name := range o.candidates(path) {
		b, err := openImage(name)
		if err != nil {
			if gone == nil {
				gone = err
			}
			continue
		}
		if id != "" && b.buildID != id {
			other = b.buildID
			b.close()
			continue
		}
		defer b.close()
		d := o.debugFile(b)
		if d != nil {
			defer d.close()
		}
		return newModule(b, d), ""
	}
	if d := o.byBuildID(id); d != nil {
		defer d.close()
		return newModule(d, nil), ""
	}
	switch {
	case other != "":
		return nil, fmt.Sprintf("%s changed since the run: its build id is %s, it was %s; --debug-path names a folder with the old one",
			path, short(other), short(id))
	case os.IsNotExist(gone):
		return nil, fmt.Sprintf("%s is not there; --debug-path names a folder with a copy", path)
	case gone != nil:
		return nil, fmt.Sprintf("%s can't be read: %v", path, gone)
	}
	return nil, ""
}

// BinaryPath returns the binary of a module in the traced version; "" if it is missing or was rebuilt since. With an
// empty build id any version is accepted.
func (s *Symboliser) BinaryPath(path, buildID string) string {
	for _, name := range s.options.candidates(path) {
		b, err := openImage(name)
		if err != nil {
			continue
		}
		b.close()
		if buildID == "" || b.buildID == buildID {
			return name
		}
	}
	return ""
}

func short(id string) string {
	if id == "" {
		return "missing"
	}
	return id[:min(len(id), 12)] + "…"
}

// candidates are the names under which a module may be found.
func (o *Options) candidates(path string) []string {
	list := []string{path}
	for _, dir := range o.SearchFolders {
		list = append(list, filepath.Join(dir, path), filepath.Join(dir, filepath.Base(path)))
	}
	return list
}

func (o *Options) roots() []string {
	return append(append([]string(nil), o.SearchFolders...), debugRoots...)
}

// debugFile finds the separate debug file of a binary that has no debug information itself; nil if none.
func (o *Options) debugFile(b *image) *image {
	if b.Section(".debug_info") != nil || b.Section(".zdebug_info") != nil {
		return nil
	}
	if d := o.byBuildID(b.buildID); d != nil {
		return d
	}
	s := b.Section(".gnu_debuglink")
	if s == nil || s.Size > 1<<16 {
		return nil
	}
	data, err := s.Data()
	if err != nil {
		return nil
	}
	// The section holds the name of the debug file, padded to four bytes, and that file's checksum.
	end := bytes.IndexByte(data, 0)
	at := (end + 4) &^ 3
	if end <= 0 || at+4 > len(data) || strings.ContainsRune(string(data[:end]), '/') {
		return nil
	}
	name, sum := string(data[:end]), b.ByteOrder.Uint32(data[at:])
	dir := filepath.Dir(b.path)
	list := []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name)}
	for _, root := range o.roots() {
		list = append(list, filepath.Join(root, dir, name), filepath.Join(root, name))
	}
	for _, path := range list {
		d, err := openImage(path)
		if err != nil {
			continue
		}
		if b.buildID != "" && d.buildID == b.buildID || checksum(path) == sum {
			return d
		}
		d.close()
	}
	return nil
}

// byBuildID finds a debug file by build id, as root/.build-id/xx/yyyy.debug.
func (o *Options) byBuildID(id string) *image {
	if len(id) < 4 {
		return nil
	}
	for _, root := range o.roots() {
		d, err := openImage(filepath.Join(root, ".build-id", id[:2], id[2:]+".debug"))
		if err != nil {
			continue
		}
		if d.buildID == id {
			return d
		}
		d.close()
	}
	return nil
}

// checksum returns the checksum of a file as .gnu_debuglink has it; 0 if the file cannot be read.
func checksum(path string) uint32 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, f); err != nil {
		return 0
	}
	return h.Sum32()
}
