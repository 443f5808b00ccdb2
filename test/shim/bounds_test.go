package shim

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The first thread's stack is where the C library says, or asked for there: with a limit that
// leaves room for other things in between, or none.
func TestFirstStack(t *testing.T) {
	program := filepath.Join(t.TempDir(), "bounds")
	if out, err := exec.Command("cc", "-D_GNU_SOURCE", "-I../../shim", "-o", program, "testdata/bounds.c", "-pthread").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for limit, want := range map[string]string{"8192": "found", "1000": "found", "65536": "found", "65540": "not found", "unlimited": "not found"} {
		// Names and an environment of several lengths move what stands at the top.
		for _, env := range []string{"A=", "A=" + strings.Repeat("x", 4096), "A=" + strings.Repeat("x", 5001)} {
			out, err := exec.Command("env", env, "sh", "-c", "ulimit -s "+limit+"; exec "+program).CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != want {
				t.Errorf("limit %s, environment of %d bytes: %q, %v; want %q", limit, len(env), got, err, want)
			}
		}
	}
}
