// Package need says what a test cannot do without. Where that is missing, the test is left
// out and says why; in CI, where all of it has to be there, it fails.
package need

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Absent ends a test whose means are missing.
func Absent(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Command returns the path of a program, the first of these names that is there.
func Command(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Absent(t, "not installed: %s", strings.Join(names, " or "))
	return ""
}
