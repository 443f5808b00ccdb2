//go:build !cgo

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "spoor-replay: built without cgo, which it loads the MPI with: build it with make")
	os.Exit(1)
}
