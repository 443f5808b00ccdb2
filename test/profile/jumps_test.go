package profile

import (
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// TestJumps: what functions end in, by jumps of which no stack tells, belongs to the iteration of the call that led there.
func TestJumps(t *testing.T) {
	for _, m := range mpis.Need(t) {
		for _, level := range []string{"-O0", "-O1", "-O2"} {
			t.Run(m.Name+level, func(t *testing.T) {
				dir := traceWith(t, m, "jumps.c", nil, "-g", level)
				if got, want := outline(t, dir, "app.spoor"), "20{Bcast Allreduce Barrier Scan} 6{Allreduce Barrier Exscan}"; got != want {
					t.Errorf("%s, not %s", got, want)
				}
			})
		}
	}
}
