// Package oneproc has the Go runtime of what imports it use one processor of the machine, from the beginning: packages that import none
// are among the first to be initialised. Once memory was allocated, the runtime would put away what its other processors
// hold, which touches some 90 pages.
package oneproc

import "runtime"

func init() { runtime.GOMAXPROCS(1) }
