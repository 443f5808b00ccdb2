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

// A sanitizer is a checker that a compiler builds into a program, and how it is
// known: by its library, or by a function where that is linked in.
type sanitizer struct{ name, library, function string }

var sanitizers = []sanitizer{
	{"AddressSanitizer", "asan", "__asan_init"},
	{"ThreadSanitizer", "tsan", "__tsan_init"},
	{"LeakSanitizer", "lsan", "__lsan_init"},
	{"MemorySanitizer", "msan", "__msan_init"},
	{"UndefinedBehaviorSanitizer", "ubsan", "__ubsan_handle_add_overflow"},
}

// asanOptions is what a program defines to set AddressSanitizer's options.
const asanOptions = "__asan_default_options"

// MayHaveSanitizerOptions reports whether a program may have options of its own for AddressSanitizer, without a look at its libraries.
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

// sanitize finds out which sanitizers the program was built with.
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

// TryPreload tries to preload a library into a program that does nothing, and
// returns what the loader says against it: a C library that is too old, for
// instance. It runs no MPI program.
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

// loops counts the loops of a binary that count their rounds (papers/pass/loops.cpp), by its notes: sizes of name and contents and a kind, the name
// "spoor" with zeros up to eight bytes, and the third word of the contents.
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
