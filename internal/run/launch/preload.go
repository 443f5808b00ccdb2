package launch

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Preload tries to preload a library into a program that does nothing, and
// returns what the loader says against it: a C library that is too old, for
// instance. It runs no MPI program.
func Preload(library string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, "/bin/true")
	c.Env = append(os.Environ(), "LD_PRELOAD="+library)
	said, err := c.CombinedOutput()
	if text := strings.TrimSpace(string(said)); text != "" {
		text = strings.TrimPrefix(text, "ERROR: ld.so: ")
		return strings.TrimSuffix(text, ": ignored.")
	}
	if err != nil {
		return "loading it: " + err.Error()
	}
	return ""
}
