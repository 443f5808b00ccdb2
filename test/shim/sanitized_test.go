package shim

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

// A sanitizer is what the shim is built with, in build/folder.
type sanitizer struct {
	folder, runtime string
	symbol          string // called by what is built with it
	options         string
	mpis            []string // families whose programs it can run
}

var sanitizers = []sanitizer{
	// The MPIs' leaks are not the shim's.
	{"asan", "libasan.so", "__asan_report_load8", "ASAN_OPTIONS=detect_leaks=0", []string{"mpich", "openmpi"}},
	// It ends programs in MPI_Finalize of MPICH 4.0.2, without spoor too.
	{"tsan", "libtsan.so", "__tsan_write8", "TSAN_OPTIONS=suppressions=testdata/tsan.supp", []string{"openmpi"}},
}

// build makes the shim, or the one that records files, and returns the environment that a program needs to run under it.
func (s sanitizer) build(t *testing.T, shimName string) []string {
	t.Helper()
	engine := filepath.Join(filepath.Dir(library(t)), "libspoor-engine.so")
	name := filepath.Join("build", s.folder, shimName)
	makes(t, name)
	shim, err := filepath.Abs(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(shim)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	used, err := f.ImportedSymbols()
	if err != nil || !slices.ContainsFunc(used, func(u elf.ImportedSymbol) bool { return u.Name == s.symbol }) {
		t.Fatalf("%s never calls %s, %v", name, s.symbol, err)
	}
	runtime, err := exec.Command("cc", "-print-file-name="+s.runtime).Output()
	path := strings.TrimSpace(string(runtime))
	if err != nil || !filepath.IsAbs(path) {
		need.Absent(t, "no %s: %v", s.runtime, err)
	}
	options := s.options
	if name, file, ok := strings.Cut(options, "suppressions="); ok {
		file, err = filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		options = name + "suppressions=" + file
	}
	return []string{"LD_PRELOAD=" + path + " " + shim, "SPOOR_ENGINE=" + engine, options}
}

// The stress programs run under a shim that was built with a sanitizer, record what they
// do without, and nothing is reported: reports make a program fail.
func TestSanitized(t *testing.T) {
	steps, ms := 1000, 300
	if os.Getenv("SPOOR_LONG") != "" {
		steps, ms = 10000, 5000
	}
	all := mpis.Need(t)
	for _, s := range sanitizers {
		env, withFiles := s.build(t, "libspoor.so"), s.build(t, "libspoor-io.so")
		for _, m := range all {
			if !slices.Contains(s.mpis, m.Family) {
				continue
			}
			for _, ring := range []int{64 << 10, 1 << 20} {
				env := append(slices.Clip(env), fmt.Sprint("SPOOR_RING=", ring))
				t.Run(fmt.Sprintf("%s/%s/ring %d/blocks", s.folder, m.Name, ring), func(t *testing.T) {
					t.Parallel()
					recordBlocks(t, m, env, compile(t, m.CC, "blocks.c", "blocks"), ring, steps, 3)
				})
				t.Run(fmt.Sprintf("%s/%s/ring %d/handlers", s.folder, m.Name, ring), func(t *testing.T) {
					t.Parallel()
					recordHandlers(t, m, env, compile(t, m.CC, "handlers.c", "handlers"), ms)
				})
				t.Run(fmt.Sprintf("%s/%s/ring %d/files", s.folder, m.Name, ring), func(t *testing.T) {
					t.Parallel()
					recordFiles(t, m, append(slices.Clip(withFiles), fmt.Sprint("SPOOR_RING=", ring)), compile(t, m.CC, "files.c", "files"), ms)
				})
			}
		}
	}
}
