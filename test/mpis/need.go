package mpis

import (
	"testing"

	"github.com/spoor-hpc/spoor/test/need"
)

// Need returns the installed MPIs; without one, the test is skipped or fails.
func Need(t testing.TB) []*MPI {
	t.Helper()
	list := Installed()
	if len(list) == 0 {
		need.Absent(t, "no MPI is installed")
	}
	return list
}

// NeedSpoor returns the path of the tool; without it, the test is skipped or fails.
func NeedSpoor(t testing.TB) string {
	t.Helper()
	path, err := Spoor()
	if err != nil {
		need.Absent(t, "%v", err)
	}
	return path
}

// NeedPrograms returns the programs of test/mpi.
func NeedPrograms(t testing.TB) []*Program {
	t.Helper()
	list, err := Programs()
	if err != nil {
		t.Fatal(err)
	}
	return list
}
