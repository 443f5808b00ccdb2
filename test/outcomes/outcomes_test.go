package outcomes

import (
	"path/filepath"
	"testing"
)

// What one piece noted is known to the next, and a piece ends in time.
func TestPieces(t *testing.T) {
	t.Setenv("PIECES_RESULTS", filepath.Join(t.TempDir(), "results"))
	t.Setenv("PIECES_SECONDS", "60")
	first := Of("PIECES")
	if first.Known("mpich", "a.c", 2) || first.Late() {
		t.Error("something is known at the start, or it is late")
	}
	first.Note(t, "mpich", "a.c", 2, "equal", "tabs\tand\nlines")
	first.Note(t, "mpich to openmpi", "a.c", 4, "refused", "")
	next := Of("PIECES")
	for _, x := range []struct {
		mpi   string
		ranks int
		want  bool
	}{{"mpich", 2, true}, {"mpich to openmpi", 4, true}, {"mpich", 4, false}, {"openmpi", 2, false}} {
		if got := next.Known(x.mpi, "a.c", x.ranks); got != x.want {
			t.Errorf("%s on %d ranks: known is %v", x.mpi, x.ranks, got)
		}
	}
	t.Setenv("PIECES_SECONDS", "0")
	if !next.Late() {
		t.Error("not late after no time at all")
	}
}
