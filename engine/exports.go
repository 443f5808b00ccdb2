package main

// #include <stdint.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"runtime/debug"
	"strings"
	"unsafe"
)

var (
	active  *recorder
	message *C.char // text of the engine's last failure; nil: none so far
)

//export spoor_engine_start
func spoor_engine_start(h unsafe.Pointer) C.int32_t {
	return guard(func() (err error) {
		active, err = start(h)
		return err
	})
}

//export spoor_engine_sync
func spoor_engine_sync() C.int32_t {
	return guard(func() error { return active.sync() })
}

//export spoor_engine_drain
func spoor_engine_drain() C.int32_t {
	return guard(func() error { return active.drain() })
}

//export spoor_engine_finish
func spoor_engine_finish() C.int32_t {
	whole := false
	rc := guard(func() (err error) {
		whole, err = active.finish()
		return err
	})
	if rc == 0 && !whole {
		rc = kept
	}
	return rc
}

//export spoor_engine_path
func spoor_engine_path(pcs *C.uint64_t, n C.int32_t, list unsafe.Pointer, room C.int32_t) (count C.int32_t) {
	defer func() {
		if recover() != nil {
			count = 0 // the stack has no path then; the engine's other work goes on
		}
	}()
	if active == nil {
		return 0
	}
	if active.paths == nil {
		active.paths = newPaths()
	}
	return C.int32_t(active.paths.fill(unsafe.Slice((*uint64)(unsafe.Pointer(pcs)), int(n)), list, int(room)))
}

//export spoor_engine_stop
func spoor_engine_stop() {
	guard(func() error {
		if active == nil {
			return nil
		}
		r := active
		active = nil
		return r.stop()
	})
}

//export spoor_engine_error
func spoor_engine_error() *C.char { return message }

// guard runs f and keeps its error, or its panic, for spoor_engine_error. A defect here must not end the program.
func guard(f func() error) (rc C.int32_t) {
	defer func() {
		if p := recover(); p != nil {
			rc = fail(fmt.Errorf("engine: %v at %s", p, whence(debug.Stack())))
		}
	}()
	if err := f(); err != nil {
		return fail(err)
	}
	return 0
}

func text(s *C.char) string { return C.GoString(s) }

func fail(err error) C.int32_t {
	if message != nil {
		C.free(unsafe.Pointer(message))
	}
	message = C.CString(strings.ReplaceAll(err.Error(), "\n", "; "))
	return 1
}

// whence finds the source file and line that panicked in a stack trace.
func whence(stack []byte) string {
	_, below, ok := strings.Cut(string(stack), "panic(")
	if !ok {
		return "unknown place"
	}
	for _, line := range strings.Split(below, "\n")[2:] {
		if at, ok := strings.CutPrefix(line, "\t"); ok && !strings.Contains(at, "/runtime/") {
			at, _, _ = strings.Cut(at, " ")
			return at[strings.LastIndexByte(at, '/')+1:]
		}
	}
	return "unknown place"
}
