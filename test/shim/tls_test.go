package shim

import (
	"debug/elf"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// Static thread-local room is scarce: the C library keeps some 1.6 KB in all for libraries that are not the program's, and
// others want a part of it.
func TestThreadLocals(t *testing.T) {
	makes(t, "bin/libspoor-io.so")
	for _, name := range []string{"libspoor.so", "libspoor-io.so"} {
		f, err := elf.Open(filepath.Join(filepath.Dir(library(t)), name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, p := range f.Progs {
			if p.Type == elf.PT_TLS && p.Memsz > 512 {
				t.Errorf("%s has %d bytes of thread-local variables", name, p.Memsz)
			}
		}
	}
}

// Where an auditor of the loader's takes its part, programs start and are recorded.
func TestAuditor(t *testing.T) {
	makes(t, "bin/libspoor-io.so")
	auditor := compile(t, "cc", "auditor.c", "auditor.so")
	for _, m := range mpis.Need(t) {
		program := compile(t, m.CC, "manglings.c", "program", "-DPLAIN")
		for _, name := range []string{"libspoor.so", "libspoor-io.so"} {
			t.Run(m.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				file := filepath.Join(dir, "t.spoor")
				shim := filepath.Join(filepath.Dir(library(t)), name)
				r := run(t, m, dir, []string{"LD_AUDIT=" + auditor, "LD_PRELOAD=" + shim, "SPOOR_OUT=" + file}, 2, program)
				if r.Err != nil {
					t.Fatal(r)
				}
				if got := countCalls(t, file); got["MPI_Barrier"] != 1 {
					t.Errorf("calls of rank 0: %v", got)
				}
			})
		}
	}
}
