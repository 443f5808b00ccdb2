// Command engine is the Go half of the recorder, built with -buildmode=c-shared
// and loaded by the shim inside MPI_Init. shim/engine.h is its interface.
//
// It connects the shim's rings to package capture, and at the end package
// capture's track to package merge over the shim's transport. All that is
// worth testing lives in those packages; here is only what needs cgo.
package main

// The program owns the machine. One thread at a time is in here, and the heap is small: parallel collection would not pay.
import _ "github.com/spoor-hpc/spoor/engine/oneproc"

func main() {}
