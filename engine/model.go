//go:build cgo

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// thinSeconds is how many seconds the program waits at most for a smaller trace.
const thinSeconds = 600

// thinned runs the tool to write the requested smaller trace from a complete one, unless a `spoor run` process is
// waiting to do it. It prints the result. On failure the trace stays unchanged.
func thinned(name string) bool {
	line := strings.Split(os.Getenv("SPOOR_MODEL"), "\n")
	if len(line) < 2 {
		return false
	}
	said, err := os.CreateTemp("", "spoor-said-") // the started process has no stderr
	if err == nil {
		defer os.Remove(said.Name())
		defer said.Close()
		if work(append(line, "--say="+said.Name(), name), thinSeconds) {
			_, _ = io.Copy(os.Stderr, said)
			return true
		}
		err = fmt.Errorf("spoor reduce did not finish, or took more than %d s", thinSeconds)
	}
	fmt.Fprintf(os.Stderr, "spoor: %s: lossless, as it could not be thinned: %v\n", name, err)
	return false
}
