//go:build cgo

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// thinSeconds is how many seconds the program waits in MPI_Finalize at most until its trace is reduced.
const thinSeconds = 600

// thinned runs the tool to reduce the complete trace as the user asked, unless a spoor run process is waiting to do it.
// It prints the result and reports whether it succeeded. On failure the trace stays unchanged.
func thinned(name string) bool {
	line := strings.Split(os.Getenv("SPOOR_MODEL"), "\n")
	if len(line) < 2 {
		return false
	}
	said, err := os.CreateTemp("", "spoor-said-") // for the tool's messages, as it has no stderr of its own
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
