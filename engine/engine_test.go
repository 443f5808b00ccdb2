//go:build cgo

package main

import "testing"

func TestOptions(t *testing.T) {
	got := spoorOptions([]string{"HOME=/", "SPOOR_RING=65536", "SPOOR_OUT=x", "SPOOR_START_OFF=1"})
	if want := "SPOOR_RING=65536 SPOOR_START_OFF=1"; got != want {
		t.Errorf("options %q, want %q", got, want)
	}
}

// A panic must not take the program down, and say where it was.
func TestGuard(t *testing.T) {
	if rc := guard(func() error { panic("oops") }); rc == 0 {
		t.Error("a panic passed for success")
	}
	if got := text(message); len(got) < 20 || got[:13] != "engine: oops " {
		t.Errorf("message %q", got)
	}
	if rc := guard(func() error { return nil }); rc != 0 {
		t.Errorf("success gave %d", rc)
	}
}
