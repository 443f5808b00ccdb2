package shim

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// What threads do with files at once is recorded to the last call, with handlers that write in between.
func TestFiles(t *testing.T) {
	makes(t, "bin/libspoor-io.so")
	shim := filepath.Join(filepath.Dir(library(t)), "libspoor-io.so")
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			recordFiles(t, m, []string{"LD_PRELOAD=" + shim}, compile(t, m.CC, "files.c", "files"), 300)
		})
	}
}

func recordFiles(t *testing.T, m *mpis.MPI, env []string, program string, ms int) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "trace.spoor")
	env = append([]string{"SPOOR_SCRATCH=" + dir, "SPOOR_OUT=" + file, "UCX_MEM_MMAP_HOOK_MODE=none"}, env...) // else UCX' own mmap
	r := run(t, m, dir, env, 1, program, fmt.Sprint(ms))
	kinds := []string{"open", "dup", "pread", "pwrite", "close", "mmap", "munmap", "fopen", "fread", "fclose"}
	handled, made := 0, make([]int, len(kinds))
	into := []any{&handled}
	for i := range made {
		into = append(into, &made[i])
	}
	if _, err := fmt.Sscan(r.Stdout, into...); err != nil || r.Err != nil {
		t.Fatalf("%v: %v", err, r)
	}
	made[0], made[3] = made[0]+2, made[3]+1 // of main itself
	tr, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	rank, err := tr.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int)
	for s := range rank.Streams() {
		for c, err := range rank.Calls(s) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Func.Has(trace.AttrPosix) {
				got[c.Name()]++
				if c.Return != 0 {
					t.Errorf("%s did not fail", c.Text())
				}
			}
		}
	}
	for i, name := range kinds {
		if got[name] != made[i] {
			t.Errorf("%s: %d calls are recorded, %d were made", name, got[name], made[i])
		}
	}
	if got["write"] > handled {
		t.Errorf("%d calls of handlers are recorded, %d were made", got["write"], handled)
	}
	t.Logf("%d calls, and %d of %d by handlers", made, got["write"], handled)
}
