//go:build cgo

package main

// #include <stdlib.h>
// #include "child.h"
import "C"

import (
	"os"
	"strings"
	"unsafe"
)

// codeSeconds is how many seconds the program waits at most for the analysis of its binaries.
const codeSeconds = 60

// addCode runs the tool to add the structure of the binaries' code to a trace with call stacks. It is for runs
// without a waiting `spoor run`: if a launcher starts `spoor run` for each rank, that process becomes the rank. A
// separate process does it, as reading debug information would take the program's memory. On failure the trace stays
// unchanged.
func addCode(name string) {
	tool := os.Getenv("SPOOR_CODE")
	if tool == "" {
		return
	}
	work([]string{tool, "code", name}, codeSeconds)
}

// work runs another program for at most a number of seconds, and reports whether it succeeded. The program doesn't get
// LD_PRELOAD, so that it isn't traced.
func work(line []string, seconds int) bool {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "LD_PRELOAD=") {
			env = append(env, v)
		}
	}
	argv, free := cList(line)
	defer free()
	envp, free := cList(env)
	defer free()
	return C.child_run(*argv, argv, envp, C.int(seconds)) == 0
}

// cList converts a list to a C array of strings that ends with NULL, like main's argv. free frees it.
func cList(list []string) (first **C.char, free func()) {
	size := C.size_t(unsafe.Sizeof(first))
	first = (**C.char)(C.calloc(C.size_t(len(list)+1), size))
	c := unsafe.Slice(first, len(list)+1)
	for i, s := range list {
		c[i] = C.CString(s)
	}
	return first, func() {
		for _, s := range c {
			C.free(unsafe.Pointer(s))
		}
		C.free(unsafe.Pointer(first))
	}
}
