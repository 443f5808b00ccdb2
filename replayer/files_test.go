//go:build cgo

package main

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/reproduce/replay"
)

func TestFilesStayInTheirDirectory(t *testing.T) {
	h := &host{}
	at, err := h.Alloc(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	memory := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), 1<<16)
	const room = 4096 // for a string
	call := (*replay.Call)(unsafe.Pointer(&memory[room]))
	ask := func(function, text string, words ...uint64) uint64 {
		copy(memory, text+"\x00")
		*call = replay.Call{FunctionAddress: h.FunctionAddress(function)}
		call.Words[0] = at
		copy(call.Words[1:], words)
		h.MakeCall(call)
		return call.Result
	}
	place := func(name string, found int64) string {
		p := ask("again_file", name, uint64(found))
		text := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), room)
		for n := range text {
			if text[n] == 0 {
				return string(text[:n])
			}
		}
		return ""
	}
	dir := t.TempDir()
	ask("files_begin", dir, 0, 0)
	for name, want := range map[string]string{
		"out.dat": "here/out.dat", "/etc/passwd": "etc/passwd", "../../x": "x", "../x/../y": "y", "/../../x": "x", "ufs:/data/big": "data/big", "a:b/c": "here/b/c",
	} {
		if path := place(name, -1); path != filepath.Join(dir, want) {
			t.Errorf("%s goes to %s, not %s", name, path, want)
		}
	}
	for range 2 {
		path := place("/in/put", 1234)
		if st, err := os.Stat(path); err != nil || st.Size() != 1234 {
			t.Errorf("a file to read: %v, %v", st, err)
		}
	}
	if path := place("/in/put", 5); path != filepath.Join(dir, "in/put") {
		t.Errorf("a file that is there is looked for in %s", path)
	}
	if st, err := os.Stat(filepath.Join(dir, "in/put")); err != nil || st.Size() != 1234 {
		t.Errorf("a file that was there already: %v, %v", st, err)
	}
	if path := place("/in/no", -2); path != filepath.Join(dir, "missing/no") {
		t.Errorf("a file that was not there is looked for in %s", path)
	}
}
