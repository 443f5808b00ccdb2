package shim

import (
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// MPICH 4.0 over TCP hangs in MPI_Finalize if ranks come there some milliseconds apart. What spoor does at the end doesn't
// keep them apart.
func TestFinalizeOverTCP(t *testing.T) {
	shim := library(t)
	for _, m := range mpis.Need(t) {
		if m.Family != "mpich" {
			continue
		}
		program := compile(t, m.CC, "ring.c", "ring")
		for i := range 50 {
			dir := t.TempDir()
			file := filepath.Join(dir, "t.spoor")
			r := run(t, m, dir, []string{"LD_PRELOAD=" + shim, "SPOOR_OUT=" + file, "UCX_TLS=tcp,self"}, 2+i%2, program)
			if r.Err != nil {
				t.Fatalf("run %d: %v", i, r)
			}
		}
	}
}
