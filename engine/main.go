// Command engine is the Go half of the recorder, built with -buildmode=c-shared
// and loaded by the shim inside MPI_Init. shim/engine.h is its interface.
//
// It connects the shim's rings to package capture, and at the end package
// capture's track to package merge over the shim's transport. All that is
// worth testing lives in those packages; here is only what needs cgo.
package main

// This import limits the Go runtime to one processor. The others belong to the program. Only one thread at a time is in
// the engine, and its heap is too small for parallel garbage collection to pay.
import _ "github.com/spoor-hpc/spoor/engine/oneproc"

func main() {}
