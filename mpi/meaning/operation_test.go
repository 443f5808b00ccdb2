package meaning_test

import (
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// Operations follow from the table of the standard, and are those that functions are named after.
func TestOperationOf(t *testing.T) {
	named := make(map[string]meaning.CollectiveOperation)
	for o := meaning.CollectiveBarrier; o <= meaning.CollectiveExscan; o++ {
		named["MPI_"+o.String()] = o
	}
	seen := make(map[meaning.CollectiveOperation]int)
	for _, c := range mpi.Calls() {
		name := strings.TrimSuffix(c.Name, "_c")
		if c.Has(mpi.AttrPersistent) {
			name = strings.TrimSuffix(name, "_init")
		}
		if rest, ok := strings.CutPrefix(name, "MPI_I"); ok && c.Has(mpi.AttrNonblocking) {
			name = "MPI_" + strings.ToUpper(rest[:1]) + rest[1:]
		}
		if got, want := meaning.CollectiveOperationOf(c), named[name]; got != want {
			t.Errorf("%s is %s, not %s", c.Name, got, want)
		}
		seen[meaning.CollectiveOperationOf(c)]++
	}
	for o := meaning.CollectiveBarrier; o <= meaning.CollectiveExscan; o++ {
		if seen[o] < 3 { // blocking, nonblocking, persistent; most with large counts, too
			t.Errorf("%s has %d functions", o, seen[o])
		}
	}
}
