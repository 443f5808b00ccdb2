package shim

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// A rank of which nothing is heard at the end doesn't hold up the others, and what it says
// later is not lost.
func TestLateRank(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			engine := filepath.Join(dir, "engine.so")
			if out, err := exec.Command("cc", "-shared", "-fPIC", "-I", filepath.Join(root, "shim"), "-o", engine, "testdata/lateengine.c").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			env := []string{"LD_PRELOAD=" + library(t), "SPOOR_SCRATCH=" + dir, "SPOOR_ENGINE=" + engine, "SPOOR_PATIENCE=1",
				"GAVEUP=" + filepath.Join(dir, "gaveup")}
			r := run(t, m, dir, env, 2, compile(t, m.CC, "huge.c", "huge"))
			if r.Err != nil || !strings.Contains(r.Stderr, "first -2 7\nthen 0 9\n") {
				t.Error(r)
			}
		})
	}
}

// A constructor that calls MPI holds the loader's lock while the engine runs for it, and
// for other threads.
func TestLoadingWhileCalling(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			lib := compile(t, m.CC, "loaded.c", "loaded.so")
			dir := t.TempDir()
			env := []string{"LD_PRELOAD=" + library(t), "SPOOR_SCRATCH=" + dir, "SPOOR_OUT=" + filepath.Join(dir, "trace.spoor"), "SPOOR_RING=65536"}
			r := run(t, m, dir, env, 1, compile(t, m.CC, "loading.c", "loading"), lib, "50")
			if said := spoorLines(r); r.Err != nil || r.Stdout != "done\n" || len(said) > 0 {
				t.Error(r)
			}
		})
	}
}
