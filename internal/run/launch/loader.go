package launch

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// maxLibraries is the largest number of shared libraries that are searched for one program.
const maxLibraries = 2000

func hostMachine() elf.Machine {
	if runtime.GOARCH == "arm64" {
		return elf.EM_AARCH64
	}
	return elf.EM_X86_64
}

// closure lists the shared libraries that the loader would load for program f, at path, in breadth-first order. It
// also lists the names that the loader would not find.
func closure(path string, f *elf.File) (libs, missing []string) {
	type item struct {
		path string
		file *elf.File
	}
	queue := []item{{path, f}}
	seen := map[string]bool{}
	for len(queue) > 0 && len(seen) < maxLibraries {
		it := queue[0]
		queue = queue[1:]
		needed, _ := it.file.ImportedLibraries()
		dirs := runPaths(it.path, it.file)
		if it.file != f {
			it.file.Close()
		}
		for _, name := range needed {
			if seen[name] {
				continue
			}
			seen[name] = true
			found, lib := find(name, dirs)
			if lib == nil {
				missing = append(missing, name)
				continue
			}
			libs = append(libs, found)
			queue = append(queue, item{found, lib})
		}
	}
	for _, it := range queue {
		if it.file != f {
			it.file.Close()
		}
	}
	return libs, missing
}

// runPaths are the directories for its libraries that an ELF file itself names (RPATH, RUNPATH).
func runPaths(path string, f *elf.File) []string {
	origin := filepath.Dir(path)
	var dirs []string
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		lists, _ := f.DynString(tag)
		for _, l := range lists {
			for _, d := range strings.Split(l, ":") {
				dirs = append(dirs, strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(d))
			}
		}
	}
	return dirs
}

// find opens the library that the loader would take for name. dirs are the directories that the ELF file names.
func find(name string, dirs []string) (string, *elf.File) {
	if strings.Contains(name, "/") {
		return open(name)
	}
	dirs = append(dirs, filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))...)
	for _, d := range dirs {
		if path, f := open(filepath.Join(d, name)); f != nil {
			return path, f
		}
	}
	for _, cached := range loaderCache()[name] {
		if path, f := open(cached); f != nil {
			return path, f
		}
	}
	for _, d := range []string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"} {
		if path, f := open(filepath.Join(d, name)); f != nil {
			return path, f
		}
	}
	return "", nil
}

func open(path string) (string, *elf.File) {
	f, err := elf.Open(path)
	if err != nil {
		return "", nil
	}
	if f.Machine != hostMachine() {
		f.Close()
		return "", nil
	}
	return path, f
}

// loaderCache is the content of /etc/ld.so.cache: name → paths. Only the newer of its two formats is read; it may
// follow the older.
var loaderCache = sync.OnceValue(func() map[string][]string {
	cache := map[string][]string{}
	data, _ := os.ReadFile("/etc/ld.so.cache")
	const magic, head, size = "glibc-ld.so.cache1.1", 48, 24 // an entry: flags, name, path, version, processor
	at := bytes.Index(data, []byte(magic))
	if at < 0 || len(data) < at+head {
		return cache
	}
	data = data[at:]
	text := func(entry []byte) string {
		from := min(uint64(binary.NativeEndian.Uint32(entry)), uint64(len(data)))
		s, _, _ := bytes.Cut(data[from:], []byte{0})
		return string(s)
	}
	entries := data[head:]
	for range binary.NativeEndian.Uint32(data[len(magic):]) {
		if len(entries) < size {
			break
		}
		name := text(entries[4:])
		cache[name] = append(cache[name], text(entries[8:]))
		entries = entries[size:]
	}
	return cache
})

// InstalledMPIs lists the MPI libraries in the loader's cache, each once, in no particular order.
func InstalledMPIs() []Library {
	libs := []Library{}
	seen := map[string]bool{}
	for name, paths := range loaderCache() {
		family := MPIFamilyOf(name)
		if family == "" || strings.HasSuffix(name, ".so") {
			continue
		}
		for _, p := range paths {
			if real, err := filepath.EvalSymlinks(p); err == nil && !seen[real] {
				seen[real] = true
				libs = append(libs, Library{Name: name, Path: p, Family: family})
			}
		}
	}
	return libs
}
