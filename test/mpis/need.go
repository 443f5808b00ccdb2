package mpis

import (
	"os"
	"testing"
)

// Absent leaves a test out whose means are missing, save in CI, where it fails.
func Absent(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Need returns the MPIs at hand, of which a test has to have one.
func Need(t testing.TB) []*MPI {
	t.Helper()
	list := Installed()
	if len(list) == 0 {
		Absent(t, "no MPI is installed")
	}
	return list
}

// NeedSpoor returns the path of the tool, which a test has to have.
func NeedSpoor(t testing.TB) string {
	t.Helper()
	path, err := Spoor()
	if err != nil {
		Absent(t, "%v", err)
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
