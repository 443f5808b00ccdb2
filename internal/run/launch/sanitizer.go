package launch

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A sanitizer is a checker that a compiler builds into a program. It is recognised by the library that has it, or by
// a function of it that is linked statically.
type sanitizer struct{ name, library, function string }

var sanitizers = []sanitizer{
	{"AddressSanitizer", "asan", "__asan_init"},
	{"ThreadSanitizer", "tsan", "__tsan_init"},
	{"LeakSanitizer", "lsan", "__lsan_init"},
	{"MemorySanitizer", "msan", "__msan_init"},
	{"UndefinedBehaviorSanitizer", "ubsan", "__ubsan_handle_add_overflow"},
}

// asanOptions is the function by which a program sets AddressSanitizer's options.
const asanOptions = "__asan_default_options"

// MayHaveSanitizerOptions reports whether a program may set AddressSanitizer's options, without reading its
// libraries.
func MayHaveSanitizerOptions(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	s := f.Section(".dynstr")
	if s == nil {
		return false
	}
	names, err := s.Data()
	return err == nil && bytes.Contains(names, []byte(asanOptions))
}

// sanitize determines the program's sanitizers.
func (r *Inspection) sanitize(f *elf.File, libs []string) {
	defined := map[string]bool{}
	symbols, _ := f.DynamicSymbols()
	for _, s := range symbols {
		defined[s.Name] = s.Section != elf.SHN_UNDEF
	}
	for _, s := range sanitizers {
		shared := slices.ContainsFunc(libs, func(l string) bool {
			name := filepath.Base(l)
			return strings.HasPrefix(name, "lib"+s.library+".so") || strings.HasPrefix(name, "libclang_rt."+s.library)
		})
		if shared || defined[s.function] {
			r.Sanitizers = append(r.Sanitizers, s.name)
		}
		if shared && s.library == "asan" && defined[asanOptions] {
			r.WantsFirstPreload = true
		}
	}
}

// TryPreload preloads a library into a trivial program, and returns the loader's error, for example that the C
// library is too old. It runs no MPI program.
func TryPreload(library string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, "/bin/true")
	c.Env = append(os.Environ(), "LD_PRELOAD="+library)
	said, err := c.CombinedOutput()
	if text := strings.TrimSpace(string(said)); text != "" {
		text = strings.TrimPrefix(text, "ERROR: ld.so: ")
		return strings.TrimSuffix(text, ": ignored.")
	}
	if err != nil {
		return "loading it: " + err.Error()
	}
	return ""
}

// loops counts a binary's loops that count their iterations (papers/pass/loops.cpp), from its ELF notes. Such a note
// has the name "spoor", padded to eight bytes; the third word of its contents is the number of loops.
func loops(f *elf.File) (n int) {
	s := f.Section(".note.spoor")
	if s == nil {
		return 0
	}
	const size = 12 + 8 + 16
	for data, _ := s.Data(); len(data) >= size && string(data[12:18]) == "spoor\x00"; data = data[size:] {
		n += int(binary.LittleEndian.Uint32(data[28:]))
	}
	return n
}
